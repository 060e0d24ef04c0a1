package evaluation

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/semaphore"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/artifact"
	"github.com/assayhq/assay/internal/evaluation/internal/linked"
	"github.com/assayhq/assay/internal/evaluation/internal/progress"
	"github.com/assayhq/assay/internal/evaluation/purge"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/tenancy"
)

// ErrNotFound is returned when the organization has no such evaluation.
var ErrNotFound = fault.New(fault.NotFound, "evaluation_not_found", "The evaluation does not exist.")

// ErrVersionConflict is returned when the evaluation has changed since the
// caller read it.
var ErrVersionConflict = fault.New(fault.Conflict, "version_conflict", "The evaluation has changed since you read it. Read it again and repeat the change.")

// ErrArchived is returned for a run of an archived evaluation.
var ErrArchived = fault.New(fault.Conflict, "evaluation_archived", "The evaluation is archived, so a run cannot be started. Restore it with archived: false first.")

// ErrUnresolved is returned when a strict request names what does not exist.
var ErrUnresolved = fault.New(fault.Validation, "unknown_reference", "The evaluation names something that does not exist.")

// ErrInUse is returned for a deletion while a run is under way.
var ErrInUse = fault.New(fault.Conflict, "in_use", "A run of the evaluation is under way. Cancel it or wait until it has ended, then delete the evaluation.")

// Evaluation is what is measured, on which dataset and how.
type Evaluation struct {
	ID          int64
	Name        string
	Description string
	// DatasetID is looked up when a run begins. A DatasetVersion of zero means
	// the items as they are then.
	DatasetID      string
	DatasetVersion int
	Plan           scoring.Plan
	// Baseline is the run that it is pinned to, which drift over many releases is
	// measured from; zero if there is none.
	Baseline  int64
	Tags      []string
	Metadata  jsontext.Value
	Archived  *time.Time
	CreatedBy principal.Actor
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64

	// What its runs say.
	Status    Status
	LatestRun int64
	Outcome   *Outcome // of the newest completed run
	running   bool
	latest    string // the newest run's status
}

// Summary is an evaluation in a list: without its configuration and statistics.
type Summary struct {
	ID             int64
	Name           string
	Status         Status
	Overall        *float64 // of the newest completed run
	DatasetID      string
	DatasetVersion int
	Tags           []string
	Archived       bool
	LatestRun      int64
	CreatedAt      time.Time
	UpdatedAt      time.Time
	Version        int64
}

// Filter selects evaluations; an empty field matches everything.
type Filter struct {
	Statuses      []Status // any of them
	DatasetID     string
	Tag           string
	Search        string
	CreatedAfter  *time.Time
	CreatedBefore *time.Time
	// Below continues under an evaluation's id.
	Below         int64
	Limit, Offset int
}

// Parts are what the service is built from.
type Parts struct {
	Postgres *postgres.DB
	Results  *result.Service
	Datasets *dataset.Service
	Tenancy  *tenancy.Service
	Provider *provider.Service
	Traces   *trace.Service
	Scores   *score.Service
	Judges   *judge.Service
	Effects  linked.Effects
	Blobs    *blob.Store
	Config   Config
	Log      *change.Log
	Now      func() time.Time
}

// Service keeps evaluations and executes their runs.
type Service struct {
	cfg       Config
	db        *postgres.DB
	store     store
	progress  progress.Store
	results   *result.Service
	artifacts *artifact.Service
	datasets  *dataset.Service
	tenancy   *tenancy.Service
	provider  *provider.Service
	traces    *trace.Service
	scores    *score.Service
	judges    *judge.Service
	effects   linked.Effects
	metrics   *metric.Registry
	log       *change.Log
	now       func() time.Time
	clock     func() time.Time // for durations: now, not rounded to what is shown
	reading   *semaphore.Weighted
	beginning *semaphore.Weighted // of runs, in requests
}

