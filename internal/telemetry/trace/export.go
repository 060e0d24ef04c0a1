package trace

import (
	"context"
	"errors"
	"slices"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

const (
	// exportBatch is how many traces are read together.
	exportBatch = 50
	// exportBytes bounds the payloads of a batch; a batch that holds more is
	// read in halves.
	exportBytes = 8 << 20
)

// Exported is a trace with its spans, and its place in the list.
type Exported struct {
	Detail
	At spandb.Position
}

// Export hands the traces that match to each, one by one, newest first, with
// their spans as a detail shows them. It ends after limit traces, or with the
// error of each.
func (s *Service) Export(ctx context.Context, org principal.OrgID, f Filter, after spandb.Position, limit int, each func(*Exported) error) error {
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
	account := admission.From(ctx).Part()
	defer account.Close()
	batch, err := s.details(admission.With(ctx, account), org, traces)
	if errors.Is(err, spandb.ErrLargePages) {
		account.Close()
		half := len(traces) / 2
		if err := s.export(ctx, org, traces[:half], each); err != nil {
			return err
		}
		return s.export(ctx, org, traces[half:], each)
	}
	if err != nil {
		return err
	}
	for i := range batch {
		if err := each(&batch[i]); err != nil {
			return err
		}
	}
	return nil
}

// details reads traces that were listed, with their spans. Together their
// payloads must not be too large; a single trace is shown as far as it goes.
func (s *Service) details(ctx context.Context, org principal.OrgID, traces []Trace) ([]Exported, error) {
	ids := make([]span.TraceID, len(traces))
	for i, t := range traces {
		ids[i] = t.ID
	}
	of, err := s.store.Bounds(ctx, org, ids)
	if err != nil || len(of) == 0 {
		return nil, err
	}
	pages, err := s.store.Pages(ctx, org, of, exportBytes)
	if err != nil {
		return nil, err
	}
	out := make([]Exported, 0, len(traces))
	for _, t := range traces {
		i := slices.IndexFunc(of, func(b spandb.Bounds) bool { return b.ID == t.ID })
		page, ok := pages[t.ID]
		if i < 0 || !ok {
			continue // it was deleted in the meantime
		}
		d := Exported{Detail: Detail{Truncated: page.More}, At: place(t)}
		if d.Trace, err = s.ofPage(ctx, org, lookup{bounds: of[i], stored: true}, page); err != nil {
			return nil, err
		}
		d.Trace.Ref = t.Ref
		d.Spans, d.Events = page.Spans()
		out = append(out, d)
	}
	return out, nil
}
