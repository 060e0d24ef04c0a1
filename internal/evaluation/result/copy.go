package result

import (
	"context"
	"slices"
)

// Copy stores the outcomes of some items that have an answer in one run as those of
// another. Doing it again changes nothing.
func (s *Service) Copy(ctx context.Context, from, to Run, items []int64) error {
	f := Filter{Items: items, Limit: copyAtOnce}
	for more := true; more; {
		page, left, err := s.store.page(ctx, from, f)
		if err != nil {
			return err
		}
		if more = left && len(page) > 0; more {
			f.After = page[len(page)-1].Key
		}
		page = slices.DeleteFunc(page, func(o Outcome) bool { return !answered(o.Status, o.ErrorCode) })
		if err := s.store.insert(ctx, to, page); err != nil {
			return err
		}
	}
	return nil
}

// copyAtOnce is how many outcomes are in memory at a time, unless they fill a page
// earlier.
const copyAtOnce = 2000
