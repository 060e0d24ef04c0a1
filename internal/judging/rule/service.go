package rule

import (
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/tenancy"
)

// Parts are what the service is built from.
type Parts struct {
	Postgres *postgres.DB
	Tenancy  *tenancy.Service
	Provider *provider.Service
	Traces   *trace.Service
	Scores   *score.Service
	Judges   *judge.Service
	Config   Config
	Log      *change.Log
	Now      func() time.Time
}

// Service keeps rules and executes them.
type Service struct {
	db       *postgres.DB
	store    store
	tenancy  *tenancy.Service
	provider *provider.Service
	traces   *trace.Service
	scores   *score.Service
	judges   *judge.Service
	cfg      Config
	log      *change.Log
	now      func() time.Time
	clock    func() time.Time // now, not rounded to what is shown
}

// New makes the service.
func New(p Parts) *Service {
	// The interface shows milliseconds; what is stored is what is shown.
	shown := func() time.Time { return p.Now().Truncate(time.Millisecond) }
	return &Service{
		db: p.Postgres, store: store{p.Postgres}, tenancy: p.Tenancy, provider: p.Provider, traces: p.Traces, scores: p.Scores, judges: p.Judges,
		cfg: p.Config, log: p.Log, now: shown, clock: p.Now,
	}
}
