package dataset

import (
	"context"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ErrVersionNotFound is returned when the dataset has no such frozen version.
var ErrVersionNotFound = fault.New(fault.NotFound, "dataset_version_not_found", "The dataset does not have this frozen version.")

// Version is a frozen state of a dataset. Its items and their contents never
// change, and its digest names them: equal digests mean equal contents.
type Version struct {
	Number    int
	ItemCount int64
	Digest    Digest
	Note      string
	CreatedAt time.Time
}

// FreezeTx makes a version of the items as they are now. It costs the same for
// ten items and for a hundred million.
func (s *Service) FreezeTx(ctx context.Context, tx postgres.Tx, datasetID int64, note string) (Version, error) {
	d, err := s.store.lockTx(ctx, tx, datasetID)
	if err != nil {
		return Version{}, err
	}
	if d.Status != StatusActive {
		return Version{}, transitions.In(ErrArchived, d.Status)
	}
	v := Version{Number: d.LatestVersion + 1, ItemCount: d.ItemCount, Digest: d.ContentDigest, Note: note, CreatedAt: s.now()}
	if err := s.store.freezeTx(ctx, tx, datasetID, v); err != nil {
		return Version{}, err
	}
	after := d.Dataset
	after.LatestVersion, after.UpdatedAt = v.Number, v.CreatedAt
	return v, change.RecordTx(ctx, s.log, tx, eventVersionFrozen, d.ID, &d.Dataset, &after)
}

// FindVersion returns one frozen version.
func (s *Service) FindVersion(ctx context.Context, org principal.OrgID, datasetID int64, number int) (Version, error) {
	if _, err := s.store.find(ctx, s.db.Org(org), org, datasetID); err != nil {
		return Version{}, err
	}
	return s.store.findVersion(ctx, s.db.Org(org), org, datasetID, number)
}

// Versions returns a page of frozen versions, with one version more than the
// limit if there is a next page, and the number of all of them.
func (s *Service) Versions(ctx context.Context, org principal.OrgID, datasetID int64, p postgres.Page) ([]Version, int64, error) {
	d, err := s.store.find(ctx, s.db.Org(org), org, datasetID)
	if err != nil {
		return nil, 0, err
	}
	versions, err := s.store.listVersions(ctx, org, datasetID, p)
	return versions, int64(d.LatestVersion), err
}
