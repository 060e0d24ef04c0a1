package shown

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

// shownDisagreements is how many disagreements are shown.
const shownDisagreements = 5

// Alignment is a judge compared with people.
func Alignment(a api.JudgeAlignment) terminal.Alignment {
	p := a.Statistics.Passes
	out := terminal.Alignment{
		Name: a.ConfigKey, Verdict: a.Verdict, Settle: settles(a), Level: 0.95, Facts: alignmentFacts(a),
		Kind: fmt.Sprintf("version %d · %s labelled of %s judged", a.ConfigVersion, terminal.Number(int(a.N)), terminal.Number(int(a.Judged))),
	}
	if a.N == 0 {
		return out
	}
	out.Labels = p.Labels
	for _, row := range p.Confusion {
		counts := make([]int, len(row))
		for i, n := range row {
			counts[i] = int(n)
		}
		out.Confusion = append(out.Confusion, counts)
	}
	rulings := map[string]api.JudgeAlignmentRuling{}
	for _, r := range a.Rulings {
		rulings[r.On] = r
	}
	add := func(name, on string, e api.Estimate, percent bool) {
		m := terminal.Measure{Estimate: Estimate(name, e)}
		m.Percent = percent
		if r, ok := rulings[on]; ok {
			m.Needs, m.Outcome = &r.Threshold, r.Outcome
		}
		out.Measures = append(out.Measures, m)
	}
	if p.Rates != nil {
		add("tpr", "tpr", p.Rates.Tpr, true)
		add("tnr", "tnr", p.Rates.Tnr, true)
	}
	add("kappa", "kappa", p.Kappa.Nominal, false)
	add("ac1", "", p.Ac1, false)
	add("alpha", "", p.KrippendorffAlpha, false)
	if h := a.Statistics.HumanCeiling; h != nil {
		add("people", "", h.FleissKappa, false)
	}
	for _, d := range a.Disagreements[:min(len(a.Disagreements), shownDisagreements)] {
		item := "result " + d.ResultID
		if d.TestCaseID != nil {
			item = "item " + *d.TestCaseID
		}
		out.Disagreements = append(out.Disagreements, terminal.Disagreement{Item: item, People: d.Human, Judge: d.Judge, Reason: api.Value(d.Reasoning)})
	}
	out.Notes = []string{"assay judge align " + a.ConfigKey + " --html alignment.html"}
	if a.Verdict == "insufficient_data" {
		out.Notes = append(out.Notes, "assay judge next-labels "+a.ConfigKey)
	}
	return out
}

// settles says what the verdict means, and what it would take.
func settles(a api.JudgeAlignment) string {
	switch {
	case a.Verdict == "aligned":
		return "The judge agrees with people well enough: every threshold is reached, by the whole interval."
	case a.Verdict == "misaligned":
		var missed []string
		for _, r := range a.Rulings {
			if r.Outcome == "misaligned" {
				missed = append(missed, r.On)
			}
		}
		return "The judge does not agree with people well enough: the whole interval of " + strings.Join(missed, " and of ") + " lies below its threshold. Improve the rubric, then measure again on labels that it was not tuned on."
	case a.N == 0:
		return "Nothing is known about this judge: people have labelled none of the answers that it rated."
	case a.MoreLabels != nil:
		return fmt.Sprintf("The labels do not settle whether the judge agrees with people. About %s more would probably settle it.", terminal.Number(int(*a.MoreLabels)))
	}
	return "The labels do not settle whether the judge agrees with people, and how many would cannot be said: its agreement is too near a threshold, or one kind of label is missing."
}

