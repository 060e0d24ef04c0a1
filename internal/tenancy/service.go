package tenancy

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/ratelimit"
)

// Parts are what the service is built from.
type Parts struct {
	Stores
	Config  Config
	Plans   PlanConfig
	Log     *change.Log
	Limiter ratelimit.Limiter
	Now     func() time.Time
}

// Service keeps organizations, people and keys, recognises callers and meters
// them.
type Service struct {
	cfg      Config
	plans    PlanConfig
	db       *postgres.DB
	store    store
	log      *change.Log
	cache    *keyCache
	verifier *verifier
	limiter  ratelimit.Limiter
	failures *failures
	meter    *meter
	routes   map[string]route
	now      func() time.Time
	clock    func() time.Time
}

// route is how an operation is called, for figures of usage.
type route struct{ Method, Path string }

// New makes the service.
func New(p Parts) *Service {
	// The interface shows milliseconds; what is stored is what is shown, so
	// that a shown time can be used as a filter.
	shown := func() time.Time { return p.Now().Truncate(time.Millisecond) }
	return &Service{
		cfg: p.Config, plans: p.Plans, db: p.Postgres, store: store{db: p.Postgres, ch: p.ClickHouse}, log: p.Log,
		cache: newKeyCache(p.Now), verifier: newVerifier(p.Config), limiter: p.Limiter, failures: newFailures(p.Config.FailuresMinute, p.Now), meter: newMeter(),
		routes: map[string]route{}, now: shown, clock: p.Now,
	}
}

// LineageTx returns the lineage of some keys.
func (s *Service) LineageTx(ctx context.Context, tx postgres.Tx, keys ...int64) (Lineage, error) {
	return s.store.lineageTx(ctx, tx, keys)
}
