package evidence

import (
	"context"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/evidence/internal/kind"
	"github.com/assayhq/assay/internal/evidence/internal/timeline"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
	"github.com/assayhq/assay/internal/trace"
)

// maxOfTrace is how many records of each class a timeline shows.
const maxOfTrace = 2_000

// Timeline returns everything that is known about a trace in causal order, and whether
// there is more than it shows. Steps that only its spans show are read from them.
func (s *Service) Timeline(ctx context.Context, org principal.OrgID, text string) (t timeline.Timeline, id span.TraceID, truncated bool, err error) {
	if id, err = s.traceOf(ctx, org, text); err != nil {
		return t, id, false, err
	}
	lasting, err := s.store.ofTrace(ctx, org, id[:], maxOfTrace)
	if err != nil {
		return t, id, false, err
	}
	truncated = len(lasting) == maxOfTrace
	all := lasting
	for i := range kind.Kinds {
		if kind.Kinds[i].Class != kind.Stream {
			continue
		}
		l := List{Kind: &kind.Kinds[i], Limit: maxOfTrace, Filters: []filter{{column: "trace_id", values: [][]byte{id[:]}}}}
		page, err := s.store.page(ctx, org, l)
		if err != nil {
			return t, id, false, err
		}
		if len(page) > maxOfTrace {
			page, truncated = page[:maxOfTrace], true
		}
		all = append(all, page...)
	}
	detail, err := s.traces.Read(ctx, org, id)
	switch {
	case fault.IsNotFound(err) && len(all) == 0:
		return t, id, false, err
	case err != nil && !fault.IsNotFound(err):
		return t, id, false, err
	}
	records := spanned(detail.Spans, all)
	for i := range all {
		records = append(records, placed(&all[i]))
	}
	return timeline.Build(records, s.now()), id, truncated || detail.Truncated, nil
}

// traceOf finds the trace that a text names, by its hexadecimal id or by its number.
func (s *Service) traceOf(ctx context.Context, org principal.OrgID, text string) (span.TraceID, error) {
	if id, ok := span.ParseTraceID(text); ok {
		return id, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return span.TraceID{}, fault.Invalid("query", "traceId", "format", "must be the number of a trace, or its 32 hexadecimal digits")
	}
	return s.traces.Numbered(ctx, org, n)
}

// placed is a record as the timeline takes it.
func placed(r *Record) timeline.Record {
	v := make(kind.Values, len(r.Values)+2)
	for name, value := range r.Values {
		v[name] = value
	}
	for _, name := range []string{"runtime_key", "connector_key", "raw_event_id"} {
		if value := r.common(name); value != nil {
			v[name] = value
		}
	}
	return timeline.Record{Kind: r.Kind.Name, ID: r.ID, Values: v, At: r.OccurredAt, Span: r.Values.Text("span_id")}
}

// spanned are the steps, and the calls of tools, that spans show and records do not.
func spanned(spans []trace.Span, records []Record) (out []timeline.Record) {
	steps, calls := map[string]bool{}, map[string]bool{}
	for i := range records {
		switch r := &records[i]; r.Kind.Name {
		case "primitive-step-runs":
			steps[r.Values.Text("span_id")] = true
		case "tool-invocation-evidence":
			calls[r.Values.Text("invocation_id")] = true
			calls[r.Values.Text("span_id")] = true
		}
	}
	for i := range spans {
		sp := &spans[i]
		id := sp.ID.String()
		parent := ""
		if sp.Parent != (span.ID{}) {
			parent = sp.Parent.String()
		}
		if !steps[id] {
			out = append(out, timeline.Record{Kind: "primitive-step-runs", Values: stepOf(sp), At: sp.Start, Span: id, Parent: parent})
		}
		if call := callOf(sp); call != nil && !calls[call.Text("invocation_id")] && !calls[id] {
			out = append(out, timeline.Record{Kind: "tool-invocation-evidence", Values: call, At: sp.Start, Span: id, Parent: id})
		}
	}
	return out
}

// stepOf is the step that a span is.
func stepOf(sp *trace.Span) kind.Values {
	v := kind.Values{
		"primitive_type": kind.TextValue(sp.PrimitiveType), "name": kind.TextValue(sp.Name), "started_at": kind.TimeValue(sp.Start),
		"span_id": kind.TextValue(sp.ID.String()), "status": kind.TextValue(statusOf(sp)),
	}
	if !sp.End.IsZero() {
		v["ended_at"] = kind.TimeValue(sp.End)
	}
	object := func(name string, members map[string]string) {
		for k, text := range members {
			if text == "" {
				delete(members, k)
			}
		}
		if len(members) == 0 {
			return
		}
		if text, err := json.Marshal(members, json.Deterministic(true)); err == nil {
			v[name] = text
		}
	}
	object("model", map[string]string{"provider": sp.Provider, "request": sp.Model})
	object("agent", map[string]string{"name": sp.AgentName})
	if sp.StatusMessage != "" {
		object("error", map[string]string{"message": sp.StatusMessage})
	}
	return v
}

func statusOf(sp *trace.Span) string {
	switch {
	case sp.End.IsZero():
		return "running"
	case sp.StatusCode == "error":
		return "failed"
	}
	return "succeeded"
}

// callOf is the call of a tool that a span shows; nil if it shows none.
func callOf(sp *trace.Span) kind.Values {
	if sp.PrimitiveType != "tool_call" {
		return nil
	}
	status := statusOf(sp)
	if status == "running" {
		status = "dispatched"
	}
	id := kind.Values{}
	if json.Unmarshal(sp.Attributes, &id) != nil {
		id = nil
	}
	invocation := id.Text("gen_ai.tool.call.id")
	if invocation == "" {
		invocation = sp.ID.String()
	}
	tool := sp.ToolName
	if tool == "" {
		tool = sp.Name
	}
	v := kind.Values{
		"invocation_id": kind.TextValue(invocation), "tool_name": kind.TextValue(tool), "status": kind.TextValue(status), "started_at": kind.TimeValue(sp.Start),
		"span_id": kind.TextValue(sp.ID.String()), "side_effect_class": kind.TextValue("unknown"),
	}
	if !sp.End.IsZero() {
		v["ended_at"] = kind.TimeValue(sp.End)
	}
	if sp.StatusMessage != "" {
		v["error"] = jsontext.Value(`{"message":` + string(kind.TextValue(sp.StatusMessage)) + `}`)
	}
	return v
}
