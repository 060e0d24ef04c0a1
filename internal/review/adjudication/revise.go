package adjudication

import (
	"context"
	"errors"
	"slices"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Revision is an item of a dataset with what new ground truth makes of it.
type Revision struct {
	entry int64
	items dataset.Prepared
}

// Revise prepares what new ground truth changes in datasets.
func (s *Service) Revise(ctx context.Context, org principal.OrgID, id int64, in Stating) ([]Revision, error) {
	if in.Supersedes == 0 {
		return nil, nil
	}
	i, err := s.Find(ctx, org, id)
	if err != nil {
		return nil, err
	}
	t, err := in.truth(i)
	if err != nil {
		return nil, nil // the transaction refuses it
	}
	var all []Revision
	for _, e := range i.Entries {
		former, err := s.labels(ctx, org, i, *i.Truth, e.Judge)
		if err != nil && !errors.Is(err, errOffScale) {
			return nil, err
		}
		labels, err := s.labels(ctx, org, i, t, e.Judge)
		if errors.Is(err, errOffScale) {
			return nil, fault.Invalid("body", "/label", "unknown_reference", "is not on the scale of the judge whose calibration set has this item: send a label or a score of the scale")
		}
		if err != nil {
			return nil, err
		}
		p, err := s.datasets.PrepareUpdate(ctx, org, e.Dataset, e.DatasetItem, func(d *dataset.Item) {
			c := *i.Content
			c.Labels = without(d.Content.Labels, former)
			d.Content = enter(c, t, e.Purpose, labels)
		})
		if err != nil {
			return nil, err
		}
		all = append(all, Revision{entry: e.ID, items: p.Promoted()})
	}
	return all, nil
}

// reviseTx gives the items of datasets that rested on former ground truth what the
// new one says. An item that is not in its dataset any more has no entry afterwards.
func (s *Service) reviseTx(ctx context.Context, tx postgres.Tx, i Item, t GroundTruth, revisions []Revision) ([]Entry, error) {
	if len(i.Entries) != len(revisions) {
		return nil, dataset.ErrMoved
	}
	var out []Entry
	for n, e := range i.Entries {
		if revisions[n].entry != e.ID {
			return nil, dataset.ErrMoved
		}
		_, err := s.datasets.UpdateItemTx(ctx, tx, e.DatasetItem, 0, revisions[n].items)
		if missing(err) {
			if err := s.store.deleteEntryTx(ctx, tx, e.ID); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		e.Truth = t.ID
		if err := s.store.moveEntryTx(ctx, tx, e); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return slices.Clip(out), nil
}
