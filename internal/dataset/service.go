package dataset

import (
	"context"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// TopicDeleted is published when a dataset is deleted.
const TopicDeleted = "dataset.deleted"

// Purge is a deleted dataset that is to be removed for good.
type Purge struct {
	Org       principal.OrgID `json:"org"`
	DatasetID int64           `json:"dataset_id"`
	NotBefore time.Time       `json:"not_before"`
}

// Service keeps datasets.
type Service struct {
	db    *postgres.DB
	log   *change.Log
	store store
	now   func() time.Time
}

// New makes the service.
func New(pg *postgres.DB, log *change.Log, now func() time.Time) *Service {
	// The interface shows milliseconds; what is stored is what is shown, so
	// that a shown time can be used as a filter.
	shown := func() time.Time { return now().Truncate(time.Millisecond) }
	return &Service{db: pg, log: log, store: store{pg}, now: shown}
}

// CreateTx makes an active dataset without items.
func (s *Service) CreateTx(ctx context.Context, tx postgres.Tx, d Dataset) (Dataset, error) {
	if _, err := compileSchema(d.Schema); err != nil {
		return Dataset{}, err
	}
	d.Status, d.ContentDigest = StatusActive, new(contentSum).digest()
	d.CreatedAt = s.now()
	d.UpdatedAt = d.CreatedAt
	d, err := s.store.insertTx(ctx, tx, d)
	if err != nil {
		return Dataset{}, err
	}
	return d, change.RecordTx(ctx, s.log, tx, eventCreated, d.ID, nil, &d)
}

// Find returns one dataset.
func (s *Service) Find(ctx context.Context, org principal.OrgID, id int64) (Dataset, error) {
	return s.store.find(ctx, s.db.Org(org), org, id)
}

// List returns a page of datasets, newest first, with one dataset more than the
// limit if there is a next page.
func (s *Service) List(ctx context.Context, org principal.OrgID, f Filter) ([]Dataset, int64, error) {
	return s.store.list(ctx, org, f)
}

// UpdateTx changes a dataset. Edit gets the dataset as it is and changes it in
// place; if nothing changes, nothing is written. A nonzero expected version
// must be the current one.
func (s *Service) UpdateTx(ctx context.Context, tx postgres.Tx, id, expected int64, edit func(*Dataset)) (Dataset, error) {
	return change.Update(change.Edit[Dataset]{
		Expected: expected, Conflict: ErrVersionConflict,
		// The lock makes changes of one dataset happen one after the other: only a
		// caller who expects a version can meet a conflict.
		Lock: func() (Dataset, error) {
			d, err := s.store.lockTx(ctx, tx, id)
			return d.Dataset, err
		},
		Apply: func(d *Dataset) error { edit(d); return nil },
		Save: func(before Dataset, after *Dataset) error {
			if err := move(before.Status, after.Status); err != nil {
				return err
			}
			if _, err := compileSchema(after.Schema); err != nil {
				return err
			}
			after.UpdatedAt, after.Version = s.now(), before.Version+1
			return s.store.updateTx(ctx, tx, before, *after)
		},
		Audit: func(before, after Dataset) error {
			return change.RecordTx(ctx, s.log, tx, eventUpdated, id, &before, &after)
		},
	})
}

// DeleteTx deletes a dataset that nobody holds. It is gone for every reader at
// once; its rows are purged after the retention time.
func (s *Service) DeleteTx(ctx context.Context, tx postgres.Tx, id int64) error {
	// The lock makes the deletion see every hold that was taken before it.
	before, err := s.store.lockTx(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := change.RecordTx(ctx, s.log, tx, eventDeleted, id, &before.Dataset, nil); err != nil {
		return err
	}
	if err := s.store.deleteTx(ctx, tx, id, s.now()); err != nil {
		return err
	}
	return s.log.PublishTx(ctx, tx, TopicDeleted, strconv.FormatInt(id, 10), Purge{Org: tx.Org, DatasetID: id, NotBefore: s.now()})
}

// HoldTx keeps a dataset from being deleted until ReleaseTx. The holder names
// itself, for example "run/77"; holding twice is holding once.
func (s *Service) HoldTx(ctx context.Context, tx postgres.Tx, id int64, holder string) error {
	// The lock makes a concurrent deletion wait, and then see the hold.
	if _, err := s.store.lockTx(ctx, tx, id); err != nil {
		return err
	}
	return s.store.holdTx(ctx, tx, id, holder, s.now())
}

// ReleaseTx ends a hold; ending it twice does nothing.
func (s *Service) ReleaseTx(ctx context.Context, tx postgres.Tx, id int64, holder string) error {
	return s.store.releaseTx(ctx, tx, id, holder)
}
