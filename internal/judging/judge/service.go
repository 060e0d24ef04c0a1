package judge

import (
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/dataset"
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
	Datasets *dataset.Service
	Provider *provider.Service
	Scores   *score.Service
	Traces   *trace.Service
	Log      *change.Log
	Now      func() time.Time
}

// Service keeps judges and asks them.
type Service struct {
	db       *postgres.DB
	store    store
	tenancy  *tenancy.Service
	datasets *dataset.Service
	provider *provider.Service
	scores   *score.Service
	traces   *trace.Service
	log      *change.Log
	now      func() time.Time
	clock    func() time.Time // for durations: now, not rounded to what is shown
}

// New makes the service.
func New(p Parts) *Service {
	// The interface shows milliseconds; what is stored is what is shown.
	shown := func() time.Time { return p.Now().Truncate(time.Millisecond) }
	return &Service{
		db: p.Postgres, store: store{p.Postgres}, tenancy: p.Tenancy, datasets: p.Datasets, provider: p.Provider, scores: p.Scores, traces: p.Traces,
		log: p.Log, now: shown, clock: p.Now,
	}
}