// alignmentFacts are what follows from the labels, in sentences.
func alignmentFacts(a api.JudgeAlignment) (all []terminal.Fact) {
	s := a.Statistics
	add := func(name, format string, args ...any) {
		all = append(all, terminal.Fact{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	switch h := s.HumanCeiling; {
	case a.N == 0:
	case h == nil:
		add("people", "one label for each answer: how well people agree with each other is not known")
	default:
		add("people", "%d people labelled %s answers together; their own kappa is the best that a judge can be expected to reach", h.Raters, terminal.Number(int(h.Shared)))
	}
	if r := s.Replacement; r != nil {
		switch {
		case r.WinningRate == nil:
			add("replacement", "whether the judge may take a person's place cannot be said: %s", api.Value(r.Reason))
		case r.MayReplace:
			add("replacement", "the judge may take a person's place: it does better than %s of the people", terminal.Rate(r.WinningRate))
		default:
			add("replacement", "the judge may not take a person's place: it does better than %s of the people, and half are needed", terminal.Rate(r.WinningRate))
		}
	}
	if a.AbstentionRate != nil && *a.AbstentionRate > 0 || a.Coverage != nil && *a.Coverage < 1 {
		add("coverage", "a verdict on %s of the labelled answers; %s abstained", terminal.Rate(a.Coverage), terminal.Rate(a.AbstentionRate))
	}
	if a.Divided > 0 {
		add("divided", "%d answers are left out because people disagree on them", a.Divided)
	}
	if s.Passes.Skewed {
		add("caution", "one label is rare, which keeps kappa low whatever the judge does: read ac1 with it")
	}
	if c := s.CorrectedPassRate; a.Judged > 0 {
		rate := Estimate("", corrected(c))
		rate.Percent = true
		if c.Labels == 0 {
			add("pass rate", "%s is the judge's opinion; labels of a random sample would correct it", rate.Text())
		} else {
			add("pass rate", "%s as people would give it, by %s labels; the judge says %s", rate.Text(), terminal.Number(int(c.Labels)), terminal.Rate(c.Judge.Value))
		}
	}
	switch r := s.Route; {
	case a.N == 0:
	case r.Threshold == nil:
		add("routing", "every answer needs a person: %s", api.Value(r.Reason))
	default:
		add("routing", "verdicts of confidence %.2f or more need no person (%s of %s here): at most %s of them are wrong, with %s confidence", *r.Threshold,
			terminal.Number(int(r.Accepted)), terminal.Number(int(r.N)), terminal.Rate(&r.Risk), terminal.Rate(r.Confidence))
	}
	return all
}

// corrected is the estimate that comes first.
func corrected(c api.CorrectedMean) api.Estimate {
	h := c.Headline
	return api.Estimate{Value: h.Value, CI: h.CI, N: h.N, Status: h.Status, Warnings: h.Warnings, Missing: h.Missing}
}

// Judgement is what a judge said about one answer.
func Judgement(r api.JudgeResult) terminal.Judgement {
	out := terminal.Judgement{
		Name: r.ConfigKey, Kind: fmt.Sprintf("version %d · result %s", r.ConfigVersion, r.ID), Status: r.Status, Passed: api.Value(r.Passed), Label: api.Value(r.Label),
		Reasoning: api.Value(r.Reasoning),
	}
	if r.Error != nil {
		out.Problem = r.Error.Code + ": " + r.Error.Message
	}
	for _, c := range r.CriteriaScores {
		out.Criteria = append(out.Criteria, terminal.Criterion{Name: c.Key, Label: c.Label, Score: c.Score})
	}
	add := func(name, value string) {
		if value != "" {
			out.Facts = append(out.Facts, terminal.Fact{Name: name, Value: value})
		}
	}
	if r.Score != nil {
		score := terminal.Score(r.Score)
		if r.RawScore != nil && *r.RawScore != *r.Score {
			score += fmt.Sprintf(" (%g on the judge's scale)", *r.RawScore)
		}
		add("score", score)
	}
	if r.Agreement != nil && r.Opinions > 1 {
		add("agreement", fmt.Sprintf("%.0f of %d opinions", *r.Agreement*float64(r.Opinions), r.Opinions))
	}
	if r.Confidence != nil && *r.Confidence > 0 {
		add("confidence", terminal.Score(r.Confidence)+", as the model says; it is not calibrated")
	}
	add("model", api.Value(r.Model))
	if r.Model != nil {
		cost := terminal.Cost(r.CostUSD)
		if cost == "" {
			cost = "not known"
		}
		add("cost", cost)
		add("tokens", strconv.FormatInt(r.Usage.InputTokens, 10)+" in, "+strconv.FormatInt(r.Usage.OutputTokens, 10)+" out")
		add("took", terminal.Took(time.Duration(r.LatencyMs*float64(time.Millisecond))))
	}
	return out
}
