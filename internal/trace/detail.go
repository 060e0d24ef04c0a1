package trace

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

const (
	// maxDetailSpans is how many spans a detail shows.
	maxDetailSpans = 1000
	// maxFeedback is how much feedback a detail shows.
	maxFeedback = 100
)

// Detail is a trace with its spans.
type Detail struct {
	Trace Trace
	// Spans are in the order of their start. Truncated is true if there are
	// more.
	Spans     []Span
	Truncated bool
	// Events are the log records that name the trace and none of the spans.
	Events []SpanEvent
	// Feedback is what was said last about the trace, newest first.
	Feedback []Feedback
}

// knownTrace is what is looked up before a trace is read.
type knownTrace struct {
	bounds bounds
	stored bool
	ref    ref
	named  bool
	// deleted is when the trace was deleted last, in milliseconds since 1970:
	// what arrived before then is of another trace with the same id.
	deleted int64
}

// look finds where the trace is stored and what PostgreSQL knows of it.
func (s *Service) look(ctx context.Context, org principal.OrgID, id span.TraceID, more ...func(context.Context) error) (k knownTrace, err error) {
	err = together(ctx, append(more, func(ctx context.Context) error {
		found, err := s.store.bounds(ctx, org, []span.TraceID{id})
		if len(found) > 0 {
			k.bounds, k.stored = found[0], true
		}
		return err
	}, func(ctx context.Context) (err error) {
		k.ref, k.named, err = s.store.findRef(ctx, org, id)
		return err
	}, func(ctx context.Context) error {
		d, ok, err := s.store.findDeletion(ctx, org, id)
		if ok {
			k.deleted = d.requested.UnixMilli()
		}
		return err
	})...)
	return k, err
}

// stub is a trace that is named and of which nothing has arrived.
func (k *knownTrace) stub(id span.TraceID) (Trace, error) {
	if !k.named || !k.ref.stub {
		return Trace{}, ErrNotFound
	}
	return Trace{
		ID: id, Ref: k.ref.number, Status: StatusRunning, Stub: true,
		Start: k.ref.created, CreatedAt: k.ref.created, UpdatedAt: k.ref.created,
	}, nil
}

// Find returns a trace without its spans; its input and output are whole. A
// trace that is only named is a stub.
func (s *Service) Find(ctx context.Context, org principal.OrgID, id span.TraceID) (Trace, error) {
	k, err := s.look(ctx, org, id)
	if err != nil {
		return Trace{}, err
	}
	if !k.stored {
		return k.stub(id)
	}
	t, err := s.whole(ctx, org, k)
	t.Ref = k.ref.number
	return t, err
}

// whole reads a trace with its input and output, without its spans.
func (s *Service) whole(ctx context.Context, org principal.OrgID, k knownTrace) (Trace, error) {
	found, err := s.store.summaries(ctx, summaryQuery{org: org, of: scope{k.bounds}})
	if err != nil {
		return Trace{}, err
	}
	if len(found) == 0 || found[0].ingested <= k.deleted {
		return k.stub(k.bounds.id)
	}
	traces := []Trace{found[0].trace(s.now(), k.bounds)}
	return traces[0], s.fillTold(ctx, org, found, traces)
}

// fillTold replaces the previews of traces by what they are the beginning of.
func (s *Service) fillTold(ctx context.Context, org principal.OrgID, of []summary, traces []Trace) error {
	var q toldQuery
	for i := range of {
		for _, t := range []toldText{of[i].input, of[i].output} {
			if t != (toldText{}) {
				q.texts = append(q.texts, toldOf{trace: of[i].id, toldText: t})
			}
		}
	}
	if len(q.texts) == 0 {
		return nil
	}
	q.org = org
	found := map[payloadKey]payloadText{}
	err := s.store.payloads(ctx, q, func(p *storedPayload) error {
		found[p.key] = p.payloadText
		return nil
	})
	for i := range traces {
		t, m := &traces[i], &of[i]
		if p, ok := found[payloadKey{trace: m.id, span: m.input.span, version: m.input.version}]; ok {
			t.Input = jsonValue(p.input)
		}
		if p, ok := found[payloadKey{trace: m.id, span: m.output.span, version: m.output.version}]; ok {
			t.Output = jsonValue(p.output)
		}
	}
	return err
}

