package correction

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/stat"
)

// runs is how often a setting is simulated: enough to catch an interval that does
// not keep its word, or more if ASSAY_STAT_FULL is set.
func runs() int {
	if os.Getenv("ASSAY_STAT_FULL") != "" {
		return 10000
	}
	return fewRuns
}

var fewRuns = 1200

// promised is what intervals of 95 % cover at the least.
const promised = 0.93

// keeps reports whether a simulated coverage is what is promised, but for two
// standard errors of the simulation.
func keeps(held int) bool {
	n := float64(runs())
	return float64(held)/n >= promised-2*math.Sqrt(promised*(1-promised)/n)
}

// world is how quality and a judge are in a simulation.
type world struct {
	rate    float64
	graded  bool // the judge gives shares, not verdicts
	further int  // unlabelled items
}

// verdict draws an item: whether it is good, and what the judge says of it.
func (w world) verdict(random *rand.Rand) (human, judge float64) {
	good := random.Float64() < w.rate
	if good {
		human = 1
	}
	u := random.Float64()
	switch {
	case w.graded && good:
		return human, 1 - u*u/2
	case w.graded:
		return human, 1 - math.Sqrt(u)
	case good && u < .97 || !good && u >= .60:
		judge = 1
	}
	return human, judge
}

func (w world) pool(random *rand.Rand, labels int) pool {
	var p pool
	for range labels {
		h, j := w.verdict(random)
		p.human, p.judge = append(p.human, h), append(p.judge, j)
	}
	for range w.further {
		_, j := w.verdict(random)
		p.rest = append(p.rest, j)
	}
	return p
}

// The corrected estimate covers at every rate, from the fewest labels on. The
// textbook's interval does not where nearly everything passes, and is caught by
// the same check.
func TestCoverageOfCorrectedRates(t *testing.T) {
	t.Parallel()
	for _, graded := range []bool{false, true} {
		for _, rate := range []float64{.5, .8, .93, .95} {
			t.Run(fmt.Sprintf("rate %v, graded %v", rate, graded), func(t *testing.T) {
				t.Parallel()
				w := world{rate, graded, 500}
				caught := 0
				for _, labels := range []int{15, 30, 60} {
					held, textbook := 0, 0
					for i := range runs() {
						p := w.pool(rand.New(rand.NewPCG(uint64(i), uint64(labels))), labels)
						h := p.estimate(labels, stat.Options{Level: .95, Range: stat.Unit()})
						if *h.CI.Lower <= rate && rate <= *h.CI.Upper {
							held++
						}
						f := p.corrected(nil)
						if math.Abs(f.value-rate) <= stat.NormalCritical(.05)*f.se {
							textbook++
						}
					}
					t.Logf("%d labels: covers %.3f, the textbook %.3f", labels, float64(held)/float64(runs()), float64(textbook)/float64(runs()))
					require.True(t, keeps(held), "%d labels: covers %d of %d", labels, held, runs())
					if !keeps(textbook) {
						caught++
					}
				}
				if rate > .9 {
					require.GreaterOrEqual(t, caught, 2, "the textbook's interval was not caught")
				}
			})
		}
	}
}

// Labels drawn with unequal probabilities, more often where the judge is unsure,
// cover as well.
func TestCoverageOfChosenLabels(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{.5, .8, .93, .95} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			t.Parallel()
			w := world{rate, true, 0}
			for _, budget := range []float64{25, 60} {
				held, textbook := 0, 0
				for i := range runs() {
					random := rand.New(rand.NewPCG(uint64(i), 9))
					var items []Item
					var u []float64
					for range 500 {
						h, j := w.verdict(random)
						items = append(items, Item{Judge: j, Human: &h})
						u = append(u, math.Sqrt(j*(1-j))+.05)
					}
					p, err := Probabilities(u, budget)
					require.NoError(t, err)
					for i := range items {
						items[i].Probability = p[i]
						if random.Float64() >= p[i] {
							items[i].Human = nil
						}
					}
					h := active(items, stat.Options{Level: .95, Range: stat.Unit()})
					if *h.CI.Lower <= rate && rate <= *h.CI.Upper {
						held++
					}
					if math.Abs(*h.Value-rate) <= stat.NormalCritical(.05)**h.SE {
						textbook++
					}
				}
				t.Logf("%v labels: covers %.3f, the textbook %.3f", budget, float64(held)/float64(runs()), float64(textbook)/float64(runs()))
				require.True(t, keeps(held), "%v labels: covers %d of %d", budget, held, runs())
			}
		})
	}
}

