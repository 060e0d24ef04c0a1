package watch

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy"
)

// ErrNotFound is returned when the organization has no such watch.
var ErrNotFound = fault.New(fault.NotFound, "judge_watch_not_found", "The watch does not exist.")

// ErrExists is returned when two watches of a judge start at once.
var ErrExists = fault.New(fault.Conflict, "already_exists", "Another watch of the judge was started at the same time.")

// ErrDrifted is returned for a watch of a version that has drifted.
var ErrDrifted = fault.New(fault.Conflict, "judge_drifted", "The current version of the judge has drifted, so there is nothing left to compare with. Send newVersion to accept the judge as it is now.")

// errChanged is returned when two steps of one watch meet.
var errChanged = fault.New(fault.Conflict, "version_conflict", "The watch has changed meanwhile.")

// maxAnchors is how many anchors a watch can have: more cost more than they show.
const maxAnchors = 500

// Watch is the watch of a judge's version.
type Watch struct {
	ID             int64
	Judge          int64
	Version        int // of the judge
	Dataset        int64
	DatasetVersion int
	Every          time.Duration
	// Tolerance is the shift of the pass rate that does not matter.
	Tolerance float64
	Status    Status
	// Problem says why the last step came to nothing, or why the watch ended.
	Problem string
	Anchors int
	// FlipLimit is how often the judge contradicts itself without any change, at
	// most; zero until that is known.
	FlipLimit float64
	// Evidence is that the judge contradicts its former self more often than that.
	Evidence  float64
	Checks    int
	NextAt    time.Time
	CreatedBy principal.Actor
	CreatedAt time.Time
	UpdatedAt time.Time
	Changes   int64
}

// Revision counts changes of the watch.
func (w Watch) Revision() int64 { return w.Changes }

// holder names the watch where it keeps its dataset from being deleted.
func (w Watch) holder() string { return "judge-watch/" + strconv.FormatInt(w.ID, 10) }

// Parts are what the service is built from.
type Parts struct {
	Postgres *postgres.DB
	Tenancy  *tenancy.Service
	Datasets *dataset.Service
	Judges   *judge.Service
	Log      *change.Log
	Now      func() time.Time
}

// Service watches judges.
type Service struct {
	db       *postgres.DB
	store    store
	tenancy  *tenancy.Service
	datasets *dataset.Service
	judges   *judge.Service
	log      *change.Log
	now      func() time.Time
	clock    func() time.Time // for waiting: now, not rounded to what is shown
}

// New makes the service.
func New(p Parts) *Service {
	return &Service{
		db: p.Postgres, store: store{p.Postgres}, tenancy: p.Tenancy, datasets: p.Datasets, judges: p.Judges, log: p.Log, clock: p.Now,
		now: func() time.Time { return p.Now().Truncate(time.Millisecond) },
	}
}

// Asked is a watch that somebody asks for.
type Asked struct {
	Judge, Dataset int64
	// DatasetVersion is zero for the items as they are now.
	DatasetVersion int
	Every          time.Duration
	Tolerance      float64
	// NewVersion accepts the judge as it is now.
	NewVersion bool
}

// StartTx starts to watch a judge.
func (s *Service) StartTx(ctx context.Context, tx postgres.Tx, a Asked) (Watch, error) {
	w := Watch{
		Judge: a.Judge, Dataset: a.Dataset, Every: a.Every, Tolerance: a.Tolerance, Status: StatusPreparing, Evidence: 1,
		CreatedBy: principal.ActorOf(ctx), CreatedAt: s.now(), Changes: 1,
	}
	w.UpdatedAt, w.NextAt = w.CreatedAt, w.CreatedAt
	c, err := s.judges.FindTx(ctx, tx, a.Judge)
	if err != nil {
		return w, err
	}
	if c.Status == judge.StatusRetired {
		return w, judge.ErrRetired
	}
	if a.NewVersion {
		if c, err = s.judges.RenewTx(ctx, tx, a.Judge); err != nil {
			return w, err
		}
	} else if drifted, err := s.judges.ConditionTx(ctx, tx, a.Judge, c.Current.Number); err != nil || drifted.DriftedAt != nil {
		return w, orDrifted(err)
	}
	w.Version = c.Current.Number
	if err := s.replaceTx(ctx, tx, a.Judge); err != nil {
		return w, err
	}
	if err := s.freezeTx(ctx, tx, &w, a.DatasetVersion); err != nil {
		return w, err
	}
	if w.ID, err = s.store.insertTx(ctx, tx, w); err != nil {
		return w, err
	}
	if err := s.datasets.HoldTx(ctx, tx, w.Dataset, w.holder()); err != nil {
		return w, err
	}
	if err := s.log.PublishTx(ctx, tx, TopicStarted, strconv.FormatInt(w.ID, 10), Ticket{Org: tx.Org, Watch: w.ID}); err != nil {
		return w, err
	}
	return w, change.RecordTx(ctx, s.log, tx, eventStarted, w.ID, nil, &w)
}

