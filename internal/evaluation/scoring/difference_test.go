package scoring_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/evaluation/scoring"
)

func TestVersionsOfAJudgeAreNotCompared(t *testing.T) {
	t.Parallel()
	of := func(version int) scoring.Plan {
		return scoring.Plan{Metrics: []string{"exact_match", "judge:tone"}, Judged: []scoring.Judged{{Metric: "judge:tone", Judge: 7, Version: version}}}
	}
	require.Empty(t, scoring.Differ(of(1), of(1)).Metrics)
	d := scoring.Differ(of(1), of(2))
	require.Contains(t, d.Metrics["judge:tone"], "another version")
	require.NotContains(t, d.Metrics, "exact_match")
	require.NotEmpty(t, d.Overall, "the overall score has a part of the judge in it")
	require.NotEmpty(t, d.Passes)
}
