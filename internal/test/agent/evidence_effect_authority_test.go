package agent_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// payer is an organization whose refund agent may use every tool of a connector.
type payer struct{ *testkit.Client }

const evidencePayable = `@id("pay") @obligations("verify_side_effect(within_seconds=60)")
permit (principal, action == Action::"tool.call", resource);
@id("edit") permit (principal, action == Action::"edit", resource == Page::"7");`

func pays(t *testing.T, k *testkit.Kit) payer {
	t.Helper()
	us := k.Org(t)
	_, ann := us.Person(t, "admin")
	ann.Connector(t, "payments", map[string]string{"refund": "transact", "look_up": "read", "wipe": "delete"})
	var page struct {
		Policies []struct {
			ID string `json:"id"`
		} `json:"policies"`
	}
	_, err := ann.Call(t.Context(), http.MethodGet, "/api/policies?policyKey=baseline", nil, &page)
	require.NoError(t, err)
	require.Len(t, page.Policies, 1)
	_, err = ann.Call(t.Context(), http.MethodPatch, "/api/policies/"+page.Policies[0].ID, map[string]any{"state": "retired"}, nil)
	require.NoError(t, err)
	_, err = ann.Call(t.Context(), http.MethodPost, "/api/policies", map[string]any{"policyKey": "payable", "source": evidencePayable, "state": "active"}, nil)
	require.NoError(t, err)
	return payer{us}
}

// asks has the policies decide about a call of a tool.
func (p payer) asks(t *testing.T, tool string, more map[string]any) testkit.Evidence {
	t.Helper()
	body := map[string]any{
		"runtimeKey": "refund-agent", "supportedObligations": []string{"verify_side_effect"},
		"toolInvocation": map[string]any{"connectorKey": "payments", "toolName": tool, "arguments": map[string]any{"order": "A-17"}},
	}
	for k, v := range more {
		body[k] = v
	}
	d, err := p.Evaluate(t.Context(), body)
	require.NoError(t, err)
	require.Equal(t, "allow", d["decision"])
	return d
}

// sends reports a dispatch under a decision, and returns the entry.
func (p payer) sends(t *testing.T, d testkit.Evidence, effectKey string, more map[string]any) testkit.Evidence {
	t.Helper()
	body := entry("dispatched", effectKey, more)
	body["policyDecisionId"] = d.ID()
	e, err := p.PostEvidence(t.Context(), "side-effect-ledger", body)
	require.NoError(t, err)
	return e
}

// violations counts what was done without being allowed.
func (p payer) violations(t *testing.T) (n int64) {
	t.Helper()
	found, _, err := p.ListEvidence(t.Context(), "failures", "failureMode=policy_violation")
	require.NoError(t, err)
	for _, f := range found {
		n += f.Number("occurrences")
	}
	return n
}

func TestADecisionAuthorizesOneEffect(t *testing.T) {
	t.Parallel()
	p := pays(t, testkit.Shared(t))
	d := p.asks(t, "refund", nil)

	first := p.sends(t, d, "k1", nil)
	require.Equal(t, "allowed", first["authorization"])
	require.NotNil(t, first["verify_by"])

	again := p.sends(t, d, "k1", nil)
	require.Equal(t, "allowed", again["authorization"], "the same effect again is what was decided on")
	require.EqualValues(t, first.ID(), again["duplicate_of_id"])
	require.Zero(t, p.violations(t))

	second := p.sends(t, d, "k2", nil)
	require.Equal(t, "spent", second["authorization"])
	require.Nil(t, second["duplicate_of_id"])
	require.EqualValues(t, 1, p.violations(t))

	elsewhere := p.sends(t, d, "k1", map[string]any{"target": map[string]any{"system": "payments", "type": "order", "id": "A-18"}})
	require.Equal(t, "spent", elsewhere["authorization"], "another target is another effect")

	// In one envelope the first counts.
	d = p.asks(t, "refund", nil)
	event := func(id, effectKey string) any {
		return map[string]any{"id": id, "source": "t", "type": "agent-evidence.side-effect-ledger", "data": entry("acknowledged", effectKey, map[string]any{"policyDecisionId": d.ID(), "idempotencyKey": id})}
	}
	in, err := p.IngestEvidence(t.Context(), map[string]any{"producer": map[string]any{"runtimeKey": "refund-agent"}, "events": []any{event("e1", "k4"), event("e2", "k5"), event("e3", "k4")}})
	require.NoError(t, err)
	require.EqualValues(t, 3, in.Accepted, "%v", in)
	all, _, err := p.ListEvidence(t.Context(), "side-effect-ledger", fmt.Sprintf("policyDecisionId=%d", d.ID()))
	require.NoError(t, err)
	said := map[string]int{}
	for _, e := range all {
		said[fmt.Sprint(e["effect_key"], " ", e["authorization"])]++
	}
	require.Equal(t, map[string]int{"k4 allowed": 2, "k5 spent": 1}, said)
}

