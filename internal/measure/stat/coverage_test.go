package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/assayhq/assay/internal/measure/stat"
)

// runs is how often a setting is simulated: enough to catch an interval that
// does not keep its word, or as many as the stated figures come from if
// ASSAY_STAT_FULL is set.
func runs() int {
	if os.Getenv("ASSAY_STAT_FULL") != "" {
		return 4000
	}
	return fewRuns
}

var fewRuns = 600

// statedRuns is how many simulations the stated coverages come from.
const statedRuns = 4000

// simulation draws data and returns the interval made from them.
type simulation func(random *rand.Rand) (lower, upper *float64)

// coverage is the share of simulations whose interval holds the truth.
func coverage(truth float64, s simulation) float64 {
	held := 0
	for i := range runs() {
		lower, upper := s(rand.New(rand.NewPCG(uint64(i), 20)))
		if (lower == nil || *lower <= truth) && (upper == nil || *upper >= truth) {
			held++
		}
	}
	return float64(held) / float64(runs())
}

// keeps reports whether a simulated coverage is the stated one, or better,
// but for three standard errors of the simulation.
func keeps(simulated, stated float64) bool {
	stated = math.Min(stated, 0.95) // more is not promised
	return simulated >= stated-3*math.Sqrt(stated*(1-stated)*(1/float64(runs())+1.0/statedRuns))
}

func ends(t *testing.T, e stat.Estimate, err error) (lower, upper *float64) {
	require.NoError(t, err)
	if e.CI == nil {
		return nil, nil
	}
	return e.CI.Lower, e.CI.Upper
}

// clusteredPasses draws clusters of five rows whose outcomes correlate by 0.3.
func clusteredPasses(random *rand.Rand, rate float64, clusters int) []stat.Observation {
	const correlation = 0.3
	strength := (1 - correlation) / correlation
	d := distuv.Beta{Alpha: rate * strength, Beta: (1 - rate) * strength, Src: random}
	rows := make([]stat.Observation, 0, 5*clusters)
	for c := range clusters {
		p := d.Rand()
		for i := range 5 {
			row := stat.Observation{Item: strconv.Itoa(5*c + i), Cluster: strconv.Itoa(c)}
			if random.Float64() < p {
				row.Score = 1
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func alone(rows []stat.Observation) []stat.Observation {
	for i := range rows {
		rows[i].Cluster = ""
	}
	return rows
}

// A pass rate over clusters covers what its documentation states; the interval
// that takes rows for independent does not, and is caught by the same check.
func TestCoverageOfClusteredPassRates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate          float64
		clusters      int
		stated, gate  float64 // zero: not stated
		naiveIsCaught bool
	}{
		{.60, 15, .958, 0, true},
		{.90, 8, .983, 0, true},
		{.90, 30, .945, .954, true},
		{.97, 15, .972, .995, false},
		{.97, 60, .917, .935, true},
		{.99, 150, .897, .920, false},
	} {
		t.Run(fmt.Sprintf("%v of %d clusters", c.rate, c.clusters), func(t *testing.T) {
			t.Parallel()
			got := coverage(c.rate, func(random *rand.Rand) (lower, upper *float64) {
				e, err := stat.PassRate(clusteredPasses(random, c.rate, c.clusters), stat.Options{})
				return ends(t, e, err)
			})
			require.True(t, keeps(got, c.stated), "covers %.3f, stated is %.3f", got, c.stated)
			if c.gate > 0 {
				gate := coverage(c.rate, func(random *rand.Rand) (lower, upper *float64) {
					e, err := stat.PassRate(clusteredPasses(random, c.rate, c.clusters), stat.Options{Policy: stat.PolicyGate})
					return ends(t, e, err)
				})
				require.True(t, keeps(gate, c.gate), "a gate's interval covers %.3f, stated is %.3f", gate, c.gate)
			}
			naive := coverage(c.rate, func(random *rand.Rand) (lower, upper *float64) {
				e, err := stat.PassRate(alone(clusteredPasses(random, c.rate, c.clusters)), stat.Options{})
				return ends(t, e, err)
			})
			if c.naiveIsCaught {
				require.False(t, keeps(naive, c.stated), "the naive interval covers %.3f and was not caught", naive)
			}
			t.Logf("covers %.3f, stated %.3f, naive %.3f", got, c.stated, naive)
		})
	}
}

// The default of paired passes covers; Student's interval does not where few
// items are discordant, and is caught.
func TestCoverageOfPairedPasses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n             int
		onlyA, onlyB  float64
		naiveIsCaught bool
	}{
		{20, .03, .08, true},
		{50, .005, .02, true},
		{100, 0, .05, true},
		{300, .02, .05, false},
	} {
		t.Run(fmt.Sprintf("%d items", c.n), func(t *testing.T) {
			t.Parallel()
			sides := func(random *rand.Rand) (a, b []stat.Observation) {
				for i := range c.n {
					one, two := stat.Observation{Item: strconv.Itoa(i)}, stat.Observation{Item: strconv.Itoa(i)}
					switch u := random.Float64(); {
					case u < c.onlyA:
						one.Score = 1
					case u < c.onlyA+c.onlyB:
						two.Score = 1
					case u < c.onlyA+c.onlyB+0.7:
						one.Score, two.Score = 1, 1
					}
					a, b = append(a, one), append(b, two)
				}
				return a, b
			}
			truth := c.onlyB - c.onlyA
			for _, method := range []stat.Method{stat.MethodNewcombe, stat.MethodScore} {
				got := coverage(truth, func(random *rand.Rand) (lower, upper *float64) {
					a, b := sides(random)
					r, err := stat.Compare(a, b, stat.CompareOptions{Options: stat.Options{Method: method}})
					return ends(t, r.Difference, err)
				})
				require.True(t, keeps(got, .95), "%s covers %.3f", method, got)
			}
			naive := coverage(truth, func(random *rand.Rand) (lower, upper *float64) {
				a, b := sides(random)
				for i := range a { // differences as if they were any numbers, and no bound if all are zero
					a[i].Score = b[i].Score - a[i].Score
				}
				e, err := stat.Mean(a, stat.Options{})
				require.NoError(t, err)
				if e.CI == nil {
					return e.Value, e.Value
				}
				return e.CI.Lower, e.CI.Upper
			})
			if c.naiveIsCaught {
				require.False(t, keeps(naive, .95), "Student's interval covers %.3f and was not caught", naive)
			}
			t.Logf("Student's interval covers %.3f", naive)
		})
	}
}

