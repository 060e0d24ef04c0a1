package spandb

import (
	"context"
	"errors"
	"slices"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/telemetry/span"
)

const (
	// MaxPayload is how many bytes of payloads one page of spans holds; a page
	// that would hold more ends early.
	MaxPayload = 32 << 20
	// MaxDetailSpans is how many spans a detail shows.
	MaxDetailSpans = 1000
	// maxEvents is how many log records one page of spans shows.
	maxEvents = 2000
)

// SpanPage is spans of one trace as they are stored, by their start.
type SpanPage struct {
	Rows   []StoredSpan
	events []storedEvent
	More   bool
}

// Page reads spans with their payloads and log records. Unless spans are
// skipped the payloads are read at the same time as the spans.
func (s DB) Page(ctx context.Context, q SpansQuery) (p SpanPage, err error) {
	limit := q.Limit
	q.Limit++ // one more tells whether there is a next page
	b := payloadBatch{budget: MaxPayload}
	read := payloadsQuery{org: q.Org, of: q.Of, from: q.After.Start, limit: 3*limit + 10}
	rows := func(ctx context.Context) (err error) { p.Rows, err = s.first(ctx, q); return err }
	payloads := func(ctx context.Context) error { return b.read(ctx, s, read) }
	events := func(ctx context.Context) (err error) {
		p.events, err = s.events(ctx, eventsQuery{org: q.Org, ids: q.Of.ids(), limit: maxEvents})
		return err
	}
	if q.Offset == 0 {
		err = Together(ctx, rows, payloads, events)
	} else if err = rows(ctx); err == nil && len(p.Rows) > 0 {
		read.from = p.Rows[0].start
		err = Together(ctx, payloads, events)
	}
	if err != nil {
		return SpanPage{}, err
	}
	p.cut(q.TraceRow, limit, b.end)
	for i := range p.Rows {
		r := &p.Rows[i]
		r.payloadText = b.found[payloadKey{trace: r.trace, span: r.ID, version: r.version}]
	}
	return p, nil
}

// maxRows is how many rows of a trace are read to find its newest spans.
const maxRows = 3*MaxDetailSpans + 10

// first reads spans. Those of a trace of usual size are read together with
// their older versions, which is quicker than asking for the newest.
func (s DB) first(ctx context.Context, q SpansQuery) ([]StoredSpan, error) {
	if q.After != (SpanPosition{}) || q.Offset > 0 {
		return s.spans(ctx, q)
	}
	rows, err := s.spans(ctx, rowsQuery{org: q.Org, of: q.Of, limit: maxRows})
	if err != nil || len(rows) == maxRows {
		if err == nil {
			rows, err = s.spans(ctx, q)
		}
		return rows, err
	}
	return slices.DeleteFunc(newest(rows), func(r StoredSpan) bool { return !q.TraceRow && r.ID == (span.ID{}) }), nil
}

// cut ends the page at its limit, and before the payload at which reading them
// ended. It leaves one span in any case.
func (p *SpanPage) cut(traceRow bool, limit int, end *SpanPosition) {
	first := 0
	if traceRow {
		// The trace row comes first and does not count as a span.
		slices.SortStableFunc(p.Rows, func(a, b StoredSpan) int { return traceRowFirst(a) - traceRowFirst(b) })
		if len(p.Rows) > 0 && p.Rows[0].ID == (span.ID{}) {
			first = 1
		}
	}
	n := min(len(p.Rows), first+limit)
	if end != nil {
		for n > first+1 && !p.Rows[n-1].Position().before(*end) {
			n--
		}
	}
	p.More = n < len(p.Rows)
	p.Rows = p.Rows[:n]
}

func traceRowFirst(s StoredSpan) int {
	if s.ID == (span.ID{}) {
		return 0
	}
	return 1
}

// Forget drops what arrived before the trace was deleted.
func (p *SpanPage) Forget(deleted int64) {
	if deleted > 0 {
		p.Rows = slices.DeleteFunc(p.Rows, func(r StoredSpan) bool { return r.ingested <= deleted })
	}
}

// Spans are the spans of the page with their log records, and the records that
// name none of them.
func (p *SpanPage) Spans() (spans []Span, others []SpanEvent) {
	of := map[span.ID][]storedEvent{}
	for _, e := range p.events {
		of[e.span] = append(of[e.span], e)
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		if r.ID == (span.ID{}) {
			continue
		}
		spans = append(spans, r.span(of[r.ID]))
		delete(of, r.ID)
	}
	if p.More {
		return spans, nil // the others may be of spans that come later
	}
	var rest []storedEvent
	for _, e := range p.events {
		if _, ok := of[e.span]; ok {
			rest = append(rest, e)
		}
	}
	return spans, mergeEvents("", rest)
}

// payloadBatch collects payloads up to a budget.
type payloadBatch struct {
	budget int
	size   int
	found  map[payloadKey]payloadText
	// end is the payload at which reading ended early, nil if all were read.
	end *SpanPosition
}

func (b *payloadBatch) read(ctx context.Context, s DB, q payloadsQuery) error {
	b.found = map[payloadKey]payloadText{}
	n := 0
	var last SpanPosition
	account := admission.From(ctx)
	err := s.payloads(ctx, q, func(p *storedPayload) error {
		if err := account.Wait(ctx, p.size()); err != nil {
			return err
		}
		b.found[p.key] = p.payloadText
		b.size += p.size()
		last = p.position()
		if n++; n == q.limit || b.size > b.budget {
			b.end = &last
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return err
}

// ErrLargePages is returned if the payloads of several traces are too much at
// once.
var ErrLargePages = errors.New("the payloads of these traces are too large to be read together")

// Pages reads the first spans of several traces. It returns ErrLargePages if
// their payloads are more than budget bytes.
func (s DB) Pages(ctx context.Context, org principal.OrgID, of Scope, budget int) (map[span.TraceID]SpanPage, error) {
	if len(of) == 1 {
		p, err := s.Page(ctx, SpansQuery{Org: org, Of: of, TraceRow: true, Limit: MaxDetailSpans})
		return map[span.TraceID]SpanPage{of[0].ID: p}, err
	}
	// Payloads are read first: if they are too many the rest is not needed.
	b := payloadBatch{budget: budget}
	if err := b.read(ctx, s, payloadsQuery{org: org, of: of, limit: len(of) * MaxDetailSpans}); err != nil {
		return nil, err
	}
	if b.end != nil {
		return nil, ErrLargePages
	}
	var rows []StoredSpan
	var events []storedEvent
	err := Together(ctx, func(ctx context.Context) (err error) {
		rows, err = s.spans(ctx, SpansQuery{Org: org, Of: of, TraceRow: true, Limit: MaxDetailSpans + 1})
		return err
	}, func(ctx context.Context) (err error) {
		events, err = s.events(ctx, eventsQuery{org: org, ids: of.ids(), limit: len(of) * maxEvents})
		return err
	})
	if err != nil {
		return nil, err
	}
	out := map[span.TraceID]SpanPage{}
	for len(rows) > 0 {
		id, n := rows[0].trace, 1
		for n < len(rows) && rows[n].trace == id {
			n++
		}
		p := SpanPage{Rows: rows[:n:n]}
		rows = rows[n:]
		for _, e := range events {
			if e.trace == id {
				p.events = append(p.events, e)
			}
		}
		p.cut(true, MaxDetailSpans, nil)
		for i := range p.Rows {
			r := &p.Rows[i]
			r.payloadText = b.found[payloadKey{trace: r.trace, span: r.ID, version: r.version}]
		}
		out[id] = p
	}
	return out, nil
}
