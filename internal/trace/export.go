package trace

import (
	"context"
	"errors"
	"slices"

	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

const (
	// exportBatch is how many traces are read together.
	exportBatch = 50
	// exportBytes bounds the payloads of a batch; a batch that holds more is
	// read in halves.
	exportBytes = 32 << 20
)

// Exported is a trace with its spans, and its place in the list.
type Exported struct {
	Detail
	At position
}

// errLargeBatch is returned for a batch whose payloads are too large together.
var errLargeBatch = errors.New("the payloads of the batch are too large")

// Export hands the traces that match to each, one by one, newest first, with
// their spans as a detail shows them. It ends after limit traces, or with the
// error of each.
func (s *Service) Export(ctx context.Context, org principal.OrgID, f Filter, after position, limit int, each func(*Exported) error) error {
	for limit > 0 {
		found, err := s.List(ctx, org, f, Page{Limit: min(limit, exportBatch), After: after})
		if err != nil {
			return err
		}
		if err := s.export(ctx, org, found.Traces, each); err != nil {
			return err
		}
		limit -= len(found.Traces)
		if !found.More {
			return nil
		}
		after = found.Next
	}
	return nil
}

// export reads the spans of the traces and hands the traces on.
func (s *Service) export(ctx context.Context, org principal.OrgID, traces []Trace, each func(*Exported) error) error {
	if len(traces) == 0 {
		return nil
	}
	details, err := s.details(ctx, org, traces)
	if errors.Is(err, errLargeBatch) {
		half := len(traces) / 2
		if err := s.export(ctx, org, traces[:half], each); err != nil {
			return err
		}
		return s.export(ctx, org, traces[half:], each)
	}
	if err != nil {
		return err
	}
	for i := range details {
		at := position{start: traces[i].Start.UnixMicro(), id: traces[i].ID}
		if err := each(&Exported{Detail: details[i], At: at}); err != nil {
			return err
		}
	}
	return nil
}

// details reads traces that were listed, with their spans. Together their
// payloads must not be too large; a single trace is shown as far as it goes.
func (s *Service) details(ctx context.Context, org principal.OrgID, traces []Trace) ([]Detail, error) {
	ids := make([]span.TraceID, len(traces))
	for i, t := range traces {
		ids[i] = t.ID
	}
	of, err := s.store.bounds(ctx, org, ids)
	if err != nil || len(of) == 0 {
		return nil, err
	}
	pages, err := s.store.pages(ctx, org, of)
	if err != nil {
		return nil, err
	}
	out := make([]Detail, 0, len(traces))
	for _, t := range traces {
		i := slices.IndexFunc(of, func(b bounds) bool { return b.id == t.ID })
		page, ok := pages[t.ID]
		if i < 0 || !ok {
			continue // it was deleted in the meantime
		}
		d := Detail{Truncated: page.more}
		if d.Trace, err = s.ofPage(ctx, org, knownTrace{bounds: of[i], stored: true}, page); err != nil {
			return nil, err
		}
		d.Trace.Ref = t.Ref
		d.Spans, d.Events = page.spans()
		out = append(out, d)
	}
	return out, nil
}

// pages reads the first spans of several traces.
func (s store) pages(ctx context.Context, org principal.OrgID, of scope) (map[span.TraceID]spanPage, error) {
	if len(of) == 1 {
		p, err := s.page(ctx, spansQuery{org: org, of: of, own: true, limit: maxDetailSpans})
		return map[span.TraceID]spanPage{of[0].id: p}, err
	}
	// Payloads are read first: if they are too many the rest is not needed.
	b := payloadBatch{budget: exportBytes}
	if err := b.read(ctx, s, payloadsQuery{org: org, of: of, limit: len(of) * maxDetailSpans}); err != nil {
		return nil, err
	}
	if b.end != nil {
		return nil, errLargeBatch
	}
	var rows []storedSpan
	var events []storedEvent
	err := together(ctx, func(ctx context.Context) (err error) {
		rows, err = s.spans(ctx, spansQuery{org: org, of: of, own: true, limit: maxDetailSpans + 1})
		return err
	}, func(ctx context.Context) (err error) {
		events, err = s.events(ctx, eventsQuery{org: org, ids: of.ids(), limit: len(of) * maxEvents})
		return err
	})
	if err != nil {
		return nil, err
	}
	out := map[span.TraceID]spanPage{}
	for len(rows) > 0 {
		id, n := rows[0].trace, 1
		for n < len(rows) && rows[n].trace == id {
			n++
		}
		p := spanPage{rows: rows[:n:n]}
		rows = rows[n:]
		for _, e := range events {
			if e.trace == id {
				p.events = append(p.events, e)
			}
		}
		p.cut(true, maxDetailSpans, nil)
		for i := range p.rows {
			r := &p.rows[i]
			r.payloadText = b.found[payloadKey{trace: r.trace, span: r.id, version: r.version}]
		}
		out[id] = p
	}
	return out, nil
}
