package probe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy"
)

// Topics of the domain's promises.
const (
	TopicStarted   = "judge_probe.started"
	TopicCancelled = "judge_probe.cancelled"
)

// ErrNotFound is returned when the organization has no such probe.
var ErrNotFound = fault.New(fault.NotFound, "judge_probe_not_found", "The probe does not exist.")

// Bounds of probes.
const (
	MaxSample      = 500
	DefaultSample  = 50
	DefaultAttacks = 60
	DefaultMargin  = 0.05
	maxRunning     = 10 // in an organization
)

// ErrManyProbes is returned for one probe more than an organization may have running.
var ErrManyProbes = fault.New(fault.Conflict, "probe_limit", fmt.Sprintf("The organization has %d running probes, which is the limit. Wait for the end of one or cancel one first.", maxRunning))

// Request is what somebody wants to know.
type Request struct {
	Kinds []Kind `json:"kinds"`
	// Dataset is where the answers are from, in a version; zero takes recent results
	// of the judge.
	Dataset int64 `json:"dataset,omitzero"`
	Version int   `json:"dataset_version,omitzero"`
	// Sample is how many answers are judged at most.
	Sample int `json:"sample"`
	// Attacks is how many attacks of the corpus are tried.
	Attacks int `json:"attacks,omitzero"`
	// Margin is the largest difference of scores that does not matter.
	Margin float64 `json:"margin"`
}

// Probe is an experiment with a judge.
type Probe struct {
	ID      int64
	Config  int64
	Version int // of the judge
	Status  Status
	Request Request
	// Subjects are what is judged, nil until the probe has begun.
	Subjects []int64
	// Units is how many verdicts are wanted, Done how many there are.
	Units, Done int
	Error       *Error
	Report      *Report
	CreatedBy   principal.Actor
	CreatedAt   time.Time
	EndedAt     *time.Time
}

// Error is why a probe failed.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Ticket names a probe in workflows and promises.
type Ticket struct {
	Org   principal.OrgID `json:"org"`
	Probe int64           `json:"probe"`
}

// WorkflowID is the id of a probe's workflow, so that a probe has one.
func (t Ticket) WorkflowID() string { return fmt.Sprintf("judge-probe:%s:%d", t.Org, t.Probe) }

// Parts are what the service is built from.
type Parts struct {
	Postgres *postgres.DB
	Tenancy  *tenancy.Service
	Datasets *dataset.Service
	Judges   *judge.Service
	Log      *change.Log
	Now      func() time.Time
}

// Service probes judges.
type Service struct {
	db       *postgres.DB
	store    store
	tenancy  *tenancy.Service
	datasets *dataset.Service
	judges   *judge.Service
	log      *change.Log
	now      func() time.Time
	clock    func() time.Time
}

// New makes the service.
func New(p Parts) *Service {
	shown := func() time.Time { return p.Now().Truncate(time.Millisecond) }
	return &Service{db: p.Postgres, store: store{p.Postgres}, tenancy: p.Tenancy, datasets: p.Datasets, judges: p.Judges, log: p.Log, now: shown, clock: p.Now}
}

// Check finds the judge of a new probe, and refuses what cannot be asked of it.
func (s *Service) Check(ctx context.Context, org principal.OrgID, id int64, r Request) (judge.Config, Request, error) {
	c, err := s.judges.Find(ctx, org, id)
	if err != nil {
		return c, r, err
	}
	if c.Status == judge.StatusRetired {
		return c, r, judge.ErrRetired
	}
	for i, k := range r.Kinds {
		if !k.fits(c.Current.Spec) {
			return c, r, fault.Invalid("body", "/kinds/"+strconv.Itoa(i), "format", "is for judges that compare two answers, and this one rates one")
		}
	}
	if r.Dataset == 0 {
		if r.Version != 0 {
			return c, r, fault.Invalid("body", "/datasetVersion", "required", "belongs to a dataset: send datasetId too")
		}
		if c.Current.Spec.Pairwise {
			return c, r, fault.Invalid("body", "/datasetId", "required", "is required for judges that compare two answers: results do not keep the other answer")
		}
		return c, r, nil
	}
	if _, err := s.datasets.Find(ctx, org, r.Dataset); errors.Is(err, dataset.ErrNotFound) {
		return c, r, fault.Invalid("body", "/datasetId", "unknown_reference", "is not the id of a dataset")
	} else if err != nil {
		return c, r, err
	}
	if r.Version != 0 {
		if _, err := s.datasets.FindVersion(ctx, org, r.Dataset, r.Version); err != nil {
			if fault.IsNotFound(err) {
				return c, r, fault.Invalid("body", "/datasetVersion", "unknown_reference", "is not a version of the dataset")
			}
			return c, r, err
		}
	}
	return c, r, nil
}

