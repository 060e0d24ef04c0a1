package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/stat"
)

func alignmentMeta(a Alignment) []string {
	return []string{"judge:" + a.Key, "version " + strconv.Itoa(a.Version), shorten(a.Model, 60).Text, moment(a.MeasuredAt)}
}

// correctedDial is the pass rate as people would give it, or the judge's own if
// it cannot be corrected.
func correctedDial(a Alignment) dialView {
	s := scale{percent: true}
	e := a.PassRate.Headline.Estimate
	d := dialView{Label: "Pass rate, as people would give it", Value: "—", Basis: s.basis(e), Missing: s.missing(e), Bar: barOf(e, 0, 1), Low: "0%", High: "100%"}
	if a.PassRate.Estimator == correction.EstimatorJudge {
		d.Label = "Pass rate, in the judge’s opinion"
	}
	if e.Value != nil {
		d.Value = s.text(*e.Value)
	}
	return d
}

// labelsOf says how many labels there are, and how many would settle the verdict.
func labelsOf(a Alignment) labelsView {
	n := a.Passes.Items
	v := labelsView{Value: grouped(n), Low: "0", High: grouped(n), Width: 100, Tone: outcomeTones[a.Outcome], Note: "The verdict is settled."}
	switch {
	case a.MoreLabels != nil:
		need := n + *a.MoreLabels
		v.Note = fmt.Sprintf("About %s more would probably settle the verdict, if agreement stays as it is.", grouped(*a.MoreLabels))
		v.High, v.Width = grouped(need), round(100*float64(n)/float64(max(1, need)))
	case a.Outcome == agreement.OutcomeInsufficient:
		v.Note = "How many more would settle the verdict cannot be said: agreement is too near a threshold, or one kind of label is missing."
	}
	if n == 0 {
		v.Width = 0
	}
	return v
}

func alignmentFacts(a Alignment) []factView {
	answered := a.Labelled - a.Abstained - a.Failed
	coverage := factView{Label: "Verdicts on labelled answers", Value: "—", Note: "people have labelled nothing"}
	if a.Labelled > 0 {
		coverage.Value, coverage.Note = share(float64(answered)/float64(a.Labelled)), fmt.Sprintf("%s abstained, %s failed; neither counts as a score", grouped(a.Abstained), grouped(a.Failed))
	}
	wrong := 0
	for i, row := range a.Passes.Confusion {
		for j, n := range row {
			if i != j {
				wrong += n
			}
		}
	}
	divided := factView{Label: "People divided", Value: grouped(a.Divided), Note: "answers left out, because people disagree on them"}
	return []factView{
		{Label: "Answers judged", Value: grouped(a.Judged), Note: "with or without a label"},
		coverage,
		{Label: "Disagreements", Value: grouped(wrong), Note: "of " + grouped(a.Passes.Items) + " answers that both rated"},
		divided,
	}
}

// leadOf is the verdict in words, and what to do.
func leadOf(a Alignment) []string {
	switch {
	case a.Judged == 0:
		return []string{"This version of the judge has rated nothing.", "Use it as a metric of an evaluation, or rate answers with it one by one."}
	case a.Passes.Items == 0:
		return []string{"Nothing is known about this judge.", fmt.Sprintf("People have labelled none of the answers that it rated. Label some as “%s”.", shorten(a.LabelKey, 64).Text)}
	case a.Outcome == agreement.OutcomeAligned:
		return []string{"The judge agrees with people well enough.", "Every threshold is reached by the whole interval, so chance does not explain it."}
	case a.Outcome == agreement.OutcomeMisaligned:
		var missed []string
		for _, r := range a.Rulings {
			if r.Outcome == agreement.OutcomeMisaligned {
				missed = append(missed, measureNames[r.On].name)
			}
		}
		return []string{
			"The judge does not agree with people well enough.",
			"The whole interval of " + strings.ToLower(strings.Join(missed, " and of ")) + " lies below its threshold. Read the disagreements, improve the rubric, and measure the new version on labels that it was not tuned on.",
		}
	}
	return []string{"The labels do not settle whether the judge agrees with people.", labelsOf(a).Note}
}

// measureNames say what a figure is, for readers without statistics.
var measureNames = map[string]struct{ name, words string }{
	"tpr":      {"True positive rate", "of what people let pass, the judge lets pass"},
	"tnr":      {"True negative rate", "of what people reject, the judge rejects"},
	"kappa":    {"Cohen’s kappa", "agreement beyond chance: 0 is chance, 1 is perfect"},
	"ac1":      {"Gwet’s AC1", "the same, for data where one label is rare"},
	"alpha":    {"Krippendorff’s alpha", "the same, whoever the raters are"},
	"accuracy": {"Accuracy", "share of equal verdicts; it decides nothing, because letting all pass is accurate where most answers pass"},
}

