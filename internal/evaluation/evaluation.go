package evaluation

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/semaphore"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/score"
	"github.com/assayhq/assay/internal/tenancy"
)

// ErrNotFound is returned when the organization has no such evaluation.
var ErrNotFound = fault.New(fault.NotFound, "evaluation_not_found", "There is no such evaluation.")

// ErrVersionConflict is returned when the evaluation has changed since the
// caller read it.
var ErrVersionConflict = fault.New(fault.Conflict, "version_conflict", "The evaluation has changed since you read it. Read it again and repeat the change.")

// ErrArchived is returned for a run of an archived evaluation.
var ErrArchived = fault.New(fault.Conflict, "evaluation_archived", "The evaluation is archived, so no run of it can begin. Restore it first.")

// ErrUnresolved is returned when a strict request names what does not exist.
var ErrUnresolved = fault.New(fault.Validation, "unknown_reference", "The evaluation names something that does not exist.")

// Evaluation is what is measured, on which dataset and how.
type Evaluation struct {
	ID          int64
	Name        string
	Description string
	// DatasetID is looked up when a run begins. A DatasetVersion of zero means
	// the items as they are then.
	DatasetID      string
	DatasetVersion int
	Plan           Plan
	Tags           []string
	Metadata       jsontext.Value
	Archived       *time.Time
	CreatedBy      string
	CreatedAt      time.Time
	UpdatedAt      time.Time
	Version        int64

	// What its runs say.
	Status    Status
	LatestRun int64
	Outcome   *Outcome // of the newest completed run
	running   bool
	latest    string // the newest run's status
}

// Filter selects evaluations; an empty field matches everything.
type Filter struct {
	Status        Status
	DatasetID     string
	Tag           string
	Search        string
	CreatedAfter  *time.Time
	CreatedBefore *time.Time
	Limit, Offset int
}

// Parts are what the service is built from.
type Parts struct {
	Postgres *postgres.DB
	Scores   *score.Service
	Datasets *dataset.Service
	People   *tenancy.Service
	Models   *llm.Client
	Egress   *egress.Client
	Blobs    *blob.Store
	Config   Config
	Log      *change.Log
	Now      func() time.Time
}

// Service keeps evaluations and executes their runs.
type Service struct {
	cfg      Config
	db       *postgres.DB
	store    store
	scores   *score.Service
	datasets *dataset.Service
	people   *tenancy.Service
	models   *llm.Client
	egress   *egress.Client
	blobs    *blob.Store
	metrics  *metric.Registry
	log      *change.Log
	now      func() time.Time
	clock    func() time.Time // for durations: now, not rounded to what is shown
	reading  *semaphore.Weighted
}

// New makes the service.
func New(p Parts) *Service {
	// The interface shows milliseconds; what is stored is what is shown.
	shown := func() time.Time { return p.Now().Truncate(time.Millisecond) }
	return &Service{
		cfg: p.Config, db: p.Postgres, store: store{p.Postgres}, scores: p.Scores, datasets: p.Datasets, people: p.People,
		models: p.Models, egress: p.Egress, blobs: p.Blobs, metrics: metric.NewRegistry(), log: p.Log, now: shown, clock: p.Now,
		reading: semaphore.NewWeighted(maxRead),
	}
}

// CreateTx makes an evaluation. What it names need not exist yet; the warnings
// say what does not, and make the creation fail if it is strict.
func (s *Service) CreateTx(ctx context.Context, tx postgres.Tx, e Evaluation, strict bool) (Evaluation, []Warning, error) {
	warnings, err := s.checkTx(ctx, tx, e, strict)
	if err != nil {
		return Evaluation{}, nil, err
	}
	e.Status, e.CreatedBy, e.CreatedAt = StatusPending, actor(ctx), s.now()
	e.UpdatedAt = e.CreatedAt
	if e, err = s.store.insertTx(ctx, tx, e); err != nil {
		return Evaluation{}, nil, err
	}
	return e, warnings, s.auditTx(ctx, tx, "evaluation.created", "evaluation", e.ID, nil, e)
}

