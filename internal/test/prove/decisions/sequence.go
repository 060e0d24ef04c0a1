package decisions

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/measure/stat"
)

// coverage is how often intervals miss what is true, as they are shown.
func coverage() (all []cell) {
	for _, s := range []source{rare(0.10, 0.31), rare(0.03, 0), even} {
		for _, n := range sizes {
			all = append(all, cell{fmt.Sprintf("interval of the mean misses: %s, n %d", s.name, n), bothEnds, func(r *rand.Rand) (bool, error) {
				rows := shape{items: n, repetitions: 1}.rows(func(int, int) outcome { return scored(s.draw(r)) })
				sums := runstat.Statistics{Gates: map[string]stat.Estimate{}}
				err := sums.SumUp(rows, nil, nil)
				return misses(sums.Overall, s.mean), err
			}})
		}
	}
	return all
}

func misses(e stat.Estimate, truth float64) bool {
	return e.CI != nil && (e.CI.Lower != nil && *e.CI.Lower > truth || e.CI.Upper != nil && *e.CI.Upper < truth)
}

// several are gates of five requirements whose figures are exactly at their bars.
func several() (all []cell) {
	for _, n := range []int{100, 400} {
		all = append(all, cell{fmt.Sprintf("false FAIL: one of five requirements, n %d", n), oneEnd, func(r *rand.Rand) (bool, error) {
			const requirements = 5
			decided := make([]requirement.Verdict, requirements)
			for i := range decided {
				rows := shape{items: n, repetitions: 1}.rows(func(int, int) outcome { return scored(even.draw(r)) })
				f, err := runstat.Gated(runstat.Overall(), rows.Overall, requirements, runstat.At{})
				if err != nil {
					return false, err
				}
				decided[i] = requirement.Requirement{Figure: requirement.Overall, Operator: ">=", Threshold: even.mean}.Decide(f, 0.05).Verdict
			}
			verdict, _, _ := requirement.Sum(decided)
			return verdict == requirement.Fail, nil
		}})
	}
	return all
}

// peeking stops runs when they look best: after every twentieth item somebody
// looks, and stops where the interval excludes what is true.
func peeking() (all []cell) {
	const items, every = 400, 20
	for _, s := range []source{rare(0.10, 0), rare(0.10, 0.31), even} {
		all = append(all, cell{fmt.Sprintf("stopped when it looks best: %s", s.name), bothEnds, func(r *rand.Rand) (bool, error) {
			scores := make([]float64, items)
			order := make([]int64, items)
			for i := range scores {
				scores[i], order[i] = s.draw(r), int64(i+1)
			}
			for done := every; done <= items; done += every {
				rows := shape{items: items, repetitions: 1}.rows(func(item, _ int) outcome {
					if item >= done {
						return unsent
					}
					return scored(scores[item])
				})
				e, err := rows.Begun(order, true).Estimate(runstat.Overall(), rows.Overall)
				if err != nil || misses(e, s.mean) {
					return true, err
				}
			}
			return false, nil
		}})
	}
	all = append(all, cell{"stopped when the pass rate in progress looks best", bothEnds, func(r *rand.Rand) (bool, error) {
		count := result.Count{}
		for i := 1; i <= items; i++ {
			if r.Float64() < 0.9 {
				count.Passed++
			}
			if i%every != 0 {
				continue
			}
			ci, err := stat.BetaBinomialSequence(count.Passed, i, 0.95)
			if err != nil || *ci.Lower > 0.9 || *ci.Upper < 0.9 {
				return true, err
			}
		}
		return false, nil
	}})
	return all
}

// releases is how many releases a chain has.
const releases = 20

// chains are releases one after another, each compared with the last that passed.
func chains() []cell {
	return []cell{
		{fmt.Sprintf("any false PASS of %d releases a margin below the last that passed", releases), 1 - math.Pow(1-claims, releases), func(r *rand.Rand) (bool, error) {
			c := newChain(r)
			for range releases {
				passed, err := c.release(c.truth - margin)
				if err != nil || passed {
					return passed, err
				}
			}
			return false, nil
		}},
		{fmt.Sprintf("drift over %d releases is not that from the pinned run", releases), bothEnds, func(r *rand.Rand) (bool, error) {
			c := newChain(r)
			first, pinned := c.truth, c.last
			for range releases - 1 {
				if _, err := c.release(c.truth - margin/4); err != nil {
					return false, err
				}
			}
			// Drift is shown with every decision, and not only where the run passes: those
			// that do have been lucky.
			compared, err := runstat.Compare(pinned, c.run(c.truth-margin/4), nil, nil, runstat.Options{Margin: margin})
			return misses(compared.Overall.Difference, c.truth-margin/4-first), err
		}},
	}
}

// chain is a product in the course of its releases, on the same items.
type chain struct {
	r     *rand.Rand
	ease  []float64 // how easy each item is
	truth float64   // the pass rate of the last release that passed
	last  *runstat.Rows
}

func newChain(r *rand.Rand) *chain {
	c := &chain{r: r, ease: make([]float64, 400), truth: 0.9}
	for i := range c.ease {
		c.ease[i] = r.Float64()
	}
	c.last = c.run(c.truth)
	return c
}

// run answers the items that are easier than the rate allows; one in ten is a
// matter of luck.
func (c *chain) run(rate float64) *runstat.Rows {
	return shape{items: len(c.ease), repetitions: 1}.rows(func(item, _ int) outcome {
		ease := c.ease[item]
		if c.r.Float64() < 0.1 {
			ease = c.r.Float64()
		}
		return answered(ease < rate)
	})
}

// release compares a release of a given rate with the last that passed, and makes
// it the last if it passes too.
func (c *chain) release(rate float64) (passed bool, err error) {
	rows := c.run(rate)
	verdict, err := claim(c.last, rows, requirement.ClaimNonInferior)
	if verdict == requirement.Pass {
		c.truth, c.last, passed = rate, rows, true
	}
	return passed, err
}
