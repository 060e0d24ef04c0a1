package trace

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

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
	read, rejected := readSpans(trace, spans)
	w := batch{spans: read}
	got, err := s.insert(ctx, org, &w, s.now().UnixMicro())
	if err != nil {
		return Added{}, err
	}
	return Added{Spans: w.added, Rejected: append(rejected, w.rejected...), Deferred: got.Deferred}, nil
}

// readSpans checks spans one by one.
func readSpans(trace span.TraceID, spans []jsontext.Value) (read []span.JSONSpan, rejected []Rejected) {
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

// batch is what one request adds: a trace row, spans, or both.
type batch struct {
	row   *spandb.TraceRow
	spans []span.JSONSpan

	added    []AddedSpan
	rejected []Rejected
}

func (w *batch) size() int {
	n := 0
	if w.row != nil {
		n += 512 + len(w.row.Name) + len(w.row.Input) + len(w.row.Output) + len(w.row.Metadata)
	}
	for i := range w.spans {
		n += w.spans[i].Size
	}
	return n
}

// insert stores what a request adds and waits until it is stored. The rows get
// their version from the time.
func (s *Service) insert(ctx context.Context, org principal.OrgID, w *batch, at int64) (Receipt, error) {
	size := w.size()
	if size == 0 {
		return Receipt{}, nil
	}
	settings, err := s.settings.get(ctx, org)
	if err != nil {
		return Receipt{}, err
	}
	in := newIntake(org, settings, at)
	defer in.rows.Release()
	var got Receipt
	err = in.read(ctx, size, func() error {
		if err := w.addTraceRow(in, &got); err != nil {
			return err
		}
		return w.addSpans(in, &got)
	})
	if err != nil {
		return Receipt{}, err
	}
	return s.keep(ctx, in, got)
}

func (w *batch) addTraceRow(in *intake, got *Receipt) error {
	if w.row == nil {
		return nil
	}
	var r span.Record
	w.row.Fill(&r)
	if reason := in.add(&r); reason != "" {
		return fmt.Errorf("store the trace row: %s", reason)
	}
	w.row.Keep(&r, in.text)
	got.Accepted++
	return in.next()
}

func (w *batch) addSpans(in *intake, got *Receipt) error {
	var d span.Decoder
	for i := range w.spans {
		s := &w.spans[i]
		r, reason, err := d.JSON(s)
		if err != nil {
			return fmt.Errorf("read span %d: %w", s.Index, err)
		}
		if reason == "" {
			reason = in.add(r)
		}
		if reason != "" {
			w.rejected = append(w.rejected, Rejected{Index: s.Index, Fields: []fault.Field{{In: "body", Code: "format", Message: reason}}})
			continue
		}
		w.added = append(w.added, AddedSpan{Index: s.Index, ID: s.ID, Name: string(in.text(r.Name)), Start: r.Start})
		got.Accepted++
		if err := in.next(); err != nil {
			return err
		}
	}
	return nil
}