func TestOneOfManyDispatchesAtOnceHasTheDecision(t *testing.T) {
	t.Parallel()
	p := pays(t, testkit.Shared(t))
	d := p.asks(t, "refund", map[string]any{"toolInvocation": map[string]any{"connectorKey": "payments", "toolName": "refund", "invocationId": "call_1"}})
	const n = 6
	said := make([]any, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			more := map[string]any{"invocationId": "call_1"} // which the decision is found by
			if i%2 == 0 {
				more["policyDecisionId"] = d.ID()
			}
			e, err := p.PostEvidence(t.Context(), "side-effect-ledger", entry("dispatched", fmt.Sprint("k", i), more))
			if err == nil {
				said[i] = e["authorization"]
			}
		})
	}
	all.Wait()
	count := map[any]int{}
	for _, one := range said {
		count[one]++
	}
	require.Equal(t, map[any]int{"allowed": 1, "spent": n - 1}, count)
}

//nolint:paralleltest // it moves the clock
func TestADecisionAuthorizesWhatItIsAbout(t *testing.T) {
	k := testkit.Moving(t)
	p := pays(t, k)
	e := p.sends(t, p.asks(t, "refund", nil), "k1", map[string]any{"runtimeKey": nil})
	require.Equal(t, "other", e["authorization"], "by whom is not said")
	e = p.sends(t, p.asks(t, "refund", nil), "k2", map[string]any{"connectorKey": nil})
	require.Equal(t, "other", e["authorization"], "through what is not said")
	e = p.sends(t, p.asks(t, "refund", nil), "k3", map[string]any{"runtimeKey": "another-agent"})
	require.Equal(t, "other", e["authorization"])
	e = p.sends(t, p.asks(t, "look_up", nil), "k4", nil)
	require.Equal(t, "other", e["authorization"], "another tool")
	e = p.sends(t, p.asks(t, "refund", map[string]any{"mode": "dry_run"}), "k5", nil)
	require.Equal(t, "denied", e["authorization"], "a dry run grants nothing")

	d := p.asks(t, "refund", nil)
	planned, err := p.PostEvidence(t.Context(), "side-effect-ledger", entry("authorized", "k6", map[string]any{"policyDecisionId": d.ID()}))
	require.NoError(t, err)
	require.Nil(t, planned["authorization"])
	require.EqualValues(t, 5, p.violations(t))
	decided := k.Clock.Now()
	k.Clock.Advance(time.Hour)
	e = p.sends(t, d, "k7", map[string]any{"occurredAt": decided.UTC().Format(time.RFC3339Nano)})
	require.Equal(t, "expired", e["authorization"], "when it is said to have been sent does not count")
	require.EqualValues(t, 6, p.violations(t))
	e, err = p.UpdateEvidence(t.Context(), "side-effect-ledger", planned.ID(), map[string]any{"state": "dispatched"})
	require.NoError(t, err)
	require.Equal(t, "expired", e["authorization"])
}

