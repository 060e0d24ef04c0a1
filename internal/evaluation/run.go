package evaluation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/internal/chunk"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ErrRunNotFound is returned when the evaluation has no such run.
var ErrRunNotFound = fault.New(fault.NotFound, "run_not_found", "The evaluation has no such run.")

// Bounds of a run.
const (
	maxConcurrency = 512
	maxRepetitions = 100
	maxUnits       = maxRead // items times repetitions
)

// Request is what a run is asked for: the caller's wishes, and the evaluation as
// it is when the run begins.
type Request struct {
	DatasetID      string               `json:"dataset_id"`
	DatasetVersion int                  `json:"dataset_version,omitzero"`
	ReleaseID      string               `json:"release_id,omitzero"`
	Environment    string               `json:"environment,omitzero"`
	BaselineRun    int64                `json:"baseline_run,omitzero"`
	Baseline       requirement.Baseline `json:"-"` // instead of BaselineRun, which it becomes
	SampleSize     int                  `json:"sample_size,omitzero"`
	Seed           *int64               `json:"seed,omitzero"`
	Repetitions    int                  `json:"repetitions"`
	ClusterKey     string               `json:"cluster_key,omitzero"`
	Concurrency    int                  `json:"concurrency"`
	BudgetUSD      *float64             `json:"budget_usd,omitzero"`
	Margin         *float64             `json:"margin,omitzero"`
	Metadata       jsontext.Value       `json:"metadata,omitzero"`
	Resumes        int64                `json:"resumes,omitzero"` // the run whose answers are kept
	Plan           scoring.Plan         `json:"plan"`
}

// Resolved is what a run works on, fixed when it begins.
type Resolved struct {
	Dataset       int64  `json:"dataset"`
	Version       int    `json:"version"`
	VersionDigest string `json:"version_digest"`
	Items         int    `json:"items"`
	Units         int    `json:"units"` // items times repetitions
	Seed          int64  `json:"seed"`
	ConfigDigest  string `json:"config_digest"`
}

// RunError is why a run failed.
type RunError struct {
	Code    string
	Message string
}

// Error says what went wrong.
func (e *RunError) Error() string { return e.Code + ": " + e.Message }

// The codes of failed runs.
const (
	CodeDatasetNotFound    = "dataset_not_found"
	CodeDatasetEmpty       = "dataset_empty"
	CodeTooManyUnits       = "too_many_units"
	CodeProviderKeyMissing = "provider_key_missing"
	CodeTargetUnreachable  = "target_unreachable"
	CodeScorerUnreachable  = "scorer_unreachable"
	CodeMetricUnresolved   = "metric_unresolved"
	CodeBudgetExceeded     = chunk.CodeBudgetExceeded
	CodeTimeout            = "timeout"
	CodeSuspended          = "organization_suspended"
	CodeClusterKey         = "cluster_key_unmatched"
)

// Run is one execution of an evaluation.
type Run struct {
	ID         int64
	Evaluation int64
	Status     Status
	Phase      Phase
	Request    Request
	Resolved   *Resolved // nil while queued
	Outcome    *Outcome  // nil until the run has ended
	Error      *RunError
	Verdict    requirement.Verdict // of the newest gate, or FAIL once one failed; empty before the first
	CreatedBy  principal.Actor
	StartedAt  time.Time
	UpdatedAt  time.Time
	Completed  *time.Time
	HeardAt    *time.Time
	Final      bool
}

// at is where the run's results are.
func (r Run) at(org principal.OrgID) result.Run {
	return result.Run{Org: org, ID: r.ID, Started: r.StartedAt}
}

// ErrTooManyRuns is returned for one run more than an organization may have in
// progress. What has begun ends sooner when little waits behind it.
var ErrTooManyRuns = fault.New(fault.RateLimited, "too_many_runs", "The organization has as many runs in progress as it may. Wait until some end, or cancel them.").With("retryAfterSeconds", 5)

