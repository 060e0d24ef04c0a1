package agent_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/policy"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

// scene is an organization whose agent uses a connector for payments.
type policyScene struct {
	*testkit.Client
	ann *testkit.Client // an administrator
}

func newScene(t *testing.T, k *testkit.Kit) policyScene {
	t.Helper()
	operator := k.Org(t)
	s := policyScene{Client: operator.Agent(t)}
	_, s.ann = operator.Person(t, principal.Admin)
	s.ann.Connector(t, "payments", map[string]string{"refund": "transact", "look_up": "read"})
	return s
}

// only makes one policy decide in place of the baseline.
func (s policyScene) only(t *testing.T, source string) policyView {
	t.Helper()
	_, err := patch(t, s.Client, list(t, s.Client, "policyKey=baseline")[0], object{"state": "retired"})
	require.NoError(t, err)
	return create(t, s.Client, object{"policyKey": "payments", "source": source, "state": "active"})
}

// call is the question about a call of a tool of the connector.
func call(tool, amount string, more object) object {
	out := object{"runtimeKey": "refund-agent", "toolInvocation": object{"connectorKey": "payments", "toolName": tool, "arguments": object{"order": "A-17", "amount": amount}}}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// ask returns what is decided.
func (s policyScene) ask(t *testing.T, question object) testkit.Evidence {
	t.Helper()
	d, err := s.Evaluate(t.Context(), question)
	require.NoError(t, err)
	require.Equal(t, d["decision"] == "allow", d["allowed"])
	return d
}

// codes are those of the reasons.
func codes(d testkit.Evidence) []string {
	out := []string{}
	for _, r := range d["reasons"].([]any) {
		out = append(out, r.(map[string]any)["code"].(string))
	}
	return out
}

func (s policyScene) things(t *testing.T, kind string) []testkit.Evidence {
	t.Helper()
	all, _, err := s.ListEvidence(t.Context(), kind, "")
	require.NoError(t, err)
	return all
}

// TestKillSwitch shows that what people stop is denied from the next question on.
func TestKillSwitch(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	t.Run("a runtime that is suspended is denied everything", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		require.Equal(t, "allow", s.ask(t, call("look_up", "1", nil))["decision"])
		runtime := s.things(t, "runtimes")[0]
		_, err := s.ann.UpdateEvidence(t.Context(), "runtimes", runtime.ID(), object{"state": "suspended"})
		require.NoError(t, err)

		d := s.ask(t, call("look_up", "1", nil))

		require.Equal(t, "deny", d["decision"])
		require.Equal(t, []string{"runtime_suspended"}, codes(d))
		for _, kind := range []string{"", "Runtime", "RUNTIME"} {
			d := s.ask(t, object{"subject": object{"type": kind, "id": "refund-agent"}, "toolInvocation": object{"connectorKey": "payments", "toolName": "look_up"}})
			require.Equal(t, []string{"runtime_suspended"}, codes(d), "%q is the same runtime", kind)
		}
		_, err = s.Evaluate(t.Context(), call("look_up", "1", object{"subject": object{"id": "another"}}))
		require.Equal(t, "/subject/id", refusal(t, err).Fields[0].Path, "one question has one runtime")
		other := call("look_up", "1", object{"runtimeKey": "another"})
		require.Equal(t, "allow", s.ask(t, other)["decision"])
		_, err = s.ann.UpdateEvidence(t.Context(), "runtimes", runtime.ID(), object{"state": "active"})
		require.NoError(t, err)
		require.Equal(t, "allow", s.ask(t, call("look_up", "1", nil))["decision"])
	})

	t.Run("a connector that is blocked is not used, however the question is put", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		s.only(t, permitAll)
		access := object{"subject": object{"type": "runtime", "id": "r"}, "action": object{"name": "tool.call"}, "resource": object{"type": "Tool", "id": "payments/look_up"}}
		require.Equal(t, "allow", s.ask(t, call("look_up", "1", nil))["decision"])
		var answer accessView
		_, err := s.Call(t.Context(), "POST", "/access/v1/evaluation", access, &answer)
		require.NoError(t, err)
		require.True(t, answer.Decision)
		_, err = s.ann.UpdateEvidence(t.Context(), "connectors", s.things(t, "connectors")[0].ID(), object{"state": "blocked"})
		require.NoError(t, err)

		for _, kind := range []string{"", "tool", "TOOL"} {
			d := s.ask(t, object{"runtimeKey": "r", "resource": object{"type": kind, "id": "payments/look_up"}})
			require.Equal(t, []string{"connector_blocked"}, codes(d), "%q is the same tool", kind)
		}
		d := s.ask(t, call("look_up", "1", nil))
		_, err = s.Call(t.Context(), "POST", "/access/v1/evaluation", access, &answer)

		require.NoError(t, err)
		require.Equal(t, []string{"connector_blocked"}, codes(d))
		require.False(t, answer.Decision)
		require.Equal(t, []string{"connector_blocked"}, codes(answer.Context))
	})
}

