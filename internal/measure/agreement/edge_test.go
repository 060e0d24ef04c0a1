package agreement_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/stat"
)

var passFail = agreement.Scale{Labels: []string{"pass", "fail"}, Positive: "pass"}

// verdicts makes pairs from counts: both pass, only the human, only the judge, neither.
func verdicts(counts ...int) (all []agreement.Pair) {
	for i, labels := range [][2]string{{"pass", "pass"}, {"pass", "fail"}, {"fail", "pass"}, {"fail", "fail"}} {
		for range counts[i] {
			all = append(all, agreement.Pair{Human: labels[0], Judge: labels[1], Probability: 1})
		}
	}
	return all
}

func TestAlign(t *testing.T) {
	t.Parallel()
	align := func(t *testing.T, ps []agreement.Pair, o agreement.AlignmentOptions) agreement.Alignment {
		t.Helper()
		a, err := agreement.Align(ps, passFail, o)
		require.NoError(t, err)
		return a
	}

	t.Run("nothing gives nothing, and says so", func(t *testing.T) {
		t.Parallel()
		a := align(t, nil, agreement.AlignmentOptions{})
		estimates(a, func(what string, e stat.Estimate) {
			require.Nil(t, e.Value, what)
			require.NotEmpty(t, e.Warnings, what)
		})
		require.Equal(t, agreement.OutcomeInsufficient, a.Verdict.Outcome)
		require.Equal(t, 20, *a.Verdict.MoreLabels)
		require.Nil(t, a.Shares[0][0])
	})

	t.Run("one label throughout has no kappa, and its agreement is still known", func(t *testing.T) {
		t.Parallel()
		a := align(t, verdicts(40, 0, 0, 0), agreement.AlignmentOptions{})
		require.Equal(t, stat.StatusUndefined, a.Kappa.Nominal.Status)
		require.Nil(t, a.Kappa.Nominal.Value)
		require.Equal(t, stat.StatusUndefined, a.Classes[1].Recall.Status)
		require.Equal(t, stat.StatusUndefined, a.Classes[1].F1.Status)
		require.Equal(t, stat.StatusUndefined, a.MCC.Status)
		require.InDelta(t, 0.912, *a.Accuracy.CI.Lower, 0.001)
		require.Less(t, *a.AC1.CI.Lower, 1.0)
		require.Equal(t, agreement.OutcomeInsufficient, a.Verdict.Outcome)
		require.Nil(t, a.Verdict.MoreLabels, "nobody can say how many it takes to see the other label")
	})

	t.Run("verdicts follow the interval and not the value", func(t *testing.T) {
		t.Parallel()
		high := align(t, verdicts(180, 4, 5, 111), agreement.AlignmentOptions{})
		require.Equal(t, agreement.OutcomeAligned, high.Verdict.Outcome)
		require.Equal(t, agreement.BandPerfect, high.Verdict.Band)
		low := align(t, verdicts(100, 60, 70, 70), agreement.AlignmentOptions{})
		require.Equal(t, agreement.OutcomeMisaligned, low.Verdict.Outcome)
		open := align(t, verdicts(20, 3, 4, 15), agreement.AlignmentOptions{})
		require.Equal(t, agreement.OutcomeInsufficient, open.Verdict.Outcome)
		more := *open.Verdict.MoreLabels
		require.Positive(t, more)
		times := int(math.Ceil(float64(42+more) / 42))
		settled := align(t, verdicts(20*times, 3*times, 4*times, 15*times), agreement.AlignmentOptions{})
		require.Equal(t, agreement.OutcomeAligned, settled.Verdict.Outcome, "with %d more", more)
	})

	t.Run("a bar on another measure", func(t *testing.T) {
		t.Parallel()
		for _, on := range []agreement.Measure{agreement.MeasureAC1, agreement.MeasureAccuracy, agreement.MeasureAlpha, agreement.MeasureBalanced, agreement.MeasureMCC, agreement.MeasureKappa} {
			a := align(t, verdicts(180, 4, 5, 111), agreement.AlignmentOptions{On: on, Bar: 0.8})
			require.Equal(t, on, a.Verdict.On)
			require.Equal(t, agreement.OutcomeAligned, a.Verdict.Outcome, on)
		}
	})

	t.Run("labels of unknown origin are not mixed with those that were drawn", func(t *testing.T) {
		t.Parallel()
		ps := verdicts(40, 5, 5, 20)
		for i := range 10 {
			ps[i].Probability = 0
		}
		a := align(t, ps, agreement.AlignmentOptions{})
		require.Equal(t, [2]int{60, 10}, [2]int{a.Items, a.Purposive})
		require.Equal(t, agreement.PopulationSampled, a.Population)
		for i := range ps {
			ps[i].Probability = 0
		}
		a = align(t, ps, agreement.AlignmentOptions{})
		require.Equal(t, agreement.PopulationSelected, a.Population)
		require.Equal(t, 70, a.Items)
	})

	t.Run("rare choices count for more", func(t *testing.T) {
		t.Parallel()
		ps := verdicts(40, 20, 0, 40)
		for i := range ps { // disagreements were chosen ten times as often
			ps[i].Probability = 0.05
			if ps[i].Human != ps[i].Judge {
				ps[i].Probability = 0.5
			}
		}
		a := align(t, ps, agreement.AlignmentOptions{})
		require.Equal(t, agreement.PopulationWeighted, a.Population)
		require.InDelta(t, 1600.0/1640, *a.Accuracy.Value, 1e-12)
		require.Equal(t, 20, a.Confusion[0][1])
		require.InDelta(t, 40.0/840, *a.Shares[0][1], 1e-12)
		require.NotNil(t, a.Kappa.Nominal.CI)
		require.Equal(t, "percentile", a.Kappa.Nominal.CI.Method)
	})

	t.Run("no verdict is not a wrong one", func(t *testing.T) {
		t.Parallel()
		ps := append(verdicts(20, 0, 1, 20), agreement.Pair{Human: "pass", Probability: 1})
		a := align(t, ps, agreement.AlignmentOptions{})
		require.Equal(t, [2]int{41, 1}, [2]int{a.Items, a.Unanswered})
	})

	t.Run("malformed input", func(t *testing.T) {
		t.Parallel()
		for name, call := range map[string]func() error{
			"label": func() error {
				_, err := agreement.Align([]agreement.Pair{{Human: "x"}}, passFail, agreement.AlignmentOptions{})
				return err
			},
			"judge": func() error {
				_, err := agreement.Align([]agreement.Pair{{Human: "pass", Judge: "x"}}, passFail, agreement.AlignmentOptions{})
				return err
			},
			"probability": func() error {
				_, err := agreement.Align([]agreement.Pair{{Human: "pass", Judge: "fail", Probability: 2}}, passFail, agreement.AlignmentOptions{})
				return err
			},
			"scale": func() error {
				_, err := agreement.Align(nil, agreement.Scale{Labels: []string{"a", "a"}}, agreement.AlignmentOptions{})
				return err
			},
			"one label": func() error {
				_, err := agreement.Align(nil, agreement.Scale{Labels: []string{"a"}}, agreement.AlignmentOptions{})
				return err
			},
			"positive": func() error {
				_, err := agreement.Align(nil, agreement.Scale{Labels: []string{"a", "b"}, Positive: "c"}, agreement.AlignmentOptions{})
				return err
			},
			"bar": func() error { _, err := agreement.Align(nil, passFail, agreement.AlignmentOptions{Bar: 2}); return err },
			"measure": func() error {
				_, err := agreement.Align(nil, passFail, agreement.AlignmentOptions{On: "x"})
				return err
			},
			"level": func() error {
				_, err := agreement.Align(nil, passFail, agreement.AlignmentOptions{Options: stat.Options{Level: 2}})
				return err
			},
			"score": func() error {
				_, err := agreement.AlignScores([]agreement.Scored{{Human: math.NaN()}}, stat.Options{})
				return err
			},
			"rated twice": func() error {
				_, err := agreement.Ceiling([]agreement.Rating{{Item: "1", Rater: "a", Label: "pass"}, {Item: "1", Rater: "a", Label: "pass"}}, passFail, stat.SourceHuman, stat.Options{})
				return err
			},
			"epsilon":   func() error { _, err := agreement.Replace(agreement.Panel{}, 1, stat.Options{}); return err },
			"repeats":   func() error { _, err := agreement.Repeatability([][]float64{{1, 2}, {1}}, stat.Options{}); return err },
			"positions": func() error { _, err := agreement.PositionBias(3, 3, 5, stat.Options{}); return err },
			"lengths":   func() error { _, err := agreement.LengthSlope([]float64{1}, nil, stat.Options{}); return err },
			"alpha":     func() error { _, err := agreement.Alpha(nil, "ratio", stat.SourceHuman, stat.Options{}); return err },
		} {
			require.ErrorIs(t, call(), stat.ErrInput, name)
		}
	})
}

