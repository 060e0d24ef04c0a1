package judge

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/telemetry/score"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	spec := Spec{Scale: Scale{Type: ScaleBinary}, PassThreshold: 0.5}
	one := func(item int64, judge float64, human ...float64) *judged {
		j := &judged{Result: Result{ID: item, Subject: score.RunItem(7, item, 0), Verdict: Verdict{Status: VerdictCompleted}}, item: strconv.FormatInt(item, 10)}
		j.Score = judge
		for i, h := range human {
			j.labels = append(j.labels, humanLabel{strconv.Itoa(i), Rating{Label: word(h >= 0.5), Score: h}})
		}
		return j
	}
	failed := one(5, 0, 1)
	failed.Status = VerdictFailed
	before := []*judged{one(1, 0, 0), one(2, 1, 1), one(3, 1), one(4, 1, 1), one(6, 1, 1)}
	after := []*judged{one(1, 1, 1), one(2, 0, 1), one(3, 1, 1), one(4, 1, 1, 0), failed, one(8, 1, 1)}

	items := differences(spec, SamplingRandom, before, after)
	require.Len(t, items, 4, "answers that have a verdict in both runs")
	require.InDelta(t, 1.0, items[0].Judge, 1e-12)
	require.InDelta(t, 1.0, *items[0].Human, 1e-12)
	require.InDelta(t, -1.0, items[1].Judge, 1e-12)
	require.Zero(t, *items[1].Human, "people see no difference where the judge does")
	require.Nil(t, items[2].Human, "one of the answers has no label")
	require.Nil(t, items[3].Human, "people are divided")
	require.InDelta(t, 0.5, items[2].Probability, 1e-12, "half of the pairs have labels")

	for _, i := range differences(spec, SamplingUnknown, before, after) {
		require.Zero(t, i.Probability)
	}
	require.Empty(t, differences(spec, SamplingRandom, nil, after))
}