// New makes the service.
func New(p Parts) *Service {
	// The interface shows milliseconds; what is stored is what is shown.
	shown := func() time.Time { return p.Now().Truncate(time.Millisecond) }
	s := &Service{
		cfg: p.Config, db: p.Postgres, store: store{p.Postgres}, progress: progress.Store{DB: p.Postgres}, results: p.Results, datasets: p.Datasets, tenancy: p.Tenancy,
		provider: p.Provider, traces: p.Traces, scores: p.Scores, judges: p.Judges, effects: p.Effects, metrics: metric.NewRegistry(), log: p.Log, now: shown, clock: p.Now,
		reading: semaphore.NewWeighted(maxRead), beginning: semaphore.NewWeighted(1),
	}
	s.artifacts = artifact.New(artifact.Parts{Postgres: p.Postgres, Blobs: p.Blobs, Now: shown, Evaluation: func(ctx context.Context, org principal.OrgID, id int64) error {
		_, err := s.Find(ctx, org, id)
		return err
	}})
	return s
}

// CreateTx makes an evaluation. What it names need not exist yet, unless the
// caller is strict.
func (s *Service) CreateTx(ctx context.Context, tx postgres.Tx, e Evaluation, strict bool) (Evaluation, error) {
	if err := s.checkTx(ctx, tx, e, strict); err != nil {
		return Evaluation{}, err
	}
	e.Status, e.CreatedBy, e.CreatedAt = StatusPending, principal.ActorOf(ctx), s.now()
	e.UpdatedAt = e.CreatedAt
	e, err := s.store.insertTx(ctx, tx, e)
	if err != nil {
		return Evaluation{}, err
	}
	return e, change.RecordTx(ctx, s.log, tx, eventCreated, e.ID, nil, &e)
}

// Find returns one evaluation.
func (s *Service) Find(ctx context.Context, org principal.OrgID, id int64) (Evaluation, error) {
	return s.store.find(ctx, s.db.Org(org), org, id)
}

// List returns a page of evaluations, newest first, with one evaluation more than
// the limit if there is a next page, and the number of all of them.
func (s *Service) List(ctx context.Context, org principal.OrgID, f Filter) ([]Summary, int64, error) {
	return s.store.list(ctx, org, f)
}

// UpdateTx changes an evaluation; runs that have begun keep the plan they began
// with. Edit gets the evaluation as it is and changes it in place. A nonzero
// expected version must be the current one.
func (s *Service) UpdateTx(ctx context.Context, tx postgres.Tx, id, expected int64, strict bool, edit func(*Evaluation)) (Evaluation, error) {
	return change.Update(change.Edit[Evaluation]{
		Expected: expected, Conflict: ErrVersionConflict,
		Lock: func() (Evaluation, error) { return s.store.lockTx(ctx, tx, id) },
		Apply: func(e *Evaluation) error {
			pinned := e.Baseline
			edit(e)
			if e.Baseline != 0 && e.Baseline != pinned {
				if err := s.checkPinnedTx(ctx, tx, *e); err != nil {
					return err
				}
			}
			return s.checkTx(ctx, tx, *e, strict)
		},
		Save: func(before Evaluation, after *Evaluation) error {
			after.UpdatedAt, after.Version, after.Status = s.now(), before.Version+1, statusOf(*after)
			return s.store.updateTx(ctx, tx, before, *after)
		},
		Audit: func(before, after Evaluation) error {
			return change.RecordTx(ctx, s.log, tx, eventUpdated, id, &before, &after)
		},
	})
}

// mostNamed is how many runs a refusal names.
const mostNamed = 20

// DeleteTx removes an evaluation with its runs, results and artifacts: nothing
// of it can be read once the transaction is committed, and its content is
// purged after the retention time. It is refused while a run is under way.
func (s *Service) DeleteTx(ctx context.Context, tx postgres.Tx, id int64) error {
	before, err := s.store.lockTx(ctx, tx, id) // no run begins meanwhile
	if err != nil {
		return err
	}
	running, err := s.store.runningTx(ctx, tx, id, mostNamed)
	if err != nil {
		return err
	}
	if len(running) > 0 {
		ids := make([]string, len(running))
		for i, run := range running {
			ids[i] = strconv.FormatInt(run, 10)
		}
		return ErrInUse.With("runIds", ids)
	}
	if err := s.store.deleteTx(ctx, tx, id, s.now()); err != nil {
		return err
	}
	if err := s.log.PublishTx(ctx, tx, purge.TopicDeleted, "evaluation/"+strconv.FormatInt(id, 10), purge.Purge{Org: tx.Org, Evaluation: id, NotBefore: s.now()}); err != nil {
		return err
	}
	return change.RecordTx(ctx, s.log, tx, eventDeleted, id, &before, nil)
}

