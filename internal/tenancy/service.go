package tenancy

import (
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/ratelimit"
	"github.com/assayhq/assay/internal/platform/secret"
)

// Parts are what the service is built from.
type Parts struct {
	Stores
	Config  Config
	Plans   PlanConfig
	Log     *change.Log
	Limiter ratelimit.Limiter
	// Secrets is nil if the deployment has no master key; provider keys cannot
	// be kept then.
	Secrets *secret.Keeper
	Egress  *egress.Client
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
	secrets  *secret.Keeper
	egress   *egress.Client
	meter    *meter
	routes   map[string]route
	now      func() time.Time
}

// route is how an operation is called, for figures of usage.
type route struct{ Method, Path string }

// New makes the service.
func New(p Parts) *Service {
	return &Service{
		cfg: p.Config, plans: p.Plans, db: p.Postgres, store: store{db: p.Postgres, ch: p.ClickHouse}, log: p.Log,
		cache: newKeyCache(p.Now), verifier: newVerifier(p.Config), limiter: p.Limiter, secrets: p.Secrets, egress: p.Egress, meter: newMeter(),
		routes: map[string]route{}, now: p.Now,
	}
}
