package cli

import (
	"errors"
	"fmt"

	"github.com/assayhq/assay/internal/command/cli/shown"
	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/terminal"
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
		drawn := shown.Comparison(evaluation, compared)
		drawn.Remarks = shown.Judged(compared)
		err = terminal.Detect(e.Out, e.Environ).Comparison(e.Out, drawn)
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
