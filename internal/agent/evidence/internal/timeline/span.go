package timeline

import (
	"cmp"

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
		case kind.PrimitiveStepRuns:
			steps[r.Values.SpanID()] = true
		case kind.ToolInvocationEvidence:
			calls[r.Values.InvocationID()] = true
			calls[r.Values.SpanID()] = true
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
			out = append(out, Record{Kind: kind.PrimitiveStepRuns, Values: stepOf(sp), At: sp.Start, Span: id, Parent: parent})
		}
		if call := callOf(sp); call != nil && !calls[call.InvocationID()] && !calls[id] {
			out = append(out, Record{Kind: kind.ToolInvocationEvidence, Values: call, At: sp.Start, Span: id, Parent: id})
		}
	}
	return out
}

// stepOf is the step that a span is.
func stepOf(sp *trace.Span) kind.Values {
	v := kind.Values{
		kind.FieldPrimitiveType: kind.TextValue(sp.PrimitiveType), kind.FieldName: kind.TextValue(sp.Name),
		kind.FieldStartedAt: kind.TimeValue(sp.Start), kind.FieldSpanID: kind.TextValue(sp.ID.String()),
		kind.FieldStatus: kind.TextValue(statusOf(sp)),
	}
	if !sp.End.IsZero() {
		v[kind.FieldEndedAt] = kind.TimeValue(sp.End)
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
	object(kind.FieldModel, map[string]string{kind.FieldProvider: sp.Provider, kind.FieldRequest: sp.Model})
	object(kind.FieldAgent, map[string]string{kind.FieldName: sp.AgentName})
	if sp.StatusMessage != "" {
		object(kind.FieldError, map[string]string{kind.FieldMessage: sp.StatusMessage})
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
	var said struct {
		Call string `json:"gen_ai.tool.call.id"`
	}
	_ = json.Unmarshal(sp.Attributes, &said) // the span is named otherwise
	invocation := cmp.Or(said.Call, sp.ID.String())
	tool := sp.ToolName
	if tool == "" {
		tool = sp.Name
	}
	v := kind.Values{
		kind.FieldInvocationID: kind.TextValue(invocation), kind.FieldToolName: kind.TextValue(tool), kind.FieldStatus: kind.TextValue(status),
		kind.FieldStartedAt: kind.TimeValue(sp.Start), kind.FieldSpanID: kind.TextValue(sp.ID.String()),
		kind.FieldSideEffectClass: kind.TextValue("unknown"),
	}
	if !sp.End.IsZero() {
		v[kind.FieldEndedAt] = kind.TimeValue(sp.End)
	}
	if sp.StatusMessage != "" {
		v[kind.FieldError] = jsontext.Value(`{"message":` + string(kind.TextValue(sp.StatusMessage)) + `}`)
	}
	return v
}