// checkPinnedTx refuses a baseline whose figures do not stand.
func (s *Service) checkPinnedTx(ctx context.Context, tx postgres.Tx, e Evaluation) error {
	r, err := s.baselineRunTx(ctx, tx, e.ID, e.Baseline)
	if err == nil && r.Status != StatusCompleted {
		err = fault.Invalid("body", "/baselineRunId", "unknown_reference", "is a run that has not completed: pin one that has")
	}
	return err
}

// checkTx refuses a plan that can never work, and, if the caller is strict, one
// that names what does not exist.
func (s *Service) checkTx(ctx context.Context, tx postgres.Tx, e Evaluation, strict bool) error {
	if err := e.Plan.CheckExternal(s.metrics, s.provider); err != nil {
		return err
	}
	_, _, err := e.Plan.Measures(s.metrics)
	if err != nil {
		return err
	}
	if err := errors.Join(e.Plan.PassRule.Check(e.Plan.Metrics), e.Plan.Target.Check(s.provider)); err != nil || !strict {
		return err
	}
	_, warnings, err := s.namedTx(ctx, tx, e)
	if err != nil || len(warnings) == 0 {
		return err
	}
	var fields []fault.Field
	for _, w := range warnings {
		fields = append(fields, fault.Field{In: "body", Path: w.Path(), Code: "unknown_reference", Message: w.Message})
	}
	return ErrUnresolved.WithFields(fields...)
}

// named looks up what an evaluation names, as resolve says.
func (s *Service) named(ctx context.Context, org principal.OrgID, e Evaluation) (items int64, warnings []scoring.Warning, err error) {
	found, err := s.judged(ctx, org, e)
	if err != nil {
		return 0, nil, err
	}
	return resolve(s.metrics, found, func(id int64) (dataset.Dataset, error) { return s.datasets.Find(ctx, org, id) })
}

// namedTx is named within a transaction.
func (s *Service) namedTx(ctx context.Context, tx postgres.Tx, e Evaluation) (items int64, warnings []scoring.Warning, err error) {
	found, err := s.judgedTx(ctx, tx, e)
	if err != nil {
		return 0, nil, err
	}
	return resolve(s.metrics, found, func(id int64) (dataset.Dataset, error) { return s.datasets.FindTx(ctx, tx, id) })
}

// resolve looks up what an evaluation names: how many items its dataset has, and
// what does not exist.
func resolve(metrics *metric.Registry, e Evaluation, find func(id int64) (dataset.Dataset, error)) (items int64, warnings []scoring.Warning, err error) {
	// Parameters that a metric no longer takes are for the next change to mend.
	_, warnings, _ = e.Plan.Measures(metrics)
	for _, id := range e.Plan.Judges {
		if name := strconv.FormatInt(id, 10); !slices.ContainsFunc(e.Plan.Judged, func(j scoring.Judged) bool { return j.Judge == id }) {
			warnings = append(warnings, scoring.Warning{Code: "judge_config_unresolved", Subject: name, Message: "The judge configuration " + name + " does not exist or is not active."})
		}
	}
	id, err := datasetID(e.DatasetID)
	var d dataset.Dataset
	if err == nil {
		d, err = find(id)
	}
	if errors.Is(err, dataset.ErrNotFound) {
		return 0, append(warnings, scoring.Warning{Code: "dataset_unresolved", Subject: e.DatasetID, Message: "The dataset " + e.DatasetID + " does not exist. Runs fail until it does."}), nil
	}
	return d.ItemCount, warnings, err
}

// findDataset looks a dataset up by the text that an evaluation has.
func (s *Service) findDataset(ctx context.Context, org principal.OrgID, text string) (dataset.Dataset, error) {
	id, err := datasetID(text)
	if err != nil {
		return dataset.Dataset{}, err
	}
	return s.datasets.Find(ctx, org, id)
}

// datasetID is the number behind the text that an evaluation has.
func datasetID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, dataset.ErrNotFound
	}
	return id, nil
}