func TestReplace(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	panel := func(judge float64) agreement.Panel {
		p := agreement.Panel{Judge: map[string]float64{}}
		for range 4 {
			p.Annotators = append(p.Annotators, map[string]float64{})
		}
		for i := range 200 {
			item, truth := strconv.Itoa(i), float64(random.IntN(2))
			said := func(right float64) float64 {
				if random.Float64() < right {
					return truth
				}
				return 1 - truth
			}
			for _, a := range p.Annotators {
				a[item] = said(.85)
			}
			p.Judge[item] = said(judge)
		}
		return p
	}
	good, err := agreement.Replace(panel(.95), agreement.EpsilonExpert, stat.Options{})
	require.NoError(t, err)
	require.True(t, good.May)
	require.InDelta(t, 1, *good.Winning, 0)
	bad, err := agreement.Replace(panel(.5), agreement.EpsilonExpert, stat.Options{})
	require.NoError(t, err)
	require.False(t, bad.May)
	require.InDelta(t, 0, *bad.Winning, 0)
	sound(t, "advantage", bad.Advantage)
	few := panel(.95)
	few.Annotators = few.Annotators[:2]
	none, err := agreement.Replace(few, agreement.EpsilonExpert, stat.Options{})
	require.NoError(t, err)
	require.Equal(t, stat.StatusInsufficient, none.Status)
	require.Nil(t, none.Winning)

	// A judge that is always right has no variation left to test with.
	same := agreement.Panel{Judge: map[string]float64{}, Annotators: []map[string]float64{{}, {}, {}}, Numeric: true}
	for i := range 40 {
		item := strconv.Itoa(i)
		same.Judge[item] = 3
		for j, a := range same.Annotators {
			a[item] = 3 + float64(j)
		}
	}
	r, err := agreement.Replace(same, agreement.EpsilonCrowd, stat.Options{})
	require.NoError(t, err)
	for _, a := range r.Annotators {
		require.Positive(t, *a.P, "nothing is impossible")
	}
}

