package evidence

import (
	"context"
	"maps"
	"strconv"

	"github.com/assayhq/assay/internal/agent/evidence/internal/clean"
	"github.com/assayhq/assay/internal/agent/evidence/internal/effect"
	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/tenancy/redact"
)

// terms are what holds for all reports of a request.
type terms struct {
	// red removes what the organization does not want to have stored; strict keeps only the
	// digests of what went in and came out.
	red    *redact.Redactor
	strict bool
	// header is the Idempotency-Key of the request, if it is one report.
	header string
}

// blurredName is what is wrong with a side effect that redaction makes the same as others.
const blurredName = "has something that is not stored, and would no longer tell effects apart: send it without that"

// linkEvents links what events say, and leaves out the events that refer to something that
// is not there. Records that an event does not name are named by their place in it.
func (s *intake) linkEvents(ctx context.Context, org principal.OrgID, t terms, events []event[parsed]) ([]event[linked], error) {
	reports, err := s.linkReports(ctx, org, t, all(events))
	if err != nil {
		return nil, err
	}
	out := next(events, reports)
	for _, e := range out {
		for i, r := range e.reports {
			if r.Alone {
				e.reports[i].identity = identity{Key: record.Unnamed(e.self.Key, r.draft.Kind, i)}
			}
		}
		for _, r := range append(e.reports, e.self) {
			e.refuse("/data", r.faults)
		}
	}
	return accepted(out), nil
}

// linkReports finds out what reports belong to, as far as it is there, and what they name
// their records by. It stores nothing. Afterwards reports have lost what the organization
// does not want to have stored: a record is named by what was sent, so that two of them stay
// two.
func (s *intake) linkReports(ctx context.Context, org principal.OrgID, t terms, said []parsed) ([]linked, error) {
	out := make([]linked, len(said))
	for i, p := range said {
		clean.Names(t.red, &p.draft)
		v := p.draft.Values
		out[i] = linked{parsed: p, name: v.Text("idempotency_key"), links: Links{
			EvaluationRunID: v.Integer("evaluation_run_id"), RuntimeKey: v.Text("runtime_key"), ConnectorKey: v.Text("connector_key"),
		}}
	}
	if err := s.linkTraces(ctx, org, out); err != nil {
		return nil, err
	}
	if err := s.linkRecords(ctx, org, out); err != nil {
		return nil, err
	}
	for i := range out {
		r := &out[i]
		if r.draft.Kind.Name == Approvals {
			if err := s.Name(ctx, org, r.draft.Values); err != nil {
				return nil, err
			}
		}
		if r.draft.Kind.Name == Effects && effect.Look(ctx, nil, r.draft.Values) != nil {
			r.refuse("/verification/method", "not_a_person", "only a person can report a check by a person: use a personal key that its owner made after signing in")
		}
		r.identify(t)
	}
	return out, nil
}

// identify finds out what a report names its record by, and cleans it.
func (r *linked) identify(t terms) {
	v := r.draft.Values
	if r.draft.Kind.Name == "failures" && v["failure_key"] == nil {
		v["failure_key"] = kind.TextValue(fingerprint(v, r.links))
	}
	if r.Key = r.event; r.Key == (key{}) {
		r.identity = record.Identify(r.draft, r.links, t.header)
	}
	for name := range record.Columns {
		if !record.Own(r.draft.Kind, name) {
			delete(v, name)
		}
	}
	var sent kind.Values
	if r.draft.Kind.Name == Effects && r.format == normal.FormatNative { // others name effects by their spans
		sent = maps.Clone(v)
	}
	clean.Draft(t.red, &r.draft, t.strict)
	if payload := v["payload"]; payload != nil && r.event != (key{}) {
		v["payload_digest"] = kind.TextValue(kind.DigestOf(payload))
	}
	if sent != nil {
		if blurred := effect.Blurred(sent, v); blurred != "" {
			r.refuse("/"+blurred, "format", blurredName)
		}
	}
	r.name = clean.Text(t.red, r.name)
}

// sound are the reports without a fault.
func sound(reports []linked) (out []*linked) {
	for i := range reports {
		if len(reports[i].faults) == 0 {
			out = append(out, &reports[i])
		}
	}
	return out
}

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
