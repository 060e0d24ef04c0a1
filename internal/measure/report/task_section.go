package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/consensus"
	"github.com/assayhq/assay/internal/measure/stat"
)

func taskMeta(t Task) []string {
	votes := 0
	for _, a := range t.Consensus.Annotators {
		votes += a.Votes
	}
	return []string{
		counted(len(t.Consensus.Annotators), "annotator", "annotators"), counted(len(t.Consensus.Items), "item", "items"),
		counted(votes, "label", "labels"), moment(t.MeasuredAt),
	}
}

// counted is a number with the word for it.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

func taskStatus(t Task) (text, tone string) {
	switch {
	case t.Abstained != "":
		return "not measured", "mute"
	case len(t.Consensus.Items) == 0:
		return "no labels", "mute"
	case t.Consensus.Status == stat.StatusNotIdentified:
		return "no consensus", "bad"
	case t.Undecided > 0:
		return counted(t.Undecided, "item", "items") + " to decide", "warn"
	}
	return "decided", "good"
}

// bandWords say how strong agreement is at least.
var bandWords = map[agreement.Band]string{
	agreement.BandPoor: "may agree no better than by chance", agreement.BandSlight: "agree slightly at least", agreement.BandFair: "agree fairly at least",
	agreement.BandModerate: "agree moderately at least", agreement.BandSubstantial: "agree substantially at least", agreement.BandPerfect: "agree almost perfectly",
}

// taskLead is the state of the task in words, and what to do.
func taskLead(t Task) []string {
	alpha := t.Agreement.Overall.Alpha
	switch {
	case t.Abstained != "":
		return []string{"Agreement is not measured.", sentence(t.Abstained)}
	case len(t.Consensus.Items) == 0:
		return []string{"Nobody has labelled anything.", "Ask two or three people to label the same 50 items: one label for each item says nothing about agreement."}
	case t.Consensus.Status == stat.StatusNotIdentified:
		return []string{"Most annotators do worse than guessing would, so nobody can tell who is right.", "Check whether labels are swapped or the instructions are misunderstood, and let an expert decide some items."}
	case t.Agreement.Overall.Shared == 0:
		return []string{"Each item was labelled once, so how well people agree is not known.", "Have two or three people label the same 50 items."}
	}
	next := ""
	if more := t.Overlap.More; more != nil && *more > 0 {
		next = fmt.Sprintf("About %s more items with several labels would bring the standard error of alpha to %s.", grouped(*more), digits(t.Overlap.SE))
	}
	if word, ok := bandWords[agreement.BandOf(alpha)]; ok {
		return []string{"People " + word + ".", strings.TrimSpace("The words are those for the lower end of the interval of alpha, which agreement is unlikely to be below. " + next)}
	}
	return []string{"How well people agree is not known yet.", strings.TrimSpace("Reason: " + why(alpha) + ". " + next)}
}

func taskDials(t Task) []dialView {
	o := t.Agreement.Overall
	dial := func(label string, s scale, e stat.Estimate, low, high string) dialView {
		d := dialView{Label: label, Value: "—", Basis: s.basis(e), Bar: barOf(e, 0, 1), Low: low, High: high}
		if e.Value != nil {
			d.Value = s.text(*e.Value)
		}
		return d
	}
	return []dialView{dial("Krippendorff’s alpha", scale{}, o.Alpha, "0", "1"), dial("Pairs of people who agree", scale{percent: true}, o.Agreed, "0%", "100%")}
}

// methodWords name the ways to a consensus.
var methodWords = map[consensus.Method]string{
	consensus.MethodMajority: "majority vote", consensus.MethodDawidSkene: "Dawid–Skene, smoothed", consensus.MethodOneCoin: "one accuracy for each annotator",
	consensus.MethodGLAD: "skill and difficulty (GLAD)", consensus.MethodDawidSkeneML: "Dawid–Skene, not smoothed", consensus.MethodOneCoinML: "one accuracy for each annotator, not smoothed", consensus.MethodExpert: "an expert’s decision",
}

