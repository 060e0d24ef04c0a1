package decisions

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/measure/requirement"
)

// shape is the size of a run.
type shape struct {
	items, repetitions int
	perCluster         int // zero: items are independent
}

// outcome is what became of a unit: a score, or a way to have none.
type outcome struct {
	score  float64
	status result.Status // empty: it has a score
	unsent bool
}

func scored(x float64) outcome { return outcome{score: x} }

// answered is a unit that is right or wrong.
func answered(right bool) outcome {
	if right {
		return scored(1)
	}
	return scored(0)
}

// crashed is a unit that errored, skipped one that a client left out.
var (
	crashed = outcome{status: result.StatusErrored}
	skipped = outcome{status: result.StatusSkipped}
	unsent  = outcome{unsent: true}
)

// rows are the results of a run as the application reads them: of draws a unit's
// outcome is asked for, by item and repetition.
func (s shape) rows(draw func(item, epoch int) outcome) *runstat.Rows {
	var there []result.Brief
	items := make([]int64, s.items)
	facts := map[int64]runstat.Facts{}
	for i := range s.items {
		id := int64(i + 1)
		items[i] = id
		f := runstat.Facts{Weight: 1}
		binary.BigEndian.PutUint64(f.Content[:], uint64(id))
		if s.perCluster > 0 {
			f.Cluster = fmt.Sprintf("cluster %d", i/s.perCluster)
		}
		facts[id] = f
		for epoch := range s.repetitions {
			o := draw(i, epoch)
			if o.unsent {
				continue
			}
			b := result.Brief{Key: result.Key{Item: id, Epoch: epoch}, Content: f.Content, Cluster: f.Cluster, Weight: 1, Status: o.status}
			if o.status == "" {
				b.Status, b.Overall = result.StatusFailed, &o.score
				if o.score >= 0.5 {
					b.Status = result.StatusPassed
				}
			}
			there = append(there, b)
		}
	}
	rows := runstat.NewRows(there)
	rows.AddMissing(there, items, s.repetitions, facts)
	return rows
}

// threshold decides a requirement such as overall>=0.9 on a run, as the application
// does.
func threshold(rows *runstat.Rows, figureName string, bar float64) (requirement.Verdict, error) {
	definition, scores := runstat.Overall(), rows.Overall
	if figureName == requirement.PassRate {
		definition, scores = runstat.PassRate(), rows.Passes
	}
	f, err := runstat.Gated(definition, scores, 1, runstat.At{})
	if err != nil {
		return "", err
	}
	return requirement.Requirement{Figure: figureName, Operator: ">=", Threshold: bar}.Decide(f, 0.05).Verdict, nil
}

// margin is the largest loss that does not matter, in every comparison here.
const margin = 0.02

// claim decides what a comparison must show.
func claim(baseline, candidate *runstat.Rows, c requirement.Claim) (requirement.Verdict, error) {
	compared, err := runstat.Compare(baseline, candidate, nil, nil, runstat.Options{Margin: margin})
	if err != nil {
		return "", err
	}
	return requirement.Requirement{Figure: requirement.Overall, Claim: c}.DecideClaim(&requirement.Difference{Alone: compared.Overall.Comparison, Together: compared.Overall.Comparison}, 0.05).Verdict, nil
}

// source draws the scores of items.
type source struct {
	name string
	mean float64
	draw func(*rand.Rand) float64
}

// rare scores low in a share of the items, and 1 in all others.
func rare(share, low float64) source {
	return source{
		fmt.Sprintf("%g%% of the items score %g", 100*share, low), 1 - share*(1-low),
		func(r *rand.Rand) float64 {
			if r.Float64() < share {
				return low
			}
			return 1
		},
	}
}

// even scores between 0 and 1, all alike.
var even = source{"scores are spread evenly", 0.5, func(r *rand.Rand) float64 { return r.Float64() }}
