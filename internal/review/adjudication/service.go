package adjudication

import (
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/annotation"
	"github.com/assayhq/assay/internal/review/annotator"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/tenancy"
)

// Parts are what the service is built from.
type Parts struct {
	Postgres    *postgres.DB
	Tenancy     *tenancy.Service
	Datasets    *dataset.Service
	Scores      *score.Service
	Traces      *trace.Service
	Judges      *judge.Service
	Evaluations *evaluation.Service
	Annotations *annotation.Service
	Panels      *annotator.Service
	Log         *change.Log
	Now         func() time.Time
}

// Service keeps the queue.
type Service struct {
	db          *postgres.DB
	store       store
	tenancy     *tenancy.Service
	datasets    *dataset.Service
	scores      *score.Service
	traces      *trace.Service
	judges      *judge.Service
	evaluations *evaluation.Service
	annotations *annotation.Service
	panels      *annotator.Service
	log         *change.Log
	now         func() time.Time
}

// New makes the service.
func New(p Parts) *Service {
	// The interface shows milliseconds; what is stored is what is shown.
	shown := func() time.Time { return p.Now().Truncate(time.Millisecond) }
	return &Service{
		db: p.Postgres, store: store{p.Postgres}, tenancy: p.Tenancy, datasets: p.Datasets, scores: p.Scores, traces: p.Traces, judges: p.Judges,
		evaluations: p.Evaluations, annotations: p.Annotations, panels: p.Panels, log: p.Log, now: shown,
	}
}
