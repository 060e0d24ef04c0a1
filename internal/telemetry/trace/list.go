package trace

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

// Listed is a page of traces.
type Listed struct {
	Traces []Trace
	// Next is where the next page begins; More is false if there is none.
	// A page may be short and have a next one: looking for matches has an end.
	Next spandb.Position
	More bool
}

const (
	// maxExamined is how many traces one request looks at for matches, and
	// maxSearching about how long it looks. What comes then is a short page and
	// a cursor.
	maxExamined  = 20_000
	maxSearching = 10 * time.Second
)

// ErrOffset is returned when a filter is so selective that the offset cannot be
// reached.
var ErrOffset = fault.New(fault.Validation, "use_cursor", "offset is too large for this filter: follow next_cursor instead.")

// List returns traces by their start, newest first. Only traces of which
// something has arrived are listed.
func (s *Service) List(ctx context.Context, org principal.OrgID, f Filter, p Page) (Listed, error) {
	w := s.store.Walk(org, f, p, s.now())
	var out Listed
	skip := p.Offset
	for len(out.Traces) <= p.Limit && w.More() {
		// Without a filter what is skipped need not be read.
		if !f.Filters() {
			w.Skip = skip
		}
		found, skipped, err := w.Next(ctx, skip+p.Limit+1-len(out.Traces))
		if err != nil {
			return Listed{}, err
		}
		skip -= skipped
		n := min(skip, len(found))
		skip -= n
		out.Traces = append(out.Traces, found[n:]...)
		enough := w.Examined >= maxExamined+p.Offset || s.now().Sub(w.Now) > maxSearching
		if enough && w.More() && len(out.Traces) <= p.Limit {
			if skip > 0 {
				return Listed{}, ErrOffset
			}
			out.Next, out.More = w.Below, true
			break
		}
	}
	if len(out.Traces) > p.Limit {
		out.Traces = out.Traces[:p.Limit]
		out.Next, out.More = place(out.Traces[p.Limit-1]), true
	}
	return out, s.number(ctx, org, out.Traces)
}

// number fills in the numbers of the traces that have one.
func (s *Service) number(ctx context.Context, org principal.OrgID, traces []Trace) error {
	ids := make([]span.TraceID, len(traces))
	for i, t := range traces {
		ids[i] = t.ID
	}
	refs, err := s.Numbers(ctx, org, ids)
	for i := range traces {
		traces[i].Ref = refs[ids[i]]
	}
	return err
}

// Count returns how many traces match.
func (s *Service) Count(ctx context.Context, org principal.OrgID, f Filter) (int64, error) {
	return s.store.Count(ctx, org, f, s.now())
}
