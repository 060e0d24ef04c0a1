package evidence

import (
	"context"
	"strconv"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// linkTraces finds the traces of reports.
func (s *intake) linkTraces(ctx context.Context, org principal.OrgID, reports []linked) error {
	known := map[int64]span.TraceID{}
	for _, r := range sound(reports) {
		if err := s.linkTrace(ctx, org, r, known); err != nil {
			return err
		}
		if id := r.draft.Values.Text("span_id"); id != "" {
			if _, ok := span.ParseID(id); !ok {
				r.refuse("/span_id", "pattern", "must be 16 hexadecimal digits that are not all zero")
			}
		}
	}
	return nil
}

// linkTrace finds the trace of one report. Known are numbers that were asked for
// before.
func (s *intake) linkTrace(ctx context.Context, org principal.OrgID, r *linked, known map[int64]span.TraceID) error {
	v := r.draft.Values
	if hex := v.Text("otel_trace_id"); hex != "" {
		id, ok := span.ParseTraceID(hex)
		if !ok {
			r.refuse("/otel_trace_id", "pattern", "must be 32 hexadecimal digits that are not all zero")
			return nil
		}
		r.links.Trace = id
	}
	given := v["trace_id"]
	if len(given) == 0 {
		return nil
	}
	text := string(given)
	if given.Kind() == '"' {
		text = v.Text("trace_id")
	}
	id, ok := span.ParseTraceID(text)
	if !ok {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			r.refuse("/trace_id", "format", "must be the number of a trace, or its 32 hexadecimal digits")
			return nil
		}
		if id, ok = known[n]; !ok {
			if id, err = s.traces.Numbered(ctx, org, n); err != nil && !fault.IsNotFound(err) {
				return err
			}
			known[n] = id
		}
		if id == (span.TraceID{}) {
			r.refuse("/trace_id", "unknown_reference", "there is no trace with this number")
			return nil
		}
	}
	if r.links.Trace != (span.TraceID{}) && r.links.Trace != id {
		r.refuse("/trace_id", "mutually_exclusive", "differs from otel_trace_id")
		return nil
	}
	r.links.Trace = id
	return nil
}
