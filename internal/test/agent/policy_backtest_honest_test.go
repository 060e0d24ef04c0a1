package agent_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/test/testkit"
)

// approve asks for an action that needs an approval, which a person gives.
func (s policyScene) approve(t *testing.T, question object) {
	t.Helper()
	_, err := s.ann.DecideApproval(t.Context(), s.ask(t, question).Number("approval_id"), object{"decision": "approved"})
	require.NoError(t, err)
}

// leak reports that an action that was allowed should not have been.
func (s policyScene) leak(t *testing.T, key string, decision int64) testkit.Evidence {
	t.Helper()
	f, err := s.PostEvidence(t.Context(), "failures", object{"failureKey": key, "failureMode": "data_leak", "severity": "high", "policyDecisionId": decision})
	require.NoError(t, err)
	return f
}

// TestBacktestIsHonest shows what a back-test does not make its numbers from.
func TestBacktestIsHonest(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	t.Run("decisions that clients report are not read", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		p := s.only(t, permitAll)
		report := func() {
			_, err := s.PostEvidence(t.Context(), "policy-decisions", object{"decision": "deny", "engine": "opa", "inputDigest": "sha256:" + strings.Repeat("0", 64)})
			require.NoError(t, err)
		}
		report()
		report()
		s.ask(t, call("refund", "1", nil))
		s.ask(t, call("refund", "2", nil))
		report()

		out := s.backtest(t, p, object{"limit": 2})

		require.EqualValues(t, 2, out.Considered)
		require.False(t, out.Truncated, "there are no others that were made here")
	})

	t.Run("what a key triaged nobody has judged", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		p := s.only(t, permitAll)
		move := func(by *testkit.Client, f testkit.Evidence, states ...string) {
			for _, state := range states {
				_, err := by.UpdateEvidence(t.Context(), "failures", f.ID(), object{"state": state})
				require.NoError(t, err)
			}
		}
		ask := func(i int) int64 { return s.ask(t, call("refund", strconv.Itoa(i), nil)).ID() }
		move(s.Client, s.leak(t, "by-key", ask(1)), "triaged")
		titled := s.leak(t, "titled", ask(2))
		move(s.Client, titled, "triaged")
		_, err := s.ann.UpdateEvidence(t.Context(), "failures", titled.ID(), object{"title": "what is this?"})
		require.NoError(t, err)
		again := s.leak(t, "again", ask(3))
		move(s.ann, again, "triaged", "fixed")
		move(s.Client, again, "open", "triaged")
		require.Zero(t, s.backtest(t, p, nil).Truth.Failures)

		move(s.ann, s.leak(t, "by-ann", ask(4)), "triaged")
		both := s.leak(t, "both", ask(5))
		move(s.ann, both, "triaged")
		move(s.Client, both, "fixed")
		out := s.backtest(t, p, nil)

		require.EqualValues(t, 2, out.Truth.Failures)
		require.EqualValues(t, 2, out.FalseAllow.N)
	})

	t.Run("what a key triaged nobody has judged, whoever it says that it speaks for", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		p := s.only(t, permitAll)
		m, person := s.Person(t, principal.Admin)
		f := s.leak(t, "asserted", s.ask(t, call("refund", "1", nil)).ID())
		_, err := s.UpdateEvidence(t.Context(), "failures", f.ID(), object{"state": "triaged"}, testkit.OnBehalfOf(m.ID))
		require.NoError(t, err)
		require.Zero(t, s.backtest(t, p, nil).Truth.Failures)

		_, err = person.UpdateEvidence(t.Context(), "failures", f.ID(), object{"state": "fixed"})
		require.NoError(t, err)

		require.EqualValues(t, 1, s.backtest(t, p, nil).Truth.Failures)
	})

	t.Run("what was judged and cannot be asked again widens the rates", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		p := s.only(t, above("0.0"))
		order := func(i int) object {
			return object{"runtimeKey": "refund-agent", "toolInvocation": object{"connectorKey": "payments", "toolName": "refund", "arguments": object{"order": fmt.Sprint("A-", i), "amount": "5"}}}
		}
		for i := range 4 {
			s.approve(t, order(i))
		}
		all := s.backtest(t, p, nil)
		require.EqualValues(t, 4, all.FalseBlock.N)
		require.Nil(t, all.FalseBlock.Missing)
		question := order(5)
		question["toolInvocation"].(object)["arguments"].(object)["card"] = "4111 1111 1111 1111"
		s.approve(t, question)

		out := s.backtest(t, p, nil)

		require.EqualValues(t, 1, out.Skipped)
		require.EqualValues(t, 1, out.Truth.Skipped)
		require.Equal(t, "redacted", out.Truth.Skips[0].Reason)
		require.EqualValues(t, 1, out.FalseBlock.Missing.Rows)
		require.Zero(t, *out.FalseBlock.Value)
		require.Greater(t, *out.FalseBlock.CI.Upper, *all.FalseBlock.CI.Upper, "it may have been a mistake")
		require.EqualValues(t, stat.StatusInsufficient, out.FalseAllow.Status)
	})

	t.Run("an approval of less does not say that the action was right", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		p := s.only(t, above("0.0"))
		for amount, most := range map[string]string{"500": "10", "30": "30.00", "20": ""} {
			decision := object{"decision": "approved"}
			if most != "" {
				decision["constraints"] = object{"maxAmount": most}
			}
			_, err := s.ann.DecideApproval(t.Context(), s.ask(t, call("refund", amount, nil)).Number("approval_id"), decision)
			require.NoError(t, err)
		}

		out := s.backtest(t, p, object{"source": `forbid (principal, action, resource) when { context.amount.greaterThan(decimal("100.0")) };` + permitAll})

		require.EqualValues(t, 2, out.Truth.Approvals)
		require.EqualValues(t, 2, out.FalseBlock.N)
		require.Zero(t, *out.FalseBlock.Value, "the refund of 500 that it blocks was not approved")
		require.Contains(t, strings.Join(out.Assumptions, "\n"), "less than the amount")
	})

	t.Run("without a trace, decisions about the same action of the same runtime depend on each other", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		p := s.only(t, above("0.0"))
		for i := range 3 {
			s.approve(t, call("refund", strconv.Itoa(i+1), nil))
		}
		s.approve(t, call("refund", "4", object{"runtimeKey": "another"}))

		out := s.backtest(t, p, nil)

		require.EqualValues(t, 4, out.FalseBlock.N)
		require.EqualValues(t, 2, out.FalseBlock.Clusters)
	})

	t.Run("with more verdicts than are read, there is no rate", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		p := s.only(t, permitAll)
		d := s.ask(t, call("refund", "1", nil)).ID()
		c := k.Runtime(t, s.Org)
		_, err := c.Exec(t.Context(), `INSERT INTO evidence_records (org_id, kind, name, origin, actor, state, failure_mode, decision_id, body, occurred_at, created_at, updated_at)
			SELECT $1, 'failures', 'f' || n, 'reported', 'service_key/1', 'triaged', 'data_leak', $2,
				json_build_object('failure_key', 'f' || n, 'failure_mode', 'data_leak', 'severity', 'high', 'state', 'triaged', 'policy_decision_id', $2::bigint), now(), now(), now()
			FROM generate_series(1, 2001) AS n`, s.Org, d)
		require.NoError(t, err)

		out := s.backtest(t, p, nil)

		require.True(t, out.Truth.Truncated)
		require.Nil(t, out.FalseAllow.Value)
		require.Nil(t, out.FalseAllow.CI)
		require.EqualValues(t, stat.StatusInsufficient, out.FalseAllow.Status)
		require.NotEmpty(t, out.FalseAllow.Warnings)
	})

	t.Run("the answer says what it rests on", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		all := strings.Join(s.backtest(t, s.only(t, permitAll), nil).Assumptions, "\n")
		for _, word := range []string{"now", "past", "approval", "random sample", "person", "trace", "skipped", "platform"} {
			require.Contains(t, all, word)
		}
	})
}
