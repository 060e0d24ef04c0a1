package annotation

import (
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/annotation/internal/gather"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/tenancy"
)

// Parts are what the service is built from.
type Parts struct {
	Postgres    *postgres.DB
	Tenancy     *tenancy.Service
	Datasets    *dataset.Service
	Traces      *trace.Service
	Scores      *score.Service
	Evaluations *evaluation.Service
	Log         *change.Log
	Now         func() time.Time
}

// Service keeps the work of people.
type Service struct {
	db          *postgres.DB
	store       store
	tenancy     *tenancy.Service
	datasets    *dataset.Service
	traces      *trace.Service
	scores      *score.Service
	evaluations *evaluation.Service
	log         *change.Log
	now         func() time.Time
}

// New makes the service.
func New(p Parts) *Service {
	return &Service{
		db: p.Postgres, store: store{p.Postgres}, tenancy: p.Tenancy, datasets: p.Datasets, traces: p.Traces, scores: p.Scores, evaluations: p.Evaluations, log: p.Log,
		now: func() time.Time { return p.Now().Truncate(time.Millisecond) },
	}
}

// sources reads what items of a task are made of.
func (s *Service) sources() gather.Reader {
	return gather.Reader{Postgres: s.db, Datasets: s.datasets, Evaluations: s.evaluations, Scores: s.scores, Traces: s.traces, MaxItem: maxItem}
}
