package trace

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
)

// Arrival is a trace and when the newest of it came.
type Arrival = spandb.Arrival

// IdleLimit is after how long without a new span a trace reads as closed.
const IdleLimit = spandb.IdleLimit

// Arrivals returns the traces to which something came after a place and until a
// time, in the order of their coming. A trace to which more comes is found again
// where that came. A span that arrives more than a day after its start is not new,
// and does not count.
func (s *Service) Arrivals(ctx context.Context, org principal.OrgID, after Arrival, until time.Time, limit int) ([]Arrival, error) {
	return s.store.Arrivals(ctx, org, after, until, limit)
}

// ArrivedBy is a time until which everything that came can be read, if a write takes
// no longer than settle. Telemetry that is deferred holds it back.
func (s *Service) ArrivedBy(settle time.Duration) time.Time {
	at := s.now()
	if since := s.store.DeferredSince(); !since.IsZero() && since.Before(at) {
		at = since
	}
	return at.Add(-settle)
}

// MaxMatching is how many traces can be matched at once.
const MaxMatching = spandb.MaxSummaries / 2

// Matching returns those of the traces that match, in any order. Inputs and outputs
// are previews.
func (s *Service) Matching(ctx context.Context, org principal.OrgID, f Filter, ids []span.TraceID) ([]Trace, error) {
	return s.store.Matching(ctx, org, f, ids, s.now())
}

// Position is a place in the list of traces, which is newest first.
type Position = spandb.Position
