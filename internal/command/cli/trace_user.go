package cli

import (
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

type tracesUsersCommand struct {
	remote
	Environment string        `help:"Only traces in this environment, such as production." placeholder:"NAME"`
	Service     string        `help:"Only traces of this service." placeholder:"NAME"`
	Since       time.Duration `help:"Only traces that began in this period, such as 24h (default: 7 days)." placeholder:"TIME"`
	listFlags
}

// Help is the text of --help above the flags.
func (tracesUsersCommand) Help() string {
	return `Users are those of your application, as traces name them. The figures are of the traces in the period; --json has more of them. To see the traces of a user, use ` + "`assay traces list --user=ID`" + `.`
}

// Validate refuses a time in the future.
func (c tracesUsersCommand) Validate() error {
	return tracesListCommand{Since: c.Since, listFlags: c.listFlags}.Validate()
}

// Run prints the list.
func (c tracesUsersCommand) Run(e *Environment) error { return unknown(c.run(e)) }

func (c tracesUsersCommand) run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	filter := client.Query{Environment: c.Environment, ServiceName: c.Service, StartAfter: begin(c.Since), Limit: c.Limit}
	var list api.EndUserList
	raw, err := from.Call(func(k api.Client) (err error) {
		list, err = k.ListEndUsers(e.Context, filter.Values())
		return err
	})
	if err != nil || c.JSON {
		return orJSON(e, raw, err)
	}
	out := terminal.List{
		Heads: []string{"USER", "LAST ACTIVE", "TRACES", "FAILED", "COST"}, Right: map[int]bool{2: true, 3: true, 4: true}, Whole: true,
		Empty: c.none(), Notes: more(list.HasMore),
	}
	for _, u := range list.EndUsers {
		n := u.Totals
		out.Rows = append(out.Rows, []string{
			u.ID, terminal.Moment(u.LastStartTime), strconv.FormatInt(n.Traces, 10), strconv.FormatInt(n.FailedTraces, 10), terminal.Cost(n.CostUSD),
		})
	}
	return terminal.Detect(e.Out, e.Environ).List(e.Out, out)
}

// none says that there is no user to list, and what to do.
func (c tracesUsersCommand) none() string {
	if c.Environment != "" || c.Service != "" || c.Since > 0 {
		return "No user matches."
	}
	return "No trace of the last 7 days names a user. Set user.id on your spans, or look further back with --since=720h."
}