// accessView is an answer in the form of AuthZEN.
type accessView struct {
	Decision bool             `json:"decision"`
	Context  testkit.Evidence `json:"context"`
}

// TestHistory shows that policies which look back cannot be outrun.
func TestHistory(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	t.Run("of ten refunds at the same time, three are allowed", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, k)
		s.only(t, `@id("often") @history("refunds = count(payments/refund, 24h)") @reason("three refunds a day are enough")
forbid (principal, action, resource) when { context.tool_name == "refund" && context.history.refunds >= 3 };`+permitAll)
		s.ask(t, call("look_up", "1", nil)) // the runtime is known
		var mu sync.Mutex
		counted := map[any]int{}
		var wait sync.WaitGroup
		for range 10 {
			wait.Go(func() {
				d, err := s.Evaluate(t.Context(), call("refund", "1", nil))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					counted[d["decision"]]++
				}
			})
		}
		wait.Wait()

		require.Equal(t, map[any]int{"allow": 3, "deny": 7}, counted)
		require.Equal(t, "allow", s.ask(t, call("refund", "1", object{"runtimeKey": "another"}))["decision"], "each runtime has its own past")
		require.Equal(t, "allow", s.ask(t, call("look_up", "1", nil))["decision"])
	})

	t.Run("sums are exact, and end with their window", func(t *testing.T) {
		t.Parallel()
		k := testkit.Moving(t)
		s := newScene(t, k)
		s.only(t, `@history("paid = sum(payments/refund, amount, 1h)")
forbid (principal, action, resource) when { context.tool_name == "refund" && context.history.paid.greaterThanOrEqual(decimal("0.30")) };`+permitAll)
		for _, want := range []string{"allow", "allow", "allow", "deny"} {
			require.Equal(t, want, s.ask(t, call("refund", "0.10", nil))["decision"])
		}
		k.Clock.Advance(time.Hour)
		require.Equal(t, "allow", s.ask(t, call("refund", "0.10", nil))["decision"])
	})

	t.Run("a sum with an amount that it cannot hold is not known, and denies", func(t *testing.T) {
		t.Parallel()
		k := testkit.Shared(t)
		s := newScene(t, k)
		s.only(t, `@history("paid = sum(payments/refund, amount, 1h)")
forbid (principal, action, resource) when { context.tool_name == "refund" && context.history.paid.greaterThan(decimal("5000.0")) };`+permitAll)
		ask := func(runtime string, amount any) testkit.Evidence {
			return s.ask(t, object{"runtimeKey": runtime, "toolInvocation": object{"connectorKey": "payments", "toolName": "refund", "arguments": object{"amount": amount}}})
		}
		for i, amount := range []any{"1e9", "-1", "4000 EUR", "0000000000001", "0.00001", []int{4000}, nil, true, object{"value": 4000}} {
			runtime := fmt.Sprintf("r%d", i)
			require.Equal(t, "allow", ask(runtime, "1.00")["decision"])
			require.Equal(t, "allow", ask(runtime, amount)["decision"], "%v: the past is all that the rule is about", amount)
			d := ask(runtime, "1.00")
			require.Equal(t, "deny", d["decision"], "%v", amount)
			require.Contains(t, codes(d), "engine_error")
		}
		for _, amount := range []any{json.RawMessage("4e3"), json.RawMessage("1001.5")} {
			require.Equal(t, "allow", ask("exact", amount)["decision"])
		}
		require.Equal(t, []string{"rule_matched"}, codes(ask("exact", 1)))
	})
}

