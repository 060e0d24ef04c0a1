package trace

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Linked is what the trace of some work says about it.
type Linked struct {
	ID    span.TraceID
	Ended bool
	Usage Usage
	Cost  Cost
	// ToolCalls is a JSON list of calls with name and arguments, in the order of
	// their start; nil if the trace does not show what models or agents did, or not
	// all of it.
	ToolCalls jsontext.Value
}

// linkedBatch is how many traces are looked for at once.
const linkedBatch = 500

// maxToolCalls is how many bytes of calls are read from a trace.
const maxToolCalls = 1 << 20

// Arrived are those of the traces that have arrived, in any order.
func (s *Service) Arrived(ctx context.Context, org principal.OrgID, ids []span.TraceID) ([]span.TraceID, error) {
	var out []span.TraceID
	for some := range slices.Chunk(ids, linkedBatch) {
		found, err := s.store.Bounds(ctx, org, some)
		if err != nil {
			return nil, err
		}
		for _, b := range found {
			out = append(out, b.ID)
		}
	}
	return out, nil
}

// Linked calls each for those of the traces that have arrived.
func (s *Service) Linked(ctx context.Context, org principal.OrgID, ids []span.TraceID, each func(Linked)) error {
	arrived, err := s.Arrived(ctx, org, ids)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(arrived, exportBatch) {
		traces := make([]Trace, len(some))
		for i, id := range some {
			traces[i].ID = id
		}
		err := s.export(ctx, org, traces, func(e *Exported) error {
			l := Linked{ID: e.Trace.ID, Ended: !e.Trace.End.IsZero(), Usage: e.Trace.Usage, Cost: e.Trace.Cost}
			if calls := toolCalls(e.Spans); !e.Truncated && len(calls) <= maxToolCalls {
				l.ToolCalls = calls
			}
			each(l)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// toolCalls are the calls that spans record.
func toolCalls(spans []Span) jsontext.Value {
	calls, shown := []byte{'['}, false
	for _, one := range spans {
		switch one.PrimitiveType {
		case "model_call", "agent_invocation":
			shown = true
		case "tool_call":
			shown = true
			if len(calls) > 1 {
				calls = append(calls, ',')
			}
			name := one.ToolName
			if name == "" {
				name = one.Name
			}
			calls = span.AppendJSONString(append(calls, `{"name":`...), []byte(name))
			if one.Input != nil {
				calls = append(append(calls, `,"arguments":`...), one.Input...)
			}
			calls = append(calls, '}')
		}
	}
	if !shown {
		return nil
	}
	return append(calls, ']')
}