// CreateTx makes a probe of the judge's current version, which runs from then on.
func (s *Service) CreateTx(ctx context.Context, tx postgres.Tx, c judge.Config, r Request) (Probe, error) {
	running, err := s.store.runningTx(ctx, tx)
	if err != nil {
		return Probe{}, err
	}
	if running >= maxRunning {
		return Probe{}, ErrManyProbes
	}
	if r.Dataset != 0 && r.Version == 0 {
		v, err := s.datasets.SnapshotTx(ctx, tx, r.Dataset, "for a probe of the judge "+c.Key)
		if err != nil {
			return Probe{}, err
		}
		r.Version = v.Number
	}
	p := Probe{Config: c.ID, Version: c.Current.Number, Status: StatusRunning, Request: r, CreatedBy: principal.ActorOf(ctx), CreatedAt: s.now()}
	if p.ID, err = s.store.insertTx(ctx, tx, p); err != nil {
		return Probe{}, err
	}
	if err := s.log.PublishTx(ctx, tx, TopicStarted, "judge_probe/"+strconv.FormatInt(p.ID, 10), Ticket{tx.Org, p.ID}); err != nil {
		return Probe{}, err
	}
	return p, change.RecordTx(ctx, s.log, tx, eventCreated, p.ID, nil, &p)
}

// Find returns one probe.
func (s *Service) Find(ctx context.Context, org principal.OrgID, id int64) (Probe, error) {
	return s.store.find(ctx, org, id)
}

// List returns a page of a judge's probes, newest first, with one more than the limit
// if there is a next page.
func (s *Service) List(ctx context.Context, org principal.OrgID, config int64, p postgres.Page) ([]Probe, int64, error) {
	if _, err := s.judges.Find(ctx, org, config); err != nil {
		return nil, 0, err
	}
	return s.store.list(ctx, org, config, p)
}

// CancelTx ends a probe that is running. The verdicts so far are reported.
func (s *Service) CancelTx(ctx context.Context, tx postgres.Tx, id int64) (Probe, error) {
	p, err := s.store.lockTx(ctx, tx, id)
	if err != nil {
		return Probe{}, err
	}
	if err := transitions.Check(ErrTransition, p.Status, StatusCancelled); err != nil {
		return Probe{}, err
	}
	if err := s.log.PublishTx(ctx, tx, TopicCancelled, "judge_probe/"+strconv.FormatInt(id, 10), Ticket{tx.Org, id}); err != nil {
		return Probe{}, err
	}
	return s.endTx(ctx, tx, p, StatusCancelled, nil)
}

// endTx ends a probe that is locked, with a report of the verdicts that there are.
func (s *Service) endTx(ctx context.Context, tx postgres.Tx, p Probe, to Status, why *Error) (Probe, error) {
	prior := p
	report, err := s.summedTx(ctx, tx, p)
	if err != nil {
		return Probe{}, err
	}
	at := s.now()
	p.Status, p.Error, p.Report, p.EndedAt = to, why, &report, &at
	if err := s.store.endTx(ctx, tx, p); err != nil {
		return Probe{}, err
	}
	return p, change.RecordTx(ctx, s.log, tx, endings[to], p.ID, &prior, &p)
}

// summedTx is a report of the verdicts of a probe that there are.
func (s *Service) summedTx(ctx context.Context, tx postgres.Tx, p Probe) (Report, error) {
	verdicts, err := s.store.verdicts(ctx, tx, tx.Org, p.ID)
	if err != nil {
		return Report{}, err
	}
	return newReport(p, verdicts)
}

// reportTx reports again about a cancelled probe that is locked, if there are verdicts
// that its report does not have.
func (s *Service) reportTx(ctx context.Context, tx postgres.Tx, p Probe) error {
	report, err := s.summedTx(ctx, tx, p)
	if err != nil || p.Report != nil && p.Report.Verdicts == report.Verdicts {
		return err
	}
	prior := p
	p.Report = &report
	if err := s.store.reportTx(ctx, tx, p); err != nil {
		return err
	}
	return change.RecordTx(ctx, s.log, tx, eventReported, p.ID, &prior, &p)
}

// cancelPage is how many probes CancelAll looks up at once.
const cancelPage = 100

// CancelAll ends every probe of an organization that is under way and returns how
// many there were.
func (s *Service) CancelAll(ctx context.Context, org principal.OrgID) (ended int64, err error) {
	for {
		ids, err := s.store.running(ctx, org, cancelPage)
		if err != nil {
			return ended, err
		}
		for _, id := range ids {
			err := postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
				_, err := s.CancelTx(ctx, tx, id)
				return err
			})
			if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrTransition) {
				return ended, err
			}
			ended++
		}
		if len(ids) < cancelPage {
			return ended, nil
		}
	}
}
