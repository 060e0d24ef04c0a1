package stat_test

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/measure/stat"
)

// shapes of scores: passes, steps, anything, and numbers at the ends of what a
// number can be.
func drawScore(t *rapid.T, shape int) float64 {
	switch shape {
	case 0:
		return float64(rapid.IntRange(0, 1).Draw(t, "pass"))
	case 1:
		return float64(rapid.IntRange(0, 4).Draw(t, "step")) / 4
	case 2:
		return float64(rapid.IntRange(0, 1<<30).Draw(t, "share")) / (1 << 30)
	}
	return rapid.SampledFrom([]float64{0, 1, 0.1, 1e-300, 5e-324, 1e-160, 1e-80, 1e40, 1e99, -1e99, -1, 1e100, -1e100}).Draw(t, "score")
}

// drawRows makes the rows of a run over some of fifty items.
func drawRows(t *rapid.T, shape int, clustered bool) []stat.Observation {
	var rows []stat.Observation
	most := rapid.SampledFrom([]int{1, 1, 3}).Draw(t, "epochs")
	missing := rapid.SampledFrom([]int{0, 0, 20}).Draw(t, "missing")
	n := rapid.SampledFrom([]int{0, 1, 2, 3, 10, 50, 150}).Draw(t, "items")
	for i := range n {
		if rapid.IntRange(0, 19).Draw(t, "absent") == 0 {
			continue
		}
		row := stat.Observation{Item: strconv.Itoa(i), Weight: []float64{1, 2, 0.5, 1e-300, 1e90, 0, 3}[i%7], Content: strconv.Itoa(i / 2)}
		if clustered {
			row.Cluster = strconv.Itoa(i % 5)
		}
		for e := range rapid.IntRange(1, most).Draw(t, "of item") {
			row.Epoch, row.Score, row.Missing = e, drawScore(t, shape), stat.Present
			if rapid.IntRange(1, 100).Draw(t, "lost") <= missing {
				row.Score, row.Missing = 0, rapid.SampledFrom([]stat.Cause{stat.CauseItem, stat.CauseOutput, stat.CauseSystem}).Draw(t, "cause")
			}
			rows = append(rows, row)
		}
	}
	return rows
}

type drawn struct {
	a, b []stat.Observation
	o    stat.CompareOptions
}

func draw(t *rapid.T) drawn {
	shape := rapid.IntRange(0, 3).Draw(t, "shape")
	clustered := rapid.Bool().Draw(t, "clustered")
	d := drawn{a: drawRows(t, shape, clustered), b: drawRows(t, shape, clustered)}
	d.o = stat.CompareOptions{
		Options: stat.Options{
			Level:    rapid.SampledFrom([]float64{0, 0.8, 0.999}).Draw(t, "level"),
			Missing:  rapid.SampledFrom([]stat.MissingPolicy{"", stat.MissingFail, stat.MissingBounds}).Draw(t, "policy"),
			Estimand: rapid.SampledFrom([]stat.Estimand{"", "", stat.EstimandDataset}).Draw(t, "estimand"),
			Weighted: rapid.IntRange(0, 3).Draw(t, "weighted") == 0, Method: rapid.SampledFrom([]stat.Method{"", "", "", stat.MethodBCa}).Draw(t, "method"),
			Policy:        rapid.SampledFrom([]stat.Policy{"", stat.PolicyGate}).Draw(t, "gate"),
			LowerIsBetter: rapid.Bool().Draw(t, "lower is better"),
			CostRatio:     2,
			Replicates:    200,
		},
		Margin: rapid.SampledFrom([]float64{0, 0.05}).Draw(t, "margin"),
		Forced: rapid.Bool().Draw(t, "forced"), Unpaired: rapid.IntRange(0, 3).Draw(t, "unpaired") == 0,
	}
	if shape < 3 {
		d.o.Range = stat.Unit()
	} else {
		d.o.Range = &stat.Range{Lower: -1e100, Upper: 1e100}
	}
	if rapid.IntRange(0, 3).Draw(t, "no range") == 0 {
		d.o.Range, d.o.Missing = nil, ""
	}
	return d
}

// all computes everything from the drawn rows.
func (d drawn) all(visit func(what string, e stat.Estimate, err error)) {
	once := func(what string) func(stat.Estimate, error) {
		return func(e stat.Estimate, err error) { visit(what, e, err) }
	}
	once("mean")(stat.Mean(d.a, d.o.Options))
	rate := d.o.Options
	rate.Method = ""
	once("pass rate")(stat.PassRate(d.a, rate))
	once("quantile")(stat.Quantile(d.a, 0.5, stat.Options{Level: d.o.Level}))
	once("pass@2")(stat.PassAtK(stat.TrialsOf(d.a, d.o.Missing), 2, true, stat.Options{}))
	once("overall")(stat.Overall([]stat.Metric{{Name: "a", Weight: 1, Range: d.o.Range, Rows: d.a}, {Name: "b", Weight: 0.3, Range: d.o.Range, Rows: d.b}}, d.o.Options))
	c, err := stat.Compare(d.a, d.b, d.o)
	visit("difference", c.Difference, err)
	visit("baseline", c.Baseline, err)
	visit("candidate", c.Candidate, err)
	w := stat.WatchOptions{Options: stat.Options{Range: d.o.Range, Level: d.o.Level, Weighted: d.o.Weighted}, RandomOrder: true}
	p, err := stat.Watch(d.a, w)
	visit("watch", stat.Estimate(p.Estimate), err)
	p, err = stat.WatchDifference(d.a, d.b, w)
	visit("watch difference", stat.Estimate(p.Estimate), err)
}

