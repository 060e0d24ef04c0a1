package consensus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/stat"
)

// runs is how often a setting is simulated: enough to catch what does not keep
// its word, or more if ASSAY_STAT_FULL is set.
func runs() int {
	if os.Getenv("ASSAY_STAT_FULL") != "" {
		return 2000
	}
	return fewRuns
}

var fewRuns = 60

// keeps reports whether a simulated share is at least what is promised, but for
// three standard errors of the simulation.
func keeps(held, seen, promised float64) bool {
	return held/seen >= promised-3*math.Sqrt(promised*(1-promised)/seen)
}

// crowd is annotators of known skill in a simulation.
type crowd struct {
	items, perItem int
	shares         []float64 // of the labels
	skills         []float64
}

// votes draws items, their truth and the votes on them. Whoever is wrong gives
// each wrong label as often.
func (c crowd) votes(random *rand.Rand) (all []Vote, truth Truth, scale agreement.Scale) {
	k := len(c.shares)
	for label := range k {
		scale.Labels = append(scale.Labels, strconv.Itoa(label))
	}
	truth = Truth{}
	for i := range c.items {
		label, u := 0, random.Float64()
		for ; label < k-1 && u >= c.shares[label]; label++ {
			u -= c.shares[label]
		}
		item := fmt.Sprintf("%05d", i)
		truth[item] = scale.Labels[label]
		for _, j := range random.Perm(len(c.skills))[:c.perItem] {
			said := label
			if random.Float64() >= c.skills[j] {
				said = (label + 1 + random.IntN(k-1)) % k
			}
			all = append(all, Vote{Item: item, Annotator: strconv.Itoa(j), Label: scale.Labels[said]})
		}
	}
	return all, truth, scale
}

var crowds = []crowd{
	{200, 5, []float64{.5, .5}, []float64{.95, .9, .85, .8, .7, .6, .9, .6}},
	{300, 3, []float64{.5, .5}, []float64{.95, .9, .85, .8, .7, .6}},
	{200, 4, []float64{.9, .1}, []float64{.95, .9, .85, .8}},
	{200, 4, []float64{.6, .3, .1}, []float64{.95, .9, .8, .7, .6}},
	{200, 5, []float64{.2, .2, .2, .2, .2}, []float64{.95, .9, .8, .7, .6, .5}},
}

// The consensus is right more often than the majority, who wins ties by lot; of
// the labels with a posterior of at least .9 no more are wrong than it says; and
// the intervals of the annotators' accuracies hold the truth as often as they
// say. The mean error of an accuracy is at most .05 with two labels and .08 with
// five, where smoothing draws it towards guessing.
func TestSimulatedSkill(t *testing.T) {
	t.Parallel()
	for n, c := range crowds {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			var items, ours, majority, sure, rightAndSure, promised, held, graded, squares float64
			for run := range runs() {
				all, truth, scale := c.votes(rand.New(rand.NewPCG(uint64(run), uint64(n))))
				fit, err := Fit(all, scale, Options{})
				require.NoError(t, err)
				require.Equal(t, MethodDawidSkene, fit.Method)
				counted, err := Fit(all, scale, Options{Method: MethodMajority})
				require.NoError(t, err)
				for i, it := range fit.Items {
					items++
					right := string(it.Label) == truth[it.Item]
					ours += one(right)
					majority += won(counted.Items[i], truth[it.Item], scale)
					if *it.Probability >= .9 {
						sure++
						promised += *it.Probability
						rightAndSure += one(right)
					}
				}
				for j, a := range fit.Annotators {
					d := *a.Accuracy.Value - c.skills[j]
					squares += d * d
					graded++
					held += one(a.Accuracy.CI != nil && *a.Accuracy.CI.Lower <= c.skills[j] && c.skills[j] <= *a.Accuracy.CI.Upper)
				}
			}
			t.Logf("right %.4f, majority %.4f; sure %.3f, right of them %.4f, said %.4f; intervals hold %.3f, error %.3f",
				ours/items, majority/items, sure/items, rightAndSure/sure, promised/sure, held/graded, math.Sqrt(squares/graded))
			require.Greater(t, ours, majority)
			require.True(t, keeps(rightAndSure, sure, .9))
			// Errors of one run go together, hence the half point.
			require.GreaterOrEqual(t, rightAndSure/sure, promised/sure-.005)
			require.True(t, keeps(held, graded, .93), "%v", held/graded)
			require.Less(t, math.Sqrt(squares/graded), map[bool]float64{true: .05, false: .08}[len(c.shares) == 2])
		})
	}
}

// won is the chance that a majority is right, ties being broken by lot.
func won(it Item, truth string, scale agreement.Scale) float64 {
	if !it.Tied {
		return one(string(it.Label) == truth)
	}
	most, tied, in := 0.0, 0.0, 0.0
	for _, p := range it.Posterior {
		most = math.Max(most, p)
	}
	for label, p := range it.Posterior {
		if most-p < 1./float64(it.Votes+1)-1e-9 { // less than a vote
			tied++
			in += one(scale.Labels[label] == truth)
		}
	}
	return in / tied
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Without smoothing labels with a posterior of .9 are wrong more often than a
// tenth where votes are few: the check above would notice.
func TestSimulatedFalseCertainty(t *testing.T) {
	t.Parallel()
	c := crowd{20, 3, []float64{.5, .5}, []float64{.75, .7, .65}}
	share := func(method Method) (right, sure float64) {
		for run := range runs() {
			all, truth, scale := c.votes(rand.New(rand.NewPCG(uint64(run), 77)))
			fit, err := Fit(all, scale, Options{Method: method})
			require.NoError(t, err)
			for _, it := range fit.Items {
				if it.Probability != nil && *it.Probability >= .9 {
					sure++
					right += one(string(it.Label) == truth[it.Item])
				}
			}
		}
		return right, sure
	}
	right, sure := share(MethodDawidSkeneML)
	t.Logf("without smoothing %.3f of %v are right", right/sure, sure)
	require.False(t, keeps(right, sure, .9))
	right, sure = share(MethodDawidSkene)
	t.Logf("with smoothing %.3f of %v are right", right/sure, sure)
	require.Greater(t, right/sure, .8)
}

// Measured by the others, an accuracy is not biased by how unsure they are, and
// its interval holds the truth as often as it says.
func TestSimulatedPeers(t *testing.T) {
	t.Parallel()
	for n, c := range crowds {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			var held, graded, bias, naive float64
			for run := range runs() {
				all, truth, scale := c.votes(rand.New(rand.NewPCG(uint64(run), uint64(100+n))))
				v, err := read(all, scale, nil, nil)
				require.NoError(t, err)
				fit, m, err := v.consensus("", stat.Options{})
				require.NoError(t, err)
				require.Len(t, truth, c.items)
				o, err := stat.Options{}.Checked()
				require.NoError(t, err)
				for j, p := range m.peers() {
					e := p.estimate(fit, o)
					require.NotNil(t, e.CI)
					graded++
					bias += *e.Value - c.skills[j]
					raw := 0.0
					for _, x := range p.said {
						raw += x / float64(len(p.said))
					}
					naive += raw - c.skills[j]
					held += one(*e.CI.Lower <= c.skills[j] && c.skills[j] <= *e.CI.Upper)
				}
			}
			t.Logf("intervals hold %.3f; bias %.4f, of plain agreement with the others %.4f", held/graded, bias/graded, naive/graded)
			require.True(t, keeps(held, graded, .93), "%v", held/graded)
			require.InDelta(t, 0, bias/graded, .02)
		})
	}
}
