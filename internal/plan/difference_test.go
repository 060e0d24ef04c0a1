package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/plan"
)

func TestVersionsOfAJudgeAreNotCompared(t *testing.T) {
	t.Parallel()
	of := func(version int) plan.Plan {
		return plan.Plan{Metrics: []string{"exact_match", "judge:tone"}, Judged: []plan.Judged{{Metric: "judge:tone", Judge: 7, Version: version}}}
	}
	require.Empty(t, plan.Differ(of(1), of(1)).Metrics)
	d := plan.Differ(of(1), of(2))
	require.Contains(t, d.Metrics["judge:tone"], "another version")
	require.NotContains(t, d.Metrics, "exact_match")
	require.NotEmpty(t, d.Overall, "the overall score has a part of the judge in it")
	require.NotEmpty(t, d.Passes)
}
