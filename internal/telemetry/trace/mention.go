package trace

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Mention gives traces a number at their first mention, and returns the numbers of all. A
// trace of which nothing else is known exists from then on.
func (s *Service) Mention(ctx context.Context, org principal.OrgID, ids []span.TraceID) (map[span.TraceID]int64, error) {
	return s.store.refs(ctx, s.store.db.Org(org), org, ids, s.now())
}

// Numbers returns the numbers of those of the traces that have one.
func (s *Service) Numbers(ctx context.Context, org principal.OrgID, ids []span.TraceID) (map[span.TraceID]int64, error) {
	return s.store.refs(ctx, s.store.db.Org(org), org, ids, time.Time{})
}

// NumbersTx is Numbers in a transaction.
func (s *Service) NumbersTx(ctx context.Context, tx postgres.Tx, ids []span.TraceID) (map[span.TraceID]int64, error) {
	return s.store.refs(ctx, tx, tx.Org, ids, time.Time{})
}
