package trace

import (
	"context"
	"slices"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

// maxFeedback is how much feedback a detail shows.
const maxFeedback = 100

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

// lookup is what is looked up before a trace is read.
type lookup struct {
	bounds   spandb.Bounds
	stored   bool
	ref      ref
	numbered bool
	// deleted is when the trace was deleted last, in milliseconds since 1970:
	// what arrived before then is of another trace with the same id.
	deleted int64
}

// lookUp finds where the trace is stored and what PostgreSQL knows of it.
func (s *Service) lookUp(ctx context.Context, org principal.OrgID, id span.TraceID, more ...func(context.Context) error) (k lookup, err error) {
	err = spandb.Together(ctx, append(more, func(ctx context.Context) error {
		found, err := s.store.Bounds(ctx, org, []span.TraceID{id})
		if len(found) > 0 {
			k.bounds, k.stored = found[0], true
		}
		return err
	}, func(ctx context.Context) (err error) {
		k.ref, k.numbered, err = s.store.findRef(ctx, org, id)
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
func (k *lookup) stub(id span.TraceID) (Trace, error) {
	if !k.numbered || !k.ref.stub {
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
	k, err := s.lookUp(ctx, org, id)
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
func (s *Service) whole(ctx context.Context, org principal.OrgID, k lookup) (Trace, error) {
	found, err := s.store.Summaries(ctx, spandb.SummaryQuery{Org: org, Of: spandb.Scope{k.bounds}})
	if err != nil {
		return Trace{}, err
	}
	if len(found) == 0 || found[0].Ingested <= k.deleted {
		return k.stub(k.bounds.ID)
	}
	traces := []Trace{found[0].Trace(s.now(), k.bounds)}
	return traces[0], s.store.FillTexts(ctx, org, found, traces)
}

// Read returns a trace with its spans, and gives it a number if it has none.
func (s *Service) Read(ctx context.Context, org principal.OrgID, id span.TraceID) (Detail, error) {
	var d Detail
	k, err := s.lookUp(ctx, org, id, func(ctx context.Context) (err error) {
		d.Feedback, err = s.feedback(ctx, org, id)
		return err
	})
	if err != nil {
		return Detail{}, err
	}
	d.Feedback = slices.DeleteFunc(d.Feedback, func(f Feedback) bool { return f.CreatedAt.UnixMilli() <= k.deleted })
	if !k.stored {
		d.Trace, err = k.stub(id)
		return d, err
	}
	var page spandb.SpanPage
	err = spandb.Together(ctx, func(ctx context.Context) (err error) {
		page, err = s.store.Page(ctx, spandb.SpansQuery{Org: org, Of: spandb.Scope{k.bounds}, TraceRow: true, Limit: spandb.MaxDetailSpans})
		return err
	}, func(ctx context.Context) (err error) {
		if !k.numbered || k.ref.stub {
			k.ref.number, err = s.store.allocateRef(ctx, org, id, s.now())
		}
		return err
	})
	if err != nil {
		return Detail{}, err
	}
	page.Forget(k.deleted)
	if len(page.Rows) == 0 {
		d.Trace, err = k.stub(id)
		return d, err
	}
	if d.Trace, err = s.ofPage(ctx, org, k, page); err != nil {
		return Detail{}, err
	}
	d.Trace.Ref = k.ref.number
	d.Spans, d.Events = page.Spans()
	d.Truncated = page.More
	return d, nil
}

// ofPage is the trace that the rows show, if they are all of it; else it is
// read.
func (s *Service) ofPage(ctx context.Context, org principal.OrgID, k lookup, page spandb.SpanPage) (Trace, error) {
	if page.More {
		return s.whole(ctx, org, k)
	}
	m := spandb.Summarize(page.Rows)
	t := m.Trace(s.now(), k.bounds)
	for i := range page.Rows {
		r := &page.Rows[i]
		if m.Input != (spandb.SourcedText{}) && r.ID == m.Input.Span {
			t.Input = m.Input.InputOf(r.Input)
		}
		if m.Output != (spandb.SourcedText{}) && r.ID == m.Output.Span {
			t.Output = m.Output.OutputOf(r.Output)
		}
	}
	return t, nil
}

// SpanPage says which part of a trace's spans is meant.
type SpanPage struct {
	Limit, Offset int
	// After is where the page before ended; the zero position is the start.
	After spandb.SpanPosition
}

// ListedSpans is a page of spans.
type ListedSpans struct {
	Spans []Span
	// Next is where the next page begins; More is false if there is none. A
	// page with large payloads may be short and have a next one.
	Next spandb.SpanPosition
	More bool
}

// Spans returns spans of a trace in the order of their start.
func (s *Service) Spans(ctx context.Context, org principal.OrgID, id span.TraceID, p SpanPage) (ListedSpans, error) {
	k, err := s.lookUp(ctx, org, id)
	if err != nil {
		return ListedSpans{}, err
	}
	if !k.stored {
		_, err := k.stub(id)
		return ListedSpans{}, err
	}
	page, err := s.store.Page(ctx, spandb.SpansQuery{Org: org, Of: spandb.Scope{k.bounds}, After: p.After, Limit: p.Limit, Offset: p.Offset})
	if err != nil {
		return ListedSpans{}, err
	}
	out := ListedSpans{More: page.More}
	if n := len(page.Rows); n > 0 {
		out.Next = page.Rows[n-1].Position()
	}
	page.Forget(k.deleted)
	out.Spans, _ = page.Spans()
	return out, nil
}

// CountSpans returns how many spans a trace has.
func (s *Service) CountSpans(ctx context.Context, org principal.OrgID, id span.TraceID) (int64, error) {
	found, err := s.store.Bounds(ctx, org, []span.TraceID{id})
	if err != nil || len(found) == 0 {
		return 0, err
	}
	of, err := s.store.Summaries(ctx, spandb.SummaryQuery{Org: org, Of: found})
	if err != nil || len(of) == 0 {
		return 0, err
	}
	return int64(of[0].Spans), nil
}
