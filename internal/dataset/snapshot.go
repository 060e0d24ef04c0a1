package dataset

import (
	"context"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// SnapshotTx returns a frozen version that has the items as they are now: the
// newest one if nothing has changed since, or else a new one. An archived
// dataset does not change, so its newest version is taken if there is one.
func (s *Service) SnapshotTx(ctx context.Context, tx postgres.Tx, datasetID int64, note string) (Version, error) {
	d, err := s.store.lockTx(ctx, tx, datasetID)
	if err != nil {
		return Version{}, err
	}
	if d.LatestVersion > 0 {
		v, err := s.store.findVersion(ctx, tx, tx.Org, datasetID, d.LatestVersion)
		if err != nil || v.Digest == d.ContentDigest || d.Status != StatusActive {
			return v, err
		}
	}
	return s.FreezeTx(ctx, tx, datasetID, note)
}

// FindTx returns one dataset.
func (s *Service) FindTx(ctx context.Context, tx postgres.Tx, id int64) (Dataset, error) {
	return s.store.find(ctx, tx, tx.Org, id)
}

// FindVersionTx returns one frozen version.
func (s *Service) FindVersionTx(ctx context.Context, tx postgres.Tx, datasetID int64, number int) (Version, error) {
	return s.store.findVersion(ctx, tx, tx.Org, datasetID, number)
}

// ItemIDs returns up to limit ids of a frozen version's items that are above
// an id, lowest first.
func (s *Service) ItemIDs(ctx context.Context, org principal.OrgID, datasetID int64, version int, above int64, limit int) ([]int64, error) {
	return s.store.itemIDs(ctx, org, datasetID, version, above, limit)
}

// ItemsByID returns items as a frozen version has them, by their ids, until they
// have PageBytes. Read is how many of the ids it looked for, at least one if there
// are any; those of them that the version does not have are left out.
func (s *Service) ItemsByID(ctx context.Context, org principal.OrgID, datasetID int64, version int, ids []int64) (items map[int64]Item, read int, err error) {
	return s.store.itemsByID(ctx, org, datasetID, version, ids)
}

// Labelled returns current items that have a label of a key, lowest id first and
// above an id, until they have PageBytes. None are left when it returns none.
func (s *Service) Labelled(ctx context.Context, org principal.OrgID, datasetID int64, key string, above int64) ([]Item, error) {
	return s.store.labelled(ctx, org, datasetID, key, above, labelledPage)
}

// labelledPage is how many labelled items are read at once.
const labelledPage = 2000
