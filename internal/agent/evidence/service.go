package evidence

import (
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/tenancy"
)

// Parts are what the service is built from.
type Parts struct {
	Stores
	Config  Config
	Tenancy *tenancy.Service
	Traces  *trace.Service
	Log     *change.Log
	Now     func() time.Time
}

// Service keeps evidence.
type Service struct {
	cfg     Config
	db      *postgres.DB
	store   store
	tenancy *tenancy.Service
	traces  *trace.Service
	log     *change.Log
	now     func() time.Time
}

// New makes the service.
func New(p Parts) *Service {
	// What is stored is what is shown: milliseconds.
	shown := func() time.Time { return p.Now().UTC().Truncate(time.Millisecond) }
	return &Service{cfg: p.Config, db: p.Postgres, store: newStore(p.Stores), tenancy: p.Tenancy, traces: p.Traces, log: p.Log, now: shown}
}