// Means, differences over clusters, repeated items and quantiles cover.
func TestCoverageOfTheOthers(t *testing.T) {
	t.Parallel()
	clustered := func(random *rand.Rand, clusters int, mean float64) []stat.Observation {
		var rows []stat.Observation
		for c := range clusters {
			level := mean + random.NormFloat64()
			for i := range 1 + random.IntN(6) {
				rows = append(rows, stat.Observation{Item: fmt.Sprintf("%d.%d", c, i), Cluster: strconv.Itoa(c), Score: level + random.NormFloat64()})
			}
		}
		return rows
	}
	for _, c := range []struct {
		name          string
		truth, stated float64
		simulation    simulation
	}{
		{"a mean over clusters", 3, .93, func(random *rand.Rand) (lower, upper *float64) {
			e, err := stat.Mean(clustered(random, 20, 3), stat.Options{})
			return ends(t, e, err)
		}},
		{"a mean of repeated items", 0, .95, func(random *rand.Rand) (lower, upper *float64) {
			var rows []stat.Observation
			for i := range 15 {
				level := random.NormFloat64()
				for k := range 3 {
					rows = append(rows, stat.Observation{Item: strconv.Itoa(i), Epoch: k, Score: level + random.NormFloat64()})
				}
			}
			e, err := stat.Mean(rows, stat.Options{})
			return ends(t, e, err)
		}},
		{"the mean of exactly these items", 7, .95, func(random *rand.Rand) (lower, upper *float64) {
			var rows []stat.Observation
			for i := range 15 {
				for k := range 3 {
					rows = append(rows, stat.Observation{Item: strconv.Itoa(i), Epoch: k, Score: float64(i) + random.NormFloat64()})
				}
			}
			e, err := stat.Mean(rows, stat.Options{Estimand: stat.EstimandDataset})
			return ends(t, e, err)
		}},
		{"a difference over clusters", 1, .93, func(random *rand.Rand) (lower, upper *float64) {
			a, d := clustered(random, 20, 0), rand.New(rand.NewPCG(random.Uint64(), 1))
			b := append([]stat.Observation{}, a...)
			for i := range b {
				b[i].Score += 1 + 0.3*d.NormFloat64()
			}
			c, err := stat.Compare(a, b, stat.CompareOptions{})
			return ends(t, c.Difference, err)
		}},
		{"a quantile of skewed scores", math.Exp(1.2815515655446004), .95, func(random *rand.Rand) (lower, upper *float64) {
			var rows []stat.Observation
			for i := range 120 {
				rows = append(rows, stat.Observation{Item: strconv.Itoa(i), Score: math.Exp(random.NormFloat64())})
			}
			e, err := stat.Quantile(rows, 0.9, stat.Options{})
			return ends(t, e, err)
		}},
		{"a median of clustered rows", 3, .95, func(random *rand.Rand) (lower, upper *float64) {
			e, err := stat.Quantile(clustered(random, 30, 3), 0.5, stat.Options{})
			return ends(t, e, err)
		}},
		{"a bootstrapped mean of skewed scores", math.Exp(0.125), .93, func(random *rand.Rand) (lower, upper *float64) {
			var rows []stat.Observation
			for i := range 60 {
				rows = append(rows, stat.Observation{Item: strconv.Itoa(i), Score: math.Exp(0.5 * random.NormFloat64())})
			}
			e, err := stat.Mean(rows, stat.Options{Method: stat.MethodBCa, Replicates: 500})
			return ends(t, e, err)
		}},
		{"two rates of different items", .1, .95, func(random *rand.Rand) (lower, upper *float64) {
			passes := func(n int, rate float64) (rows []stat.Observation) {
				for i := range n {
					row := stat.Observation{Item: strconv.Itoa(i)}
					if random.Float64() < rate {
						row.Score = 1
					}
					rows = append(rows, row)
				}
				return rows
			}
			c, err := stat.Compare(passes(40, .85), passes(60, .95), stat.CompareOptions{Unpaired: true})
			return ends(t, c.Difference, err)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := coverage(c.truth, c.simulation)
			t.Logf("covers %.3f", got)
			require.True(t, keeps(got, c.stated), "covers %.3f, stated is %.3f", got, c.stated)
		})
	}
}