// Read returns a trace with its spans, and gives it a number if it has none.
func (s *Service) Read(ctx context.Context, org principal.OrgID, id span.TraceID) (Detail, error) {
	var d Detail
	k, err := s.look(ctx, org, id, func(ctx context.Context) (err error) {
		d.Feedback, err = s.store.listFeedback(ctx, org, id, maxFeedback)
		return err
	})
	if err != nil {
		return Detail{}, err
	}
	if !k.stored {
		d.Trace, err = k.stub(id)
		return d, err
	}
	var page spanPage
	err = together(ctx, func(ctx context.Context) (err error) {
		page, err = s.store.page(ctx, spansQuery{org: org, of: scope{k.bounds}, own: true, limit: maxDetailSpans})
		return err
	}, func(ctx context.Context) (err error) {
		if !k.named || k.ref.stub {
			k.ref.number, err = s.store.allocateRef(ctx, org, id, s.now())
		}
		return err
	})
	if err != nil {
		return Detail{}, err
	}
	page.forget(k.deleted)
	if len(page.rows) == 0 {
		d.Trace, err = k.stub(id)
		return d, err
	}
	if d.Trace, err = s.ofPage(ctx, org, k, page); err != nil {
		return Detail{}, err
	}
	d.Trace.Ref = k.ref.number
	d.Spans, d.Events = page.spans()
	d.Truncated = page.more
	return d, nil
}

// ofPage is the trace that the rows show, if they are all of it; else it is
// read.
func (s *Service) ofPage(ctx context.Context, org principal.OrgID, k knownTrace, page spanPage) (Trace, error) {
	if page.more {
		return s.whole(ctx, org, k)
	}
	m := summarize(page.rows)
	t := m.trace(s.now(), k.bounds)
	for i := range page.rows {
		r := &page.rows[i]
		if m.input != (toldText{}) && r.id == m.input.span {
			t.Input = jsonValue(r.input)
		}
		if m.output != (toldText{}) && r.id == m.output.span {
			t.Output = jsonValue(r.output)
		}
	}
	return t, nil
}

// SpanPage says which part of a trace's spans is meant.
type SpanPage struct {
	Limit, Offset int
	// After is where the page before ended; the zero position is the start.
	After spanPosition
}

// ListedSpans is a page of spans.
type ListedSpans struct {
	Spans []Span
	// Next is where the next page begins; More is false if there is none. A
	// page with large payloads may be short and have a next one.
	Next spanPosition
	More bool
}

// Spans returns spans of a trace in the order of their start.
func (s *Service) Spans(ctx context.Context, org principal.OrgID, id span.TraceID, p SpanPage) (ListedSpans, error) {
	k, err := s.look(ctx, org, id)
	if err != nil {
		return ListedSpans{}, err
	}
	if !k.stored {
		_, err := k.stub(id)
		return ListedSpans{}, err
	}
	page, err := s.store.page(ctx, spansQuery{org: org, of: scope{k.bounds}, after: p.After, limit: p.Limit, offset: p.Offset})
	if err != nil {
		return ListedSpans{}, err
	}
	page.forget(k.deleted)
	out := ListedSpans{More: page.more}
	if n := len(page.rows); n > 0 {
		out.Next = page.rows[n-1].position()
	}
	out.Spans, _ = page.spans()
	return out, nil
}

// CountSpans returns how many spans a trace has.
func (s *Service) CountSpans(ctx context.Context, org principal.OrgID, id span.TraceID) (int64, error) {
	found, err := s.store.bounds(ctx, org, []span.TraceID{id})
	if err != nil || len(found) == 0 {
		return 0, err
	}
	of, err := s.store.summaries(ctx, summaryQuery{org: org, of: found})
	if err != nil || len(of) == 0 {
		return 0, err
	}
	return int64(of[0].spans), nil
}

// at is a time of a column.
func at(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
