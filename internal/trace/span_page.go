package trace

import (
	"context"
	"errors"
	"slices"

	"github.com/assayhq/assay/internal/span"
)

const (
	// maxPayload is how many bytes of payloads one page of spans holds; a page
	// that would hold more ends early.
	maxPayload = 32 << 20
	// maxEvents is how many log records one page of spans shows.
	maxEvents = 2000
)

// spanPage is spans of one trace as they are stored, by their start.
type spanPage struct {
	rows   []storedSpan
	events []storedEvent
	more   bool
}

// page reads spans with their payloads and log records. Unless spans are
// skipped the payloads are read at the same time as the spans.
func (s store) page(ctx context.Context, q spansQuery) (p spanPage, err error) {
	limit := q.limit
	q.limit++ // one more tells whether there is a next page
	b := payloadBatch{budget: maxPayload}
	read := payloadsQuery{org: q.org, of: q.of, from: q.after.start, limit: 3*limit + 10}
	rows := func(ctx context.Context) (err error) { p.rows, err = s.first(ctx, q); return err }
	payloads := func(ctx context.Context) error { return b.read(ctx, s, read) }
	events := func(ctx context.Context) (err error) {
		p.events, err = s.events(ctx, eventsQuery{org: q.org, ids: q.of.ids(), limit: maxEvents})
		return err
	}
	if q.offset == 0 {
		err = together(ctx, rows, payloads, events)
	} else if err = rows(ctx); err == nil && len(p.rows) > 0 {
		read.from = p.rows[0].start
		err = together(ctx, payloads, events)
	}
	if err != nil {
		return spanPage{}, err
	}
	p.cut(q.own, limit, b.end)
	for i := range p.rows {
		r := &p.rows[i]
		r.payloadText = b.found[payloadKey{trace: r.trace, span: r.id, version: r.version}]
	}
	return p, nil
}

// maxRows is how many rows of a trace are read to find its newest spans.
const maxRows = 3*maxDetailSpans + 10

// first reads spans. Those of a trace of usual size are read together with
// their older versions, which is quicker than asking for the newest.
func (s store) first(ctx context.Context, q spansQuery) ([]storedSpan, error) {
	if q.after != (spanPosition{}) || q.offset > 0 {
		return s.spans(ctx, q)
	}
	rows, err := s.spans(ctx, rowsQuery{org: q.org, of: q.of, limit: maxRows})
	if err != nil || len(rows) == maxRows {
		if err == nil {
			rows, err = s.spans(ctx, q)
		}
		return rows, err
	}
	newest := map[span.ID]uint64{}
	for i := range rows {
		newest[rows[i].id] = max(newest[rows[i].id], rows[i].version)
	}
	seen := map[span.ID]bool{}
	rows = slices.DeleteFunc(rows, func(r storedSpan) bool {
		if r.version < newest[r.id] || seen[r.id] || !q.own && r.id == (span.ID{}) {
			return true
		}
		seen[r.id] = true
		return false
	})
	return rows, nil
}

// cut ends the page at its limit, and before the payload at which reading them
// ended. It leaves one span in any case.
func (p *spanPage) cut(own bool, limit int, end *spanPosition) {
	first := 0
	if own {
		// The trace's own row comes first and is none of the spans.
		slices.SortStableFunc(p.rows, func(a, b storedSpan) int { return ownFirst(a) - ownFirst(b) })
		if len(p.rows) > 0 && p.rows[0].id == (span.ID{}) {
			first = 1
		}
	}
	n := min(len(p.rows), first+limit)
	if end != nil {
		for n > first+1 && !p.rows[n-1].position().before(*end) {
			n--
		}
	}
	p.more = n < len(p.rows)
	p.rows = p.rows[:n]
}

func ownFirst(s storedSpan) int {
	if s.id == (span.ID{}) {
		return 0
	}
	return 1
}

// forget drops what arrived before the trace was deleted.
func (p *spanPage) forget(deleted int64) {
	if deleted > 0 {
		p.rows = slices.DeleteFunc(p.rows, func(r storedSpan) bool { return r.ingested <= deleted })
	}
}

// spans are the spans of the page with their log records, and the records that
// name none of them.
func (p *spanPage) spans() (spans []Span, others []SpanEvent) {
	of := map[span.ID][]storedEvent{}
	for _, e := range p.events {
		of[e.span] = append(of[e.span], e)
	}
	for i := range p.rows {
		r := &p.rows[i]
		if r.id == (span.ID{}) {
			continue
		}
		spans = append(spans, r.span(of[r.id]))
		delete(of, r.id)
	}
	if p.more {
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
	end *spanPosition
}

func (b *payloadBatch) read(ctx context.Context, s store, q payloadsQuery) error {
	b.found = map[payloadKey]payloadText{}
	n := 0
	var last spanPosition
	err := s.payloads(ctx, q, func(p *storedPayload) error {
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
