package agent_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/policy"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/test/testkit"
)

type shiftView = api.PolicyShift

func (s policyScene) backtest(t *testing.T, p policyView, body object) api.PolicyBacktest {
	t.Helper()
	out, err := s.BacktestPolicy(t.Context(), p.ID, body)
	require.NoError(t, err)
	require.Equal(t, out.Considered, out.Skipped+out.Unchanged+out.Changed)
	return out
}

// above asks for an approval of refunds above an amount, and permits the rest.
func above(amount string) string {
	return `@id("large") @effect("require_approval") forbid (principal, action, resource)
when { context.tool_name == "refund" && context.amount.greaterThan(decimal("` + amount + `")) };` + permitAll
}

func TestBacktest(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	t.Run("a draft is asked what was asked, and nothing is recorded", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		p := s.only(t, above("100.0"))
		var ids []int64
		for _, amount := range []string{"10.00", "60.00", "70.00", "120.00"} {
			ids = append(ids, s.ask(t, call("refund", amount, nil)).ID())
		}
		s.ask(t, call("look_up", "10.00", object{"runtimeKey": "another"}))
		s.ask(t, call("refund", "10.00", object{"mode": "dry_run"}))

		same := s.backtest(t, p, nil)
		require.EqualValues(t, 1, *same.PolicyVersion)
		require.EqualValues(t, 6, same.Considered)
		require.EqualValues(t, 5, same.Unchanged)
		require.Equal(t, "dry_run", same.Skips[0].Reason)
		require.Zero(t, same.Drifted)
		require.Len(t, same.Assumptions, 9)

		draft := s.backtest(t, p, object{"source": above("50.0")})
		require.Nil(t, draft.PolicyVersion)
		require.Equal(t, []shiftView{{From: "allow", To: "require_approval", Count: 2}}, draft.Changes)
		require.EqualValues(t, 2, draft.Changed)
		require.EqualValues(t, 2, draft.Decided.Allow)
		require.EqualValues(t, 3, draft.Decided.RequireApproval)
		require.Equal(t, []int64{ids[2], ids[1]}, []int64{draft.Examples[0].PolicyDecisionID, draft.Examples[1].PolicyDecisionID})
		require.EqualValues(t, 4, s.backtest(t, p, object{"runtimeKey": "refund-agent", "connectorKey": "payments"}).Unchanged)
		require.Zero(t, s.backtest(t, p, object{"runtimeKey": "nobody"}).Considered)
		require.Zero(t, s.backtest(t, p, object{"until": time.Now().Add(-time.Hour).Format(time.RFC3339)}).Considered)
		few := s.backtest(t, p, object{"limit": 2})
		require.EqualValues(t, 2, few.Considered)
		require.True(t, few.Truncated)
		require.Len(t, s.things(t, "policy-decisions"), 6, "nothing was recorded")
		require.Equal(t, above("100.0"), list(t, s.Client, "policyKey=payments")[0].Source)

		_, err := patch(t, s.Client, p, object{"source": above("5.0")})
		require.NoError(t, err)
		require.EqualValues(t, 3, s.backtest(t, p, nil).Changed)
		require.EqualValues(t, 3, s.backtest(t, p, nil).Drifted, "the policies in force are not those of the record")
		first := s.backtest(t, p, object{"version": 1})
		require.Zero(t, first.Changed)
		require.EqualValues(t, 3, first.Drifted)

		for _, body := range []object{{"version": 1, "source": permitAll}, {"version": 9}, {"source": "permit"}, {"limit": 10_001}, {"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}} {
			_, err = s.Call(t.Context(), "POST", policyPath(p)+"/backtest", body, nil)
			require.NotEmpty(t, refusal(t, err).Fields, "%v", body)
		}
		_, err = k.Org(t).Call(t.Context(), "POST", policyPath(p)+"/backtest", nil, nil)
		require.ErrorIs(t, err, policy.ErrNotFound)
	})

	t.Run("what is known about the parties and the past is what was known then", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		p := s.only(t, `permit (principal, action, resource) when { context.connector_state == "approved" };`)
		for range 5 {
			s.ask(t, call("refund", "0.10", nil))
		}
		redacted := s.ask(t, object{"runtimeKey": "r", "toolInvocation": object{"toolName": "t", "arguments": object{"card": "4111 1111 1111 1111"}}})
		require.NotEmpty(t, redacted["redactions"])
		_, err := s.ann.UpdateEvidence(t.Context(), "connectors", s.things(t, "connectors")[0].ID(), object{"state": "blocked"})
		require.NoError(t, err)
		s.ask(t, call("refund", "0.10", nil))

		same := s.backtest(t, p, nil)
		require.EqualValues(t, 5, same.Unchanged)
		require.EqualValues(t, 2, same.Skipped)
		require.Equal(t, []string{"redacted", "stopped"}, []string{same.Skips[0].Reason, same.Skips[1].Reason})

		counted := s.backtest(t, p, object{"source": `@history("n = count(payments/refund, 1h)") forbid (principal, action, resource) when { context.history.n >= 3 };` + permitAll})
		require.Equal(t, []shiftView{{From: "allow", To: "deny", Count: 2}}, counted.Changes, "the fourth and the fifth")
		summed := s.backtest(t, p, object{"source": `@history("n = sum(payments/refund, amount, 1h)") forbid (principal, action, resource) when { context.history.n.greaterThan(decimal("0.35")) };` + permitAll})
		require.Equal(t, []shiftView{{From: "allow", To: "deny", Count: 1}}, summed.Changes)
		require.Len(t, summed.Examples, 1)
	})

	t.Run("facts that are no longer known are not made up", func(t *testing.T) {
		t.Parallel()
		k := testkit.Moving(t)
		s := newScene(t, k)
		p := s.only(t, permitAll)
		s.ask(t, call("refund", "1", nil))
		k.Clock.Advance(24 * time.Hour)
		month := func(window string) api.PolicyBacktest {
			return s.backtest(t, p, object{"source": `@history("n = count(payments/refund, ` + window + `)") forbid (principal, action, resource) when { context.history.n >= 3 };` + permitAll})
		}
		require.Equal(t, "history_expired", month("30d").Skips[0].Reason)
		require.EqualValues(t, 1, month("28d").Unchanged)
	})

	t.Run("mistakes are counted where people have judged", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		p := s.only(t, above("0.0"))
		// People approve what is at most 100, but for 20, and reject the rest, but for 900.
		right, wrong := []string{"10", "30", "40", "50", "60", "900"}, []string{"20", "300", "400", "500"}
		order := func(amount string) object {
			question := call("refund", amount, nil)
			question["toolInvocation"].(object)["arguments"].(object)["order"] = "of " + amount
			return question
		}
		decide := func(amount, decision string) {
			d := s.ask(t, order(amount))
			require.Equal(t, "require_approval", d["decision"])
			_, err := s.ann.DecideApproval(t.Context(), d.Number("approval_id"), object{"decision": decision, "comment": "seen"})
			require.NoError(t, err)
			if decision == "approved" {
				question := order(amount)
				question["approvalId"] = d.Number("approval_id")
				require.Equal(t, "allow", s.ask(t, question)["decision"])
			}
		}
		empty := s.backtest(t, p, nil)
		require.EqualValues(t, stat.StatusInsufficient, empty.FalseBlock.Status)
		require.Nil(t, empty.FalseBlock.Value)
		require.Nil(t, empty.FalseBlock.CI, "there is no interval from nothing")
		for _, a := range right {
			decide(a, "approved")
		}
		for _, a := range wrong {
			decide(a, "rejected")
		}
		s.ask(t, call("refund", "7", nil)) // is still pending

		// Denies what is above 100: one of six that people approved is blocked, and one of
		// four that they rejected goes through.
		out := s.backtest(t, p, object{"source": `forbid (principal, action, resource) when { context.tool_name == "refund" && context.amount.greaterThan(decimal("100.0")) };` + permitAll})
		require.EqualValues(t, 10, out.Truth.Approvals)
		require.EqualValues(t, 17, out.Considered)
		require.EqualValues(t, 6, out.FalseBlock.N)
		require.InDelta(t, 1./6, *out.FalseBlock.Value, 1e-12)
		require.Equal(t, "clopper_pearson", out.FalseBlock.CI.Method)
		require.InDelta(t, 0.0042107, *out.FalseBlock.CI.Lower, 1e-6)
		require.InDelta(t, 0.6412346, *out.FalseBlock.CI.Upper, 1e-6)
		require.EqualValues(t, stat.StatusFragile, out.FalseBlock.Status)
		require.EqualValues(t, 4, out.FalseAllow.N)
		require.InDelta(t, 0.25, *out.FalseAllow.Value, 1e-12)
		require.InDelta(t, 0.0063095, *out.FalseAllow.CI.Lower, 1e-6)
		require.InDelta(t, 0.8058796, *out.FalseAllow.CI.Upper, 1e-6)

		asks := s.backtest(t, p, nil)
		require.Zero(t, asks.Changed)
		require.Zero(t, *asks.FalseBlock.Value+*asks.FalseAllow.Value, "to ask people is not a mistake")
	})

	t.Run("decisions of one trace depend on each other", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		p := s.only(t, above("0.0"))
		for i, trace := range []string{"4bf92f3577b34da6a3ce929d0e0e4736", "4bf92f3577b34da6a3ce929d0e0e4736", "4bf92f3577b34da6a3ce929d0e0e4736", "", ""} {
			question := call("refund", strconv.Itoa(i+1), nil)
			if trace != "" {
				question["traceId"] = trace
			}
			_, err := s.ann.DecideApproval(t.Context(), s.ask(t, question).Number("approval_id"), object{"decision": "approved"})
			require.NoError(t, err)
		}

		out := s.backtest(t, p, object{"source": `forbid (principal, action, resource) when { context.amount.greaterThan(decimal("4.0")) };` + permitAll})

		require.EqualValues(t, 5, out.FalseBlock.N)
		require.EqualValues(t, 2, out.FalseBlock.Clusters, "without a trace, it is the same action")
		require.InDelta(t, 0.2, *out.FalseBlock.Value, 1e-12)
		require.Equal(t, "korn_graubard", out.FalseBlock.CI.Method)
		require.EqualValues(t, stat.SourceHuman, out.FalseBlock.Source)
		require.EqualValues(t, stat.StatusInsufficient, out.FalseAllow.Status)
	})

	t.Run("failures that were triaged count, and contradictions do not", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		p := s.only(t, `forbid (principal, action, resource) when { context.amount.greaterThan(decimal("100.0")) };`+above("50.0"))
		n := 0
		fail := func(decision int64, mode string, triage bool) {
			n++
			f, err := s.PostEvidence(t.Context(), "failures", object{"failureKey": fmt.Sprint("f", n), "failureMode": mode, "severity": "high", "policyDecisionId": decision})
			require.NoError(t, err)
			if triage {
				_, err = s.ann.UpdateEvidence(t.Context(), "failures", f.ID(), object{"state": "triaged"})
				require.NoError(t, err)
			}
		}
		fail(s.ask(t, call("refund", "10", nil)).ID(), "data_leak", true)
		fail(s.ask(t, call("refund", "11", nil)).ID(), "data_leak", false)
		fail(s.ask(t, call("refund", "12", nil)).ID(), "latency_exceeded", true)
		fail(s.ask(t, call("refund", "200", nil)).ID(), "wrong_refusal", true)
		approved := s.ask(t, call("refund", "60", nil))
		_, err := s.ann.DecideApproval(t.Context(), approved.Number("approval_id"), object{"decision": "approved"})
		require.NoError(t, err)
		fail(approved.ID(), "prompt_injection", true)

		out := s.backtest(t, p, nil)

		require.EqualValues(t, 2, out.Truth.Failures)
		require.EqualValues(t, 1, out.Truth.Disputed)
		require.EqualValues(t, 1, out.FalseBlock.N)
		require.InDelta(t, 1, *out.FalseBlock.Value, 0)
		require.EqualValues(t, 1, out.FalseAllow.N)
		require.InDelta(t, 1, *out.FalseAllow.Value, 0)
	})
}
