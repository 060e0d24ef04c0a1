package evaluation

import (
	"context"
	"fmt"
	"slices"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/stat"
)

// side is what a run found, as statistics need it.
type side struct {
	*runstat.Rows
	run     Run
	metrics []metric.Definition
	count   result.Count
}

// maxRead is how many units are in memory at once for statistics, whoever asks:
// about a gigabyte of them. No run has more.
const maxRead = 4_000_000

// mayRead waits until so many units fit in memory. What it returns is called when
// they are needed no longer.
func (s *Service) mayRead(ctx context.Context, runs ...Run) (done func(), err error) {
	var units int64
	for _, r := range runs {
		if r.Resolved != nil {
			units += int64(r.Resolved.Units)
		}
	}
	units = min(units, maxRead)
	if err := s.reading.Acquire(ctx, units); err != nil {
		return nil, fmt.Errorf("wait for memory: %w", err)
	}
	return func() { s.reading.Release(units) }, nil
}

// readSide reads a run's overall scores and passes. A run that never began has
// none.
func (s *Service) readSide(ctx context.Context, org principal.OrgID, r Run) (*side, error) {
	out := &side{Rows: &runstat.Rows{}, run: r}
	if r.Resolved == nil {
		return out, nil
	}
	briefs, err := s.results.Briefs(ctx, r.at(org))
	if err != nil {
		return nil, err
	}
	for i := range briefs {
		out.count.Add(briefs[i])
	}
	if out.metrics, err = s.definitions(r); err != nil {
		return nil, err
	}
	out.Rows = runstat.NewRows(briefs, out.metrics...)
	if out.count.Done < r.Resolved.Units {
		items, err := s.store.items(ctx, org, r.ID, 0, r.Resolved.Items)
		if err != nil {
			return nil, err
		}
		facts, err := s.facts(ctx, org, r, runstat.Lacking(briefs, items))
		if err != nil {
			return nil, err
		}
		out.AddMissing(briefs, items, r.Request.Repetitions, facts)
	}
	return out, nil
}

// facts are what the run's version of the dataset says about items, as far as it
// still has them.
func (s *Service) facts(ctx context.Context, org principal.OrgID, r Run, ids []int64) (map[int64]runstat.Facts, error) {
	all := make(map[int64]runstat.Facts, len(ids))
	err := s.eachItem(ctx, org, r.Resolved.Dataset, r.Resolved.Version, ids, func(item dataset.Item) bool {
		f := runstat.Facts{Cluster: scoring.Cluster(item, r.Request.ClusterKey), Weight: item.Weight}
		copy(f.Content[:], item.Digest[:])
		all[item.ID] = f
		return true
	})
	return all, err
}

// eachItem calls fn for items of a dataset's version, as far as it still has them,
// until it returns false. It reads some at a time.
func (s *Service) eachItem(ctx context.Context, org principal.OrgID, set int64, version int, ids []int64, fn func(dataset.Item) bool) error {
	for len(ids) > 0 {
		items, read, err := s.datasets.ItemsByID(ctx, org, set, version, ids[:min(len(ids), maxPage)])
		if err != nil {
			return err
		}
		for _, item := range items {
			if !fn(item) {
				return nil
			}
		}
		ids = ids[read:]
	}
	return nil
}

// clusterLike gives items of both sides the same clusters, where the runs were
// grouped by different keys: those of b, or of a if b has none.
func (a *side) clusterLike(b *side) {
	switch {
	case a.run.Request.ClusterKey == b.run.Request.ClusterKey:
	case b.run.Request.ClusterKey == "":
		b.AdoptClusters(a.Rows)
	default:
		a.AdoptClusters(b.Rows)
	}
}

// metricRows are the scores of one metric for every outcome that counts: where
// there is none, because the item errored, the score is missing.
func (s *Service) metricRows(ctx context.Context, org principal.OrgID, of *side, name string) ([]stat.Observation, error) {
	at := slices.IndexFunc(of.metrics, func(d metric.Definition) bool { return d.Name == name })
	if at < 0 {
		return nil, nil
	}
	found, err := s.results.Measures(ctx, of.run.at(org), name)
	if err != nil {
		return nil, err
	}
	return of.Metric(of.metrics[at], found), nil
}

// digest names what a run worked on.
func (r Run) digest() string {
	if r.Resolved == nil {
		return "none"
	}
	return r.Resolved.ConfigDigest
}

// definitions are those of the metrics that any of the runs has, those of the
// first run first.
func (s *Service) definitions(runs ...Run) (all []metric.Definition, err error) {
	for _, r := range runs {
		found, _, err := r.Request.Plan.Measures(s.metrics)
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			if !slices.ContainsFunc(all, func(d metric.Definition) bool { return d.Name == m.Name }) {
				all = append(all, m.Definition)
			}
		}
	}
	return all, nil
}
