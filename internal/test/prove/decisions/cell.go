package decisions

import (
	"fmt"
	"math/rand/v2"

	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/measure/requirement"
)

// What decisions promise: a threshold is held against an interval of 95 %, whose
// two ends miss half of the rest each, and a claim about a margin is wrong in one
// of twenty.
const (
	oneEnd   = 0.025
	bothEnds = 0.05
	claims   = 0.05
)

var sizes = []int{50, 100, 200, 400, 800}

func cells() (all []cell) {
	all = append(all, thresholds()...)
	all = append(all, repeated()...)
	all = append(all, losses()...)
	all = append(all, equals()...)
	all = append(all, missing()...)
	all = append(all, coverage()...)
	all = append(all, several()...)
	all = append(all, peeking()...)
	return append(all, chains()...)
}

// thresholds are decided where the truth is exactly the bar.
func thresholds() (all []cell) {
	for _, s := range []source{rare(0.10, 0.31), rare(0.05, 0.31), rare(0.03, 0), even} {
		for _, n := range sizes {
			for _, wrong := range []requirement.Verdict{requirement.Pass, requirement.Fail} {
				all = append(all, cell{fmt.Sprintf("false %s: %s, n %d", wrong, s.name, n), oneEnd, func(r *rand.Rand) (bool, error) {
					rows := shape{items: n, repetitions: 1}.rows(func(int, int) outcome { return scored(s.draw(r)) })
					got, err := threshold(rows, requirement.Overall, s.mean)
					return got == wrong, err
				}})
			}
		}
	}
	return all
}

// repeated are thresholds on runs whose items are repeated, or in clusters that
// fail together.
func repeated() (all []cell) {
	for _, figureName := range []string{requirement.Overall, requirement.PassRate} {
		for _, n := range []int{50, 200} {
			name := fmt.Sprintf("false PASS: %s, 5 repetitions, a tenth fail half of the time, n %d", figureName, n)
			all = append(all, cell{name, oneEnd, func(r *rand.Rand) (bool, error) {
				chance := make([]float64, n)
				for i := range chance {
					if chance[i] = 1; r.Float64() < 0.1 {
						chance[i] = 0.5
					}
				}
				rows := shape{items: n, repetitions: 5}.rows(func(item, _ int) outcome { return coin(r, chance[item]) })
				got, err := threshold(rows, figureName, 0.95)
				return got == requirement.Pass, err
			}})
		}
		for _, clusters := range []int{20, 60} {
			name := fmt.Sprintf("false PASS: %s, %d clusters of 5, a tenth fails together", figureName, clusters)
			all = append(all, cell{name, oneEnd, func(r *rand.Rand) (bool, error) {
				fails := make([]bool, clusters)
				for i := range fails {
					fails[i] = r.Float64() < 0.1
				}
				rows := shape{items: 5 * clusters, repetitions: 1, perCluster: 5}.rows(func(item, _ int) outcome {
					return answered(!fails[item/5])
				})
				got, err := threshold(rows, figureName, 0.9)
				return got == requirement.Pass, err
			}})
		}
	}
	return all
}

func coin(r *rand.Rand, chance float64) outcome { return answered(r.Float64() < chance) }

// losses are claims about candidates that are exactly a margin worse.
func losses() (all []cell) {
	type way struct {
		name string
		draw func(r *rand.Rand) (before, after float64)
	}
	ways := []way{
		{"2% of the items are lost whole", func(r *rand.Rand) (float64, float64) {
			if r.Float64() < margin {
				return 1, 0
			}
			return 1, 1
		}},
		{"a tenth fails before, 2% more are lost", func(r *rand.Rand) (float64, float64) {
			switch x := r.Float64(); {
			case x < 0.1:
				return 0, 0
			case x < 0.1+margin:
				return 1, 0
			}
			return 1, 1
		}},
		{"items win and lose, and lose 2% more often", func(r *rand.Rand) (float64, float64) {
			switch x := r.Float64(); {
			case x < 0.05:
				return 0, 1
			case x < 0.10+margin:
				return 1, 0
			}
			return 1, 1
		}},
		{"3.2% of the items lose .625", func(r *rand.Rand) (float64, float64) {
			if r.Float64() < margin/0.625 {
				return 0.9, 0.275
			}
			return 0.9, 0.9
		}},
		{"every item is a little different", func(r *rand.Rand) (float64, float64) {
			before := 0.3 + 0.4*r.Float64()
			return before, before - margin + 0.2*(r.Float64()-0.5)
		}},
	}
	for _, w := range ways {
		for _, n := range sizes {
			all = append(all, cell{fmt.Sprintf("false FAIL of non_inferior: %s, n %d", w.name, n), oneEnd, func(r *rand.Rand) (bool, error) {
				a, b := pair(r, shape{items: n, repetitions: 1}, w.draw)
				got, err := claim(a, b, requirement.ClaimNonInferior)
				return got == requirement.Fail, err
			}})
			for _, c := range []requirement.Claim{requirement.ClaimNonInferior, requirement.ClaimEquivalent} {
				all = append(all, cell{fmt.Sprintf("false %s: %s, n %d", c, w.name, n), claims, func(r *rand.Rand) (bool, error) {
					a, b := pair(r, shape{items: n, repetitions: 1}, w.draw)
					got, err := claim(a, b, c)
					return got == requirement.Pass, err
				}})
			}
		}
	}
	return all
}