// replaceTx ends the open watch of a judge, if it has one.
func (s *Service) replaceTx(ctx context.Context, tx postgres.Tx, of int64) error {
	open, err := s.store.openTx(ctx, tx, of)
	if err != nil || open == 0 {
		return err
	}
	_, err = s.moveTx(ctx, tx, open, func(w *Watch) error {
		w.Status, w.Problem = StatusStopped, "Another watch took its place."
		return nil
	}, eventStopped)
	return err
}

func orDrifted(err error) error {
	if err != nil {
		return err
	}
	return ErrDrifted
}

// freezeTx finds the anchors of a new watch: all items of a frozen version.
func (s *Service) freezeTx(ctx context.Context, tx postgres.Tx, w *Watch, version int) error {
	unknown := func(err error, field, what string) error {
		if fault.IsNotFound(err) {
			return fault.Invalid("body", field, "unknown_reference", what)
		}
		return err
	}
	var v dataset.Version
	var err error
	if version == 0 {
		v, err = s.datasets.SnapshotTx(ctx, tx, w.Dataset, "Anchors of a judge")
	} else {
		v, err = s.datasets.FindVersionTx(ctx, tx, w.Dataset, version)
	}
	if err != nil {
		return unknown(err, "/datasetId", "is not the id of a dataset, or the dataset does not have this version")
	}
	if v.ItemCount > maxAnchors {
		return fault.Invalid("body", "/datasetId", "format", fmt.Sprintf("must have at most %d items, and has %d: choose some of them at random", maxAnchors, v.ItemCount))
	}
	w.DatasetVersion, w.Anchors = v.Number, int(v.ItemCount)
	return nil
}

// StopTx ends a watch. One that has ended stays as it is.
func (s *Service) StopTx(ctx context.Context, tx postgres.Tx, id int64) (Watch, error) {
	return s.moveTx(ctx, tx, id, func(w *Watch) error {
		if !w.Status.open() {
			return transitions.In(ErrTransition, w.Status)
		}
		w.Status = StatusStopped
		return nil
	}, eventStopped)
}

// CheckTx has a watch check its judge now.
func (s *Service) CheckTx(ctx context.Context, tx postgres.Tx, id int64) (Watch, error) {
	w, err := s.store.lockTx(ctx, tx, id)
	if err != nil {
		return w, err
	}
	if !w.Status.open() {
		return w, transitions.In(ErrEnded, w.Status)
	}
	after, at := w, s.now()
	after.NextAt, after.UpdatedAt, after.Changes = at, at, w.Changes+1
	if err := s.store.updateTx(ctx, tx, w, after); err != nil {
		return w, err
	}
	if err := s.log.PublishTx(ctx, tx, TopicDue, strconv.FormatInt(id, 10), Ticket{Org: tx.Org, Watch: id}); err != nil {
		return w, err
	}
	return after, change.RecordTx(ctx, s.log, tx, eventCheckRequested, id, &w, &after)
}

// moveTx changes a watch and, if it moves to another status, records the event. A watch that ends lets go of
// its dataset.
func (s *Service) moveTx(ctx context.Context, tx postgres.Tx, id int64, edit func(*Watch) error, happened event.Type) (Watch, error) {
	before, err := s.store.lockTx(ctx, tx, id)
	if err != nil {
		return before, err
	}
	after := before
	if err := edit(&after); err != nil {
		return before, err
	}
	if after.Status != before.Status {
		if err := transitions.Check(ErrTransition, before.Status, after.Status); err != nil {
			return before, err
		}
	}
	after.UpdatedAt, after.Changes = s.now(), before.Changes+1
	if err := s.store.updateTx(ctx, tx, before, after); err != nil {
		return before, err
	}
	if !after.Status.open() {
		if err := s.datasets.ReleaseTx(ctx, tx, after.Dataset, after.holder()); err != nil {
			return before, err
		}
		// Its workflow looks, and ends.
		if err := s.log.PublishTx(ctx, tx, TopicDue, strconv.FormatInt(id, 10), Ticket{Org: tx.Org, Watch: id}); err != nil {
			return before, err
		}
	}
	if after.Status == before.Status {
		return after, nil
	}
	return after, change.RecordTx(ctx, s.log, tx, happened, id, &before, &after)
}

// Find returns one watch.
func (s *Service) Find(ctx context.Context, org principal.OrgID, id int64) (Watch, error) {
	return s.store.find(ctx, org, id)
}

// List returns a page of the watches of a judge, with one more than the limit if there
// is a next page.
func (s *Service) List(ctx context.Context, org principal.OrgID, of int64, p postgres.Page) ([]Watch, int64, error) {
	if _, err := s.judges.Find(ctx, org, of); err != nil {
		return nil, 0, err
	}
	return s.store.list(ctx, org, of, p)
}

// Checks returns a page of a watch's checks, with one more than the limit if there is
// a next page.
func (s *Service) Checks(ctx context.Context, org principal.OrgID, watch int64, p postgres.Page) ([]Check, int64, error) {
	if _, err := s.store.find(ctx, org, watch); err != nil {
		return nil, 0, err
	}
	return s.store.checks(ctx, org, watch, p)
}
