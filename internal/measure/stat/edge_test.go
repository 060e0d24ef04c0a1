package stat_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/stat"
)

func items(xs ...float64) []stat.Observation {
	rows := make([]stat.Observation, len(xs))
	for i, x := range xs {
		rows[i] = stat.Observation{Item: fmt.Sprintf("%03d", i), Score: x}
	}
	return rows
}

func times(x float64, n int) []float64 { return slices.Repeat([]float64{x}, n) }

func inClusters(rows []stat.Observation, of int) []stat.Observation {
	for i := range rows {
		rows[i].Cluster = strconv.Itoa(i / of)
	}
	return rows
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

func TestMeanAbstains(t *testing.T) {
	t.Parallel()
	estimate := must[stat.Estimate](t)
	unit := stat.Options{Range: stat.Unit()}

	t.Run("without scores", func(t *testing.T) {
		t.Parallel()
		e := estimate(stat.Mean(nil, unit))
		require.Nil(t, e.Value)
		require.Nil(t, e.CI)
		require.Equal(t, stat.StatusInsufficient, e.Status)
	})
	t.Run("on one score", func(t *testing.T) {
		t.Parallel()
		e := estimate(stat.Mean(items(0.4), unit))
		require.InDelta(t, 0.4, *e.Value, 0)
		require.Nil(t, e.SE)
		require.Nil(t, e.CI)
		require.Equal(t, stat.StatusInsufficient, e.Status)
	})
	t.Run("on one cluster", func(t *testing.T) {
		t.Parallel()
		e := estimate(stat.Mean(inClusters(items(0, 1, 0.5), 3), unit))
		require.Nil(t, e.SE)
		require.Equal(t, stat.StatusInsufficient, e.Status)
		require.Contains(t, e.Warnings, "one independent unit")
	})
	t.Run("on what does not vary and has no range", func(t *testing.T) {
		t.Parallel()
		e := estimate(stat.Mean(items(times(3, 20)...), stat.Options{}))
		require.Equal(t, stat.StatusDegenerate, e.Status)
		require.Nil(t, e.SE)
		require.Nil(t, e.CI)
	})
	t.Run("on clusters that are all alike", func(t *testing.T) {
		t.Parallel()
		e := estimate(stat.Mean(inClusters(items(0, 1, 0, 1, 0, 1), 2), unit))
		require.Equal(t, stat.StatusDegenerate, e.Status)
		require.Less(t, *e.CI.Lower, 0.5, "a bound, and no point")
	})
	t.Run("for these items exactly, without repetitions", func(t *testing.T) {
		t.Parallel()
		e := estimate(stat.Mean(items(0, 1, 1), stat.Options{Estimand: stat.EstimandDataset}))
		require.NotNil(t, e.Value)
		require.Nil(t, e.CI)
		require.Equal(t, stat.StatusInsufficient, e.Status)
	})
}

func TestPassRateEdges(t *testing.T) {
	t.Parallel()
	estimate := must[stat.Estimate](t)

	t.Run("one pass says little, and says it", func(t *testing.T) {
		t.Parallel()
		e := estimate(stat.PassRate(items(1), stat.Options{}))
		require.InDelta(t, 0.2065, *e.CI.Lower, 1e-4)
		require.InDelta(t, 1, *e.CI.Upper, 0)
		require.Equal(t, stat.StatusFragile, e.Status)
	})
	t.Run("when all pass the clusters are what counts", func(t *testing.T) {
		t.Parallel()
		e := estimate(stat.PassRate(inClusters(items(times(1, 60)...), 5), stat.Options{}))
		require.InDelta(t, 12, e.NEff, 0)
		require.InDelta(t, 1, *e.CI.Upper, 0)
		require.Nil(t, e.SE)
		require.Equal(t, 0, *e.FailingClusters)
	})
	t.Run("repetitions are rows of one item", func(t *testing.T) {
		t.Parallel()
		var rows []stat.Observation
		for i := range 40 {
			for k := range 3 {
				rows = append(rows, stat.Observation{Item: fmt.Sprintf("%02d", i), Epoch: k, Score: float64((i*i + k) % 3 % 2)})
			}
		}
		e := estimate(stat.PassRate(rows, stat.Options{}))
		require.Equal(t, [3]int{120, 40, 40}, [3]int{e.N, e.Items, e.Clusters})
		require.Equal(t, "wilson_neff_t", e.CI.Method)
	})
	t.Run("failing clusters are counted", func(t *testing.T) {
		t.Parallel()
		e := estimate(stat.PassRate(inClusters(items(1, 0, 0, 1, 1, 1), 2), stat.Options{}))
		require.Equal(t, 2, *e.FailingClusters)
	})
	t.Run("a gate's interval is no narrower", func(t *testing.T) {
		t.Parallel()
		rows := inClusters(items(append(times(1, 90), times(0, 10)...)...), 4)
		shown, gate := estimate(stat.PassRate(rows, stat.Options{})), estimate(stat.PassRate(rows, stat.Options{Policy: stat.PolicyGate}))
		require.Less(t, *gate.CI.Lower, *shown.CI.Lower)
	})
	t.Run("zero failures in n bound the rate of failures by about three over n", func(t *testing.T) {
		t.Parallel()
		e := estimate(stat.Proportion(0, 300, stat.Options{Policy: stat.PolicyGate, Side: stat.SideUpper}))
		require.InDelta(t, 1-math.Pow(0.05, 1.0/300), *e.CI.Upper, 1e-12)
		require.Nil(t, e.CI.Lower)
	})
	t.Run("Jeffreys' interval is a belief and says so", func(t *testing.T) {
		t.Parallel()
		e := estimate(stat.Proportion(0, 10, stat.Options{Method: stat.MethodJeffreys}))
		require.Equal(t, stat.KindCredible, e.CI.Kind)
		require.InDelta(t, 0, *e.CI.Lower, 0)
	})
}

func TestMissingScores(t *testing.T) {
	t.Parallel()
	estimate := must[stat.Estimate](t)
	rows := append(items(append(times(1, 80), times(0, 14)...)...), stat.Observation{Item: "x", Missing: stat.CauseSystem}, stat.Observation{Item: "y", Missing: stat.CauseSystem}, stat.Observation{Item: "z", Missing: stat.CauseSystem},
		stat.Observation{Item: "u", Missing: stat.CauseSystem}, stat.Observation{Item: "v", Missing: stat.CauseSystem}, stat.Observation{Item: "w", Missing: stat.CauseSystem})

	excluded := estimate(stat.PassRate(rows, stat.Options{}))
	require.InDelta(t, 80.0/94, *excluded.Value, 1e-15)
	require.Equal(t, stat.StatusFragile, excluded.Status, "six of a hundred are missing")
	require.Equal(t, 6, excluded.Missing.Rows)
	require.InDelta(t, 0.80, *excluded.Missing.Lower, 1e-15)
	require.InDelta(t, 0.86, *excluded.Missing.Upper, 1e-15)

	failed := estimate(stat.PassRate(rows, stat.Options{Missing: stat.MissingFail}))
	require.InDelta(t, 0.80, *failed.Value, 1e-15)
	require.Equal(t, 100, failed.N)
	require.Equal(t, stat.StatusOK, failed.Status)
	require.InDelta(t, 0.86, *failed.Missing.Upper, 1e-15)

	bounds := estimate(stat.PassRate(rows, stat.Options{Missing: stat.MissingBounds}))
	require.InDelta(t, *excluded.Value, *bounds.Value, 0)
	require.InDelta(t, *failed.CI.Lower, *bounds.CI.Lower, 1e-12)
	require.Greater(t, *bounds.CI.Upper, *excluded.CI.Upper)

	_, err := stat.Mean(rows, stat.Options{Missing: stat.MissingFail})
	require.ErrorIs(t, err, stat.ErrInput, "the lowest score needs a range")
}

func TestMissingRepetition(t *testing.T) {
	t.Parallel()
	rows := []stat.Observation{
		{Item: "a", Score: 1},
		{Item: "a", Epoch: 1, Missing: stat.CauseSystem},
		{Item: "b", Score: 0.5},
		{Item: "b", Epoch: 1, Score: 0.7},
	}
	e := must[stat.Estimate](t)(stat.Mean(rows, stat.Options{Range: stat.Unit()}))
	require.InDelta(t, 0.8, *e.Value, 1e-15)
	require.InDelta(t, 0.55, *e.Missing.Lower, 1e-15)
	require.InDelta(t, 0.8, *e.Missing.Upper, 1e-15)
	e = must[stat.Estimate](t)(stat.Mean(rows, stat.Options{Range: stat.Unit(), Missing: stat.MissingFail}))
	require.InDelta(t, 0.55, *e.Value, 1e-15)
	require.InDelta(t, 0.8, *e.Missing.Upper, 1e-15)
}

func TestWeights(t *testing.T) {
	t.Parallel()
	rows := items(1, 0, 0.5)
	for i, w := range []float64{2, 1, 1} {
		rows[i].Weight = w
	}
	e := must[stat.Estimate](t)(stat.Mean(rows, stat.Options{Weighted: true}))
	require.InDelta(t, 0.625, *e.Value, 1e-15)
	require.InDelta(t, 16.0/6, e.NEff, 1e-12)

	plain := must[stat.Estimate](t)(stat.Mean(rows, stat.Options{}))
	require.InDelta(t, 0.5, *plain.Value, 1e-15, "weights count only when the options say so")

	rows[1].Weight = 0
	e = must[stat.Estimate](t)(stat.Mean(rows, stat.Options{Weighted: true}))
	require.Equal(t, 2, e.N, "what weighs nothing is not there")
}

func TestMalformedInput(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func() error{
		"score not a number":   func() error { _, err := stat.Mean(items(math.NaN()), stat.Options{}); return err },
		"infinite score":       func() error { _, err := stat.Mean(items(math.Inf(1)), stat.Options{}); return err },
		"score too large":      func() error { _, err := stat.Mean(items(1e101), stat.Options{}); return err },
		"score out of range":   func() error { _, err := stat.Mean(items(1.1), stat.Options{Range: stat.Unit()}); return err },
		"no item":              func() error { _, err := stat.Mean([]stat.Observation{{Score: 1}}, stat.Options{}); return err },
		"neither pass nor not": func() error { _, err := stat.PassRate(items(0.5), stat.Options{}); return err },
		"negative weight": func() error {
			_, err := stat.Mean([]stat.Observation{{Item: "a", Weight: -1}}, stat.Options{Weighted: true})
			return err
		},
		"weight not a number": func() error {
			_, err := stat.Mean([]stat.Observation{{Item: "a", Weight: math.NaN()}}, stat.Options{Weighted: true})
			return err
		},
		"item in two clusters": func() error {
			_, err := stat.Mean([]stat.Observation{{Item: "a", Cluster: "x"}, {Item: "a", Cluster: "y"}}, stat.Options{})
			return err
		},
		"item with two contents": func() error {
			_, err := stat.Mean([]stat.Observation{{Item: "a", Content: "x"}, {Item: "a", Content: "y"}}, stat.Options{})
			return err
		},
		"clusters that differ between runs": func() error {
			_, err := stat.Compare([]stat.Observation{{Item: "a", Cluster: "x"}}, []stat.Observation{{Item: "a", Cluster: "y"}}, stat.CompareOptions{})
			return err
		},
		"bounds of a bootstrap": func() error {
			_, err := stat.Mean(nil, stat.Options{Range: stat.Unit(), Missing: stat.MissingBounds, Method: stat.MethodBCa})
			return err
		},
		"bounds of unpaired runs": func() error {
			_, err := stat.Compare(nil, nil, stat.CompareOptions{Unpaired: true, Options: stat.Options{Range: stat.Unit(), Missing: stat.MissingBounds}})
			return err
		},
		"level":              func() error { _, err := stat.Mean(nil, stat.Options{Level: 0.5}); return err },
		"level not a number": func() error { _, err := stat.Mean(nil, stat.Options{Level: math.NaN()}); return err },
		"estimand":           func() error { _, err := stat.Mean(nil, stat.Options{Estimand: "x"}); return err },
		"method":             func() error { _, err := stat.Mean(nil, stat.Options{Method: stat.MethodWilson}); return err },
		"range":              func() error { _, err := stat.Mean(nil, stat.Options{Range: &stat.Range{Lower: 1}}); return err },
		"quantile":           func() error { _, err := stat.Quantile(nil, 1, stat.Options{}); return err },
		"k":                  func() error { _, err := stat.PassAtK(nil, 0, false, stat.Options{}); return err },
		"trials": func() error {
			_, err := stat.PassAtK([]stat.Trials{{Item: "a", N: 1, Passed: 2}}, 1, false, stat.Options{})
			return err
		},
		"counts": func() error { _, err := stat.Proportion(3, 2, stat.Options{}); return err },
		"margin": func() error { _, err := stat.Compare(nil, nil, stat.CompareOptions{Margin: -1}); return err },
		"score interval of numbers": func() error {
			_, err := stat.Compare(items(0.5), items(1), stat.CompareOptions{Options: stat.Options{Method: stat.MethodScore}})
			return err
		},
		"p-value":    func() error { _, err := stat.Adjust([]float64{2}, stat.AdjustHolm); return err },
		"adjustment": func() error { _, err := stat.Adjust(nil, "x"); return err },
		"metric twice": func() error {
			_, err := stat.Overall([]stat.Metric{{Weight: 1, Rows: append(items(1), items(0)...)}}, stat.Options{})
			return err
		},
		"no weight": func() error { _, err := stat.Overall([]stat.Metric{{Rows: items(1)}}, stat.Options{}); return err },
		"impossible plan": func() error {
			_, err := stat.Plan{}.McNemarItems(0.1, 0.5)
			return err
		},
	} {
		require.ErrorIs(t, call(), stat.ErrInput, name)
	}
}

func TestOverallKeepsItsValue(t *testing.T) {
	t.Parallel()
	e := must[stat.Estimate](t)(stat.Overall([]stat.Metric{
		{Name: "m1", Weight: 1, Range: stat.Unit(), Rows: []stat.Observation{{Item: "a", Score: 1}, {Item: "b", Missing: stat.CauseSystem}}},
		{Name: "m2", Weight: 3, Range: stat.Unit(), Rows: []stat.Observation{{Item: "a", Missing: stat.CauseSystem}, {Item: "b", Score: 0.5}}},
	}, stat.Options{}))
	require.InDelta(t, (1+3*0.5)/4, *e.Value, 1e-15, "something was scored")
	require.Nil(t, e.CI)
	require.Equal(t, stat.StatusInsufficient, e.Status)
	require.Equal(t, 2, e.Missing.Rows)

	e = must[stat.Estimate](t)(stat.Overall([]stat.Metric{
		{Name: "m1", Weight: 1, Range: stat.Unit(), Rows: items(1, 0, 1)},
		{Name: "m2", Weight: 1, Range: stat.Unit(), Rows: items(1, 1)},
	}, stat.Options{}))
	require.Equal(t, 2, e.N, "an item that lacks a metric has no composite")
	require.InDelta(t, 0.75, *e.Value, 1e-15)
	require.InDelta(t, (1+0.5+0.5)/3, *e.Missing.Lower, 1e-15)
	require.InDelta(t, (1+0.5+1)/3, *e.Missing.Upper, 1e-15)
}

func TestQuantileEdges(t *testing.T) {
	t.Parallel()
	estimate := must[stat.Estimate](t)
	e := estimate(stat.Quantile(items(1, 2, 3), 0.5, stat.Options{}))
	require.InDelta(t, 2, *e.Value, 0)
	require.Nil(t, e.CI)
	require.Equal(t, stat.StatusInsufficient, e.Status)

	xs := make([]float64, 20)
	for i := range xs {
		xs[i] = float64(i + 1)
	}
	e = estimate(stat.Quantile(items(xs...), 0.95, stat.Options{}))
	require.InDelta(t, 17, *e.CI.Lower, 0)
	require.Nil(t, e.CI.Upper)
	require.NotEmpty(t, e.Warnings)

	one := estimate(stat.Quantile(items(append(xs, xs...)...), 0.5, stat.Options{}))
	clustered := estimate(stat.Quantile(inClusters(items(append(xs, xs...)...), 4), 0.5, stat.Options{}))
	require.Less(t, clustered.NEff, one.NEff)
	require.Greater(t, *clustered.CI.Upper-*clustered.CI.Lower, *one.CI.Upper-*one.CI.Lower)
}

func TestBootstrapEdges(t *testing.T) {
	t.Parallel()
	estimate := must[stat.Estimate](t)
	x := []float64{1, 3, 2, 8, 4, 1, 9, 2, 2, 5, 7, 1}
	ratio := func(draw []int) float64 {
		var a, b float64
		for _, i := range draw {
			a, b = a+x[i], b+float64(i%3)
		}
		return a / b
	}
	e := estimate(stat.Bootstrap(len(x), ratio, stat.Options{Seed: stat.Seed{Organization: "o"}}))
	require.Equal(t, "bca", e.CI.Method)
	require.Len(t, *e.Seed, 32)
	again := estimate(stat.Bootstrap(len(x), ratio, stat.Options{Seed: stat.Seed{Organization: "o"}}))
	require.Equal(t, e, again)
	require.Equal(t, "jackknife_t", estimate(stat.Bootstrap(5, ratio, stat.Options{})).CI.Method)
	require.Equal(t, stat.StatusInsufficient, estimate(stat.Bootstrap(0, ratio, stat.Options{})).Status)
	require.Equal(t, stat.StatusUndefined, estimate(stat.Bootstrap(1, ratio, stat.Options{})).Status, "its denominator is zero")
	require.Equal(t, stat.StatusNotIdentified, estimate(stat.Bootstrap(2, ratio, stat.Options{})).Status, "and here without one of two")
	require.Equal(t, stat.StatusDegenerate, estimate(stat.Bootstrap(9, func([]int) float64 { return 1 }, stat.Options{})).Status)
}

// The names on the wire are a promise.
func TestEstimateAsJSON(t *testing.T) {
	t.Parallel()
	e := must[stat.Estimate](t)(stat.Mean(items(0.2, 0.4), stat.Options{Range: stat.Unit()}))
	out := must[[]byte](t)(json.Marshal(e))
	require.JSONEq(t, `{
		"value": 0.30000000000000004, "se": 0.1, "n": 2, "items": 2, "clusters": 2, "n_eff": 2, "df": 1,
		"ci": {"lower": 0.04391737058544467, "upper": 0.8921275457374975, "level": 0.95, "kind": "confidence", "method": "gaffke"},
		"status": "fragile", "source": "code", "estimand": "population", "method": "mean",
		"deff": null, "variance": null, "missing": null, "failing_clusters": null, "seed": null,
		"assumptions": ["clusters are independent"], "warnings": ["fewer than 10 independent units"], "algo_version": "2"
	}`, string(out))
	none := must[[]byte](t)(json.Marshal(must[stat.Estimate](t)(stat.Mean(nil, stat.Options{}))))
	require.JSONEq(t, `{
		"value": null, "se": null, "ci": null, "n": 0, "items": 0, "clusters": 0, "n_eff": 0, "df": null, "status": "insufficient",
		"source": "code", "estimand": "population", "method": "mean", "deff": null, "variance": null, "missing": null, "failing_clusters": null,
		"assumptions": [], "warnings": ["no scores"], "seed": null, "algo_version": "2"
	}`, string(none))
}

// Without a margin there is nothing to say about it, and that is null.
func TestVerdictAsJSON(t *testing.T) {
	t.Parallel()
	margin := 0.1
	for text, v := range map[string]stat.Verdict{
		`{"superiority": "better", "non_inferiority": null, "equivalence": null, "margin": null, "level": 0.95, "lower_is_better": false}`: {
			Superiority: stat.SuperiorityBetter, Level: 0.95,
		},
		`{"superiority": "worse", "non_inferiority": "refuted", "equivalence": "not_shown", "margin": 0.1, "level": 0.95, "lower_is_better": true}`: {
			Superiority: stat.SuperiorityWorse, NonInferiority: stat.NonInferiorityRefuted, Equivalence: stat.EquivalenceNotShown, Margin: &margin, Level: 0.95, LowerIsBetter: true,
		},
	} {
		out := must[[]byte](t)(json.Marshal(v))
		require.JSONEq(t, text, string(out))
		var back stat.Verdict
		require.NoError(t, json.Unmarshal(out, &back))
		require.Equal(t, v, back)
	}
}
