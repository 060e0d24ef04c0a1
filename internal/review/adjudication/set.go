package adjudication

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// setNames are the names of default sets.
var setNames = map[dataset.Purpose]string{dataset.PurposeCalibration: "Calibration", dataset.PurposeGolden: "Golden"}

// set is the dataset that an entry is for: the one that is named, which has to have
// the purpose, or the default set.
func (s *Service) set(ctx context.Context, org principal.OrgID, in Entering) (int64, error) {
	if in.Dataset == 0 {
		return s.defaultSet(ctx, org, in.Purpose)
	}
	path := "/datasetId"
	if in.Purpose == dataset.PurposeCalibration {
		path = "/calibrationSetId"
	}
	d, err := s.datasets.Find(ctx, org, in.Dataset)
	switch {
	case errors.Is(err, dataset.ErrNotFound):
		return 0, fault.Invalid("body", path, "unknown_reference", "is not a dataset of the organization")
	case err == nil && d.Purpose != in.Purpose:
		return 0, fault.Invalid("body", path, "unknown_reference", "must be a dataset with the purpose "+string(in.Purpose))
	}
	return in.Dataset, err
}

// defaultSet is the organization's default set of a purpose. It is made if there is
// none, or if it was deleted; the lock lets one request make it.
func (s *Service) defaultSet(ctx context.Context, org principal.OrgID, purpose dataset.Purpose) (id int64, err error) {
	err = postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		if id, err = s.store.setTx(ctx, tx, purpose); err != nil {
			return err
		}
		if id != 0 {
			_, err := s.datasets.FindTx(ctx, tx, id)
			if !errors.Is(err, dataset.ErrNotFound) {
				return err
			}
		}
		d, err := s.datasets.CreateTx(ctx, tx, dataset.Dataset{
			Name: setNames[purpose], Description: "Items with adjudicated ground truth.", Purpose: purpose, Tags: []string{}, Metadata: jsontext.Value("{}"),
		})
		if err != nil {
			return err
		}
		id = d.ID
		return s.store.putSetTx(ctx, tx, purpose, id, s.now())
	})
	return id, err
}
