package evidence

import (
	"context"
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

// things writes what lasts, in transactions.
type things struct {
	cfg    Config
	store  store
	traces *trace.Service
	log    *change.Log
	now    func() time.Time
}

// expiry is when keys of what is stored now may be forgotten.
func (s *things) expiry() time.Time { return s.now().AddDate(0, 0, s.cfg.RetentionDays+1) }

// intake takes reports from where they are parsed to the store.
type intake struct {
	things
	db      *postgres.DB
	tenancy *tenancy.Service
}

// Service keeps evidence.
type Service struct{ intake }

// New makes the service.
func New(p Parts) *Service {
	// What is stored is what is shown: milliseconds.
	shown := func() time.Time { return p.Now().UTC().Truncate(time.Millisecond) }
	kept := things{cfg: p.Config, store: newStore(p.Stores), traces: p.Traces, log: p.Log, now: shown}
	return &Service{intake{things: kept, db: p.Postgres, tenancy: p.Tenancy}}
}

// SweepKeys forgets the keys of records that are gone, and returns how many.
func (s *Service) SweepKeys(ctx context.Context) (int64, error) { return s.store.SweepKeys(ctx) }