// An estimate holds its value in its interval, has no error of zero, gives a
// reason when it is weak, and is JSON.
func TestEstimatesAreSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		d.all(func(what string, e stat.Estimate, err error) {
			r.Log(what)
			try(r)(e, err)
		})
		c, err := stat.Compare(d.a, d.b, d.o)
		if err == nil {
			sound(r, c)
		}
	})
}

// The order of the rows does not change a digit, and nor does a second time.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		before := map[string]string{}
		d.all(func(what string, e stat.Estimate, err error) { before[what] = text(r, e, err) })
		c, _ := stat.Compare(d.a, d.b, d.o)
		comparison := text(r, c, nil)

		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "order"), 0))
		for _, rows := range [][]stat.Observation{d.a, d.b} {
			random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		}
		d.all(func(what string, e stat.Estimate, err error) {
			if what == "watch" || what == "watch difference" { // the order is theirs
				return
			}
			if err == nil {
				require.Equal(r, before[what], text(r, e, err), what)
			}
		})
		c, err := stat.Compare(d.a, d.b, d.o)
		if err == nil {
			require.Equal(r, comparison, text(r, c, nil))
		}
	})
}

func text(t require.TestingT, v any, err error) string {
	if err != nil {
		return "refused"
	}
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return string(out)
}

// Whoever is called candidate, the difference is the same but for its sign.
func TestSidesCanBeSwapped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		d.o.Missing, d.o.Method = "", ""
		one, err := stat.Compare(d.a, d.b, d.o)
		if err != nil {
			return
		}
		two, err := stat.Compare(d.b, d.a, d.o)
		require.NoError(r, err)
		if one.Comparable != two.Comparable {
			return // it is the baseline's items that the candidate must have
		}
		mirrored(r, one.Difference.Value, two.Difference.Value)
		if one.Difference.CI != nil {
			mirrored(r, one.Difference.CI.Lower, two.Difference.CI.Upper)
			mirrored(r, one.Difference.CI.Upper, two.Difference.CI.Lower)
		}
		for _, p := range [][2]*float64{
			{one.P, two.P},
			{one.Tests.T, two.Tests.T},
			{one.Tests.SignFlip, two.Tests.SignFlip},
			{one.Tests.McNemarExact, two.Tests.McNemarExact},
			{one.Tests.McNemarMidP, two.Tests.McNemarMidP},
		} {
			alike(r, p[0], p[1])
		}
		require.Equal(r, [3]int{one.Wins, one.Ties, one.Losses}, [3]int{two.Losses, two.Ties, two.Wins})
		require.Equal(r, [2]int{one.OnlyA, one.OnlyB}, [2]int{two.OnlyB, two.OnlyA})
		require.Equal(r, one.Correlation == nil, two.Correlation == nil)
		if one.Verdict.Superiority == stat.SuperiorityBetter {
			require.Equal(r, stat.SuperiorityWorse, two.Verdict.Superiority)
		}
		require.Equal(r, one.Verdict.Equivalence, two.Verdict.Equivalence)
	})
}

func alike(t require.TestingT, a, b *float64) {
	require.Equal(t, a == nil, b == nil)
	if a != nil {
		require.InDelta(t, *a, *b, 1e-12*max(1, *a, -*a))
	}
}

func mirrored(t require.TestingT, a, b *float64) {
	if b != nil {
		minus := -*b
		b = &minus
	}
	alike(t, a, b)
}

// A higher level is a wider interval, and exact limits lie outside of Wilson's
// at the same level where both ends are free.
func TestLevelsNest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		d.o.Weighted = false
		var last *stat.Interval
		for _, level := range []float64{0.8, 0.9, 0.95, 0.99} {
			e, err := stat.PassRate(d.a, stat.Options{Level: level, Policy: d.o.Policy})
			if err != nil || e.CI == nil {
				return
			}
			if last != nil {
				require.LessOrEqual(r, *e.CI.Lower, *last.Lower)
				require.GreaterOrEqual(r, *e.CI.Upper, *last.Upper)
			}
			last = e.CI
		}
	})
}

// Doubling a run with copies of its items in the same clusters adds nothing.
func TestCopiesInAClusterAddNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		rows := drawRows(r, 2, true)
		once, err := stat.Mean(rows, stat.Options{})
		require.NoError(r, err)
		for _, row := range rows {
			row.Item = "copy of " + row.Item
			rows = append(rows, row)
		}
		twice, err := stat.Mean(rows, stat.Options{})
		require.NoError(r, err)
		if once.SE != nil {
			require.InEpsilon(r, *once.SE, *twice.SE, 1e-9)
		}
		require.Equal(r, once.Clusters, twice.Clusters)
	})
}
