package approval

import (
	"time"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy"
)

// Parts are what the service is built from.
type Parts struct {
	Postgres *postgres.DB
	Tenancy  *tenancy.Service
	Evidence *evidence.Service
	Log      *change.Log
	Now      func() time.Time
}

// Service keeps approvals.
type Service struct {
	db       *postgres.DB
	store    store
	tenancy  *tenancy.Service
	evidence *evidence.Service
	log      *change.Log
	now      func() time.Time
}

// New makes the service.
func New(p Parts) *Service {
	// What is stored is what is shown: milliseconds.
	shown := func() time.Time { return p.Now().UTC().Truncate(time.Millisecond) }
	return &Service{db: p.Postgres, tenancy: p.Tenancy, evidence: p.Evidence, log: p.Log, now: shown}
}
