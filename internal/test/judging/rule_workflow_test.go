package judging_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/judging/rule"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/platform/temporal/temporaltest"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestRuleHistories(t *testing.T) {
	t.Parallel()
	temporaltest.Histories(t, "rule", []any{rule.FollowWorkflow, rule.BackfillWorkflow}, map[string]temporaltest.Scene{
		"rule_until_paused": func(t *testing.T) (temporal.Config, string) {
			s := set(t, testkit.Working(t), simulated.Options{})
			r := s.rule(t, nil)
			s.send(t, 3, nil)
			s.until(t, r.ID, func(r testkit.JudgeRule) bool { return r.Counts.Judged == 3 })
			_, err := s.UpdateJudgeRule(t.Context(), r.ID, map[string]any{"status": "paused"})
			require.NoError(t, err)
			id, err := strconv.ParseInt(r.ID, 10, 64)
			require.NoError(t, err)
			return s.kit.App.Config.Temporal, rule.Ticket{Org: s.Org, Rule: id, Activation: 1}.WorkflowID()
		},
		"backfill_of_pages": func(t *testing.T) (temporal.Config, string) {
			s := set(t, testkit.Working(t), simulated.Options{})
			r := s.rule(t, map[string]any{"status": "paused", "sampleRate": 0.05})
			s.send(t, 450, nil)
			b, err := s.StartJudgeBackfill(t.Context(), r.ID, lastHour())
			require.NoError(t, err)
			require.Equal(t, "completed", s.Filled(t, b).Status)
			id, err := strconv.ParseInt(b.ID, 10, 64)
			require.NoError(t, err)
			return s.kit.App.Config.Temporal, rule.BackfillTicket{Org: s.Org, Backfill: id}.WorkflowID()
		},
	})
}
