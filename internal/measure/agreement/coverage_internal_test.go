package agreement

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/stat"
)

// runs is how often a setting is simulated: enough to catch an interval that
// does not keep its word, or more if ASSAY_STAT_FULL is set.
func runs() int {
	if os.Getenv("ASSAY_STAT_FULL") != "" {
		return 4000
	}
	return fewRuns
}

var fewRuns = 300

// keeps reports whether a simulated coverage is at least what is promised, but
// for three standard errors of the simulation.
func keeps(held, seen int) bool {
	const promised = 0.93
	return float64(held)/float64(seen) >= promised-3*math.Sqrt(promised*(1-promised)/float64(seen))
}

// judged is how people and a judge rate in a simulation.
type judged struct {
	n                      int
	rate, finds, dismisses float64 // of the first label among people; of it and of the other by the judge
	naiveIsCaught          bool
}

func (j judged) cells() []float64 {
	return []float64{j.rate * j.finds, j.rate * (1 - j.finds), (1 - j.rate) * (1 - j.dismisses), (1 - j.rate) * j.dismisses}
}

func (j judged) draw(random *rand.Rand) []Pair {
	cells, all := j.cells(), make([]Pair, j.n)
	for i := range all {
		u, cell := random.Float64(), 0
		for ; cell < 3 && u >= cells[cell]; cell++ {
			u -= cells[cell]
		}
		all[i] = Pair{Human: strconv.Itoa(cell / 2), Judge: strconv.Itoa(cell % 2), Probability: 1}
	}
	return all
}

// truths are the coefficients of all items.
func (j judged) truths() map[string]float64 {
	t := table{2, j.cells()}
	s := &sample{values: 2, patterns: pairs(2), chance: upTo(4)}
	many := make([]float64, 4)
	for i, x := range t.cells {
		many[i] = x * 1e9
	}
	kappa, _ := t.kappa(WeightingNominal)
	return map[string]float64{
		"kappa": kappa, "ac1": s.gwet(WeightingNominal, many).value, "alpha": s.alpha(LevelNominal, nil)(many),
		"mcc": t.mcc(), "balanced accuracy": t.balanced(), "f1 of the frequent label": t.f1(0), "f1 of the rare label": t.f1(1),
	}
}

// Intervals cover where agreement is high and a label is rare, which is where
// judges are. Kappa's textbook interval does not, and is caught by the same check.
func TestCoverage(t *testing.T) {
	t.Parallel()
	for _, c := range []judged{
		{30, .5, .85, .85, false},
		{30, .93, .97, .6, true},
		{30, .93, .99, .95, true},
		{60, .95, .97, .6, true},
		{100, .95, .98, .7, false},
		{60, .8, .9, .8, false},
	} {
		t.Run(fmt.Sprintf("%d items, %v of them with one label", c.n, c.rate), func(t *testing.T) {
			t.Parallel()
			truths := c.truths()
			held, seen := map[string]int{}, map[string]int{}
			note := func(name string, lower, upper float64) {
				seen[name]++
				if lower <= truths[name] && truths[name] <= upper {
					held[name]++
				}
			}
			naive := 0
			for i := range runs() {
				o := stat.Options{Replicates: 400, Seed: stat.Seed{Resource: strconv.Itoa(i)}}
				a, err := Align(c.draw(rand.New(rand.NewPCG(uint64(i), 7))), Scale{Labels: labels(2)}, AlignmentOptions{Options: o})
				require.NoError(t, err)
				for name, e := range map[string]stat.Estimate{
					"kappa": a.Kappa.Nominal, "ac1": a.AC1, "alpha": a.Alpha, "mcc": a.MCC, "balanced accuracy": a.Balanced,
					"f1 of the frequent label": a.Classes[0].F1, "f1 of the rare label": a.Classes[1].F1,
				} {
					// Without a label, balanced accuracy is about the other one, and says so.
					other := name == "balanced accuracy" && slices.ContainsFunc(a.Classes, func(c Class) bool { return c.Support == 0 })
					if e.CI != nil && !other {
						note(name, *e.CI.Lower, *e.CI.Upper)
					}
				}
				if k := a.Kappa.Nominal; k.Value != nil {
					half := 0.0
					if k.SE != nil {
						half = stat.NormalCritical(.05) * *k.SE
					}
					if math.Abs(*k.Value-truths["kappa"]) <= half {
						naive++
					}
				}
			}
			for name, n := range seen {
				t.Logf("%s covers %.3f of %d", name, float64(held[name])/float64(n), n)
				require.True(t, keeps(held[name], n), "%s covers %d of %d", name, held[name], n)
			}
			t.Logf("the textbook's kappa covers %.3f", float64(naive)/float64(seen["kappa"]))
			if c.naiveIsCaught {
				require.False(t, keeps(naive, seen["kappa"]), "the textbook's kappa covers %d of %d and was not caught", naive, seen["kappa"])
			}
		})
	}
}