func taskFacts(t Task) []factView {
	divided, expert := 0, 0
	for _, it := range t.Consensus.Items {
		if it.Disagreement {
			divided++
		}
		if it.Method == consensus.MethodExpert {
			expert++
		}
	}
	unseen := factView{Label: "Errors that nobody sees", Value: "—", Note: "no audit yet: draw some of the settled items at random and let a person decide them"}
	if u := t.Unseen; u != nil && u.Errors.Value != nil {
		unseen.Value, unseen.Note = share(*u.Errors.Value), scale{percent: true}.basis(u.Errors)+", of items that no rule sends to a person"
	}
	return []factView{
		{Label: "Labelled by several", Value: grouped(t.Agreement.Overall.Shared), Note: "items with two labels or more"},
		{Label: "Different labels", Value: grouped(divided), Note: "items on which people disagree"},
		{Label: "For a person to decide", Value: grouped(t.Undecided), Note: counted(expert, "item is", "items are") + " decided by an expert"},
		unseen,
	}
}

func taskMeasures(t Task) (all []measureView) {
	o := t.Agreement.Overall
	if o.Shared == 0 {
		return nil
	}
	words := "agreement beyond chance: 0 is chance, 1 is perfect"
	if o.Ordered {
		words = "agreement beyond chance, where near labels agree in part"
	}
	return []measureView{
		measureOf("Krippendorff’s alpha", words, scale{}, o.Alpha),
		measureOf("Gwet’s AC1", "agreement beyond chance, for data where one label is rare", scale{}, o.AC1),
		measureOf("Raw agreement", "pairs of people with the same label; chance is not taken off", scale{percent: true}, o.Agreed),
	}
}

func taskLabels(t Task) (all []measureView) {
	if t.Agreement.Overall.Shared == 0 {
		return nil
	}
	for _, l := range t.Agreement.Labels {
		all = append(all, measureOf(shorten(l.Label, 64).Text, "given "+counted(l.Uses, "time", "times"), scale{percent: true}, l.Agreed))
	}
	return all
}

var (
	standingTones = map[consensus.Standing]string{consensus.StandingTrusted: "good", consensus.StandingFlagged: "bad", consensus.StandingOpen: "calm"}
	standingWords = map[consensus.Standing]string{consensus.StandingTrusted: "trusted", consensus.StandingFlagged: "flagged", consensus.StandingOpen: "open"}
)

// annotatorsOf shows how well each annotator works, in the order of their names.
func annotatorsOf(t Task) (all []annotatorView, note string) {
	of := map[string]consensus.Annotator{}
	for _, a := range t.Consensus.Annotators {
		of[a.Annotator] = a
	}
	for _, q := range t.Quality {
		a := of[q.Annotator]
		v := annotatorView{measureView: measureOf(shorten(q.Annotator, 64).Text, counted(q.Votes, "label", "labels"), scale{percent: true}, q.Consensus)}
		v.Chip, v.Tone = standingWords[q.Gold.Standing], standingTones[q.Gold.Standing]
		switch {
		case a.Excluded:
			v.Chip, v.Tone, v.Words = "left out", "bad", v.Words+", worse than guessing"
		case a.Watched:
			v.Chip, v.Tone, v.Words = "watched", "mute", v.Words+", none of which counts"
		}
		v.Facts = []factView{
			estimateFact("Gold items", scale{percent: true}.text, q.Gold.Accuracy), estimateFact("Alpha if left out", difference(""), q.Change),
			estimateFact("Same again", scale{percent: true}.text, q.Self), estimateFact("Variety of labels", difference(" bit"), q.Labels.Difference),
			estimateFact("Median time", scale{unit: "ms"}.text, q.Time),
		}
		all = append(all, v)
	}
	if len(all) == 0 {
		return nil, ""
	}
	return all, fmt.Sprintf("The line is the accuracy as the other annotators see it. Gold items are those whose label is known; trusted and flagged mean that the whole interval there is above or below %s, open that it is not. "+
		"Alpha if left out: how much agreement would change without the person; above 0 they lower it. Variety: how much their labels vary, compared with others’ labels of the same items; far below 0 is one label throughout. "+
		"The order is that of the names: intervals that overlap rank nobody.", needed(scale{percent: true}, t.Required))
}