// StartTx records a run and promises its workflow.
//
// The row is the promise: once it is committed the run will happen. If the
// workflow engine is away the run stays queued and begins when it is back.
func (s *Service) StartTx(ctx context.Context, tx postgres.Tx, evaluation int64, want Request) (Run, error) {
	e, err := s.store.lockTx(ctx, tx, evaluation)
	if err != nil {
		return Run{}, err
	}
	if e.Archived != nil {
		return Run{}, ErrArchived
	}
	switch running, err := s.store.allRunning(ctx, tx, tx.Org, int32(s.cfg.Runs)); {
	case err != nil:
		return Run{}, err
	case len(running) == s.cfg.Runs:
		return Run{}, ErrTooManyRuns
	}
	if want.Resumes != 0 {
		if want, err = s.resumedTx(ctx, tx, evaluation, want); err != nil {
			return Run{}, err
		}
	} else {
		found, err := s.judgedTx(ctx, tx, e)
		if err != nil {
			return Run{}, err
		}
		want.Plan, want.DatasetID = found.Plan, e.DatasetID
	}
	if want.DatasetVersion == 0 {
		want.DatasetVersion = e.DatasetVersion
	}
	want.Repetitions = max(1, want.Repetitions)
	if want.Concurrency == 0 {
		want.Concurrency = e.Plan.Target.Concurrency
	}
	if want.Concurrency == 0 {
		want.Concurrency = s.cfg.Concurrency
	}
	if want.BaselineRun, err = s.baselineTx(ctx, tx, e, want); err != nil {
		return Run{}, err
	}
	want.Baseline = ""
	r := Run{
		Evaluation: evaluation, Status: StatusRunning, Phase: PhaseQueued, Request: want,
		CreatedBy: principal.ActorOf(ctx), StartedAt: s.now(),
	}
	r.UpdatedAt = r.StartedAt
	if r, err = s.store.insertRunTx(ctx, tx, r); err != nil {
		return Run{}, err
	}
	if err := s.log.PublishTx(ctx, tx, TopicStarted, "run/"+strconv.FormatInt(r.ID, 10), Ticket{Org: tx.Org, Run: r.ID}); err != nil {
		return Run{}, err
	}
	return r, change.RecordTx(ctx, s.log, tx, eventRunStarted, r.ID, nil, &r)
}

// baselineTx is the run that a new run is to be compared with, zero if none was
// asked for.
func (s *Service) baselineTx(ctx context.Context, tx postgres.Tx, e Evaluation, want Request) (int64, error) {
	switch {
	case want.Baseline != "" && want.BaselineRun != 0:
		return 0, fault.Invalid("body", "/baseline", "mutually_exclusive", "names a run, and so does baselineRunId: send one of them")
	case want.Baseline != "":
		id, err := s.store.baseline(ctx, tx, tx.Org, e, Run{ID: math.MaxInt64, Request: want}, want.Baseline)
		if none := (*requirement.NoBaseline)(nil); errors.As(err, &none) {
			return 0, fault.Invalid("body", "/baseline", "unknown_reference", "names no run: "+none.Error())
		}
		return id, err
	case want.BaselineRun != 0:
		_, err := s.baselineRunTx(ctx, tx, e.ID, want.BaselineRun)
		return want.BaselineRun, err
	}
	return 0, nil
}

// ErrBaseline is returned for a baseline that another evaluation has, or none.
var ErrBaseline = fault.Invalid("body", "/baselineRunId", "unknown_reference", "does not name a run of this evaluation: use the id of one of its runs")

// baselineRunTx is the run of an evaluation that a request names as a baseline.
func (s *Service) baselineRunTx(ctx context.Context, tx postgres.Tx, evaluation, id int64) (Run, error) {
	r, err := s.store.findRun(ctx, tx, tx.Org, id)
	if errors.Is(err, ErrRunNotFound) || err == nil && r.Evaluation != evaluation {
		err = ErrBaseline
	}
	return r, err
}