func measuresOf(a Alignment) (all []measureView) {
	if a.Passes.Items == 0 {
		return nil
	}
	rulings := map[string]Ruling{}
	for _, r := range a.Rulings {
		rulings[r.On] = r
	}
	add := func(key string, s scale, e stat.Estimate) {
		m := measureOf(measureNames[key].name, measureNames[key].words, s, e)
		if r, ok := rulings[key]; ok {
			m.HasBar, m.Needs, m.Chip, m.Tone = true, "needs "+needed(s, r.Bar), outcomeChip(r.Outcome), outcomeTones[r.Outcome]
			m.Bar.Zero, m.Bar.Tone = round(100*min(1, max(0, r.Bar))), m.Tone
			if m.Bar.Tone == "warn" {
				m.Bar.Tone = "calm"
			}
		}
		all = append(all, m)
	}
	if r := a.Passes.Rates; r != nil {
		add("tpr", scale{percent: true}, r.TPR)
		add("tnr", scale{percent: true}, r.TNR)
	}
	add("kappa", scale{}, a.Passes.Kappa.Nominal)
	add("ac1", scale{}, a.Passes.AC1)
	add("alpha", scale{}, a.Passes.Alpha)
	add("accuracy", scale{percent: true}, a.Passes.Accuracy)
	if s := a.Scores; s != nil {
		all = append(all, measureOf("Spearman’s correlation", "whether better answers get higher scores", scale{}, s.Spearman))
	}
	return all
}

// needed is a threshold in as few digits as it has.
func needed(s scale, bar float64) string {
	if s.percent {
		return strconv.FormatFloat(100*bar, 'g', 4, 64) + "%"
	}
	return strconv.FormatFloat(bar, 'g', 4, 64)
}

func outcomeChip(o agreement.Outcome) string {
	switch o {
	case agreement.OutcomeAligned:
		return "reached"
	case agreement.OutcomeMisaligned:
		return "missed"
	}
	return "open"
}

func measureOf(name, words string, s scale, e stat.Estimate) measureView {
	m := measureView{Name: name, Words: words, Value: "—", Basis: s.basis(e), Bar: barOf(e, 0, 1)}
	m.Bar.Tone = "mute"
	if e.Value != nil {
		m.Value = s.text(*e.Value)
	}
	return m
}

// meansOf are the mean scores: as people would give it, from the labels alone, and
// the judge's own.
func meansOf(a Alignment) (all []meanView, note string) {
	c := a.Corrected
	if a.Judged == 0 {
		return nil, ""
	}
	add := func(name string, e stat.Estimate, first bool) {
		v := meanView{Name: name, Value: "—", Basis: scale{}.basis(e), Bar: barOf(e, 0, 1), First: first}
		if e.Value != nil {
			v.Value = scale{}.text(*e.Value)
		}
		all = append(all, v)
	}
	if c.Estimator != correction.EstimatorJudge {
		add("As people would give it", c.Headline.Estimate, true)
	}
	if c.Labels > 0 && c.Estimator != correction.EstimatorHuman {
		add("The labels alone", c.Human, false)
	}
	add("The judge’s own mean", c.Judge, false)
	switch {
	case c.Labels == 0 && c.Purposive > 0:
		note = fmt.Sprintf("%s labels are not used, because it is not known how their items were chosen. Label a random sample and set labelSampling to random.", grouped(c.Purposive))
	case c.Labels == 0:
		note = "Without labels of a random sample this is the judge’s opinion, and it has no interval: an interval would say how the judge rates other answers, not how good they are."
	case c.Estimator == correction.EstimatorHuman:
		note = "There are too few labels, or too few answers without one, for the judge to add anything: the estimate is that of the labels alone."
	default:
		note = "The judge’s mean over all answers, less the error that it makes on the labelled ones."
		if saved := c.Headline.LabelsSaved; saved != nil && *saved >= 1 {
			note += fmt.Sprintf(" The judge is worth about %s further labels.", grouped(int(*saved)))
		}
	}
	return all, note
}

