package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/command/terminal"
)

// traceFilter narrows a list of traces.
type traceFilter struct {
	Environment string `help:"Environment to filter by, such as production." placeholder:"NAME"`
	Agent       string `help:"Agent to filter by." placeholder:"NAME"`
	User        string `help:"User of the application to filter by." placeholder:"ID"`
	Status      string `enum:"running,completed,failed," default:"" help:"Status to filter by: running, completed or failed." placeholder:"STATUS"`
	Errors      bool   `help:"Only traces with errors."`
	Search      string `help:"Words to search for in messages and names." placeholder:"TEXT"`
}

func (f traceFilter) query() client.Query {
	return client.Query{Environment: f.Environment, AgentName: f.Agent, UserID: f.User, Status: f.Status, HasError: f.Errors, Search: f.Search}
}

type tailCommand struct {
	remote
	traceFilter
	Since time.Duration `help:"Period of past traces to show first, such as 10m." placeholder:"TIME"`
	JSON  bool          `name:"json" help:"One JSON document per line, as returned by the API."`
}

// Help is the text of --help above the flags.
func (tailCommand) Help() string {
	return `A running trace is shown when it starts and again when it ends. Each line has the time, the status (▸ running, ✓ completed, ✗ failed, ◌ closed for inactivity) with the number of failed spans, the name, the duration, tokens, cost, the agent or service, and the ID for ` + "`assay traces get`" + `.

The key needs the scope traces:read. Press Ctrl-C to stop.`
}

// Validate refuses a time in the future.
func (c tailCommand) Validate() error {
	if c.Since < 0 {
		return errors.New("--since must not be negative: use a duration such as 10m")
	}
	return nil
}

// Run prints traces until a signal ends it.
func (c tailCommand) Run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	return client.Tail{
		Client: from,
		Filter: c.query(),
		Since:  c.Since,
		Now:    time.Now,
		Show: func(t client.Trace) error {
			line := terminal.Detect(e.Out, e.Environ).Line(toEvent(t)) // the window may have been resized
			if c.JSON {
				line = jsonLine(t.Raw)
			}
			_, err := fmt.Fprintln(e.Out, line)
			return err
		},
		Say: func(text string) { fmt.Fprintf(e.ErrOut, "assay: %s\n", text) },
	}.Run(e.Context)
}

type tracesCommand struct {
	List      tracesListCommand      `cmd:"" help:"List traces, newest first."`
	Get       tracesGetCommand       `cmd:"" help:"Show a trace as a tree of spans, with time, tokens, cost and errors."`
	Users     tracesUsersCommand     `cmd:"" help:"List the users of your application, by their latest activity."`
	ToDataset tracesToDatasetCommand `cmd:"" name:"to-dataset" help:"Add traces to a dataset, as items."`
}

type tracesGetCommand struct {
	ID string `arg:"" help:"ID or number of the trace."`
	remote
	Payload bool `help:"Input and output of each span."`
	JSON    bool `name:"json" help:"JSON output, as returned by the API."`
}

// Run prints the trace.
func (c tracesGetCommand) Run(e *Environment) error {
	from, err := c.client(e)
	if err != nil {
		return err
	}
	d, err := from.Trace(e.Context, c.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := d.Raw.Indent(jsontext.WithIndent("  ")); err != nil {
			return err
		}
		_, err := fmt.Fprintln(e.Out, terminal.JSON(d.Raw))
		return err
	}
	return terminal.Detect(e.Out, e.Environ).Trace(e.Out, toTree(d), time.Now(), c.Payload)
}

func jsonLine(raw jsontext.Value) string {
	raw = raw.Clone()
	_ = raw.Compact() // it was decoded before, so it is JSON
	return terminal.JSON(raw)
}

func toEvent(t client.Trace) terminal.Event {
	source := orZero(t.AgentName)
	if source == "" {
		source = orZero(t.ServiceName)
	}
	return terminal.Event{
		At: t.Moment().Local(), Status: t.Status, AutoClosed: t.AutoClosed, Name: orZero(t.Name), Source: source, ID: t.ID,
		Duration: toDuration(t.DurationMs), Tokens: t.Usage.TotalTokens, Cost: t.CostUSD, Errors: int(t.ErrorCount),
	}
}

func toTree(d client.Detail) terminal.Trace {
	t := terminal.Trace{
		ID: d.ID, Ref: orZero(d.TraceRef), Name: orZero(d.Name), Status: d.Status, AutoClosed: d.AutoClosed, Start: d.StartTime.Local(), Duration: toDuration(d.DurationMs),
		Facts: []terminal.Fact{
			{Name: "environment", Value: orZero(d.Environment)},
			{Name: "service", Value: orZero(d.ServiceName)},
			{Name: "agent", Value: orZero(d.AgentName)},
			{Name: "release", Value: orZero(d.ReleaseID)},
			{Name: "user", Value: orZero(d.UserID)},
			{Name: "conversation", Value: orZero(d.ConversationID)},
		},
		Tags: d.Tags, Tokens: toTokens(d.Usage), Cost: d.CostUSD, SpanCount: int(d.SpanCount), ErrorCount: int(d.ErrorCount), Truncated: d.SpansTruncated,
		Spans: make([]terminal.Span, len(d.Spans)),
	}
	for i, s := range d.Spans {
		t.Spans[i] = terminal.Span{
			ID: s.SpanID, Parent: orZero(s.ParentSpanID), Name: orZero(s.Name), Type: orZero(s.PrimitiveType), Model: orZero(s.Model), Tool: orZero(s.ToolName), Start: s.StartTime, End: orZero(s.EndTime),
			Failed: s.Status.Code == "error", Message: orZero(s.Status.Message), Tokens: toTokens(s.Usage), Cost: s.CostUSD, Input: s.Input, Output: s.Output,
		}
	}
	return t
}

func toTokens(u api.Usage) terminal.Tokens {
	return terminal.Tokens{In: u.InputTokens, Out: u.OutputTokens}
}

// orZero is what a field holds, and the zero value for null.
func orZero[T any](field *T) (value T) {
	if field != nil {
		value = *field
	}
	return value
}

func toDuration(ms *float64) *time.Duration {
	if ms == nil {
		return nil
	}
	d := time.Duration(*ms * float64(time.Millisecond))
	return &d
}
