package adjudication

import (
	"context"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
)

// Lineage is where an item of a dataset comes from.
type Lineage struct {
	Dataset dataset.Dataset
	Item    dataset.Item
	Digest  dataset.Digest // of what is assessed
	// Origins are the ways by which ground truth came into the item, newest first.
	Origins []Origin
}

// Origin is one way from an item of a dataset back to what was assessed.
type Origin struct {
	Entry Entry
	Truth GroundTruth
	// Decision is the one that the ground truth rests on.
	Decision Decision
	Item     Item
}

// Lineage traces an item of a dataset back to ground truth, decision and answer.
func (s *Service) Lineage(ctx context.Context, org principal.OrgID, set, item int64, version int) (Lineage, error) {
	var l Lineage
	var err error
	if l.Dataset, err = s.datasets.Find(ctx, org, set); err != nil {
		return l, err
	}
	if l.Item, err = s.datasets.FindItem(ctx, org, set, item, version); err != nil {
		return l, err
	}
	if l.Digest, err = dataset.Assessed(l.Item.Content.Input, l.Item.Content.Output); err != nil {
		return l, err
	}
	entries, err := s.store.entriesOf(ctx, s.db.Org(org), org, set, item)
	if err != nil {
		return l, err
	}
	for _, e := range entries {
		o := Origin{Entry: e}
		if o.Truth, err = s.store.truth(ctx, s.db.Org(org), org, e.Truth); err != nil {
			return l, err
		}
		if o.Item, err = s.store.find(ctx, org, e.Item, false); err != nil {
			return l, err
		}
		o.Truth.TestCase = o.Item.Subject.TestCase
		for _, d := range o.Item.Decisions {
			if d.ID == o.Truth.Decision {
				o.Decision = d
			}
		}
		l.Origins = append(l.Origins, o)
	}
	return l, nil
}
