package policy

import (
	"time"

	"github.com/assayhq/assay/internal/agent/approval"
	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy"
)

// Parts are what the service is built from.
type Parts struct {
	Postgres  *postgres.DB
	Tenancy   *tenancy.Service
	Evidence  *evidence.Service
	Approvals *approval.Service
	Log       *change.Log
	Now       func() time.Time
}

// Service keeps policies and decides by them.
type Service struct {
	db        *postgres.DB
	store     store
	tenancy   *tenancy.Service
	evidence  *evidence.Service
	approvals *approval.Service
	log       *change.Log
	now       func() time.Time
	clock     func() time.Time // now, not rounded to what is shown
	sets      *setCache
	turns     turns
}

// New makes the service.
func New(p Parts) *Service {
	// What is stored is what is shown: milliseconds.
	shown := func() time.Time { return p.Now().UTC().Truncate(time.Millisecond) }
	return &Service{
		db: p.Postgres, store: store{p.Postgres}, tenancy: p.Tenancy, evidence: p.Evidence, approvals: p.Approvals, log: p.Log, now: shown, clock: p.Now,
		sets: newSetCache(maxCached),
	}
}
