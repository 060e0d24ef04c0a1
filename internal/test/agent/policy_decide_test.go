package agent_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/policy"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

var requests = flag.Int("requests", 300, "how many requests TestDecideSaysWhatIsSaidOverHTTP makes")

// differ are policies that use all that a decision can depend on.
var differ = []object{
	{"policyKey": "payments", "state": "active", "source": `@id("often") @history("refunds = count(payments/refund, 24h)") @reason("enough for a day")
forbid (principal, action, resource) when { context.tool_name == "refund" && context.history.refunds >= 40 };
@id("large") @effect("require_approval") @reason("large refunds need an approval")
forbid (principal, action, resource) when { context.tool_name == "refund" && context has amount && context.amount.greaterThan(decimal("100.0")) };
@id("noted") @obligations("log_full") permit (principal, action, resource) when { context.tool_name == "look_up" };
@id("rest") permit (principal, action, resource) when { context.tool_name == "refund" };`},
	{"policyKey": "draft", "state": "active", "mode": "shadow", "source": permitAll},
}

// sameElsewhere is a decision without what differs between two organizations and callers: ids, times,
// who asked and the digest of all that.
func sameElsewhere(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var d map[string]any
	require.NoError(t, json.Unmarshal(text, &d))
	for _, name := range []string{"id", "runtime_id", "connector_id", "created_at", "updated_at", "expires_at", "occurred_at", "duration_us", "actor", "integrity", "requested_by", "created_by", "reporter", "approval_id"} {
		if v, ok := d[name]; ok && v != nil {
			d[name] = "…"
		}
	}
	return d
}

// TestDecideSaysWhatIsSaidOverHTTP puts the same random requests to two organizations with the
// same policies, over HTTP to one and as a call to the other, and then makes the recorded
// decisions again: each way has the same decisions, reasons and records.
func TestDecideSaysWhatIsSaidOverHTTP(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	over, called := newScene(t, k), newScene(t, k)
	var active policyView
	for _, s := range []policyScene{over, called} {
		_, err := patch(t, s.Client, list(t, s.Client, "policyKey=baseline")[0], object{"state": "retired"})
		require.NoError(t, err)
		stopped := s.ann.Connector(t, "stopped", map[string]string{"refund": "transact"})
		_, err = s.ann.UpdateEvidence(t.Context(), "connectors", stopped.ID(), object{"state": "blocked"})
		require.NoError(t, err)
		s.ann.Connector(t, "a/b", map[string]string{"refund": "transact"})
		for _, p := range differ {
			made := create(t, s.Client, p)
			if p["policyKey"] == "payments" && s.Client == called.Client {
				active = made
			}
		}
	}
	ctx := principal.With(t.Context(), principal.Caller{Org: called.Org})
	random := rand.New(rand.NewPCG(3, 5))
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	counted := map[string]int{}
	same := func(body object, r policy.Request) (testkit.Evidence, evidence.Record) {
		said, errOver := over.Evaluate(t.Context(), body)
		made, errCalled := k.App.Policy.Decide(ctx, called.Org, r)
		if errOver != nil || errCalled != nil {
			one, ok := fault.From(errOver)
			require.True(t, ok, "%v: %v", body, errOver)
			two, ok := fault.From(errCalled)
			require.True(t, ok, "%v: %v", body, errCalled)
			require.Equal(t, one.Reason, two.Reason, "%v", body)
			counted["refused"]++
			return nil, made
		}
		text, err := json.Marshal(said)
		require.NoError(t, err)
		other, err := evidence.ToDecisionBody(&made).MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, sameElsewhere(t, text), sameElsewhere(t, other), "%v", body)
		counted[said["decision"].(string)]++
		return said, made
	}
	for n := range *requests {
		tool, amount := pick("refund", "refund", "look_up", "unheard"), pick("1.00", "20", "99.99", "100.01", "5000")
		connector := pick("payments", "payments", "payments", "stopped", "a/b", "nobody")
		arguments := fmt.Sprintf(`{"order":"A-%d","amount":%q}`, random.IntN(5), amount)
		environment := fmt.Sprintf(`{"environment":%q,"arguments":%s}`, pick("production", "staging"), arguments)
		body := object{"context": json.RawMessage(environment)}
		r := policy.Request{Context: jsontext.Value(environment)}
		runtime := pick("refund-agent", "another", fmt.Sprint("agent-", n))
		if random.IntN(3) == 0 {
			body["subject"], r.Subject = object{"type": "Runtime", "id": runtime}, policy.Entity{Type: "Runtime", ID: runtime}
		} else {
			body["runtimeKey"], r.Runtime = runtime, runtime
		}
		if random.IntN(3) == 0 {
			body["resource"], r.Resource = object{"type": "Tool", "id": connector + "/" + tool}, policy.Entity{Type: "Tool", ID: connector + "/" + tool}
		} else {
			body["toolInvocation"] = object{"connectorKey": connector, "toolName": tool, "arguments": json.RawMessage(arguments)}
			r.Call = policy.Call{Connector: connector, Tool: tool, Arguments: jsontext.Value(arguments)}
		}
		if random.IntN(4) == 0 {
			r.Supported = []string{pick("log_full", "verify_side_effect")}
			body["supportedObligations"] = r.Supported
		}
		if random.IntN(5) == 0 {
			body["mode"], r.DryRun = "dry_run", true
		}
		if random.IntN(6) == 0 {
			r.IdempotencyKey = fmt.Sprint("request ", random.IntN(40))
			body["idempotencyKey"] = r.IdempotencyKey
		}
		if random.IntN(40) == 0 {
			body["traceId"], r.Trace = "0", "0" // refused by both
		}

		said, made := same(body, r)
		if said == nil || said["decision"] != "require_approval" || r.DryRun || random.IntN(3) > 0 {
			continue
		}
		// People approve both, and both are presented.
		for s, id := range map[policyScene]int64{over: said.Number("approval_id"), called: made.Values.Integer("approval_id")} {
			_, err := s.ann.DecideApproval(t.Context(), id, object{"decision": "approved"})
			require.NoError(t, err)
		}
		body["approvalId"], r.Approval, r.IdempotencyKey = said.Number("approval_id"), made.Values.Integer("approval_id"), ""
		delete(body, "idempotencyKey")
		if said, _ = same(body, r); said["decision"] == "allow" {
			counted["approved"]++
		}
	}
	for _, decision := range []string{"allow", "deny", "require_approval", "approved", "refused"} {
		require.NotZero(t, counted[decision], "%v", counted)
	}

	again := called.backtest(t, active, object{"limit": min(*requests, 10_000)})
	require.Zero(t, again.Changed, "%+v", again)
	require.Zero(t, again.Drifted)
	require.Greater(t, int(again.Unchanged), *requests/2)
	t.Logf("%d requests: %v; made again: %d", *requests, counted, again.Unchanged)
}