// Find returns one evaluation.
func (s *Service) Find(ctx context.Context, org principal.OrgID, id int64) (Evaluation, error) {
	return s.store.find(ctx, s.db.Org(org), org, id)
}

// List returns a page of evaluations, newest first, and how many there are.
func (s *Service) List(ctx context.Context, org principal.OrgID, f Filter) ([]Evaluation, int64, error) {
	return s.store.list(ctx, org, f)
}

// UpdateTx changes an evaluation; runs that have begun keep the plan they began
// with. Edit gets the evaluation as it is and changes it in place. A nonzero
// expected version must be the current one.
func (s *Service) UpdateTx(ctx context.Context, tx postgres.Tx, id, expected int64, strict bool, edit func(*Evaluation)) (Evaluation, []Warning, error) {
	before, err := s.store.lockTx(ctx, tx, id)
	if err != nil {
		return Evaluation{}, nil, err
	}
	if expected != 0 && expected != before.Version {
		return Evaluation{}, nil, ErrVersionConflict.With("currentVersion", before.Version)
	}
	after := before
	edit(&after)
	warnings, err := s.checkTx(ctx, tx, after, strict)
	if err != nil || reflect.DeepEqual(before, after) {
		return after, warnings, err
	}
	after.UpdatedAt, after.Version = s.now(), before.Version+1
	if err := s.store.updateTx(ctx, tx, before, after); err != nil {
		return Evaluation{}, nil, err
	}
	after.Status = statusOf(after)
	return after, warnings, s.auditTx(ctx, tx, "evaluation.updated", "evaluation", id, before, after)
}

// ArchiveTx puts an evaluation away: it stays readable, and no run of it can
// begin. Archiving twice is archiving once.
func (s *Service) ArchiveTx(ctx context.Context, tx postgres.Tx, id int64) (Evaluation, error) {
	at := s.now()
	before, err := s.store.lockTx(ctx, tx, id)
	if err != nil || before.Archived != nil {
		return before, err
	}
	after := before
	after.Archived, after.UpdatedAt, after.Version = &at, at, before.Version+1
	after.Status = statusOf(after)
	if err := s.store.updateTx(ctx, tx, before, after); err != nil {
		return Evaluation{}, err
	}
	return after, s.auditTx(ctx, tx, "evaluation.archived", "evaluation", id, before, after)
}

// checkTx refuses a plan that can never work and warns of what is not there yet.
func (s *Service) checkTx(ctx context.Context, tx postgres.Tx, e Evaluation, strict bool) ([]Warning, error) {
	_, warnings, err := s.measures(e.Plan)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(e.Plan.PassRule.check(e.Plan.Metrics), s.checkTarget(e.Plan.Target)); err != nil {
		return nil, err
	}
	id, err := datasetID(e.DatasetID)
	if err == nil {
		_, err = s.datasets.FindTx(ctx, tx, id)
	}
	if err != nil && !errors.Is(err, dataset.ErrNotFound) {
		return nil, err
	}
	if err != nil {
		warnings = append(warnings, Warning{"dataset_unresolved", e.DatasetID, "There is no dataset " + e.DatasetID + ". A run will fail until there is one."})
	}
	if strict && len(warnings) > 0 {
		var fields []fault.Field
		for _, w := range warnings {
			path := "/datasetId"
			if w.Code == "metric_unresolved" {
				path = "/metrics"
			}
			fields = append(fields, fault.Field{In: "body", Path: path, Code: "unknown_reference", Message: w.Message})
		}
		return nil, ErrUnresolved.WithFields(fields...)
	}
	return warnings, nil
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

// actor names who does something, in the way that rows remember it.
func actor(ctx context.Context) string {
	c := principal.From(ctx)
	switch {
	case c.User != nil:
		return "user/" + c.User.String()
	case c.KeyID != "":
		return "key/" + c.KeyID
	default:
		return "system"
	}
}

func (s *Service) auditTx(ctx context.Context, tx postgres.Tx, action, resource string, id int64, before, after any) error {
	return s.log.AuditTx(ctx, tx, change.Entry{Action: action, Resource: resource, ID: strconv.FormatInt(id, 10), Before: before, After: after})
}