func TestADecisionAboutAResourceIsNotAboutAnother(t *testing.T) {
	t.Parallel()
	p := pays(t, testkit.Shared(t))
	own := map[string]any{"resource": map[string]any{"type": "order", "id": "A-17"}}
	e := p.sends(t, p.asks(t, "refund", own), "k1", nil)
	require.Equal(t, "allowed", e["authorization"])
	e = p.sends(t, p.asks(t, "refund", own), "k2", map[string]any{"target": map[string]any{"system": "payments", "type": "order", "id": "A-18"}})
	require.Equal(t, "other", e["authorization"])
	tool := map[string]any{"resource": map[string]any{"type": "tool", "id": "payments/refund"}}
	e = p.sends(t, p.asks(t, "refund", tool), "k3", nil)
	require.Equal(t, "allowed", e["authorization"], "the tool itself says nothing about the target")
}

func TestADryRunHidesNoDecision(t *testing.T) {
	t.Parallel()
	p := pays(t, testkit.Shared(t))
	call := map[string]any{"toolInvocation": map[string]any{"connectorKey": "payments", "toolName": "refund", "invocationId": "call_1"}}
	d := p.asks(t, "refund", call)
	call["mode"] = "dry_run"
	p.asks(t, "refund", call)
	e, err := p.PostEvidence(t.Context(), "side-effect-ledger?refuse=unauthorized", entry("dispatched", "k1", map[string]any{"invocationId": "call_1"}))
	require.NoError(t, err)
	require.EqualValues(t, d.ID(), e["policy_decision_id"])
}

func TestUndoingIsNotLooking(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its worker's clock moves")
	k.Work(t)
	p := pays(t, k)
	e := p.sends(t, p.asks(t, "refund", nil), "k1", nil)
	for _, state := range []string{"acknowledged", "compensating"} {
		_, err := p.UpdateEvidence(t.Context(), "side-effect-ledger", e.ID(), map[string]any{"state": state})
		require.NoError(t, err)
	}
	k.Clock.Advance(2 * time.Minute)
	require.Eventually(t, func() bool {
		got, err := p.GetEvidence(t.Context(), "side-effect-ledger", e.ID())
		return err == nil && got["overdue"] == true
	}, 10*time.Minute, 20*time.Millisecond)
}

func TestADecisionWithoutAToolIsAboutItsActionAndResource(t *testing.T) {
	t.Parallel()
	p := pays(t, testkit.Shared(t))
	page := func(kind, id string) map[string]any { return map[string]any{"system": "wiki", "type": kind, "id": id} }
	for i, c := range []struct {
		name string
		says string
		more map[string]any
	}{
		{"what was asked", "allowed", map[string]any{"operation": "edit", "target": page("Page", "7")}},
		{"another operation", "other", map[string]any{"operation": "wire", "target": page("Page", "7")}},
		{"another page", "other", map[string]any{"operation": "edit", "target": page("Page", "8")}},
		{"another thing", "other", map[string]any{"operation": "edit", "target": page("Account", "7")}},
	} {
		d, err := p.Evaluate(t.Context(), map[string]any{"runtimeKey": "refund-agent", "action": map[string]any{"name": "edit"}, "resource": map[string]any{"type": "Page", "id": "7"}})
		require.NoError(t, err)
		require.Equal(t, "allow", d["decision"])
		c.more["connectorKey"] = nil
		e := p.sends(t, d, fmt.Sprint("k", i), c.more)
		require.Equal(t, c.says, e["authorization"], c.name)
	}
	require.EqualValues(t, 3, p.violations(t))
}