func TestRepeatability(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		items  [][]float64
		status stat.Status
	}{
		"one item":      {[][]float64{{1, 2, 3}}, stat.StatusInsufficient},
		"all the same":  {[][]float64{{1, 1}, {1, 1}}, stat.StatusUndefined},
		"no repetition": {[][]float64{{1, 1}, {2, 2}}, stat.StatusDegenerate},
	} {
		n, err := agreement.Repeatability(c.items, stat.Options{})
		require.NoError(t, err, name)
		require.Equal(t, c.status, n.ICC.Status, name)
		require.Nil(t, n.ICC.CI, name)
		require.Nil(t, n.Ceiling.CI, name)
	}
}

// Whatever looks like pairs is compared without a panic, and the result is JSON.
func FuzzAlign(f *testing.F) {
	for _, seed := range []string{
		`{}`,
		`{"pairs":[{"Human":"a","Judge":"b","Probability":1},{"Human":"b","Judge":"b","Probability":0.5,"Cluster":"x"}],"scale":{"Labels":["a","b"],"Ordered":true}}`,
		`{"scores":[{"Human":1,"Judge":2},{"Human":2,"Judge":1e99},{"Human":-1e99,"Judge":3}]}`,
		`{"ratings":[{"Item":"1","Rater":"a","Label":"a"},{"Item":"1","Rater":"b","Label":"b"}],"scale":{"Labels":["a","b"]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var in struct {
			Pairs   []agreement.Pair
			Scores  []agreement.Scored
			Ratings []agreement.Rating
			Scale   agreement.Scale
		}
		if json.Unmarshal(data, &in) != nil || len(in.Pairs)+len(in.Scores)+len(in.Ratings) > 500 || len(in.Scale.Labels) > 8 {
			return
		}
		o := stat.Options{Replicates: 100}
		if a, err := agreement.Align(in.Pairs, in.Scale, agreement.AlignmentOptions{Options: o}); err == nil {
			_, err := json.Marshal(a)
			require.NoError(t, err)
		}
		if n, err := agreement.AlignScores(in.Scores, o); err == nil {
			_, err := json.Marshal(n)
			require.NoError(t, err)
		}
		if r, err := agreement.Ceiling(in.Ratings, in.Scale, stat.SourceHuman, o); err == nil {
			_, err := json.Marshal(r)
			require.NoError(t, err)
		}
	})
}

// BenchmarkAlign compares a judge with people on 100,000 pairs. Ten times as many
// take ten times as long; less than a second is the promise, so that alignment
// is computed when it is asked for.
func BenchmarkAlign(b *testing.B) {
	scale := agreement.Scale{Labels: []string{"1", "2", "3", "4", "5"}, Ordered: true}
	for _, c := range []struct {
		name     string
		n        int
		clusters int
		weighted bool
	}{{"10000", 10_000, 0, false}, {"100000", 100_000, 0, false}, {"clusters", 100_000, 20_000, false}, {"weighted", 100_000, 0, true}} {
		random := rand.New(rand.NewPCG(1, 1))
		all := make([]agreement.Pair, c.n)
		for i := range all {
			human := random.IntN(5)
			judge := min(4, max(0, human+int(random.NormFloat64())))
			all[i] = agreement.Pair{Item: strconv.Itoa(i), Human: scale.Labels[human], Judge: scale.Labels[judge], Probability: 1}
			if c.clusters > 0 {
				all[i].Cluster = strconv.Itoa(random.IntN(c.clusters))
			}
			if c.weighted {
				all[i].Probability = 0.01 + 0.99*random.Float64()
			}
		}
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := agreement.Align(all, scale, agreement.AlignmentOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	scores := make([]agreement.Scored, 100_000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range scores {
		h := random.Float64()
		scores[i] = agreement.Scored{Item: strconv.Itoa(i), Human: h, Judge: h + 0.2*random.NormFloat64(), Probability: 1}
	}
	b.Run("scores", func(b *testing.B) {
		for b.Loop() {
			if _, err := agreement.AlignScores(slices.Clone(scores), stat.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
