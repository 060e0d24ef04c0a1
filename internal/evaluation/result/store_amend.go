package result

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/assayhq/assay/internal/platform/clickhouse"
)

// ErrNotFound is returned for an outcome that is not stored.
var ErrNotFound = errors.New("the run has no such outcome")

// Find returns a stored outcome, or ErrNotFound.
func (s *Service) Find(ctx context.Context, r Run, of Key) (Outcome, error) {
	f := Filter{Items: []int64{of.Item}, Limit: 1}
	if of.Epoch > 0 {
		f.After = Key{of.Item, of.Epoch - 1}
	}
	found, _, err := s.store.page(ctx, r, f)
	if err != nil {
		return Outcome{}, err
	}
	if len(found) == 0 || found[0].Key != of {
		return Outcome{}, ErrNotFound
	}
	return found[0], nil
}

// Amend changes a stored outcome and returns it. Others may amend it meanwhile, each
// another score: only scores that changed are stored, and after storing them each
// reads what is there, so that whoever comes last has seen all of them. Change may be
// called more than once and must not mind what it changed before.
func (s *Service) Amend(ctx context.Context, r Run, of Key, change func(*Outcome) error) (Outcome, error) {
	for range maxAmendments {
		before, err := s.Find(ctx, r, of)
		if err != nil {
			return Outcome{}, err
		}
		after := before
		if err := change(&after); err != nil {
			return Outcome{}, err
		}
		changed := after
		changed.Scores = after.changes(before)
		if len(changed.Scores) == 0 && after.Status == before.Status && after.ErrorCode == before.ErrorCode && same(after.Overall, before.Overall) &&
			after.ScoringNanoUSD == before.ScoringNanoUSD {
			return after, nil
		}
		if err := s.store.insert(ctx, r, []Outcome{changed}); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{}, fmt.Errorf("%w: an outcome changes faster than it can be amended", clickhouse.ErrUnavailable)
}

// maxAmendments is how often an amendment is repeated for others who change the same
// outcome.
const maxAmendments = 20

// changes are the scores that an outcome did not have before.
func (o *Outcome) changes(before Outcome) (changed []Score) {
	for _, s := range o.Scores {
		had := slices.ContainsFunc(before.Scores, func(b Score) bool {
			return b.Metric == s.Metric && same(b.Value, s.Value) && b.Reason == s.Reason && b.Explanation == s.Explanation
		})
		if !had {
			changed = append(changed, s)
		}
	}
	return changed
}

func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