func TestADecisionAuthorizesNoMoreThanItsClass(t *testing.T) {
	t.Parallel()
	p := pays(t, testkit.Shared(t))
	for i, c := range []struct{ tool, class, says string }{
		{"look_up", "delete", "other"},
		{"wipe", "delete", "allowed"},
		{"wipe", "create", "allowed"},
		{"wipe", "transact", "other"},
		{"export", "administer", "allowed"}, // whatever it does, it was allowed
	} {
		e := p.sends(t, p.asks(t, c.tool, nil), fmt.Sprint("k", i), map[string]any{"operation": c.tool, "sideEffectClass": c.class})
		require.Equal(t, c.says, e["authorization"], "%s as %s", c.tool, c.class)
	}
	require.EqualValues(t, 2, p.violations(t))
}

func TestADecisionAuthorizesNoMoreThanItsAmount(t *testing.T) {
	t.Parallel()
	p := pays(t, testkit.Shared(t))
	money := func(value any, currency string) map[string]any {
		return map[string]any{"value": value, "currency": currency}
	}
	eur := func(amount any) map[string]any {
		return map[string]any{"order": "A-17", "amount": amount, "currency": "EUR"}
	}
	cases := []struct {
		name      string
		arguments map[string]any
		amount    any
		says      string
	}{
		{"the same", eur("100.00"), money("100.00", "EUR"), "allowed"},
		{"the same, written otherwise", eur(100), money("100.0", "eur"), "allowed"},
		{"less", eur("100.00"), "9.99", "allowed"},
		{"more by little", eur("100.00"), money("100.000000001", "EUR"), "other"},
		{"more, as a text", eur("100.00"), "1000", "other"},
		{"more, as a number", eur(100), 100.5, "other"},
		{"more, as the value of money", eur("9"), money(10, "EUR"), "other"},
		{"another currency", eur("100.00"), money("100.00", "USD"), "other"},
		{"another currency of less", eur("100.00"), money("1.00", "USD"), "other"},
		{"another currency, named next to the amount", eur("100.00"), "1.00 USD", "other"},
		{"an amount that cannot be read", eur("100.00"), money("1e3", "EUR"), "other"},
		{"less than nothing", eur("100.00"), "-1", "other"},
		{"an amount without a value", eur("100.00"), map[string]any{"currency": "EUR"}, "other"},
		{"a decision about what cannot be read", eur("-100"), money("1.00", "EUR"), "other"},
		{"a decision about a currency", map[string]any{"currency": "EUR"}, money("1.00", "USD"), "other"},
		{"a decision without an amount", map[string]any{"order": "A-17"}, money("1000.00", "EUR"), "allowed"},
		{"an effect without an amount", eur("100.00"), nil, "allowed"},
	}
	wrong := 0
	for i, c := range cases {
		d := p.asks(t, "refund", map[string]any{"toolInvocation": map[string]any{"connectorKey": "payments", "toolName": "refund", "arguments": c.arguments}})
		e := p.sends(t, d, fmt.Sprint("k", i), map[string]any{"amount": c.amount, "sideEffectClass": "read"})
		require.Equal(t, c.says, e["authorization"], c.name)
		require.Equal(t, "transact", e["side_effect_class"], "%s: what the decision says about its risk holds", c.name)
		if c.says == "other" {
			wrong++
		}
	}
	require.EqualValues(t, wrong, p.violations(t))

	// What is too much does not use up the decision, and a plan is compared when it is dispatched.
	d := p.asks(t, "refund", map[string]any{"toolInvocation": map[string]any{"connectorKey": "payments", "toolName": "refund", "arguments": eur("100.00")}})
	require.Equal(t, "other", p.sends(t, d, "more", map[string]any{"amount": "101"})["authorization"])
	planned, err := p.PostEvidence(t.Context(), "side-effect-ledger", entry("authorized", "planned", map[string]any{"policyDecisionId": d.ID(), "amount": money("100.01", "EUR")}))
	require.NoError(t, err)
	planned, err = p.UpdateEvidence(t.Context(), "side-effect-ledger", planned.ID(), map[string]any{"state": "dispatched"})
	require.NoError(t, err)
	require.Equal(t, "other", planned["authorization"])
	require.Equal(t, "allowed", p.sends(t, d, "enough", map[string]any{"amount": "100"})["authorization"])
}

