package shown

import (
	"maps"
	"slices"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

// shownRegressions is how many of the worst items are shown.
const shownRegressions = 5

// Comparison is two runs beside each other.
func Comparison(evaluation client.Evaluation, c client.Comparison) terminal.Comparison {
	out := terminal.Comparison{
		Name: evaluation.Name, Baseline: c.BaselineRunID, Candidate: c.CandidateRunID, Level: c.Confidence, Margin: c.Margin, Reasons: c.IncomparableReasons,
		Items: terminal.Changes{
			Improved: int(c.Items.Improved), Regressed: int(c.Items.Regressed), Unchanged: int(c.Items.Unchanged), Changed: int(c.Items.Changed),
			OnlyBaseline: int(c.Items.OnlyBaseline), OnlyCandidate: int(c.Items.OnlyCandidate),
		},
	}
	lower := map[string]bool{}
	for _, f := range c.Figures() {
		lower[f.Name] = f.Better == "lower"
		one := terminal.Compared{
			Name: f.Name, Baseline: f.Baseline, Candidate: f.Candidate, Delta: f.Delta, Lower: f.CILow, Upper: f.CIHigh, Verdict: f.Verdict,
		}
		if f.Verdict == "inconclusive" && api.Value(f.Statistics.Verdict.NonInferiority) == "shown" {
			one.Verdict = "no worse"
		}
		if f.Role != "" && f.Role != "primary" {
			one.Role = f.Role
		}
		for _, reason := range f.Statistics.IncomparableReasons {
			if !slices.Contains(c.IncomparableReasons, reason) {
				one.Reason = reason
			}
		}
		out.Figures = append(out.Figures, one)
	}
	if r := c.Overall.Statistics.Resolution; r != nil {
		out.Resolution = r.Sentence
	}
	for _, r := range c.Regressions[:min(len(c.Regressions), shownRegressions)] {
		one := terminal.Regression{Item: r.TestCaseID, By: r.By, Baseline: client.ScoreBy(r.By, r.Baseline), Candidate: client.ScoreBy(r.By, r.Candidate)}
		for _, name := range slices.Sorted(maps.Keys(r.Candidate.Scores)) {
			was, is := r.Baseline.Scores[name], r.Candidate.Scores[name]
			if was != nil && (is == nil || *is < *was != lower[name] && *is != *was) {
				one.Scores = append(one.Scores, terminal.Fall{Metric: name, Baseline: was, Candidate: is})
			}
		}
		out.Regressions = append(out.Regressions, one)
	}
	return out
}