// Clusters of items that the judge treats alike carry less than their number of
// items says. Intervals that know of them cover; those that do not are caught.
func TestCoverageOfClusters(t *testing.T) {
	t.Parallel()
	c := judged{rate: .7, finds: .9, dismisses: .7}
	truth := c.truths()["kappa"]
	held, naive := 0, 0
	for i := range runs() {
		random := rand.New(rand.NewPCG(uint64(i), 8))
		var all []Pair
		for cluster := range 60 {
			one := judged{1, c.rate, c.finds, c.dismisses, false}.draw(random)[0]
			one.Cluster = strconv.Itoa(cluster)
			for range 4 { // four answers that share their fate
				all = append(all, one)
			}
		}
		o := AlignmentOptions{Options: stat.Options{Replicates: 400, Seed: stat.Seed{Resource: strconv.Itoa(i)}}}
		a, err := Align(all, Scale{Labels: labels(2)}, o)
		require.NoError(t, err)
		if e := a.Kappa.Nominal; *e.CI.Lower <= truth && truth <= *e.CI.Upper {
			held++
		}
		for i := range all {
			all[i].Cluster = ""
		}
		a, err = Align(all, Scale{Labels: labels(2)}, o)
		require.NoError(t, err)
		if e := a.Kappa.Nominal; *e.CI.Lower <= truth && truth <= *e.CI.Upper {
			naive++
		}
	}
	t.Logf("covers %d of %d, without knowing of clusters %d", held, runs(), naive)
	require.True(t, keeps(held, runs()))
	require.False(t, keeps(naive, runs()))
}

// With many labels the intervals of each one still cover.
func TestCoverageOfManyLabels(t *testing.T) {
	t.Parallel()
	for _, k := range []int{5, 10} {
		t.Run(fmt.Sprintf("%d labels", k), func(t *testing.T) {
			t.Parallel()
			const right, items = .95, 150
			held, seen := 0, 0
			for i := range runs() {
				random := rand.New(rand.NewPCG(uint64(i), 9))
				all := make([]Pair, items)
				for j := range all {
					human := random.IntN(k)
					judge := human
					if random.Float64() >= right {
						judge = (human + 1 + random.IntN(k-1)) % k
					}
					all[j] = Pair{Human: strconv.Itoa(human), Judge: strconv.Itoa(judge), Probability: 1}
				}
				o := stat.Options{Replicates: 400, Seed: stat.Seed{Resource: strconv.Itoa(i)}}
				a, err := Align(all, Scale{Labels: labels(k)}, AlignmentOptions{Options: o})
				require.NoError(t, err)
				if e := a.Classes[0].F1; e.CI != nil {
					seen++
					if *e.CI.Lower <= right && right <= *e.CI.Upper {
						held++
					}
				}
			}
			t.Logf("F1 covers %d of %d", held, seen)
			require.True(t, keeps(held, seen), "F1 covers %d of %d", held, seen)
		})
	}
}