// branch is that of the measured application, as the run's metadata has it.
func (r Run) branch() string {
	var known struct {
		Branch string `json:"branch"`
	}
	_ = json.Unmarshal(r.Request.Metadata, &known) // anybody's metadata: only a text is a branch
	return known.Branch
}

// Baseline finds the run that a run of an evaluation is to be compared with, among
// those before it.
func (s *Service) Baseline(ctx context.Context, org principal.OrgID, e Evaluation, run Run, b requirement.Baseline) (int64, error) {
	return s.store.baseline(ctx, s.db.Org(org), org, e, run, b)
}

// SetVerdictTx records what a gate decided about a run, which stays as it is until
// the transaction ends. A run that failed one stays failed.
func (s *Service) SetVerdictTx(ctx context.Context, tx postgres.Tx, run int64, v requirement.Verdict) error {
	return s.store.setVerdictTx(ctx, tx, run, v, s.now())
}

// FindRun returns one run of an evaluation.
func (s *Service) FindRun(ctx context.Context, org principal.OrgID, evaluation, id int64) (Run, error) {
	if _, err := s.Find(ctx, org, evaluation); err != nil {
		return Run{}, err
	}
	r, err := s.store.findRun(ctx, s.db.Org(org), org, id)
	if err == nil && r.Evaluation != evaluation {
		err = ErrRunNotFound
	}
	return r, err
}

// RunOf returns a run of any evaluation that is not deleted.
func (s *Service) RunOf(ctx context.Context, org principal.OrgID, id int64) (Run, error) {
	r, err := s.store.findRun(ctx, s.db.Org(org), org, id)
	if err != nil {
		return r, err
	}
	return s.FindRun(ctx, org, r.Evaluation, id)
}

// RunFilter selects runs; an empty field matches everything.
type RunFilter struct {
	Statuses                    []Status // any of them
	CreatedAfter, CreatedBefore *time.Time
	postgres.Page
}

// Runs returns a page of an evaluation's runs, newest first, with one run more
// than the limit if there is a next page.
func (s *Service) Runs(ctx context.Context, org principal.OrgID, evaluation int64, f RunFilter) ([]Run, int64, error) {
	if _, err := s.Find(ctx, org, evaluation); err != nil {
		return nil, 0, err
	}
	return s.store.listRuns(ctx, org, evaluation, f)
}

// CancelTx ends a running run. Its results so far stay readable. Nothing more is
// asked of its target within about a second; what was asked already is paid for,
// so answers that still come soon are results too, and are in the run's figures.
func (s *Service) CancelTx(ctx context.Context, tx postgres.Tx, evaluation, id int64) (Run, error) {
	if _, err := s.store.find(ctx, tx, tx.Org, evaluation); err != nil {
		return Run{}, err
	}
	before, err := s.store.lockRunTx(ctx, tx, id)
	if err == nil && before.Evaluation != evaluation {
		err = ErrRunNotFound
	}
	if err != nil {
		return Run{}, err
	}
	if err := transitions.Check(ErrTransition, before.Status, StatusCancelled); err != nil {
		return Run{}, err
	}
	return s.cancelTx(ctx, tx, before)
}

// endTx moves a running run to its end and lets go of the dataset.
func (s *Service) endTx(ctx context.Context, tx postgres.Tx, r Run, to Status, why *RunError) (Run, error) {
	at := s.now()
	if err := s.store.moveRunTx(ctx, tx, r.ID, to, why, at); err != nil {
		return Run{}, err
	}
	// It may hold its dataset although it never came to work on it.
	if id, err := strconv.ParseInt(r.Request.DatasetID, 10, 64); err == nil {
		if err := s.datasets.ReleaseTx(ctx, tx, id, holder(r.ID)); err != nil {
			return Run{}, err
		}
	}
	r.Status, r.Phase, r.Error, r.Completed, r.UpdatedAt = to, PhaseDone, why, &at, at
	return r, nil
}

// holder is the name under which a run holds its dataset.
func holder(run int64) string { return fmt.Sprintf("run/%d", run) }