// Whoever looks after every item, and stops when it suits, is misled as rarely
// as the level says. An interval for finished data, looked at as often, is
// caught.
func TestPeekingCostsNothing(t *testing.T) {
	t.Parallel()
	const alpha, last = 0.05, 400
	looks := func(n int) bool { return n < 20 || n < 100 && n%10 == 0 || n%50 == 0 }
	for _, c := range []struct {
		name  string
		truth float64
		score func(random *rand.Rand) float64
	}{
		{"passes", .9, func(random *rand.Rand) float64 {
			if random.Float64() < .9 {
				return 1
			}
			return 0
		}},
		{"shares", .5, func(random *rand.Rand) float64 { return random.Float64() }},
		{"skewed shares", .2, func(random *rand.Rand) float64 { return distuv.Beta{Alpha: .5, Beta: 2, Src: random}.Rand() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			misled, naive := 0, 0
			for i := range runs() / 3 {
				random := rand.New(rand.NewPCG(uint64(i), 21))
				var rows []stat.Observation
				wrong, wrongNaive := false, false
				for n := range last {
					rows = append(rows, stat.Observation{Item: fmt.Sprintf("%06d", n), Score: c.score(random)})
					if !looks(n + 1) {
						continue
					}
					p, err := stat.Watch(rows, stat.WatchOptions{Options: stat.Options{Range: stat.Unit()}, RandomOrder: true, Planned: last})
					require.NoError(t, err)
					wrong = wrong || *p.Estimate.CI.Lower > c.truth || *p.Estimate.CI.Upper < c.truth
					if e, err := stat.Mean(rows, stat.Options{Range: stat.Unit()}); e.CI != nil && n >= 10 {
						require.NoError(t, err)
						wrongNaive = wrongNaive || *e.CI.Lower > c.truth || *e.CI.Upper < c.truth
					}
				}
				if wrong {
					misled++
				}
				if wrongNaive {
					naive++
				}
			}
			all := float64(runs() / 3)
			allowed := alpha + 3*math.Sqrt(alpha*(1-alpha)/all)
			t.Logf("misled in %.3f of the runs, by an interval for finished data in %.3f", float64(misled)/all, float64(naive)/all)
			require.LessOrEqual(t, float64(misled)/all, allowed)
			require.Greater(t, float64(naive)/all, allowed)
		})
	}
}
