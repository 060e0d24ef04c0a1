package timeline

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

// Spanned are the steps, and the calls of tools, that spans show and records do not.
func Spanned(spans []trace.Span, records []Record) (out []Record) {
	steps, calls := map[string]bool{}, map[string]bool{}
	for i := range records {
		switch r := &records[i]; r.Kind {
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
			out = append(out, Record{Kind: "primitive-step-runs", Values: stepOf(sp), At: sp.Start, Span: id, Parent: parent})
		}
		if call := callOf(sp); call != nil && !calls[call.Text("invocation_id")] && !calls[id] {
			out = append(out, Record{Kind: "tool-invocation-evidence", Values: call, At: sp.Start, Span: id, Parent: id})
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
