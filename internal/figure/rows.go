package figure

import (
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/result"
	"github.com/assayhq/assay/internal/stat"
)

// Rows are the results of a run, as statistics need them.
type Rows struct {
	// Overall has a row for each unit that counts, with or without a score;
	// Passes has 1 or 0 for the same units, in the same order, which is that of
	// keys. Those without an outcome come last.
	Overall, Passes []stat.Row
	keys            []result.Key
}

// NewRows makes rows of outcomes that are in the order of their keys.
func NewRows(briefs []result.Brief) *Rows {
	out := &Rows{Overall: make([]stat.Row, 0, len(briefs)), Passes: make([]stat.Row, 0, len(briefs)), keys: make([]result.Key, 0, len(briefs))}
	for i := range briefs {
		b := &briefs[i]
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
		out.Overall, out.Passes, out.keys = append(out.Overall, row), append(out.Passes, pass), append(out.keys, b.Key)
	}
	return out
}

// AddMissing adds a row without a score for every unit that has no outcome:
// because the run was stopped, or its client sent less than it was asked for.
// What is not there is not left out silently.
func (r *Rows) AddMissing(there []result.Brief, items []int64, repetitions int) {
	has := make(map[result.Key]bool, len(there))
	for i := range there {
		has[there[i].Key] = true
	}
	for _, id := range items {
		for epoch := range repetitions {
			k := result.Key{Item: id, Epoch: epoch}
			if !has[k] {
				row := stat.Row{Item: strconv.FormatInt(id, 10), Epoch: epoch, Missing: true}
				r.Overall, r.Passes, r.keys = append(r.Overall, row), append(r.Passes, row), append(r.keys, k)
			}
		}
	}
}

// Metric returns the scores of one metric for every outcome that counts: where
// there is none, because the item errored, the score is missing.
func (r *Rows) Metric(found []result.Measure) []stat.Row {
	rows := slices.Clone(r.Overall)
	for i := range rows {
		rows[i].Score, rows[i].Missing = 0, true
		// Both are in the order of their keys, as far as there are outcomes.
		for len(found) > 0 && found[0].Compare(r.keys[i]) < 0 {
			found = found[1:]
		}
		if len(found) > 0 && found[0].Key == r.keys[i] {
			rows[i].Score, rows[i].Missing = found[0].Value, !found[0].Scored
		}
	}
	return rows
}

// AdoptClusters puts items into the clusters that they have in another run.
func (r *Rows) AdoptClusters(other *Rows) {
	clusters := make(map[string]string, len(other.Overall))
	for i := range other.Overall {
		clusters[other.Overall[i].Item] = other.Overall[i].Cluster
	}
	for _, rows := range [][]stat.Row{r.Overall, r.Passes} {
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
