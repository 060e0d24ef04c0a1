package correction

import (
	"fmt"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Estimator names the way to the number that is shown first.
type Estimator string

// The estimators, from no labels to the most useful ones.
const (
	EstimatorJudge  Estimator = "judge"      // the judge's own mean: an opinion
	EstimatorHuman  Estimator = "human_only" // too few labels for the judge to help
	EstimatorPPI    Estimator = "ppi"        // labels on a random part of the items
	EstimatorActive Estimator = "active_ppi" // labels on items chosen with known probabilities that differ
)

const (
	opinion = "judge opinion, not measured quality"
	inPart  = "some clusters are labelled in part, and the judge cannot be corrected"
)

// Corrected is the mean score of all items, with the numbers to compare it with.
type Corrected struct {
	Estimator Estimator     `json:"estimator" enum:"judge,human_only,ppi,active_ppi" doc:"How the headline was computed; the labels decide."`
	Headline  Hybrid        `json:"headline" doc:"The estimate to use."`
	Judge     stat.Estimate `json:"judge" doc:"The judge's mean: its opinion, which no interval makes a measurement."`
	Human     stat.Estimate `json:"human" doc:"The mean of the labels alone."`
	Labels    int           `json:"labels" doc:"Labels that were used."`
	Purposive int           `json:"purposive" doc:"Labels that were not, because it is not known how their items were chosen."`
}

// Correct estimates the mean score of all items. The range of the options is that
// of the scores; without one, intervals hold for many labels only.
//
// A difference of two systems is corrected like a score: of each item the
// difference of its two judgements, and of its two labels.
func Correct(items []Item, o stat.Options) (Corrected, error) {
	o, err := o.Checked()
	if err != nil {
		return Corrected{}, err
	}
	if err := check(items, o); err != nil {
		return Corrected{}, err
	}
	s := newSplit(items)
	c := Corrected{Labels: len(s.labelled), Purposive: s.purposive}
	if c.Judge, err = judgeMean(items, o); err != nil {
		return Corrected{}, err
	}
	if c.Human, err = humanMean(s, o); err != nil {
		return Corrected{}, err
	}
	switch {
	case s.versions:
		c.Estimator, c.Headline = EstimatorHuman, Hybrid{Estimate: c.Human}
		if len(s.labelled) == 0 {
			c.Estimator, c.Headline = EstimatorJudge, Hybrid{Estimate: c.Judge}
		}
		c.Headline.Abstain(stat.StatusNotComparable, "the items were scored by more than one version of the judge")
	case len(s.labelled) == 0:
		c.Estimator, c.Headline = EstimatorJudge, Hybrid{Estimate: c.Judge}
	case !s.equal && s.clustered:
		c.Estimator, c.Headline = EstimatorHuman, Hybrid{Estimate: c.Human}
		c.Headline.Weaken("items in clusters were drawn with unequal probabilities, and the judge cannot be corrected")
	case !s.equal:
		c.Estimator, c.Headline = EstimatorActive, active(items, o)
	default:
		p, clusters, ok := newPool(s)
		if !ok || clusters < minLabels || len(p.rest) < 2 {
			c.Estimator, c.Headline = EstimatorHuman, Hybrid{Estimate: c.Human}
			switch {
			case !ok:
				c.Headline.Weaken(inPart)
			case clusters < minLabels:
				c.Headline.Warn("fewer than 15 labels: the judge cannot be corrected")
			}
			break
		}
		c.Estimator, c.Headline = EstimatorPPI, p.estimate(len(s.labelled), o)
	}
	if s.purposive > 0 {
		c.Headline.Warn(fmt.Sprintf("%d labels were left out: nobody knows the probability of their choice", s.purposive))
	}
	return c, nil
}

// rows makes observations of items.
func rows(items []Item, score func(it Item) float64, source stat.Source) []stat.Observation {
	out := make([]stat.Observation, len(items))
	for i, it := range items {
		out[i] = stat.Observation{Item: fmt.Sprintf("%09d", i), Cluster: it.Cluster, Score: score(it), Provenance: stat.Provenance{Source: source}}
	}
	return out
}

// judgeMean is the judge's opinion. It has no interval: one would cover what the
// judge would say of other items, and be read as one of quality.
func judgeMean(items []Item, o stat.Options) (stat.Estimate, error) {
	e, err := stat.Mean(rows(items, func(it Item) float64 { return it.Judge }, stat.SourceJudge), stat.Options{Level: o.Level, Range: o.Range})
	e.Source, e.Method = stat.SourceJudge, "judge_mean"
	if e.Value != nil {
		e.Warnings = nil
		e.Abstain(stat.StatusUncalibrated, opinion)
	}
	return e, err
}

// humanMean is the mean of the labels, weighed where items were chosen unequally.
func humanMean(s split, o stat.Options) (stat.Estimate, error) {
	all := rows(s.labelled, func(it Item) float64 { return *it.Human }, stat.SourceHuman)
	binary := o.Range != nil && *o.Range == *stat.Unit()
	for i, it := range s.labelled {
		all[i].Weight = 1 / it.Probability
		binary = binary && (*it.Human == 0 || *it.Human == 1)
	}
	options := stat.Options{Level: o.Level, Range: o.Range, Weighted: !s.equal}
	var e stat.Estimate
	var err error
	if binary {
		e, err = stat.PassRate(all, options)
		e.FailingClusters = nil
	} else {
		e, err = stat.Mean(all, options)
	}
	e.Source, e.Method = stat.SourceHuman, "human_mean"
	return e, err
}
