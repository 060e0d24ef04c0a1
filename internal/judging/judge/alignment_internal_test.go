package judge

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/telemetry/score"
)

// verdictOf is a result of a binary judge about an item, with what people say.
func verdictOf(id int64, passed bool, labels ...string) *judged {
	r := Result{ID: id, Subject: score.RunItem(1, id, 1), Verdict: Verdict{Status: VerdictCompleted, Rating: Rating{Label: word(passed), Score: share(passed)}, Passed: passed, Confidence: 0.9}}
	j := &judged{Result: r, item: strconv.FormatInt(id, 10)}
	for i, l := range labels {
		rating, _ := (Scale{Type: ScaleBinary}).labelled(l)
		j.labels = append(j.labels, humanLabel{fmt.Sprint("person ", i), rating})
	}
	return j
}

// A label may have characters that Go quotes otherwise than JSON does.
func TestAPersonsLabelIsOnTheScale(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fine", "a\"b", "a\x7fb", "a\u200bb"} {
		spec := Spec{Scale: Scale{Type: ScaleCategorical, Labels: []Label{{Name: name, Score: 1}, {Name: "other"}}}}
		got, ok := spec.personRating(score.Score{Label: name})
		require.True(t, ok, "%q", name)
		require.Equal(t, name, got.Label)
	}
}

func aligned(t *testing.T, sampling Sampling, all []*judged) Alignment {
	t.Helper()
	a := Alignment{
		Config: Config{ID: 1, Key: "k", Sampling: sampling}, Version: Version{Number: 1, Spec: Spec{Scale: Scale{Type: ScaleBinary}, PassThreshold: 0.5}},
		Thresholds: Thresholds{DefaultRate, DefaultRate, DefaultKappa, DefaultMinSamples}, Judged: len(all),
	}
	require.NoError(t, a.measure(all))
	a.decide()
	return a
}

// The cells of reference vector T3.3: 100 labels, and 2,000 answers without one.
func TestAnAlignmentHasTheNumbersOfTheReference(t *testing.T) {
	t.Parallel()
	var all []*judged
	id := int64(0)
	add := func(n int, judge bool, human ...string) {
		for range n {
			id++
			all = append(all, verdictOf(id, judge, human...))
		}
	}
	add(62, true, LabelPass)
	add(8, true, LabelFail)
	add(6, false, LabelPass)
	add(24, false, LabelFail)
	add(1480, true)
	add(520, false)

	a := aligned(t, SamplingRandom, all)
	require.Equal(t, 100, a.Passes.Items)
	require.Equal(t, [][]int{{24, 8}, {6, 62}}, a.Passes.Confusion)
	require.InDelta(t, 62.0/68, *a.Passes.Rates.TPR.Value, 1e-12)
	require.InDelta(t, 24.0/32, *a.Passes.Rates.TNR.Value, 1e-12)
	require.Equal(t, agreement.OutcomeMisaligned, a.Outcome, "the upper limit of the true negative rate is below 0.9")
	require.Equal(t, correction.EstimatorPPI, a.PassRate.Estimator)
	require.InDelta(t, 0.70865071, *a.PassRate.Headline.Value, 1e-7)
	require.InDelta(t, 0.63657492, *a.PassRate.Headline.CI.Lower, 1e-7)
	require.InDelta(t, 0.77824839, *a.PassRate.Headline.CI.Upper, 1e-7)
	require.Len(t, a.Disagreements, 14)

	unknown := aligned(t, SamplingUnknown, all)
	require.Equal(t, correction.EstimatorJudge, unknown.PassRate.Estimator, "labels of unknown choice say nothing about other answers")
	require.Equal(t, agreement.PopulationSelected, unknown.Passes.Population)
}

func TestFewLabelsSettleNothing(t *testing.T) {
	t.Parallel()
	var all []*judged
	for id := int64(1); id <= 20; id++ {
		all = append(all, verdictOf(id, id%2 == 0, word(id%2 == 0)))
	}
	a := aligned(t, SamplingUnknown, all)
	require.Equal(t, agreement.OutcomeInsufficient, a.Outcome, "all twenty agree, and twenty are not enough")
	require.Equal(t, 10, *a.MoreLabels)

	for id := int64(21); id <= 60; id++ {
		all = append(all, verdictOf(id, id%2 == 0, word(id%2 == 0)))
	}
	a = aligned(t, SamplingUnknown, all)
	require.Equal(t, agreement.OutcomeInsufficient, a.Outcome, "30 of 30 does not show a rate of 0.9")
	require.Positive(t, *a.MoreLabels)
	for id := int64(61); id <= 400; id++ {
		all = append(all, verdictOf(id, id%2 == 0, word(id%2 == 0)))
	}
	require.Equal(t, agreement.OutcomeAligned, aligned(t, SamplingUnknown, all).Outcome)
}

func TestPeopleWhoAreDividedSayNothing(t *testing.T) {
	t.Parallel()
	a := aligned(t, SamplingUnknown, []*judged{
		verdictOf(1, true, LabelPass, LabelFail), verdictOf(2, true, LabelPass, LabelPass, LabelFail), verdictOf(3, false, LabelPass),
	})
	require.Equal(t, 1, a.Divided)
	require.Equal(t, 2, a.Passes.Items)
	require.NotNil(t, a.Ceiling)
}

// The time of an alignment grows with the answers and not faster.
func TestAnAlignmentOfManyAnswersIsLinear(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	sample := func(n int) (all []*judged) {
		for id := range int64(n) {
			human := r.Float64() < 0.8
			all = append(all, verdictOf(id+1, human == (r.Float64() < 0.9), word(human)))
		}
		return all
	}
	took := func(n int) time.Duration {
		shortest := time.Hour // of three: others use the machine too
		for range 3 {
			all := sample(n)
			began := time.Now()
			a := aligned(t, SamplingRandom, all)
			require.Equal(t, n, a.Passes.Items)
			shortest = min(shortest, time.Since(began))
		}
		return shortest
	}
	small, large := took(3_000), took(30_000)
	t.Logf("3,000 pairs: %v; 30,000 pairs: %v", small, large)
	require.Less(t, large, 60*small, "ten times the pairs; with its square it would be a hundred")
}