// equals are claims that a candidate is better which is not, in plain runs, with
// repetitions and in clusters, and that it is no worse which is worse by a margin.
func equals() (all []cell) {
	for _, s := range []struct {
		name string
		shape
	}{
		{"100 items", shape{items: 100, repetitions: 1}},
		{"60 items, 3 repetitions", shape{items: 60, repetitions: 3}},
		{"40 clusters of 5", shape{items: 200, repetitions: 1, perCluster: 5}},
	} {
		draw := func(r *rand.Rand, rate float64) *runstat.Rows {
			luck := make([]float64, s.items) // a cluster shares its luck
			for i := range luck {
				if luck[i] = r.Float64(); s.perCluster > 0 && i%s.perCluster > 0 {
					luck[i] = luck[i-1]
				}
			}
			return s.rows(func(item, _ int) outcome {
				u := luck[item]
				if r.Float64() < 0.5 {
					u = r.Float64()
				}
				return answered(u < rate)
			})
		}
		all = append(all,
			cell{"false better: " + s.name, oneEnd, func(r *rand.Rand) (bool, error) {
				got, err := claim(draw(r, 0.9), draw(r, 0.9), requirement.ClaimBetter)
				return got == requirement.Pass, err
			}},
			cell{"false non_inferior: " + s.name, claims, func(r *rand.Rand) (bool, error) {
				got, err := claim(draw(r, 0.9), draw(r, 0.9-margin), requirement.ClaimNonInferior)
				return got == requirement.Pass, err
			}},
		)
	}
	return all
}

func pair(r *rand.Rand, s shape, draw func(*rand.Rand) (before, after float64)) (a, b *runstat.Rows) {
	before, after := make([]float64, s.items), make([]float64, s.items)
	for i := range before {
		before[i], after[i] = draw(r)
	}
	return s.rows(func(item, _ int) outcome { return scored(before[item]) }), s.rows(func(item, _ int) outcome { return scored(after[item]) })
}

// missing are claims about candidates that answer as well as the baseline where
// they answer, and do not answer so often that it costs a margin.
func missing() (all []cell) {
	for _, w := range []struct {
		name string
		way  outcome
	}{{"crashes on", crashed}, {"skips", skipped}, {"never sends", unsent}} {
		for _, n := range []int{100, 400} {
			all = append(all,
				cell{fmt.Sprintf("false non_inferior: the candidate %s some at random, n %d", w.name, n), claims, func(r *rand.Rand) (bool, error) {
					a, b := absent(r, n, 0.8, margin/0.8, w.way)
					got, err := claim(a, b, requirement.ClaimNonInferior)
					return got == requirement.Pass, err
				}},
				cell{fmt.Sprintf("false non_inferior: the candidate %s what it would fail, n %d", w.name, n), claims, func(r *rand.Rand) (bool, error) {
					// It loses 2% of the items, and hides all that score 0.
					a, b := hides(r, n, w.way)
					got, err := claim(a, b, requirement.ClaimNonInferior)
					return got == requirement.Pass, err
				}},
			)
		}
	}
	return all
}

// absent draws a candidate that scores as the baseline does, and lacks a share of
// the items.
func absent(r *rand.Rand, n int, score, share float64, way outcome) (a, b *runstat.Rows) {
	s := shape{items: n, repetitions: 1}
	gone := make([]bool, n)
	for i := range gone {
		gone[i] = r.Float64() < share
	}
	return s.rows(func(int, int) outcome { return scored(score) }), s.rows(func(item, _ int) outcome {
		if gone[item] {
			return way
		}
		return scored(score)
	})
}

// hides draws a candidate that loses a margin and lacks whatever it fails.
func hides(r *rand.Rand, n int, way outcome) (a, b *runstat.Rows) {
	s := shape{items: n, repetitions: 1}
	before, after := make([]float64, n), make([]float64, n)
	for i := range before {
		switch x := r.Float64(); {
		case x < 0.1:
		case x < 0.1+margin:
			before[i] = 1
		default:
			before[i], after[i] = 1, 1
		}
	}
	return s.rows(func(item, _ int) outcome { return scored(before[item]) }), s.rows(func(item, _ int) outcome {
		if after[item] == 0 {
			return way
		}
		return scored(1)
	})
}
