package cli

import (
	"time"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type tracesListCommand struct {
	remote
	traceFilter
	Since time.Duration `help:"Only traces that began in this period, such as 10m." placeholder:"TIME"`
	listFlags
}

// Validate refuses a time in the future.
func (c tracesListCommand) Validate() error {
	if err := c.listFlags.Validate(); err != nil {
		return err
	}
	return tailCommand{Since: c.Since}.Validate()
}

// Run prints the list.
func (c tracesListCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c tracesListCommand) run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	filter := c.traceFilter.query()
	filter.Limit, filter.StartAfter = c.Limit, begin(c.Since)
	var list api.TraceList
	raw, err := from.Call(func(k api.Client) (err error) {
		list, err = k.ListTraces(e.Context, filter.Values())
		return err
	})
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	out := terminal.List{
		Heads: []string{"ID", "STATUS", "STARTED", "NAME"}, Whole: true,
		Empty: c.none(), Notes: more(list.HasMore),
	}
	for _, t := range list.Traces {
		out.Rows = append(out.Rows, []string{t.ID, t.Status, terminal.Moment(t.StartTime), orZero(t.Name)})
	}
	return terminal.Detect(e.Out, e.Environ).List(e.Out, out)
}

// begin is when a period began that lasts until now; none has no beginning.
func begin(since time.Duration) time.Time {
	if since <= 0 {
		return time.Time{}
	}
	return time.Now().Add(-since)
}

// none says that there is no trace to list, and what to do.
func (c tracesListCommand) none() string {
	if c.traceFilter != (traceFilter{}) || c.Since > 0 {
		return "No trace matches."
	}
	return "There is no trace yet. `assay doctor` says what to set where your application runs."
}
