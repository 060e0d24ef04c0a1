package evaluation

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/result"
	"github.com/assayhq/assay/internal/stat"
)

// side is what a run found, as statistics need it.
type side struct {
	run   Run
	count Count
	// overall has a row for each unit that counts, with or without a score;
	// passes has 1 or 0 for the same units, in the same order, which is that of
	// keys. Those without an outcome come last.
	overall, passes []stat.Row
	keys            []result.Key
}

// maxRead is how many units are in memory at once for statistics, whoever asks:
// about a gigabyte of them. A run that is larger is read alone.
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
	out := &side{run: r}
	if r.Resolved == nil {
		return out, nil
	}
	briefs, err := s.results.Briefs(ctx, r.at(org))
	if err != nil {
		return nil, err
	}
	out.overall, out.passes = make([]stat.Row, 0, len(briefs)), make([]stat.Row, 0, len(briefs))
	out.keys = make([]result.Key, 0, len(briefs))
	for i := range briefs {
		b := &briefs[i]
		out.count.add(*b)
		if b.Status == result.StatusSkipped {
			continue
		}
		row := stat.Row{
			Item: strconv.FormatInt(b.Item, 10), Content: hex.EncodeToString(b.Content[:]), Cluster: b.Cluster, Epoch: b.Epoch, Weight: b.Weight,
		}
		pass := row
		if b.Status == result.StatusPassed {
			pass.Score = 1
		}
		if row.Missing = b.Overall == nil; !row.Missing {
			row.Score = *b.Overall
		}
		out.overall, out.passes, out.keys = append(out.overall, row), append(out.passes, pass), append(out.keys, b.Key)
	}
	if out.count.Done < r.Resolved.Units {
		return out, s.addMissing(ctx, org, out, briefs)
	}
	return out, nil
}

// addMissing adds a row without a score for every unit that has no outcome:
// because the run was stopped, or its client sent less than it was asked for.
// What is not there is not left out silently.
func (s *Service) addMissing(ctx context.Context, org principal.OrgID, to *side, there []result.Brief) error {
	has := make(map[result.Key]bool, len(there))
	for i := range there {
		has[there[i].Key] = true
	}
	items, err := s.store.items(ctx, org, to.run.ID, 0, to.run.Resolved.Items)
	if err != nil {
		return err
	}
	for _, id := range items {
		for epoch := range to.run.Request.Repetitions {
			k := result.Key{Item: id, Epoch: epoch}
			if !has[k] {
				row := stat.Row{Item: strconv.FormatInt(id, 10), Epoch: epoch, Missing: true}
				to.overall, to.passes, to.keys = append(to.overall, row), append(to.passes, row), append(to.keys, k)
			}
		}
	}
	return nil
}

// clusterLike gives items of both sides the same clusters, where the runs were
// grouped by different keys: those of b, or of a if b has none.
func (a *side) clusterLike(b *side) {
	if a.run.Request.ClusterKey == b.run.Request.ClusterKey {
		return
	}
	from, to := b, a
	if b.run.Request.ClusterKey == "" {
		from, to = a, b
	}
	to.adopt(from.clusters())
}

func (a *side) clusters() map[string]string {
	all := make(map[string]string, len(a.overall))
	for i := range a.overall {
		all[a.overall[i].Item] = a.overall[i].Cluster
	}
	return all
}

// adopt puts items into the clusters that are given for them.
func (a *side) adopt(clusters map[string]string) {
	for _, rows := range [][]stat.Row{a.overall, a.passes} {
		for i := range rows {
			if c, ok := clusters[rows[i].Item]; ok {
				rows[i].Cluster = c
			}
		}
	}
}

// metricRows are the scores of one metric for every outcome that counts: where
// there is none, because the item errored, the score is missing.
func (s *Service) metricRows(ctx context.Context, org principal.OrgID, of *side, name string) ([]stat.Row, error) {
	if of.run.Resolved == nil || !slices.Contains(of.run.Request.Plan.Metrics, name) {
		return nil, nil
	}
	found, err := s.results.Measures(ctx, of.run.at(org), name)
	if err != nil {
		return nil, err
	}
	rows := slices.Clone(of.overall)
	for i := range rows {
		rows[i].Score, rows[i].Missing = 0, true
		// Both are in the order of their keys, as far as there are outcomes.
		for len(found) > 0 && found[0].Compare(of.keys[i]) < 0 {
			found = found[1:]
		}
		if len(found) > 0 && found[0].Key == of.keys[i] {
			rows[i].Score, rows[i].Missing = found[0].Value, !found[0].Scored
		}
	}
	return rows, nil
}

// itemMean is the mean of an item's scores.
type itemMean struct {
	content string
	sum     float64
	n       int
}

// mean is nil without a score.
func (m itemMean) mean() *float64 {
	if m.n == 0 {
		return nil
	}
	return ptr(m.sum / float64(m.n))
}

func means(rows []stat.Row) map[string]itemMean {
	all := make(map[string]itemMean, len(rows))
	for i := range rows {
		m := all[rows[i].Item]
		m.content = rows[i].Content
		if !rows[i].Missing {
			m.sum, m.n = m.sum+rows[i].Score, m.n+1
		}
		all[rows[i].Item] = m
	}
	return all
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
		found, _, err := s.measures(r.Request.Plan)
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

// difference says in words what two plans measure differently. Targets may
// differ: that is what comparisons are for.
type difference struct {
	overall, passes string
	metrics         map[string]string
}

func differ(a, b Plan) difference {
	d := difference{metrics: map[string]string{}}
	for _, name := range slices.Concat(a.Metrics, b.Metrics) {
		switch {
		case !slices.Contains(a.Metrics, name):
			d.metrics[name] = "only the candidate measured " + name
		case !slices.Contains(b.Metrics, name):
			d.metrics[name] = "only the baseline measured " + name
		case !bytes.Equal(encode(a.Params[name]), encode(b.Params[name])):
			d.metrics[name] = "the parameters of " + name + " differ"
		case a.PassRule.weight(name) != b.PassRule.weight(name):
			d.overall = "the weights of the overall score differ"
		}
	}
	if len(d.metrics) > 0 {
		d.overall = "the runs did not measure the same metrics with the same parameters"
	}
	d.passes = d.overall
	if !bytes.Equal(encode(a.PassRule), encode(b.PassRule)) {
		d.passes = "the pass rules differ"
	}
	return d
}