func TestObligations(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	s := newScene(t, k)
	s.only(t, `@obligations("verify_side_effect(within_seconds=3600), log_full") permit (principal, action, resource);`)

	d := s.ask(t, call("refund", "1", nil))
	require.Equal(t, []any{
		map[string]any{"id": "o1", "type": "verify_side_effect", "ext": map[string]any{"within_seconds": 3600.0}},
		map[string]any{"id": "o2", "type": "log_full", "ext": map[string]any{}},
	}, d["obligations"])

	d = s.ask(t, call("refund", "1", object{"supportedObligations": []string{"log_full", "verify_side_effect", "sing"}}))
	require.Equal(t, "allow", d["decision"])
	for _, supported := range [][]string{{"log_full"}, {}} {
		d = s.ask(t, call("refund", "1", object{"supportedObligations": supported}))
		require.Equal(t, "deny", d["decision"], "%v", supported)
		require.Contains(t, codes(d), "obligation_unsupported")
		require.Empty(t, d["obligations"])
	}

	s = newScene(t, k)
	s.only(t, `@obligations("log_full") `+large)
	d = s.ask(t, call("refund", "240.00", object{"supportedObligations": []string{}}))
	require.Equal(t, "deny", d["decision"], "people are not asked about what the caller cannot do as it must")
	require.Contains(t, codes(d), "obligation_unsupported")
	require.Empty(t, s.things(t, "approvals"))
	d = s.ask(t, call("refund", "240.00", object{"supportedObligations": []string{"log_full"}}))
	require.Equal(t, "require_approval", d["decision"])
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	s := newScene(t, k)
	s.only(t, `@history("n = count(payments/look_up, 1h)") forbid (principal, action, resource) when { context.tool_name == "look_up" && context.history.n > 0 };`+large)
	dry := object{"mode": "dry_run"}

	for range 3 {
		d := s.ask(t, call("look_up", "1", dry))
		require.Equal(t, "allow", d["decision"], "a question that nobody acts on is no part of the past")
		require.Equal(t, "dry_run", d["mode"])
	}
	d := s.ask(t, call("refund", "240.00", dry))
	require.Equal(t, "require_approval", d["decision"])
	require.Nil(t, d["approval_id"])
	require.Empty(t, s.things(t, "approvals"))
	read, err := s.GetEvidence(t.Context(), "policy-decisions", d.ID())
	require.NoError(t, err)
	require.Equal(t, "dry_run", read["mode"])

	asked := s.ask(t, call("refund", "240.00", nil))
	approval := asked.Number("approval_id")
	_, err = s.ann.DecideApproval(t.Context(), approval, object{"decision": "approved"})
	require.NoError(t, err)
	s.ask(t, call("refund", "240.00", object{"mode": "dry_run", "approvalId": approval}))
	read, err = s.GetEvidence(t.Context(), "approvals", approval)
	require.NoError(t, err)
	require.Equal(t, "approved", read["state"], "it was not used")

	create(t, s.Client, object{"policyKey": "never", "source": `forbid (principal, action, resource);`, "state": "active"})
	require.Equal(t, "deny", s.ask(t, call("look_up", "1", dry))["decision"])
	d = s.ask(t, call("look_up", "1", object{"mode": "dry_run", "policyKeys": []string{"payments"}}))
	require.Equal(t, "allow", d["decision"])
	_, err = s.Evaluate(t.Context(), call("look_up", "1", object{"policyKeys": []string{"payments"}}))
	require.Equal(t, "/policyKeys", refusal(t, err).Fields[0].Path)
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	s := newScene(t, k)
	s.only(t, `@history("n = count(payments/refund, 1h)") forbid (principal, action, resource) when { context.history.n > 0 };`+permitAll)
	named := call("refund", "1", object{"idempotencyKey": "first"})

	first := s.ask(t, named)
	require.Equal(t, "allow", first["decision"])
	require.Equal(t, first, s.ask(t, named), "the same request is decided once")
	require.Equal(t, "deny", s.ask(t, call("refund", "1", nil))["decision"], "and counts once")
	for what, other := range map[string]object{
		"other arguments": call("refund", "2", object{"idempotencyKey": "first"}),
		"another mode":    call("refund", "1", object{"idempotencyKey": "first", "mode": "dry_run"}),
		"another runtime": call("refund", "1", object{"idempotencyKey": "first", "runtimeKey": "another"}),
		"an approval":     call("refund", "1", object{"idempotencyKey": "first", "approvalId": 7}),
	} {
		_, err := s.Evaluate(t.Context(), other)
		require.ErrorIs(t, err, evidence.ErrKeyReused, what)
	}
}

