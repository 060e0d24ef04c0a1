package cli

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/terminal"
)

type tracesToDatasetCommand struct {
	datasetArg
	Traces []string `arg:"" name:"trace" optional:"" help:"ID or number of a trace, or TRACE/SPAN for one of its spans; repeatable. Without any, the newest traces that match the flags."`
	traceFilter
	Since         time.Duration `help:"Period in which matching traces began (default: 24h)." placeholder:"TIME"`
	Limit         int           `help:"Largest number of matching traces (default: 100)." placeholder:"N"`
	WithoutOutput bool          `help:"Items without an expected output, instead of the output of the trace."`
}

// Help is the text of --help above the flags.
func (tracesToDatasetCommand) Help() string {
	return `A trace becomes an item with the input of the trace. Its output becomes the expected output. Traces without an input and items that the dataset already has are skipped, so the command can be repeated. Without --status, flags select completed traces.

` + codes + `

The key needs the scopes eval:read, eval:write and traces:read.`
}

// Validate refuses filters that would be ignored.
func (c tracesToDatasetCommand) Validate() error {
	switch {
	case c.Since < 0:
		return errors.New("--since must not be negative: use a duration such as 24h")
	case c.Limit < 0 || c.Limit > 10_000:
		return fmt.Errorf("--limit is %d, but must be from 1 to 10000", c.Limit)
	case len(c.Traces) > 0 && (c.traceFilter != (traceFilter{}) || c.Since+time.Duration(c.Limit) > 0):
		return errors.New("traces are named either by ID or by flags: leave one of them out")
	case len(c.Traces) == 0 && c.traceFilter == (traceFilter{}) && c.Since == 0:
		return errors.New("no trace is named: add its ID, or a flag such as --since=24h or --search=invoice")
	case (c.Errors || c.Status == "failed" || c.Status == "running") && !c.WithoutOutput:
		return errors.New("these traces have no output that is good enough to expect: add --without-output")
	}
	return nil
}

// Run adds the traces.
func (c tracesToDatasetCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c tracesToDatasetCommand) run(e *Environment) error {
	from, d, _, err := c.find(e)
	if err != nil {
		return err
	}
	names := c.Traces
	if len(names) == 0 {
		if names, err = c.matching(e, from); err != nil {
			return err
		}
	}
	done, err := from.AddTraces(e.Context, d.ID, names, !c.WithoutOutput)
	if err != nil && done.Created > 0 {
		err = fmt.Errorf("%w; %s were added before", err, count(int64(done.Created)))
	}
	if err != nil {
		return err
	}
	return c.print(e, d.Name, done)
}

// matching are the ids of the traces that match the flags.
func (c tracesToDatasetCommand) matching(e *Environment, from *client.Client) ([]string, error) {
	q := c.query()
	if q.Status == "" && !c.Errors {
		q.Status = "completed"
	}
	q.Limit, q.StartAfter = cmp.Or(c.Limit, 100), time.Now().Add(-cmp.Or(c.Since, 24*time.Hour))
	traces, err := from.AllTraces(e.Context, q)
	if err != nil {
		return nil, err
	}
	if len(traces) == 0 {
		return nil, mistake("no trace of this period matches: extend it with --since, or leave a filter out")
	}
	ids := make([]string, len(traces))
	for i, t := range traces {
		ids[i] = t.ID
	}
	return ids, nil
}

// print says what became of the traces.
func (c tracesToDatasetCommand) print(e *Environment, dataset string, done client.Promoted) error {
	fmt.Fprintf(e.Out, "%s added to %s\n", count(int64(done.Created)), terminal.Text(dataset))
	for _, s := range done.Skipped[:min(len(done.Skipped), maxShown)] {
		why := "it has no input"
		if s.ItemID != nil {
			why = "item " + *s.ItemID + " has the same content"
		}
		name := "trace " + s.TraceID
		if s.SpanID != nil {
			name = "span " + s.TraceID + "/" + *s.SpanID
		}
		fmt.Fprintf(e.Out, "%s is skipped: %s\n", name, why)
	}
	if more := len(done.Skipped) - maxShown; more > 0 {
		fmt.Fprintf(e.Out, "… and %s more are skipped\n", terminal.Number(more))
	}
	return nil
}
