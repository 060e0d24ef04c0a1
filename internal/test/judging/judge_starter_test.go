package judging_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestEveryStarterJudges(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	us := testkit.Shared(t).Org(t)
	var keys []string
	for _, s := range judge.Starters() {
		keys = append(keys, s.Key)
		for _, model := range []string{"judge", "judge@0"} { // one that is right, and one that is always wrong
			c, err := us.CreateJudgeConfig(ctx, map[string]any{"key": fmt.Sprintf("%s-%d", s.Key, len(model)), "starter": s.Key, "provider": "simulated", "model": model})
			require.NoError(t, err, s.Key)
			require.Equal(t, s.Name, c.Name)
			other := "By card or by invoice."
			if s.Spec.Pairwise {
				other = "By cheque. [[score:0]]"
			}
			r, err := us.EvaluateWithJudge(ctx, map[string]any{
				"configId": c.ID, "input": "How do I pay?", "output": "By card. [[score:1]]", "expectedOutput": other, "context": "Cards are accepted.",
				"toolCalls": []any{map[string]any{"name": "payment_methods", "result": "card"}},
			})
			require.NoError(t, err)
			require.Equal(t, "completed", r.Status, "%s: %v", s.Key, r.Error)
			require.Equal(t, model == "judge", *r.Passed, "%s with %s", s.Key, model)
		}
	}
	require.Equal(t, []string{
		"correctness", "faithfulness", "goal-reached", "helpfulness", "instruction-following", "pairwise-preference", "relevance", "safety", "tool-use",
	}, keys)
}

// A reader who is to trust a rubric wants to know where it is from and what it gets
// wrong.
func TestEveryStarterNamesSourcesAndLimits(t *testing.T) {
	t.Parallel()
	for _, s := range judge.Starters() {
		require.NotEmpty(t, s.Summary, s.Key)
		require.NotEmpty(t, s.Limits, s.Key)
		require.NotEmpty(t, s.Sources, s.Key)
		require.Contains(t, s.Needs, "output", s.Key)
		for _, source := range s.Sources {
			require.Regexp(t, `^\S+ et al\. 20\d\d, .+ \(arXiv \d{4}\.\d{5}\)$`, source, s.Key)
		}
		for _, c := range s.Spec.Criteria {
			require.GreaterOrEqual(t, len(c.Anchors), 3, s.Key)
		}
		if s.Spec.Pairwise {
			require.Contains(t, s.Needs, "expected_output")
			require.Contains(t, strings.Join(s.Limits, " "), "Probe position")
		}
	}
}
