package judging_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/testkit"
)

// asking is a judge that asks a simulated provider over the network, in an
// application whose requests may take so long.
func asking(t *testing.T, requests time.Duration, rules ...simulated.Rule) (*testkit.Client, string, *simulated.Server) {
	t.Helper()
	s := simulated.Start(t, simulated.Options{Faults: simulated.Faults{Rules: rules}})
	us := testkit.Own(t, "its requests have little time", func(cfg *app.Config) { cfg.HTTP.RequestTimeout = requests }).Org(t)
	_, err := us.CreateProviderKey(t.Context(), map[string]any{"provider": "openai", "name": "simulated", "baseUrl": s.URL, "secret": "sk-of-a-test"})
	require.NoError(t, err)
	c, err := us.CreateJudgeConfig(t.Context(), map[string]any{"key": "helpful", "starter": "helpfulness", "provider": "openai", "model": "judge"})
	require.NoError(t, err)
	return us, c.ID, s
}

// TestAModelThatHangsIsRecorded: a request ends before its time is over, so that the
// caller has a result with a reason, and not an error without one.
func TestAModelThatHangsIsRecorded(t *testing.T) {
	t.Parallel()
	us, judge, _ := asking(t, 13*time.Second, simulated.Rule{Fault: simulated.FaultHang})
	r, err := us.EvaluateWithJudge(t.Context(), map[string]any{"configId": judge, "input": "How do I pay?", "output": "By card."})
	require.NoError(t, err)
	require.Equal(t, "failed", r.Status)
	require.Equal(t, "timeout", r.Error.Code)
	kept, err := us.ListJudgeResults(t.Context(), "configId="+judge)
	require.NoError(t, err)
	require.Equal(t, []testkit.JudgeResult{r}, kept.Results)
}

// TestARepairThatFailsIsRepeatedAlone: the answer that it repairs is paid, and is not
// asked for again because the provider was busy afterwards.
func TestARepairThatFailsIsRepeatedAlone(t *testing.T) {
	t.Parallel()
	us, judge, s := asking(t, 30*time.Second, simulated.Rule{Fault: simulated.FaultRateLimit, Contains: "previous_answer", First: 2, RetryAfter: 50 * time.Millisecond})
	r, err := us.EvaluateWithJudge(t.Context(), map[string]any{"configId": judge, "input": "How do I pay?", "output": "By card. [[score:1]] [[answer:malformed,once]]"})
	require.NoError(t, err)
	require.Equal(t, "completed", r.Status, r.Error)
	require.EqualValues(t, 2, s.Calls().Paid)
	require.EqualValues(t, 4, s.Calls().Total)
}