// difference writes differences in two digits.
func difference(unit string) func(float64) string {
	return func(v float64) string {
		sign, text := "+", decimals(math.Abs(v), 2)
		switch {
		case text == "0.00":
			sign = "±"
		case v < 0:
			sign = "−"
		}
		return sign + text + unit
	}
}

// sentence makes a sentence of a warning.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

func estimateFact(label string, text func(float64) string, e stat.Estimate) factView {
	f := factView{Label: label, Value: "—"}
	if e.Value != nil {
		f.Value = text(*e.Value)
	}
	switch ci := e.CI; {
	case ci == nil:
		f.Note = why(e)
	case ci.Lower != nil && ci.Upper != nil:
		f.Note = text(*ci.Lower) + " to " + text(*ci.Upper)
	}
	return f
}

// reasonWords say why a person should decide an item.
var reasonWords = map[consensus.Reason]string{
	consensus.ReasonNoConsensus: "no consensus", consensus.ReasonPosterior: "no label is probable enough", consensus.ReasonEntropy: "labels too open",
	consensus.ReasonDistance: "labels far apart", consensus.ReasonContradiction: "the judge says otherwise", consensus.ReasonConfidence: "the judge is unsure",
	consensus.ReasonGold: "not the known label", consensus.ReasonCritical: "critical label", consensus.ReasonAudit: "random audit",
}

func hardestOf(t Task) (all []hardView, note string) {
	for _, h := range t.Hardest[:min(len(t.Hardest), MaxHardest)] {
		it := h.Consensus
		v := hardView{Item: shorten(it.Item, 80).Text, Outcome: "no consensus", Input: excerptOf(h.Input), Output: excerptOf(h.Output)}
		for _, why := range h.Reasons {
			v.Reasons = append(v.Reasons, reasonWords[why])
		}
		if it.Entropy != nil {
			v.Entropy = decimals(*it.Entropy, 2) + " bit"
		}
		switch {
		case it.Tied:
			v.Outcome = "tied"
		case it.Label != "" && it.Probability != nil:
			v.Outcome = shorten(string(it.Label), 64).Text + " with a probability of " + share(*it.Probability)
		}
		x := 0.0
		for c, p := range it.Posterior {
			tone := []string{"calm", "warn", "mute", "good", "bad"}[c%5]
			v.Labels = append(v.Labels, segmentView{Label: shorten(t.Consensus.Labels[c], 64).Text, Count: share(p), Tone: tone, X: round(x), Width: round(100 * p)})
			x += 100 * p
		}
		for _, s := range h.Said {
			v.Said = append(v.Said, Said{shorten(s.Annotator, 64).Text, shorten(s.Label, 64).Text})
		}
		all = append(all, v)
	}
	switch {
	case len(t.Consensus.Items) == 0:
	case len(all) == 0:
		note = "There are none: every item has a probable label."
	case t.Hidden > 0:
		note = fmt.Sprintf("The %d that people are least sure of. %s wait for a person.", len(all), counted(t.Hidden, "further item", "further items"))
	default:
		note = "What people are least sure of, the hardest first."
	}
	return all, note
}

func taskMethod(t Task) []factView {
	why := string(t.Consensus.Reason)
	if why == "" {
		why = "It was asked for."
	} else {
		why = "Chosen because there are " + why + "."
	}
	if len(t.Consensus.Items) == 0 {
		why = ""
	}
	level := "Labels are equal or not."
	if t.Agreement.Overall.Ordered {
		level = "Labels have an order, and near ones agree in part."
	}
	return []factView{
		{Label: "Consensus", Value: methodWords[t.Consensus.Method], Note: why},
		{Label: "Agreement", Value: "over items", Note: "Items are the units of every interval, not labels. " + level},
		{Label: "Ties", Value: "stay open", Note: "No tie is broken at random; a person decides."},
		{Label: "Accuracy", Value: "as the others see it", Note: "The annotator’s own label has no part in the consensus that it is compared with, and how unsure the others are is taken off. It assumes that people err independently of each other."},
		{Label: "Experts", Value: "decide", Note: "What an expert decided stands whatever others say, and annotators are graded by it."},
		{Label: "Statistics", Value: "version " + stat.AlgoVersion, Note: "The same labels give the same digits under the same version."},
	}
}