// routingOf says which verdicts need no person.
func routingOf(a Alignment) (all []segmentView, lead, note string) {
	r := a.Route
	if r.Trials == 0 {
		return nil, "", ""
	}
	if r.Threshold == nil {
		return nil, "Every answer needs a person.", "Reason: " + string(r.Reason) + ". The judge would have to be wrong less often where it says that it is sure, or there would have to be more labels."
	}
	x := 0.0
	for _, part := range []struct {
		label, tone string
		n           int
	}{{"accepted, and right", "good", r.Accepted - r.Wrong}, {"accepted, and wrong", "bad", r.Wrong}, {"for people to look at", "mute", r.Trials - r.Accepted}} {
		if part.n == 0 {
			continue
		}
		width := 100 * float64(part.n) / float64(r.Trials)
		all = append(all, segmentView{Label: part.label, Count: grouped(part.n), Share: decimals(width, 1) + "%", Tone: part.tone, X: round(x), Width: round(width)})
		x += width
	}
	lead = fmt.Sprintf("Verdicts of confidence %s or more need no person.", decimals(*r.Threshold, 2))
	note = fmt.Sprintf("At most %s of them are wrong", share(r.Risk))
	if r.Confidence != nil {
		note += fmt.Sprintf(", with a confidence of %s", share(*r.Confidence))
	}
	return all, lead, note + ". This holds for answers like the labelled ones, until the judge or its model changes. The parts are those of the labelled answers."
}

// peopleOf is how well people agree with each other, and whether the judge may take
// the place of one.
func peopleOf(a Alignment) (all []measureView, note string) {
	c := a.Ceiling
	if c == nil {
		if a.Passes.Items == 0 {
			return nil, ""
		}
		return nil, "Each answer was labelled once, so how well people agree with each other is not known. Have two or three people label the same 50 answers: a judge cannot be expected to agree with people better than they agree with each other."
	}
	all = append(all,
		measureOf("People’s kappa", "agreement of people beyond chance: the best that a judge can be expected to reach", scale{}, c.Fleiss),
		measureOf("People’s agreement", "share of pairs of people who say the same", scale{percent: true}, c.Agreed))
	note = fmt.Sprintf("%s people labelled %s answers together.", grouped(c.Raters), grouped(c.Shared))
	if r := a.Replace; r != nil {
		m := measureOf("Judge against one person", "chance that the judge agrees with the others at least as well as one of the people does", scale{percent: true}, r.Advantage)
		switch {
		case r.Winning == nil:
			m.Chip, m.Tone = "cannot be said", "warn"
			note += " Whether the judge may take a person’s place cannot be said: " + string(r.Reason) + "."
		case r.May:
			m.Chip, m.Tone = "may replace a person", "good"
			note += " The judge does better than " + share(*r.Winning) + " of the people, so it may take the place of one."
		default:
			m.Chip, m.Tone = "may not replace a person", "bad"
			note += " The judge does better than " + share(*r.Winning) + " of the people; to take the place of one it would have to do better than half."
		}
		all = append(all, m)
	}
	return all, note
}

func pairsOf(a Alignment) (all []pairView, note string) {
	for _, d := range a.Disagreements {
		v := pairView{
			Item: shorten(d.Item, 80).Text, People: shorten(d.People, 64).Text, Judge: shorten(d.Judge, 64).Text, Input: excerptOf(d.Input), Output: excerptOf(d.Output), Expected: excerptOf(d.Expected),
			Reasons: shorten(d.Reasoning, excerptLength),
		}
		all = append(all, v)
	}
	switch n := len(a.Disagreements); {
	case n == 0 && a.Passes.Items > 0:
		note = "There are none."
	case a.Hidden > 0:
		note = fmt.Sprintf("The %d largest. More are in the response of GET /api/llm-judge/alignment.", n)
	case n > 0:
		note = "Who is right? A label can be wrong as well."
	}
	return all, note
}

func alignmentMethod(a Alignment) []factView {
	sampling := factView{Label: "Labelled answers", Value: "chosen in a way that is not known", Note: "Figures describe the labelled answers and no others. Set labelSampling to random if they are a random sample."}
	if a.Random {
		sampling.Value, sampling.Note = "a random sample", "So what is true of them is true of the others, within the intervals."
	}
	return []factView{
		sampling,
		{Label: "Labels", Value: shorten(a.LabelKey, 64).Text, Note: "Labels of dataset items, and scores of members under this name."},
		{Label: "Held out", Value: "split " + a.Split, Note: "Items of the split train, and items that the judge was shown as examples, never count."},
		{Label: "Verdict", Value: "by intervals", Note: fmt.Sprintf("A threshold is reached if the whole 95%% interval reaches it. %s labels are needed at least.", grouped(a.MinSamples))},
		{Label: "Abstentions", Value: "left out", Note: "An answer that the judge would not rate is neither right nor wrong. Their share is shown, because a judge that abstains where it is hard looks better than it is."},
		{Label: "Statistics", Value: "version " + stat.AlgoVersion, Note: "The same results and labels give the same digits under the same version."},
	}
}