func TestAReportDoesNotMakeAnEffectHarmless(t *testing.T) {
	t.Parallel()
	p := pays(t, testkit.Shared(t))
	e := p.sends(t, p.asks(t, "refund", nil), "k1", map[string]any{"sideEffectClass": "read", "reversibility": "reversible"})
	require.Equal(t, []any{"transact", "read", "compensable", "reversible", "allowed"},
		[]any{e["side_effect_class"], e["reported_side_effect_class"], e["reversibility"], e["reported_reversibility"], e["authorization"]})
	require.NotNil(t, e["verify_by"])

	e, err := p.PostEvidence(t.Context(), "side-effect-ledger", entry("dispatched", "k2", map[string]any{"sideEffectClass": "none"}))
	require.NoError(t, err)
	require.Equal(t, "transact", e["side_effect_class"], "the connector says what the tool does")
	require.Equal(t, "none", e["authorization"])
	require.EqualValues(t, 1, p.violations(t))

	e, err = p.PostEvidence(t.Context(), "side-effect-ledger", entry("dispatched", "k3", map[string]any{"operation": "wipe", "sideEffectClass": "administer", "reversibility": "irreversible"}))
	require.NoError(t, err)
	require.Equal(t, []any{"administer", nil, "irreversible", nil}, []any{e["side_effect_class"], e["reported_side_effect_class"], e["reversibility"], e["reported_reversibility"]},
		"a report may say more than is known")

	// A plan whose call is decided on later.
	call := map[string]any{"invocationId": "call_1", "operation": "export", "sideEffectClass": "read"}
	e, err = p.PostEvidence(t.Context(), "side-effect-ledger", entry("authorized", "k4", call))
	require.NoError(t, err)
	require.Equal(t, "read", e["side_effect_class"], "nothing is known about it")
	d := p.asks(t, "export", map[string]any{"toolInvocation": map[string]any{"connectorKey": "payments", "toolName": "export", "invocationId": "call_1"}})
	require.Equal(t, "unknown", d["side_effect_class"])
	e, err = p.UpdateEvidence(t.Context(), "side-effect-ledger", e.ID(), map[string]any{"state": "dispatched"})
	require.NoError(t, err)
	require.Equal(t, []any{"unknown", "read", "allowed"}, []any{e["side_effect_class"], e["reported_side_effect_class"], e["authorization"]})
}

// TestADecisionFindsWhatItWasUsedFor lists effects by a decision that was made after they
// were planned.
func TestADecisionFindsWhatItWasUsedFor(t *testing.T) {
	t.Parallel()
	p := pays(t, testkit.Shared(t))
	planned, err := p.PostEvidence(t.Context(), "side-effect-ledger", entry("planned", "later", map[string]any{"invocationId": "c1"}))
	require.NoError(t, err)
	d := p.asks(t, "refund", map[string]any{"toolInvocation": map[string]any{"connectorKey": "payments", "toolName": "refund", "invocationId": "c1", "arguments": map[string]any{"order": "A-17"}}})
	for _, state := range []string{"authorized", "dispatched"} {
		planned, err = p.UpdateEvidence(t.Context(), "side-effect-ledger", planned.ID(), map[string]any{"state": state})
		require.NoError(t, err)
	}
	require.Equal(t, d.ID(), planned.Number("policy_decision_id"))
	for _, query := range []string{fmt.Sprintf("policyDecisionId=%d", d.ID()), fmt.Sprintf("sideEffectClass=%s", planned["side_effect_class"])} {
		all, _, err := p.ListEvidence(t.Context(), "side-effect-ledger", query)
		require.NoError(t, err)
		require.Len(t, all, 1, query)
	}
}
