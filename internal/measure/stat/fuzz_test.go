package stat_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/stat"
)

// FuzzRows hands whatever looks like rows and options to every function that
// takes rows. None may panic, and whatever they return must be JSON: nothing in
// it is infinite or not a number.
func FuzzRows(f *testing.F) {
	for _, seed := range []string{
		`{}`,
		`{"a":[{"item":"1","score":1}],"b":[{"item":"1","score":0}]}`,
		`{"a":[{"item":"1","score":0.5,"cluster":"x"},{"item":"2","score":0.25,"cluster":"x"},{"item":"3","score":1,"weight":2}],"o":{"Weighted":true}}`,
		`{"a":[{"item":"1","score":1},{"item":"1","epoch":1,"score":0},{"item":"2","missing":"system"}],"b":[{"item":"2","score":1},{"item":"1","score":1}],"o":{"Missing":"bounds","Range":{"lower":0,"upper":1},"Margin":0.1}}`,
		`{"a":[{"item":"1","score":1e100},{"item":"2","score":-1e100}],"b":[{"item":"1","score":1e-300},{"item":"2","score":3}],"o":{"Unpaired":true,"Level":0.999}}`,
		`{"a":[{"item":"1","score":1,"weight":1e-300},{"item":"2","score":0,"weight":1e90}],"b":[{"item":"1","score":1,"weight":1e-300},{"item":"2","score":0,"weight":1e90}],"o":{"Weighted":true}}`,
		`{"a":[{"item":"1","content":"x","score":1},{"item":"2","score":0}],"b":[{"item":"1","content":"y","score":1}],"o":{"Forced":true,"Estimand":"dataset"}}`,
		`{"a":[{"item":"1","score":1},{"item":"1","score":0},{"item":"2","score":1},{"item":"2","score":1}],"o":{"Estimand":"dataset","CostRatio":3}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var in struct {
			A, B []stat.Observation
			O    stat.CompareOptions
			Q    float64
			K    int
		}
		if json.Unmarshal(data, &in) != nil || len(in.A)+len(in.B) > 1000 {
			return
		}
		in.O.Replicates = 100
		try(t)(stat.Mean(in.A, in.O.Options))
		try(t)(stat.PassRate(in.A, in.O.Options))
		try(t)(stat.Quantile(in.A, in.Q, in.O.Options))
		try(t)(stat.PassAtK(stat.TrialsOf(in.A, in.O.Missing), in.K, in.O.Forced, in.O.Options))
		try(t)(stat.Overall([]stat.Metric{{Name: "a", Weight: 1, Range: in.O.Range, Rows: in.A}, {Name: "b", Weight: 2, Range: in.O.Range, Rows: in.B}}, in.O.Options))
		if c, err := stat.Compare(in.A, in.B, in.O); err == nil {
			try(t)(c.Difference, nil)
			try(t)(c.Baseline, nil)
			try(t)(c.Candidate, nil)
			sound(t, c)
		}
		for _, watch := range []stat.WatchOptions{
			{Options: in.O.Options, Planned: len(in.B), RandomOrder: true, Margin: in.O.Margin, Target: &in.Q},
		} {
			if p, err := stat.Watch(in.A, watch); err == nil {
				try(t)(stat.Estimate(p.Estimate), nil)
			}
			if p, err := stat.WatchDifference(in.A, in.B, watch); err == nil {
				try(t)(stat.Estimate(p.Estimate), nil)
			}
		}
		if both, err := stat.MaxT([]stat.Pair{{Baseline: in.A, Candidate: in.B}, {Baseline: in.B, Candidate: in.A}}, in.O.Options); err == nil {
			sound(t, both)
		}
		if rates, err := stat.SliceRates([]stat.Slice{{Rows: in.A}, {Rows: in.B}}, in.O.Options); err == nil {
			sound(t, rates)
		}
	})
}

// try checks what a function says unless it refused the input.
func try(t require.TestingT) func(stat.Estimate, error) {
	return func(e stat.Estimate, err error) {
		if err != nil {
			require.ErrorIs(t, err, stat.ErrInput)
			return
		}
		sound(t, e)
		require.NotEmpty(t, e.Status)
		require.NotEmpty(t, e.Method)
		if e.Status != stat.StatusOK {
			require.NotEmpty(t, e.Warnings, "%s without a reason", e.Status)
		}
		if e.SE != nil {
			require.Positive(t, *e.SE)
		}
		if e.CI == nil {
			return
		}
		require.NotNil(t, e.Value)
		if e.CI.Lower != nil {
			require.LessOrEqual(t, *e.CI.Lower, *e.Value)
		}
		if e.CI.Upper != nil {
			require.GreaterOrEqual(t, *e.CI.Upper, *e.Value)
		}
		if e.CI.Lower != nil && e.CI.Upper != nil && e.Method != "quantile" { // of ties it can be one
			require.Less(t, *e.CI.Lower, *e.CI.Upper, "an interval is no point: %s", e.CI.Method)
		}
	}
}

func sound(t require.TestingT, v any) {
	_, err := json.Marshal(v)
	require.NoError(t, err)
}
