package testkit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
)

type (
	// JudgeConfig is a judge.
	JudgeConfig = api.JudgeConfig
	// JudgeResult is what a judge said.
	JudgeResult = api.JudgeResult
	// JudgeWatch is the watch of a judge.
	JudgeWatch = api.JudgeWatch
	// JudgeCheck is what a watch found.
	JudgeCheck = api.JudgeWatchCheck
	// JudgeProbe is a probe of a judge.
	JudgeProbe = api.JudgeProbe
	// JudgeFinding is what a probe found about one kind of bias.
	JudgeFinding = api.JudgeProbeFinding
	// JudgeRule is a rule.
	JudgeRule = api.JudgeRule
	// JudgeBackfill is a back-fill of a rule.
	JudgeBackfill = api.JudgeBackfill
	// RuleReason is how many traces there are for a reason.
	RuleReason = api.JudgeRuleReason
	// RuleCounts is what became of the traces of a rule or a back-fill.
	RuleCounts = api.JudgeRuleCounts
)

// Filled waits until a back-fill has ended.
func (c *Client) Filled(t testing.TB, b JudgeBackfill) (out JudgeBackfill) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		out, err = c.GetJudgeBackfill(t.Context(), b.RuleID, b.ID)
		return err == nil && out.Status != "running"
	}, 10*time.Minute, 50*time.Millisecond)
	return out
}
