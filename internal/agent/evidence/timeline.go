package evidence

import (
	"context"
	"strconv"

	"github.com/assayhq/assay/internal/agent/evidence/internal/timeline"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Timeline returns everything that is known about a trace in causal order, and whether
// there is more than it shows. Steps that only its spans show are read from them.
func (s *Service) Timeline(ctx context.Context, org principal.OrgID, text string) (t timeline.Timeline, id span.TraceID, truncated bool, err error) {
	if id, err = s.traceOf(ctx, org, text); err != nil {
		return t, id, false, err
	}
	lasting, more, err := s.store.OfTrace(ctx, org, id[:])
	if err != nil {
		return t, id, false, err
	}
	happened, most, err := s.store.stream.OfTrace(ctx, org, id[:])
	if err != nil {
		return t, id, false, err
	}
	all := append(lasting, happened...)
	detail, err := s.traces.Read(ctx, org, id)
	switch {
	case fault.IsNotFound(err) && len(all) == 0:
		return t, id, false, err
	case err != nil && !fault.IsNotFound(err):
		return t, id, false, err
	}
	records := make([]timeline.Record, len(all))
	for i := range all {
		records[i] = placed(&all[i])
	}
	records = append(timeline.Spanned(detail.Spans, records), records...)
	return timeline.Build(records, s.now()), id, more || most || detail.Truncated, nil
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
	for _, name := range []string{kind.FieldRuntimeKey, kind.FieldConnectorKey, kind.FieldRawEventID} {
		if value := r.Common(name); value != nil {
			v[name] = value
		}
	}
	return timeline.Record{Kind: r.Kind.Name, ID: r.ID, Origin: string(r.Origin), Values: v, At: r.OccurredAt, Span: r.Values.SpanID()}
}
