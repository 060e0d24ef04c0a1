package evaluation

import (
	"context"
	"errors"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
)

// ErrNotClient is returned for results of a run that makes its own.
var ErrNotClient = fault.New(fault.Conflict, "not_a_client_run", "Results can only be sent to a run whose target is client.")

// Results returns a page of a run's results, in the order of items and epochs, and
// whether there are others after it. Results of a running run are there as soon
// as they are stored.
func (s *Service) Results(ctx context.Context, org principal.OrgID, evaluation, run int64, f result.Filter) ([]scoring.Result, bool, error) {
	r, err := s.FindRun(ctx, org, evaluation, run)
	if err != nil || r.Resolved == nil {
		return nil, false, err
	}
	return s.resultPage(ctx, org, r, f)
}

// Briefs returns what became of every item of a run, without contents.
func (s *Service) Briefs(ctx context.Context, org principal.OrgID, r Run) ([]result.Brief, error) {
	return s.results.Briefs(ctx, r.at(org))
}

// CountResults returns how many results of a run match, on all pages.
func (s *Service) CountResults(ctx context.Context, org principal.OrgID, evaluation, run int64, f result.Filter) (int64, error) {
	r, err := s.FindRun(ctx, org, evaluation, run)
	if err != nil || r.Resolved == nil {
		return 0, err
	}
	n, err := s.results.Count(ctx, r.at(org), f)
	return int64(n), err
}

// resultPage reads outcomes with their items, as many as both have room for.
func (s *Service) resultPage(ctx context.Context, org principal.OrgID, r Run, f result.Filter) ([]scoring.Result, bool, error) {
	page, more, err := s.results.Page(ctx, r.at(org), f)
	if err != nil || len(page) == 0 {
		return nil, false, err
	}
	var ids []int64
	for i, o := range page {
		if i == 0 || page[i-1].Item != o.Item {
			ids = append(ids, o.Item)
		}
	}
	items, read, err := s.datasets.ItemsByID(ctx, org, r.Resolved.Dataset, r.Resolved.Version, ids)
	if err != nil {
		return nil, false, err
	}
	out := make([]scoring.Result, 0, len(page))
	for _, o := range page {
		if read < len(ids) && o.Item == ids[read] {
			return out, true, nil
		}
		out = append(out, scoring.Result{Outcome: o, Item: items[o.Item]})
	}
	return out, more, nil
}

// Answer returns the result of one item of a run in one repetition. It returns
// ErrRunNotFound or ErrResultNotFound.
func (s *Service) Answer(ctx context.Context, org principal.OrgID, run, item int64, epoch int) (scoring.Result, error) {
	r, err := s.store.findRun(ctx, s.db.Org(org), org, run)
	if err == nil {
		_, err = s.Find(ctx, org, r.Evaluation)
	}
	if err != nil {
		return scoring.Result{}, err
	}
	if r.Resolved == nil {
		return scoring.Result{}, ErrResultNotFound
	}
	o, err := s.results.Find(ctx, r.at(org), result.Key{Item: item, Epoch: epoch})
	if errors.Is(err, result.ErrNotFound) {
		return scoring.Result{}, ErrResultNotFound
	}
	if err != nil {
		return scoring.Result{}, err
	}
	items, _, err := s.datasets.ItemsByID(ctx, org, r.Resolved.Dataset, r.Resolved.Version, []int64{item})
	return scoring.Result{Outcome: o, Item: items[item]}, err
}

// drawn is which of some items are in the run's sample.
func (s *Service) drawn(ctx context.Context, org principal.OrgID, r Run, ids []int64) (map[int64]bool, error) {
	in := make(map[int64]bool, len(ids))
	for _, id := range ids {
		in[id] = r.Request.SampleSize == 0
	}
	if r.Request.SampleSize == 0 || len(ids) == 0 {
		return in, nil
	}
	all, err := s.store.items(ctx, org, r.ID, 0, r.Resolved.Items)
	if err != nil {
		return nil, err
	}
	for _, id := range all {
		if _, ok := in[id]; ok {
			in[id] = true
		}
	}
	return in, nil
}
