package runstat

import (
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Rows are the results of a run, as statistics need them.
type Rows struct {
	// Overall has a row for each unit, with or without a score; Passes has 1 or 0
	// for the same units, in the same order, which is that of keys. Those without
	// an outcome come last.
	Overall, Passes []stat.Observation
	keys            []result.Key
}

// NewRows makes rows of outcomes that are in the order of their keys, and whose
// scores come from these metrics.
func NewRows(briefs []result.Brief, metrics ...metric.Definition) *Rows {
	var overall, passes stat.Source
	for _, d := range metrics {
		passes = passes.And(stat.Source(d.Source))
		if d.Overall {
			overall = overall.And(stat.Source(d.Source))
		}
	}
	out := &Rows{Overall: make([]stat.Observation, 0, len(briefs)), Passes: make([]stat.Observation, 0, len(briefs)), keys: make([]result.Key, 0, len(briefs))}
	for i := range briefs {
		b := &briefs[i]
		row := stat.Observation{
			Item: strconv.FormatInt(b.Item, 10), Content: hex.EncodeToString(b.Content[:]), Cluster: b.Cluster, Epoch: b.Epoch, Weight: b.Weight,
			Provenance: stat.Provenance{Source: overall},
		}
		pass := row
		pass.Source = passes
		switch b.Status {
		case result.StatusPassed:
			pass.Score = 1
		case result.StatusSkipped:
			pass.Missing = stat.CauseSystem
		}
		switch {
		case b.Overall != nil:
			row.Score = *b.Overall
		case b.Unfit || b.Status == result.StatusPassed || b.Status == result.StatusFailed:
			row.Missing = stat.CauseItem
		default:
			row.Missing = stat.CauseSystem
		}
		out.Overall, out.Passes, out.keys = append(out.Overall, row), append(out.Passes, pass), append(out.keys, b.Key)
	}
	return out
}

// Facts are what statistics need to know about an item.
type Facts struct {
	Content [16]byte
	Cluster string
	Weight  float64
}

// Lacking are the items of a run without any outcome.
func Lacking(there []result.Brief, items []int64) (ids []int64) {
	has := make(map[int64]bool, len(there))
	for i := range there {
		has[there[i].Item] = true
	}
	for _, id := range items {
		if !has[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// AddMissing adds a row without a score for every unit that has no outcome:
// because the run was stopped, or its client sent less than it was asked for.
// What is not there is not left out silently. Facts are those of items without
// any outcome.
func (r *Rows) AddMissing(there []result.Brief, items []int64, repetitions int, facts map[int64]Facts) {
	has := make(map[result.Key]bool, len(there))
	for i := range there {
		b := &there[i]
		has[b.Key] = true
		facts[b.Item] = Facts{b.Content, b.Cluster, b.Weight}
	}
	for _, id := range items {
		f, known := facts[id]
		if !known {
			f.Weight = 1 // the dataset is gone; what was not answered still counts
		}
		row := stat.Observation{Item: strconv.FormatInt(id, 10), Cluster: f.Cluster, Weight: f.Weight, Missing: stat.CauseSystem}
		if known {
			row.Content = hex.EncodeToString(f.Content[:])
		}
		for epoch := range repetitions {
			k := result.Key{Item: id, Epoch: epoch}
			if !has[k] {
				row.Epoch = epoch
				r.Overall, r.Passes, r.keys = append(r.Overall, row), append(r.Passes, row), append(r.keys, k)
			}
		}
	}
}

// Metric returns the scores of one metric for every unit: where there is none,
// because the unit errored or was skipped, the score is missing.
func (r *Rows) Metric(d metric.Definition, found []result.Measure) []stat.Observation {
	rows := slices.Clone(r.Overall)
	for i := range rows {
		rows[i].Score, rows[i].Missing, rows[i].Provenance = 0, stat.CauseSystem, stat.Provenance{Source: stat.Source(d.Source), Version: d.Version}
		// Both are in the order of their keys, as far as there are outcomes.
		for len(found) > 0 && found[0].Compare(r.keys[i]) < 0 {
			found = found[1:]
		}
		if len(found) > 0 && found[0].Key == r.keys[i] && r.Passes[i].Missing == stat.Present {
			rows[i].Score, rows[i].Missing = found[0].Value, cause(found[0])
		}
	}
	return rows
}

// cause is why a metric gave no score, if it gave none.
func cause(m result.Measure) stat.Cause {
	switch {
	case m.Scored:
		return stat.Present
	case metric.Reason(m.Reason).OfItem():
		return stat.CauseItem
	case metric.Reason(m.Reason) == metric.ReasonServiceFailed || metric.Reason(m.Reason) == metric.ReasonNotAsked:
		return stat.CauseSystem
	}
	return stat.CauseOutput
}

// Recognise gives items that this run knows nothing about, because the dataset
// does not have them any more, what another run knows.
func (r *Rows) Recognise(other *Rows) {
	known := make(map[string]*stat.Observation, len(other.Overall))
	for i := range other.Overall {
		known[other.Overall[i].Item] = &other.Overall[i]
	}
	for _, rows := range [][]stat.Observation{r.Overall, r.Passes} {
		for i := range rows {
			if o := known[rows[i].Item]; o != nil && rows[i].Content == "" {
				rows[i].Content, rows[i].Cluster, rows[i].Weight = o.Content, o.Cluster, o.Weight
			}
		}
	}
}

// AdoptClusters puts items into the clusters that they have in another run.
func (r *Rows) AdoptClusters(other *Rows) {
	clusters := make(map[string]string, len(other.Overall))
	for i := range other.Overall {
		clusters[other.Overall[i].Item] = other.Overall[i].Cluster
	}
	for _, rows := range [][]stat.Observation{r.Overall, r.Passes} {
		for i := range rows {
			if c, ok := clusters[rows[i].Item]; ok {
				rows[i].Cluster = c
			}
		}
	}
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
	mean := m.sum / float64(m.n)
	return &mean
}

func means(rows []stat.Observation) map[string]itemMean {
	all := make(map[string]itemMean, len(rows))
	for i := range rows {
		m := all[rows[i].Item]
		m.content = rows[i].Content
		if rows[i].Missing == stat.Present {
			m.sum, m.n = m.sum+rows[i].Score, m.n+1
		}
		all[rows[i].Item] = m
	}
	return all
}