// Error rates from elsewhere, with as many labels, cover too; the delta method
// does not, and is caught.
func TestCoverageOfRoganGladen(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{.5, .8, .93, .95} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			t.Parallel()
			const sensitivity, specificity, n = .97, .8, 500
			count := func(random *rand.Rand, n int, p float64) (k int) {
				for range n {
					if random.Float64() < p {
						k++
					}
				}
				return k
			}
			held, textbook, answered := 0, 0, 0
			for i := range runs() {
				random := rand.New(rand.NewPCG(uint64(i), 10))
				rates := ErrorRates{Failed: 15, Passed: 30}
				rates.FailedRight, rates.PassedRight = count(random, 15, specificity), count(random, 30, sensitivity)
				passed := count(random, n, rate*sensitivity+(1-rate)*(1-specificity))
				e, err := RoganGladen(passed, n, rates, stat.Options{})
				require.NoError(t, err)
				if *e.CI.Lower <= rate && rate <= *e.CI.Upper {
					held++
				}
				if e.Value != nil {
					answered++
					if e.SE != nil && math.Abs(*e.Value-rate) <= stat.NormalCritical(.05)**e.SE {
						textbook++
					}
				}
			}
			t.Logf("rate %v: covers %.3f, the delta method %d of %d", rate, float64(held)/float64(runs()), textbook, answered)
			require.True(t, keeps(held), "covers %d of %d", held, runs())
			if rate > .94 {
				require.False(t, keeps(textbook), "the delta method covers %d of %d and was not caught", textbook, answered)
			}
		})
	}
}

// A threshold keeps its promise: among simulated calibrations, the share whose
// accepted verdicts are wrong more often than promised is as small as stated.
func TestRoutesKeepTheirPromise(t *testing.T) {
	t.Parallel()
	const risk, confidence = .1, .9
	draw := func(random *rand.Rand) Trial {
		c := .5 + random.Float64()/2
		return Trial{c, random.Float64() > c} // wrong as often as the judge is unsure
	}
	broken, naive, answered := 0, 0, 0
	var average, sent float64
	for i := range runs() {
		random := rand.New(rand.NewPCG(uint64(i), 11))
		trials := make([]Trial, 300)
		for j := range trials {
			trials[j] = draw(random)
		}
		r, err := Learn(trials, Grid(), risk, confidence)
		require.NoError(t, err)
		// Of confidences between t and 1 a share of (1-t)/2 is wrong.
		if r.Threshold != nil {
			answered++
			if (1-*r.Threshold)/2 > risk {
				broken++
			}
		}
		all, err := steps(trials, Grid())
		require.NoError(t, err)
		for j := len(all) - 1; j >= 0; j-- { // the loosest that looks good enough
			if float64(all[j].Wrong) <= risk*float64(all[j].Accepted) {
				if (1-all[j].Threshold)/2 > risk {
					naive++
				}
				break
			}
		}
		c, err := Control(trials, Grid(), .03)
		require.NoError(t, err)
		if c.Threshold != nil {
			average += (1 - *c.Threshold) * (1 - *c.Threshold) // of all verdicts: accepted 2(1-t), wrong (1-t)/2 of them
		}
		p, err := Capacity(trials, .3, confidence)
		require.NoError(t, err)
		if (1-*p.Threshold)/2 > p.Risk {
			sent++
		}
	}
	n := float64(runs())
	allowed := 1 - confidence + 3*math.Sqrt(confidence*(1-confidence)/n)
	t.Logf("broken in %.3f of %d, by the loosest that looks good in %.3f; on average %.4f wrong; capacity broken in %.3f", float64(broken)/n, answered, float64(naive)/n, average/n, sent/n)
	require.Positive(t, answered)
	require.LessOrEqual(t, float64(broken)/n, allowed)
	require.Greater(t, float64(naive)/n, allowed, "the naive threshold was not caught")
	require.LessOrEqual(t, average/n, .03)
	require.LessOrEqual(t, sent/n, allowed)
}

// Evidence of drift is rarely strong where there is none, although it is looked at
// every day.
func TestEvidenceMayBeLookedAtEveryDay(t *testing.T) {
	t.Parallel()
	const most = .03
	misled, naive := 0, 0
	for i := range runs() {
		random := rand.New(rand.NewPCG(uint64(i), 12))
		k, n, wrong, small := 0, 0, false, false
		for range 60 {
			for range 20 {
				n++
				if random.Float64() < most {
					k++
				}
			}
			wrong = wrong || Evidence(k, n, most) >= 20
			small = small || 1-stat.BinomialCDF(float64(k-1), float64(n), most) <= .05
		}
		if wrong {
			misled++
		}
		if small {
			naive++
		}
	}
	allowed := .05 + 3*math.Sqrt(.05*.95/float64(runs()))
	t.Logf("misled in %d runs, by a p-value in %d of %d", misled, naive, runs())
	require.LessOrEqual(t, float64(misled)/float64(runs()), allowed)
	require.Greater(t, float64(naive)/float64(runs()), allowed)
}
