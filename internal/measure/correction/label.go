package correction

import (
	"math"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Candidate is an item that could get a label.
type Candidate struct {
	Item string
	// Probability is the calibrated chance that the item passes.
	Probability float64
	Weight      float64 // of its slice; zero is one
}

// Choice is an item with the probability of its choice, which is kept with the
// label: without it the label corrects nothing.
type Choice struct {
	Item        string  `json:"item"`
	Probability float64 `json:"probability" doc:"Chance with which the item is chosen for a label."`
	Priority    float64 `json:"priority" doc:"By how much its label is expected to lower the variance of the headline."`
	Chosen      bool    `json:"chosen"`
}

// A part of the budget is spent on items at random, and every item has a chance:
// a wrong idea of where the judge errs then costs little, and no label counts for
// more than a hundred items.
const (
	randomPart = 0.2
	leastLabel = 0.01
	// settled is what a label is worth where no gate waits for it.
	settled = 0.25
)

// Next says which items to label, so many on average. Items of which the judge is
// unsure come more often than others. open says that a gate's interval holds its
// threshold, so that precision decides something.
func Next(candidates []Candidate, budget float64, open bool, seed stat.Seed) ([]Choice, error) {
	u := make([]float64, len(candidates))
	for i, c := range candidates {
		if !(c.Probability >= 0 && c.Probability <= 1) || !(c.Weight >= 0 && c.Weight <= maxScore) {
			return nil, malformed("candidate %d: probability %v, weight %v", i, c.Probability, c.Weight)
		}
		u[i] = math.Sqrt(c.Probability * (1 - c.Probability))
		if c.Weight > 0 {
			u[i] *= c.Weight
		}
	}
	p, err := Probabilities(u, budget)
	if err != nil {
		return nil, err
	}
	random, _ := seed.Draws("labels")
	n := float64(len(candidates))
	out := make([]Choice, len(candidates))
	for i, c := range candidates {
		out[i] = Choice{Item: c.Item, Probability: p[i], Priority: u[i] * u[i] * (1/p[i] - 1) / (n * n)}
		if !open {
			out[i].Priority *= settled
		}
		out[i].Chosen = random.Float64() < p[i]
	}
	return out, nil
}

// Probabilities returns with which probability to label each item, given how far
// the judge is expected to err on it and how many labels there are.
func Probabilities(uncertainty []float64, budget float64) ([]float64, error) {
	n := float64(len(uncertainty))
	p, err := fill(uncertainty, budget)
	if err != nil {
		return nil, err
	}
	for i := range p {
		p[i] = clamp((1-randomPart)*p[i]+randomPart*math.Min(1, budget/n), leastLabel, 1)
	}
	return p, nil
}

// fill spreads a budget in proportion to the uncertainty. What would get more than
// a probability of one gets one, and the rest is spread anew.
func fill(uncertainty []float64, budget float64) ([]float64, error) {
	if !(budget >= 0) {
		return nil, malformed("budget %v must be at least 0", budget)
	}
	for i, u := range uncertainty {
		if !(u >= 0 && u <= maxScore) {
			return nil, malformed("item %d: uncertainty %v must be at least 0", i, u)
		}
	}
	p := make([]float64, len(uncertainty))
	full := make([]bool, len(p))
	for {
		left, all := budget, 0.0
		for i, u := range uncertainty {
			if full[i] {
				left--
			} else {
				all += u
			}
		}
		more := false
		for i, u := range uncertainty {
			switch {
			case full[i]:
				p[i] = 1
			case all > 0:
				p[i] = math.Max(0, u*left/all)
			default:
				p[i] = 0
			}
			if p[i] > 1 {
				full[i], more = true, true
			}
		}
		if !more {
			return p, nil
		}
	}
}
