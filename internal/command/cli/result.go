package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

// evaluationArg names an evaluation.
type evaluationArg struct {
	Evaluation string `arg:"" help:"ID or name of the evaluation."`
	remote
}

// find returns the evaluation.
func (a evaluationArg) find(e *Environment) (from *client.Client, found client.Evaluation, err error) {
	if from, err = a.client(e); err == nil {
		found, err = from.FindEvaluation(e.Context, a.Evaluation)
	}
	return from, found, err
}

// runArgs name a run of an evaluation.
type runArgs struct {
	evaluationArg
	Subject string `arg:"" name:"run" optional:"" default:"latest" help:"Run: an ID or latest (default: latest)."`
}

// findRun returns the evaluation and the run.
func (a runArgs) findRun(e *Environment) (*client.Client, client.Evaluation, client.Run, error) {
	from, evaluation, err := a.find(e)
	if err != nil {
		return nil, evaluation, client.Run{}, err
	}
	var r client.Run
	switch {
	case a.Subject == client.Latest:
		r, err = from.LatestRun(e.Context, evaluation)
		if err == nil { // the list has no document of its own
			r, err = from.Run(e.Context, evaluation.ID, r.ID)
		}
	case client.IsID(a.Subject):
		r, err = runByID(e, from, evaluation, a.Subject)
	default:
		err = mistake("%q is not a run: use a run ID or latest; `assay runs list %s` shows them", a.Subject, evaluation.ID)
	}
	return from, evaluation, r, err
}

// runByID returns a run, or says where to find one.
func runByID(e *Environment, from *client.Client, evaluation client.Evaluation, id string) (client.Run, error) {
	r, err := from.Run(e.Context, evaluation.ID, id)
	var refused *client.Error
	if errors.As(err, &refused) && refused.Fault.Reason == "run_not_found" {
		err = mistake("%q has no run %s: `assay runs list %s` shows its runs", terminal.Text(evaluation.Name), id, evaluation.ID)
	}
	return r, err
}

type resultsCommand struct {
	runArgs
	Failed bool     `help:"Only items that failed or have no answer."`
	Status []string `help:"Only items with this status: passed, failed, errored or skipped; repeatable." enum:"passed,failed,errored,skipped" placeholder:"STATUS"`
	Metric string   `help:"Only items that this metric scored." placeholder:"NAME"`
	Below  *float64 `help:"With --metric: only scores of at most this value." placeholder:"SCORE"`
	Limit  int      `default:"20" help:"Largest number of items (default: 20)." placeholder:"N"`
	Full   bool     `help:"Whole inputs and outputs, instead of their first two lines."`
	JSON   bool     `name:"json" help:"JSON output, as returned by the API."`
}

// Help is the text of --help above the flags.
func (resultsCommand) Help() string {
	return `Shows what became of each item of a run: its scores, its input, the output and what was expected, in the order of the items.

` + codes + `

The key needs the scope eval:read.`
}

// Validate refuses flags that do not fit.
func (c resultsCommand) Validate() error {
	switch {
	case c.Limit < 1 || c.Limit > 1000:
		return fmt.Errorf("--limit is %d, but must be from 1 to 1000", c.Limit)
	case c.Below != nil && c.Metric == "":
		return errors.New("--below needs --metric, the metric whose score it is: add one such as --metric=exact_match")
	case c.Failed && len(c.Status) > 0:
		return errors.New("--failed and --status exclude each other: use one of them")
	}
	return nil
}

// Run prints the results.
func (c resultsCommand) Run(e *Environment) error { return unknown(c.run(e.guarded())) }

func (c resultsCommand) run(e *Environment) error {
	from, evaluation, r, err := c.findRun(e)
	if err != nil {
		return err
	}
	q := url.Values{"limit": {strconv.Itoa(c.Limit)}, "includeTotal": {"true"}}
	if c.Failed {
		q["status"] = notPassed
	} else if len(c.Status) > 0 {
		q["status"] = c.Status
	}
	if c.Metric != "" {
		q.Set("metric", c.Metric)
	}
	if c.Below != nil {
		q.Set("maxScore", strconv.FormatFloat(*c.Below, 'f', -1, 64))
	}
	page, err := from.Results(e.Context, evaluation.ID, r.ID, q)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(e, page.Raw)
	}
	total := int(api.Value(page.Total))
	out := terminal.Items{Name: evaluation.Name, Run: r.ID, Total: total, Noun: "result", Empty: c.empty(evaluation, r)}
	if c.Failed {
		out.Noun = "failing item"
	}
	for _, one := range page.Results {
		out.Items = append(out.Items, toItem(one, r.Repetitions > 1))
	}
	if total > len(page.Results) {
		out.Notes = append(out.Notes, fmt.Sprintf("%d of %d are shown: use --limit for more.", len(page.Results), total))
	}
	return terminal.Detect(e.Out, e.Environ).Items(e.Out, out, c.Full)
}

// empty says why there is nothing to show.
func (c resultsCommand) empty(evaluation client.Evaluation, r client.Run) string {
	switch {
	case r.Status == client.StatusRunning:
		return fmt.Sprintf("Nothing yet: the run is in progress. `assay runs attach %s %s` waits for it.", evaluation.ID, r.ID)
	case r.Error != nil && r.Items == 0:
		return "The run measured nothing: " + r.Error.Message
	}
	return "No item of the run is like that."
}

// notPassed are the statuses of items that failed or have no answer.
var notPassed = []string{"failed", "errored"}

// failing returns the first of the failing items of a run, and their number.
func failing(ctx context.Context, from *client.Client, evaluation, run string, most int) ([]terminal.Item, int, error) {
	page, err := from.Results(ctx, evaluation, run, url.Values{"status": notPassed, "limit": {strconv.Itoa(most)}, "includeTotal": {"true"}})
	if err != nil {
		return nil, 0, err
	}
	var all []terminal.Item
	for _, one := range page.Results {
		all = append(all, toItem(one, false))
	}
	return all, int(api.Value(page.Total)), nil
}

func toItem(r client.Result, repeated bool) terminal.Item {
	out := terminal.Item{ID: r.TestCaseID, Status: r.Status, Input: r.Input, Output: r.Output, Expected: r.Expected}
	if repeated {
		out.ID += fmt.Sprintf(" (repetition %d)", r.Epoch+1)
	}
	if r.Overall != nil {
		out.Scores = append(out.Scores, "overall "+terminal.Score(r.Overall))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Scores)) {
		out.Scores = append(out.Scores, name+" "+terminal.Score(r.Scores[name]))
	}
	if r.Error != nil {
		out.Problem = r.Error.Message
		if code := api.Value(r.Error.Code); code != "" {
			out.Problem = code + ": " + out.Problem
		}
	}
	for _, x := range r.Explanations {
		if said := api.Value(x.Text); said != "" {
			out.Remarks = append(out.Remarks, x.Metric+": "+said)
		}
	}
	return out
}
