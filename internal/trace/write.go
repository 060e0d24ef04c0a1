package trace

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// named finds the id of the trace that a path names, by its hexadecimal id or
// by its number. An id may name a trace that does not exist yet.
func (s *Service) named(ctx context.Context, org principal.OrgID, text string) (span.TraceID, error) {
	if len(text) == 2*len(span.TraceID{}) {
		id, ok := span.ParseTraceID(text)
		if !ok {
			return span.TraceID{}, ErrNotFound
		}
		return id, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || text != strconv.FormatInt(n, 10) {
		return span.TraceID{}, ErrNotFound
	}
	r, err := s.store.findNumber(ctx, org, n)
	return r.trace, err
}

// existing finds the id of a trace that the organization has.
func (s *Service) existing(ctx context.Context, org principal.OrgID, text string) (span.TraceID, error) {
	id, err := s.named(ctx, org, text)
	if err != nil {
		return span.TraceID{}, err
	}
	r, ok, err := s.store.findRef(ctx, org, id)
	if err != nil {
		return span.TraceID{}, err
	}
	if ok && r.alive() {
		return id, nil
	}
	ok, err = s.stored(ctx, org, id)
	if err == nil && !ok {
		err = ErrNotFound
	}
	return id, err
}

// stored reports whether ClickHouse has something of the trace that came after
// its last deletion.
func (s *Service) stored(ctx context.Context, org principal.OrgID, id span.TraceID) (bool, error) {
	e, ok, err := s.store.extent(ctx, org, id)
	if err != nil || !ok {
		return false, err
	}
	d, deleted, err := s.store.findDeletion(ctx, org, id)
	return !deleted || e.lastIngest.After(d.requested), err
}

// Rejected is a span of a request that is not taken, and why.
type Rejected struct {
	Index  int
	Fields []fault.Field
}

// AddedSpan is a span of a request that is taken.
type AddedSpan struct {
	Index int
	ID    span.ID
	Name  string
	Start int64 // microseconds since 1970
}

// Added is what became of the spans of a request.
type Added struct {
	Spans    []AddedSpan
	Rejected []Rejected
	Deferred bool
}

// AddSpans stores spans that are sent as JSON, in the documented casing. Spans
// that are not valid are reported and leave the others alone.
func (s *Service) AddSpans(ctx context.Context, org principal.OrgID, trace span.TraceID, spans []jsontext.Value) (Added, error) {
	read, rejected := s.readSpans(trace, spans)
	w := write{spans: read}
	got, err := s.write(ctx, org, &w, s.now().UnixMicro())
	if err != nil {
		return Added{}, err
	}
	return Added{Spans: w.added, Rejected: append(rejected, w.rejected...), Deferred: got.Deferred}, nil
}

// readSpans checks spans one by one.
func (s *Service) readSpans(trace span.TraceID, spans []jsontext.Value) (read []span.JSONSpan, rejected []Rejected) {
	d := span.JSONReader{Trace: trace}
	for i, raw := range spans {
		span, fields := d.Read(i, raw)
		if len(fields) > 0 {
			rejected = append(rejected, Rejected{Index: i, Fields: fields})
			continue
		}
		read = append(read, span)
	}
	return read, rejected
}

// write is what one request adds: a trace's own row, spans, or both.
type write struct {
	own   *ownRow
	spans []span.JSONSpan

	added    []AddedSpan
	rejected []Rejected
}

func (w *write) size() int {
	n := 0
	if w.own != nil {
		n += 512 + len(w.own.Name) + len(w.own.Input) + len(w.own.Output) + len(w.own.Metadata)
	}
	for i := range w.spans {
		n += w.spans[i].Size
	}
	return n
}

// write stores what a request adds and waits until it is stored. The rows get
// their version from the time.
func (s *Service) write(ctx context.Context, org principal.OrgID, w *write, at int64) (Receipt, error) {
	size := w.size()
	if size == 0 {
		return Receipt{}, nil
	}
	if err := s.inflight.take(org, size); err != nil {
		return Receipt{}, err
	}
	defer s.inflight.give(org, size)
	settings, err := s.settings.get(ctx, org)
	if err != nil {
		return Receipt{}, err
	}
	got, err := s.collect(ctx, size, func(b *block, p pass, got *Receipt) error {
		w.rejected = nil
		in := intake{block: b, pass: p, org: org, settings: settings, now: at}
		if err := w.addOwn(&in, got); err != nil {
			return err
		}
		return w.addSpans(&in, got)
	})
	slices.SortFunc(w.added, func(a, b AddedSpan) int { return a.Index - b.Index })
	return got, err
}

func (w *write) addOwn(in *intake, got *Receipt) error {
	if w.own == nil {
		return nil
	}
	var r span.Record
	w.own.fill(&r)
	switch taken, reason := in.add(&r); {
	case reason != "":
		return fmt.Errorf("store the trace's own row: %s", reason)
	case taken:
		w.own.keep(&r)
		got.Accepted++
	default:
		got.later++
	}
	return nil
}

func (w *write) addSpans(in *intake, got *Receipt) error {
	var d span.Decoder
	for i := range w.spans {
		s := &w.spans[i]
		r, reason, err := d.JSON(s)
		if err != nil {
			return fmt.Errorf("read span %d: %w", s.Index, err)
		}
		taken := false
		if reason == "" {
			taken, reason = in.add(r)
		}
		switch {
		case reason != "":
			w.rejected = append(w.rejected, Rejected{Index: s.Index, Fields: []fault.Field{{In: "body", Code: "format", Message: reason}}})
		case taken:
			w.added = append(w.added, AddedSpan{Index: s.Index, ID: s.ID, Name: string(r.Name), Start: r.Start})
			got.Accepted++
		default:
			got.later++
		}
	}
	return nil
}
