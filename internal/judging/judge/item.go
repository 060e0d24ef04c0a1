package judge

import (
	"context"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/telemetry/score"
)

// itemAt names an item as a frozen version has it.
type itemAt struct {
	dataset int64
	version int
	item    int64
}

// itemOf is the item that a result is about; zero if it is about none.
func itemOf(r Result) (at itemAt) {
	if r.Subject.Kind != score.KindRunItem {
		return at
	}
	text, _, _ := strings.Cut(r.Subject.Part, "/")
	id, _ := strconv.ParseInt(text, 10, 64)
	return itemAt{r.Dataset, r.DatasetVersion, id}
}

// itemsOf are the items that disagreements are about, as the judge saw them.
func (s *Service) itemsOf(ctx context.Context, org principal.OrgID, all []Disagreement) (map[itemAt]dataset.Item, error) {
	ids := map[itemAt][]int64{}
	for _, d := range all {
		if at := itemOf(d.Result); at.dataset != 0 && at.version != 0 {
			of := itemAt{dataset: at.dataset, version: at.version}
			ids[of] = append(ids[of], at.item)
		}
	}
	found := map[itemAt]dataset.Item{}
	for of, left := range ids {
		for len(left) > 0 {
			items, read, err := s.datasets.ItemsByID(ctx, org, of.dataset, of.version, left)
			if err != nil {
				return nil, err
			}
			for id, item := range items {
				found[itemAt{of.dataset, of.version, id}] = item
			}
			left = left[max(1, read):]
		}
	}
	return found, nil
}
