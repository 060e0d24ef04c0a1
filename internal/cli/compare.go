package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/assayhq/assay/internal/client"
	"github.com/assayhq/assay/internal/client/api"
	"github.com/assayhq/assay/internal/terminal"
)

type compareCommand struct {
	Evaluation string `arg:"" help:"ID or name of the evaluation."`
	Baseline   string `arg:"" help:"Baseline run: an ID, latest or previous."`
	Candidate  string `arg:"" help:"Candidate run: an ID, latest or previous."`
	remote
	Margin fraction `help:"Largest difference that does not matter, as a fraction of a metric's range, such as 0.02 or 2%. Required for the verdict unchanged." placeholder:"FRACTION"`
	JSON   bool     `name:"json" help:"JSON output, as returned by the API."`
}

// Help is the text of --help above the flags.
func (compareCommand) Help() string {
	return `Runs are compared item by item, so that differences in difficulty between items do not hide a change. The verdict depends on the interval of the difference. A difference that is not shown is inconclusive; "unchanged" requires a margin.

The name latest refers to the newest run, and previous to the newest completed run before the other one.

Exit codes: 0 compared, regardless of the verdicts (use ` + "`assay gate`" + ` to decide), 2 a mistake in the command line, a name or the key, 3 runs not comparable or no response.

The key needs the scope eval:read.`
}

// Validate rejects words that do not name a run.
func (c compareCommand) Validate() error {
	for _, name := range []string{c.Baseline, c.Candidate} {
		if !client.IsRun(name) {
			return fmt.Errorf("%q is not a run: use a run ID, latest or previous", name)
		}
	}
	if c.Baseline == c.Candidate {
		return errors.New("the two runs are the same: name two different runs, such as previous latest")
	}
	return c.Margin.within("margin", 0, 1)
}

// Run prints how the runs differ.
func (c compareCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c compareCommand) run(e *Environment) error {
	e = e.guarded()
	from, err := c.client(e)
	if err != nil {
		return err
	}
	evaluation, err := from.FindEvaluation(e.Context, c.Evaluation)
	if err != nil {
		return err
	}
	baseline, candidate, err := findRuns(e, from, evaluation, c.Baseline, c.Candidate)
	if err != nil {
		return err
	}
	for _, r := range []client.Run{baseline, candidate} {
		if r.Status == client.StatusFailed || r.Status == client.StatusCancelled {
			e.say(fmt.Sprintf("run %s is %s: only its existing results are compared", r.ID, r.Status))
		}
	}
	compared, err := from.Compare(e.Context, evaluation.ID, baseline.ID, candidate.ID, float64(c.Margin))
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(e, compared.Raw)
	} else {
		err = terminal.Detect(e.Out, e.Environ).Comparison(e.Out, toComparison(evaluation, compared))
	}
	if err == nil && !compared.Comparable {
		err = &ExitError{Code: exitUnknown}
	}
	return err
}

// findRuns returns the two runs that words or ids name.
func findRuns(e *Environment, from *client.Client, evaluation client.Evaluation, baseline, candidate string) (b, c client.Run, err error) {
	find := func(name string, other client.Run) (client.Run, error) {
		switch name {
		case client.Latest:
			return from.LatestRun(e.Context, evaluation)
		case client.Previous:
			return from.PreviousRun(e.Context, evaluation, other)
		}
		return runByID(e, from, evaluation, name)
	}
	// Previous is relative to the other run, which is found first.
	if candidate == client.Previous {
		if b, err = find(baseline, client.Run{}); err == nil {
			c, err = find(candidate, b)
		}
	} else if c, err = find(candidate, client.Run{}); err == nil {
		b, err = find(baseline, c)
	}
	if err == nil && b.ID == c.ID {
		err = mistake("both names refer to run %s: name two different runs", b.ID)
	}
	return b, c, err
}

// shownRegressions is how many of the worst items are shown.
const shownRegressions = 5

func toComparison(evaluation client.Evaluation, c client.Comparison) terminal.Comparison {
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
