package cli

import (
	"fmt"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type baselineCommand struct {
	Show  baselineShowCommand  `cmd:"" help:"Show the run that an evaluation is pinned to."`
	Pin   baselinePinCommand   `cmd:"" help:"Pin an evaluation to a run: gates show how far releases have drifted from it."`
	Unpin baselineUnpinCommand `cmd:"" help:"Pin an evaluation to no run."`
}

type baselineShowCommand struct {
	evaluationArg
}

// Run prints the run.
func (c baselineShowCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c baselineShowCommand) run(e *Environment) error {
	from, evaluation, err := c.find(e)
	if err != nil {
		return err
	}
	var whole api.Evaluation
	if _, err = from.Call(func(k api.Client) (err error) {
		whole, err = k.GetEvaluation(e.Context, evaluation.ID)
		return err
	}); err != nil {
		return err
	}
	if whole.BaselineRunID == nil {
		fmt.Fprintf(e.Out, "%s is pinned to no run; `assay baseline pin %s RUN` pins it\n", terminal.Text(evaluation.Name), evaluation.ID)
		return nil
	}
	r, err := from.Run(e.Context, evaluation.ID, *whole.BaselineRunID)
	if err != nil {
		return err
	}
	return runCommand{}.print(e, from, evaluation, r, nil)
}

type baselinePinCommand struct {
	runArgs
	JSON bool `name:"json" help:"JSON output, as returned by the API."`
}

// Run pins.
func (c baselinePinCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c baselinePinCommand) run(e *Environment) error {
	from, evaluation, r, err := c.findRun(e)
	if err != nil {
		return err
	}
	if r.Status != client.StatusCompleted {
		return mistake("run %s is %s: pin a completed run; `assay runs list %s --status=completed` shows them", r.ID, r.Status, evaluation.ID)
	}
	_, raw, err := from.Pin(e.Context, evaluation.ID, r.ID)
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	fmt.Fprintf(e.Out, "%s is pinned to run %s, overall %s, started %s\n", terminal.Text(evaluation.Name), r.ID, terminal.Score(r.Overall), terminal.Moment(r.StartedAt))
	if r.SampleSize != nil {
		e.say(fmt.Sprintf("run %s measured a sample of %d items, so little can be compared with it", r.ID, *r.SampleSize))
	}
	return nil
}

type baselineUnpinCommand struct {
	evaluationArg
}

// Run unpins.
func (c baselineUnpinCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c baselineUnpinCommand) run(e *Environment) error {
	from, evaluation, err := c.find(e)
	if err != nil {
		return err
	}
	if _, _, err := from.Pin(e.Context, evaluation.ID, ""); err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "%s is pinned to no run\n", terminal.Text(evaluation.Name))
	return nil
}
