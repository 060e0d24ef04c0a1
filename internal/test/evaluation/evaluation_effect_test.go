package evaluation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

// paid reports a payment that belongs to a trace, and what became of it.
func paid(t *testing.T, c *testkit.Client, trace, key, class string, states ...string) testkit.Evidence {
	t.Helper()
	e, err := c.PostEvidence(t.Context(), "side-effect-ledger", map[string]any{
		"operation": "refund", "sideEffectClass": class, "effectKey": key, "state": states[0], "traceId": trace,
		"target": map[string]any{"system": "bank", "type": "order", "id": key},
	})
	require.NoError(t, err)
	for _, state := range states[1:] {
		e = found(t, c, e, state)
	}
	return e
}

// found moves a payment on to a state.
func found(t *testing.T, c *testkit.Client, e testkit.Evidence, state string) testkit.Evidence {
	t.Helper()
	body := map[string]any{"state": state}
	if result := map[string]string{"verified": "confirmed", "not_applied": "absent", "conflicting": "different", "compensated": "absent"}[state]; result != "" {
		body["verification"] = map[string]any{"method": "readback", "result": result}
	}
	if state == "compensated" {
		undo(t, c, e)
	}
	e, err := c.UpdateEvidence(t.Context(), "side-effect-ledger", e.ID(), body)
	require.NoError(t, err)
	return e
}

// undo reports what undoes a payment, which a policy has to allow.
func undo(t *testing.T, c *testkit.Client, e testkit.Evidence) {
	t.Helper()
	d, err := c.Evaluate(t.Context(), map[string]any{"runtimeKey": "payer", "toolInvocation": map[string]any{"connectorKey": "bank", "toolName": "undo"}})
	require.NoError(t, err)
	require.Equal(t, "allow", d["decision"])
	_, err = c.PostEvidence(t.Context(), "side-effect-ledger", map[string]any{
		"runtimeKey": "payer", "connectorKey": "bank", "operation": "undo", "sideEffectClass": "update", "effectKey": fmt.Sprint("undo ", e.ID()), "state": "dispatched",
		"target": map[string]any{"system": "bank", "type": "order", "id": "1"}, "policyDecisionId": d.ID(), "compensatesId": e.ID(),
	})
	require.NoError(t, err)
}

func TestEffectsOfAnswersAreVerified(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	measured := map[string]any{"metrics": []string{"latency_ms", "effects_verified"}, "target": map[string]any{"type": "client"}}
	sent := func(id, trace string) map[string]any {
		return map[string]any{"testCaseId": id, "output": "x", "durationMs": 1, "otelTraceId": trace}
	}

	t.Run("as the ledger says when the run ends", func(t *testing.T) {
		t.Parallel()
		c, other := k.Org(t), k.Org(t)
		e, ids := judged(t, c, 6, measured, nil)
		r := started(t, c, e.ID, nil)
		traces := make([]string, len(ids))
		var all []map[string]any
		for i, id := range ids {
			traces[i] = testkit.NewTraceID()
			all = append(all, sent(id, traces[i]))
		}
		_, ann := c.Person(t, principal.Admin)
		ann.Connector(t, "bank", map[string]string{"undo": "update"})
		paid(t, c, traces[0], "a", "transact", "acknowledged", "verified")
		paid(t, c, traces[0], "b", "transact", "acknowledged", "verified", "compensating", "compensated")
		for i, states := range [][]string{{"dispatched"}, {"acknowledged"}, {"unknown"}, {"failed"}, {"acknowledged", "conflicting"}, {"acknowledged", "not_applied"}, {"acknowledged", "verified"}, {"acknowledged", "compensating", "compensated"}} {
			paid(t, c, traces[1], fmt.Sprint("c", i), "create", states...)
		}
		paid(t, c, traces[1], "c6", "create", "acknowledged") // a duplicate
		sendSpans(t, c, agent(traces[2], ""))
		paid(t, c, traces[2], "d", "read", "acknowledged")
		paid(t, c, traces[2], "e", "transact", "planned")
		paid(t, c, traces[2], "f", "transact", "cancelled")
		sendSpans(t, c, agent(traces[3], ""))
		paid(t, other, traces[3], "g", "transact", "acknowledged") // of somebody else
		require.NoError(t, c.PutResults(t.Context(), r.EvaluationID, r.RunID, all, true))

		done := c.Ended(t, r)

		said := map[int]any{}
		for _, one := range results(t, c, done) {
			for i, id := range ids {
				if one.TestCaseID != id {
					continue
				}
				if v := one.Scores["effects_verified"]; v != nil {
					said[i] = *v
					continue
				}
				for _, x := range one.Explanations {
					if x.Metric == "effects_verified" {
						said[i] = api.Value(x.Reason)
					}
				}
			}
		}
		require.Equal(t, map[int]any{0: 1.0, 1: 2.0 / 9, 2: "no_effects", 3: "no_effects", 4: "no_trace", 5: "no_trace"}, said)
		require.EqualValues(t, 2, done.Statistics.Metrics["effects_verified"].N)
		gate := done.Statistics.Gates["effects_verified"]
		require.EqualValues(t, 4, gate.N, "what is not known counts as not verified, and what did nothing does not count")
		require.InDelta(t, (1+2.0/9)/4, *gate.Value, 1e-12)
	})

	t.Run("within the time that a run waits", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		e, ids := judged(t, c, 1, map[string]any{"metrics": measured["metrics"], "target": map[string]any{"type": "client", "traceWaitMs": 120000}}, nil)
		r := started(t, c, e.ID, nil)
		trace := testkit.NewTraceID()
		sendSpans(t, c, agent(trace, ""))
		entry := paid(t, c, trace, "a", "transact", "acknowledged")
		require.NoError(t, c.PutResults(t.Context(), r.EvaluationID, r.RunID, []map[string]any{sent(ids[0], trace)}, true))
		require.Eventually(t, func() bool {
			now, err := c.GetEvaluationRun(t.Context(), r.EvaluationID, r.RunID)
			return err == nil && now.Phase == "aggregating"
		}, 10*time.Minute, 20*time.Millisecond)
		found(t, c, entry, "verified")

		require.InDelta(t, 1, *c.Ended(t, r).Statistics.Metrics["effects_verified"].Value, 1e-12)
	})

	t.Run("and a gate decides by it", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		const n = 40
		e, ids := judged(t, c, n, measured, nil)
		decided := func(verified int) string {
			r := started(t, c, e.ID, nil)
			var all []map[string]any
			for i, id := range ids {
				trace := testkit.NewTraceID()
				all = append(all, sent(id, trace))
				states := []string{"acknowledged", "verified"}
				if i >= verified {
					states = states[:1]
				}
				paid(t, c, trace, fmt.Sprint(r.RunID, " ", i), "transact", states...)
			}
			require.NoError(t, c.PutResults(t.Context(), r.EvaluationID, r.RunID, all, true))
			figure := c.Ended(t, r).Statistics.Metrics["effects_verified"]
			require.EqualValues(t, n, figure.N)
			require.NotEmpty(t, figure.Method)
			require.NotNil(t, figure.CI)
			d, err := c.DecideEvaluationRun(t.Context(), r.EvaluationID, r.RunID, map[string]any{"requirements": []string{"effects_verified>=0.8"}})
			require.NoError(t, err)
			return d.Verdict
		}
		require.Equal(t, "PASS", decided(n))
		require.Equal(t, "FAIL", decided(n/4))
	})
}