// TestRepetition shows that a decision is repeated, under a name or an Idempotency-Key, only as
// long as it holds: until it expires, or what it allows is stopped.
//
//nolint:paralleltest // it moves the clock
func TestRepetition(t *testing.T) {
	k := testkit.Moving(t)
	s := newScene(t, k)
	body := call("look_up", "1", object{"idempotencyKey": "named"})
	byName := func() (testkit.Evidence, error) { return s.Evaluate(t.Context(), body) }
	byKey := func() (testkit.Evidence, error) {
		return s.Evaluate(t.Context(), call("look_up", "1", nil), testkit.Idempotent("key"))
	}
	byAccess := func() (testkit.Evidence, error) {
		var out accessView
		_, err := s.Call(t.Context(), "POST", "/access/v1/evaluation", object{
			"subject": object{"type": "Runtime", "id": "refund-agent"}, "action": object{"name": "tool.call"}, "resource": object{"type": "Tool", "id": "payments/look_up"},
		}, &out, testkit.Idempotent("access"))
		return out.Context, err
	}
	ways := []func() (testkit.Evidence, error){byName, byKey, byAccess}
	for _, ask := range ways {
		first, err := ask()
		require.NoError(t, err)
		require.Equal(t, "allow", first["decision"])
		again, err := ask()
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
	runtime := s.things(t, "runtimes")[0].ID()
	_, err := s.ann.UpdateEvidence(t.Context(), "runtimes", runtime, object{"state": "suspended"})
	require.NoError(t, err)
	denied := call("look_up", "1", object{"idempotencyKey": "denied"})
	first := s.ask(t, denied)
	require.Equal(t, []string{"runtime_suspended"}, codes(first))
	require.Equal(t, first, s.ask(t, denied), "what was denied stays denied")
	for _, ask := range ways {
		_, err := ask()
		require.ErrorIs(t, err, policy.ErrDecisionExpired, "the runtime is suspended")
	}
	_, err = s.ann.UpdateEvidence(t.Context(), "runtimes", runtime, object{"state": "active"})
	require.NoError(t, err)
	for _, ask := range ways {
		_, err := ask()
		require.NoError(t, err, "it holds again")
	}
	k.Clock.Advance(time.Minute)
	for _, ask := range ways {
		_, err := ask()
		require.ErrorIs(t, err, policy.ErrDecisionExpired)
	}
	_, err = s.Evaluate(t.Context(), denied)
	require.ErrorIs(t, err, policy.ErrDecisionExpired)
}

// TestNamingMore shows that an agent cannot get rid of what is forbidden, or needs an approval,
// by naming a resource, an action or a subject beside the tool.
func TestNamingMore(t *testing.T) {
	t.Parallel()
	s := newScene(t, testkit.Shared(t))
	p := s.only(t, permitAll)
	names := object{
		"resource": object{"type": "Product", "id": "42"}, "action": object{"name": "change"}, "subject": object{"type": "User", "id": "ann"},
	}
	for _, one := range []struct {
		scope string
		named []string
	}{
		{`principal, action, resource == Tool::"payments/look_up"`, []string{"resource"}},
		{`principal, action == Action::"tool.call", resource`, []string{"action"}},
		{`principal == Runtime::"refund-agent", action, resource`, []string{"subject"}},
		{`principal == Runtime::"refund-agent", action, resource == Product::"42"`, []string{"subject", "resource"}},
		{`principal == Runtime::"refund-agent", action == Action::"tool.call", resource is Tool`, []string{"subject", "action", "resource"}},
	} {
		question := call("look_up", "1", nil)
		for _, name := range one.named {
			question[name] = names[name]
		}
		for effect, want := range map[string]string{"": "deny", `@effect("require_approval") `: "require_approval"} {
			_, err := patch(t, s.Client, p, object{"source": permitAll})
			require.NoError(t, err)
			require.Equal(t, "allow", s.ask(t, question)["decision"])
			_, err = patch(t, s.Client, p, object{"source": permitAll + "\n" + effect + "forbid (" + one.scope + ");"})
			require.NoError(t, err)

			require.Equal(t, want, s.ask(t, question)["decision"], "%s%s", effect, one.scope)
		}
	}
}

func TestShadow(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	s := newScene(t, k)
	create(t, s.Client, object{"policyKey": "strict", "source": `forbid (principal, action, resource);`, "mode": "shadow", "state": "active"})
	create(t, s.Client, object{"policyKey": "elsewhere", "source": `forbid (principal, action, resource) when { context.connector_key == "crm" };`, "mode": "shadow", "state": "active"})
	create(t, s.Client, object{"policyKey": "off", "source": `forbid (principal, action, resource);`, "mode": "disabled", "state": "active"})

	d := s.ask(t, call("look_up", "1", nil))

	require.Equal(t, "allow", d["decision"])
	require.Equal(t, []any{map[string]any{"policy_key": "strict", "decision": "deny"}}, d["shadow"])
	read, err := s.GetEvidence(t.Context(), "policy-decisions", d.ID())
	require.NoError(t, err)
	require.Equal(t, d["shadow"], read["shadow"])
}

func TestApproval(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	s := newScene(t, k)
	present := func(amount string, id int64) testkit.Evidence {
		return s.ask(t, call("refund", amount, object{"approvalId": id}))
	}
	asked := s.ask(t, call("refund", "240.00", nil))
	require.Equal(t, "require_approval", asked["decision"])
	id := asked.Number("approval_id")
	require.Equal(t, id, s.ask(t, call("refund", "240.00", nil)).Number("approval_id"), "one request for one action")
	_, err := s.ann.DecideApproval(t.Context(), id, object{"decision": "approved"})
	require.NoError(t, err)

	d := present("241.00", id)
	require.Equal(t, "require_approval", d["decision"])
	require.Contains(t, codes(d), "approval_other_action")
	d = present("240.00", id)
	require.Equal(t, "allow", d["decision"])
	require.Equal(t, id, d.Number("approval_id"))
	d = present("240.00", id)
	require.Equal(t, "require_approval", d["decision"])
	require.Contains(t, codes(d), "approval_consumed")

	// What a question says about its subject does not hide who acts.
	named := object{"subject": object{"type": "User", "id": "u-1"}}
	id = s.ask(t, call("refund", "7.00", named)).Number("approval_id")
	_, err = s.ann.DecideApproval(t.Context(), id, object{"decision": "approved"})
	require.NoError(t, err)
	d = s.ask(t, call("refund", "7.00", object{"subject": named["subject"], "runtimeKey": "another-agent", "approvalId": id}))
	require.Contains(t, codes(d), "approval_other_action", "an approval is for one runtime")

	theirs := newScene(t, k)
	other := theirs.ask(t, call("refund", "240.00", nil)).Number("approval_id")
	_, err = theirs.ann.DecideApproval(t.Context(), other, object{"decision": "approved"})
	require.NoError(t, err)
	foreign, unknown := present("300.00", other), present("301.00", 9_007_199_254_740_991)
	require.Equal(t, "require_approval", foreign["decision"])
	require.Equal(t, unknown["reasons"], foreign["reasons"], "another organization's approval does not exist")
	require.Contains(t, codes(foreign), "approval_unknown")
	read, err := theirs.GetEvidence(t.Context(), "approvals", other)
	require.NoError(t, err)
	require.Equal(t, "approved", read["state"])
}

func TestAccess(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	s := newScene(t, k)
	s.only(t, `permit (principal == User::"ann", action == Action::"read", resource is Page) when { context.hour < 20 };
permit (principal == runtime::"refund-agent", action, resource) when { context.connector_key == "payments" && context.amount.lessThan(decimal("10.0")) };`)
	access := func(body object) accessView {
		var out accessView
		_, err := s.Call(t.Context(), "POST", "/access/v1/evaluation", body, &out)
		require.NoError(t, err)
		return out
	}
	read := object{"subject": object{"type": "User", "id": "ann"}, "action": object{"name": "read"}, "resource": object{"type": "Page", "id": "7"}, "context": object{"hour": 9}}

	yes := access(read)
	require.True(t, yes.Decision)
	require.Equal(t, "allow", yes.Context["decision"])
	stored, err := s.GetEvidence(t.Context(), "policy-decisions", yes.Context.ID())
	require.NoError(t, err)
	require.Equal(t, yes.Context["input_digest"], stored["input_digest"])
	read["context"] = object{"hour": 21}
	require.False(t, access(read).Decision)
	delete(read, "action")
	_, err = s.Call(t.Context(), "POST", "/access/v1/evaluation", read, nil)
	require.Error(t, err)

	tool := object{"subject": object{"type": "runtime", "id": "refund-agent"}, "action": object{"name": "tool.call"}, "resource": object{"type": "tool", "id": "payments/refund"}}
	tool["context"] = object{"arguments": object{"amount": "9.99"}}
	small := access(tool)
	require.True(t, small.Decision, "%v", small.Context)
	require.Equal(t, "transact", small.Context["side_effect_class"])
	tool["context"] = object{"arguments": object{"amount": "10.00"}}
	require.False(t, access(tool).Decision)
}
