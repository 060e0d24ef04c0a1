package cli

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type runsCommand struct {
	List   runsListCommand   `cmd:"" help:"List the runs of an evaluation, newest first."`
	Show   runsShowCommand   `cmd:"" help:"Show a run and its figures."`
	Slices runsSlicesCommand `cmd:"" help:"Show the pass rates of a run by the labels of its items."`
	Attach runsAttachCommand `cmd:"" help:"Follow a run in progress until it ends, and show its result."`
	Cancel runsCancelCommand `cmd:"" help:"Cancel a run. Its results so far are kept."`
}

func (f listFlags) query() url.Values { return url.Values{"limit": {strconv.Itoa(f.Limit)}} }

// Validate refuses numbers that no list has.
func (f listFlags) Validate() error {
	if f.Limit < 1 || f.Limit > 1000 {
		return fmt.Errorf("--limit is %d, but must be from 1 to 1000", f.Limit)
	}
	return nil
}

type runsListCommand struct {
	evaluationArg
	Status string `enum:"running,completed,failed,cancelled," default:"" help:"Only runs with this status: running, completed, failed or cancelled." placeholder:"STATUS"`
	listFlags
}

// Run prints the list.
func (c runsListCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c runsListCommand) run(e *Environment) error {
	from, evaluation, err := c.find(e)
	if err != nil {
		return err
	}
	q := c.query()
	if c.Status != "" {
		q.Set("status", c.Status)
	}
	list, raw, err := from.Runs(e.Context, evaluation.ID, q)
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	out := terminal.List{
		Heads: []string{"RUN", "STATUS", "STARTED", "PASSED", "OVERALL", "VERDICT", "BRANCH OR RELEASE"}, Right: map[int]bool{0: true, 3: true, 4: true},
		Empty: fmt.Sprintf("%s has no such runs. Start one with `assay run %s --wait`.", evaluation.Name, evaluation.ID), Notes: more(list.HasMore),
	}
	for _, r := range list.Runs {
		passed := fmt.Sprintf("%d/%d", r.Passed, r.Items)
		if r.Items == 0 {
			passed = ""
		}
		of := api.Value(r.ReleaseID)
		for _, key := range []string{"tag", "branch"} {
			if name := known(client.Run{Run: r}, key); name != "" {
				of = name
			}
		}
		out.Rows = append(out.Rows, []string{r.ID, r.Status, terminal.Moment(r.StartedAt), passed, terminal.Score(r.Overall), api.Value(r.Verdict), of})
	}
	return terminal.Detect(e.Out, e.Environ).List(e.Out, out)
}

type runsShowCommand struct {
	runArgs
	JSON bool `name:"json" help:"JSON output, as returned by the API."`
}

// Run prints the run.
func (c runsShowCommand) Run(e *Environment) error { return unknown(c.run(e.guarded())) }

func (c runsShowCommand) run(e *Environment) error {
	from, evaluation, r, err := c.findRun(e)
	if err != nil {
		return err
	}
	return runCommand{JSON: c.JSON}.print(e, from, evaluation, r, nil)
}

type runsAttachCommand struct {
	runArgs
	JSON bool `name:"json" help:"JSON output, as returned by the API."`
	waitFlags
}

// Help is the text of --help above the flags.
func (runsAttachCommand) Help() string {
	return `Shows the progress of a run that somebody started, as ` + "`assay run --wait`" + ` does. Ctrl-C stops waiting and leaves the run in progress.

Exit codes: 0 completed, 1 failed or cancelled, 2 a mistake in the command line, a name or the key, 3 timed out, interrupted or no response.`
}

// Validate refuses times that cannot be waited.
func (c runsAttachCommand) Validate() error { return c.waitFlags.check() }

// Run follows the run.
func (c runsAttachCommand) Run(e *Environment) error { return unknown(c.run(e.guarded())) }

func (c runsAttachCommand) run(e *Environment) error {
	from, evaluation, r, err := c.findRun(e)
	if err != nil {
		return err
	}
	var notes []client.Note
	if r.Status == client.StatusRunning {
		if r, notes, err = c.follow(e, from, evaluation, r); err != nil {
			return err
		}
	}
	if err := (runCommand{JSON: c.JSON}).print(e, from, evaluation, r, notes); err != nil {
		return err
	}
	if r.Status != client.StatusCompleted {
		return &ExitError{Code: exitFailed}
	}
	return nil
}

type runsCancelCommand struct {
	runArgs
	JSON bool `name:"json" help:"JSON output, as returned by the API."`
}

// Run cancels the run.
func (c runsCancelCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c runsCancelCommand) run(e *Environment) error {
	from, evaluation, r, err := c.findRun(e)
	if err != nil {
		return err
	}
	if r.Status != client.StatusRunning {
		return mistake("run %s is already %s: there is nothing to cancel", r.ID, r.Status)
	}
	r, err = from.CancelRun(e.Context, evaluation.ID, r.ID)
	if err != nil || c.JSON {
		return orJSON(e, r.Raw, err)
	}
	fmt.Fprintf(e.Out, "run %s of %s is cancelled; its results so far are kept\n", r.ID, terminal.Text(evaluation.Name))
	return nil
}
