package app

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/client"
	"github.com/assayhq/assay/internal/terminal"
)

// remote is the Assay that a user's command asks, with the user's own key.
type remote struct {
	URL string `help:"Base URL of Assay; else ASSAY_URL, else http://localhost:4318." placeholder:"URL"`
}

func (r remote) client(e *environment) (*client.Client, error) {
	return client.FromEnviron(r.URL, e.environ)
}

type tailCommand struct {
	remote
	Environment string        `help:"Only traces of this environment, such as production." placeholder:"NAME"`
	Agent       string        `help:"Only traces of this agent." placeholder:"NAME"`
	User        string        `help:"Only traces of this user of the application." placeholder:"ID"`
	Status      string        `enum:"running,completed,failed," default:"" help:"Only traces that are running, completed or failed." placeholder:"STATUS"`
	Errors      bool          `help:"Only traces with an error in them."`
	Search      string        `help:"Only traces with these words in a message or in a name." placeholder:"TEXT"`
	Since       time.Duration `help:"Begin with the traces of the last while, such as 10m." placeholder:"TIME"`
	JSON        bool          `name:"json" help:"Print each trace as a line of JSON, as the interface writes it."`
}

// Help is what --help says beside the flags.
func (tailCommand) Help() string {
	return `A trace that is running is shown when it begins and again when it has ended. A line has: when, how the trace stands (▸ running, ✓ completed, ✗ failed, ◌ closed because nothing came) with the number of failed spans, its name, how long it took, tokens, cost, who did it, and the id for ` + "`assay traces get`" + `.

The key in SERVICE_API_KEY needs the scope traces:read. Ctrl-C ends.`
}

// Validate refuses a time in the future.
func (c tailCommand) Validate() error {
	if c.Since < 0 {
		return errors.New("--since is negative: give how far to look back, such as 10m")
	}
	return nil
}

// Run prints traces until a signal ends it.
func (c tailCommand) Run(e *environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	return client.Tail{
		Client: from,
		Filter: client.Query{
			Environment: c.Environment, AgentName: c.Agent, UserID: c.User, Status: c.Status, HasError: c.Errors, Search: c.Search,
		},
		Since: c.Since,
		Now:   time.Now,
		Show: func(t client.Trace) error {
			line := terminal.Detect(e.out, e.environ).Line(toEvent(t)) // the window may have been resized
			if c.JSON {
				line = jsonLine(t.Raw)
			}
			_, err := fmt.Fprintln(e.out, line)
			return err
		},
		Say: func(text string) { fmt.Fprintf(e.errOut, "assay: %s\n", text) },
	}.Run(e.ctx)
}

type tracesCommand struct {
	Get tracesGetCommand `cmd:"" help:"Draw a trace as the tree of its spans, with time, tokens, cost and errors."`
}

type tracesGetCommand struct {
	ID string `arg:"" help:"Id of the trace, or its number."`
	remote
	Payload bool `help:"Also print what went in and came out of each span."`
	JSON    bool `name:"json" help:"Print the trace as JSON, as the interface writes it."`
}

// Run prints the trace.
func (c tracesGetCommand) Run(e *environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	d, err := from.Trace(e.ctx, c.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := d.Raw.Indent(jsontext.WithIndent("  ")); err != nil {
			return err
		}
		_, err := fmt.Fprintln(e.out, terminal.JSON(d.Raw))
		return err
	}
	return terminal.Detect(e.out, e.environ).Trace(e.out, toTree(d), time.Now(), c.Payload)
}

func jsonLine(raw jsontext.Value) string {
	raw = raw.Clone()
	_ = raw.Compact() // it was decoded before, so it is JSON
	return terminal.JSON(raw)
}

func toEvent(t client.Trace) terminal.Event {
	source := t.AgentName
	if source == "" {
		source = t.ServiceName
	}
	return terminal.Event{
		At: t.Moment().Local(), Status: t.Status, AutoClosed: t.AutoClosed, Name: t.Name, Source: source, ID: t.ID,
		Duration: toDuration(t.DurationMS), Tokens: t.Usage.TotalTokens, Cost: t.CostUSD, Errors: t.ErrorCount,
	}
}

func toTree(d client.Detail) terminal.Trace {
	t := terminal.Trace{
		ID: d.ID, Ref: d.Ref, Name: d.Name, Status: d.Status, AutoClosed: d.AutoClosed, Start: d.StartTime.Local(), Duration: toDuration(d.DurationMS),
		Facts: []terminal.Fact{
			{Name: "environment", Value: d.Environment},
			{Name: "service", Value: d.ServiceName},
			{Name: "agent", Value: d.AgentName},
			{Name: "release", Value: d.ReleaseID},
			{Name: "user", Value: d.UserID},
			{Name: "conversation", Value: d.ConversationID},
		},
		Tags: d.Tags, Tokens: toTokens(d.Usage), Cost: d.CostUSD, SpanCount: d.SpanCount, ErrorCount: d.ErrorCount, Truncated: d.Truncated,
		Spans: make([]terminal.Span, len(d.Spans)),
	}
	for i, s := range d.Spans {
		t.Spans[i] = terminal.Span{
			ID: s.ID, Parent: s.ParentID, Name: s.Name, Type: s.PrimitiveType, Model: s.Model, Tool: s.ToolName, Start: s.StartTime, End: s.EndTime,
			Failed: s.Status.Code == "error", Message: s.Status.Message, Tokens: toTokens(s.Usage), Cost: s.CostUSD, Input: s.Input, Output: s.Output,
		}
	}
	return t
}

func toTokens(u client.Usage) terminal.Tokens {
	return terminal.Tokens{In: u.InputTokens, Out: u.OutputTokens}
}

func toDuration(ms *float64) *time.Duration {
	if ms == nil {
		return nil
	}
	d := time.Duration(*ms * float64(time.Millisecond))
	return &d
}
