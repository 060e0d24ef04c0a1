package timeline_test

import (
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/timeline"
)

// refund is a refund that needed an approval, as a runtime that does everything right
// records it. The clock of the policy engine is a minute ahead.
func refund(t *testing.T) []timeline.Record {
	return []timeline.Record{
		span(t, "a1", "", 0, `{"primitive_type":"agent_invocation","name":"refund-agent","status":"succeeded","ended_at":"2026-11-02T10:00:50Z"}`),
		span(t, "a2", "a1", 1, `{"primitive_type":"model_call","name":"chat","model":{"request":"gpt-5-mini"},"status":"succeeded","duration_ms":1500}`),
		span(t, "a3", "a1", 5, `{"primitive_type":"tool_call","name":"execute_tool refund","status":"succeeded"}`),
		{
			Kind: call, ID: 20, At: at(5), Span: "a3",
			Values: rec(t, call, 0, 0, `{"invocation_id":"call_9","runtime_key":"refund-agent","connector_key":"payments","tool_name":"refund","side_effect_class":"transact","status":"succeeded","started_at":"2026-11-02T10:00:30Z","ended_at":"2026-11-02T10:00:32Z"}`).Values,
		},
		rec(t, decision, 21, 66, `{"decision":"require_approval","engine":"rules","invocation_id":"call_9","runtime_key":"refund-agent","approval_id":22,"reasons":[{"code":"rule_matched","message":"refunds above 100 need approval"}]}`),
		rec(t, approval, 22, 7, `{"title":"Refund 240 EUR","reason":"A-17 arrived broken","state":"consumed","policy_decision_id":21,"decided_at":"2026-11-02T10:00:28Z"}`),
		rec(t, decision, 23, 29, `{"decision":"allow","engine":"rules","approval_id":22}`),
		rec(t, effect, 24, 30, `{"operation":"refund","side_effect_class":"transact","reversibility":"irreversible","target":{"system":"payments","type":"order","id":"A-17"},"invocation_id":"call_9","runtime_key":"refund-agent","state":"verified",
			"state_history":[{"state":"dispatched","at":"2026-11-02T10:00:30Z"},{"state":"acknowledged","at":"2026-11-02T10:00:32Z"},{"state":"verified","at":"2026-11-02T10:00:45Z"}],
			"verification":{"method":"readback","result":"confirmed","observed_at":"2026-11-02T10:00:45Z"}}`),
		rec(t, failure, 25, 46, `{"failure_mode":"latency_exceeded","severity":"low","tool_invocation_evidence_id":20,"side_effect_ledger_id":24,"primitive_step_run_id":999}`),
		rec(t, explanation, 26, 60, `{"subject":{"type":"policy_decision","id":23},"evaluation_name":"policy check","score_label":"right","explanation":"The amount was approved."}`),
	}
}

func TestATraceIsInCausalOrder(t *testing.T) {
	t.Parallel()
	tl := timeline.Build(refund(t), now)
	require.Equal(t, []string{
		"span a1",
		"  span a2",
		"  span a3",
		"    policy-decisions21",
		"    approvals22",
		"    policy-decisions23",
		"      eval-explanations26",
		"    tool-invocation-evidence20",
		"      side-effect-ledger24",
		"        failures25",
	}, outline(tl))
	require.Equal(t, start, tl.Start)
	require.Equal(t, at(66), tl.End)
	require.Empty(t, tl.Missing)
	parents := []int{}
	for _, e := range tl.Entries {
		parents = append(parents, e.Parent)
	}
	require.Equal(t, []int{-1, 0, 0, 2, 2, 2, 5, 2, 7, 8}, parents)
	require.Equal(t, timeline.Entry{
		Resource: step, At: at(1), EndedAt: ptr(at(1).Add(1500 * time.Millisecond)), Depth: 1, Title: "chat", Status: "succeeded", Summary: "model_call, gpt-5-mini", Span: "a2",
	}, tl.Entries[1])
	require.Equal(t, "refund payments/order/A-17", tl.Entries[8].Title)
	require.Equal(t, "refunds above 100 need approval", tl.Entries[3].Summary[len("rules, "):])
}

func TestAnActionJoinsWhatBelongsToIt(t *testing.T) {
	t.Parallel()
	a := action(t, timeline.Build(refund(t), now))
	require.Equal(t, &timeline.Action{
		InvocationID: "call_9", Tool: "refund", Connector: "payments", SideEffectClass: "transact",
		Marks: []timeline.Mark{
			{Stage: "requested", State: "done", At: ptr(at(5)), By: &timeline.Ref{Resource: call, ID: 20}},
			{Stage: "authorized", State: "done", At: ptr(at(29)), By: &timeline.Ref{Resource: decision, ID: 23}},
			{Stage: "dispatched", State: "done", At: ptr(at(30)), By: &timeline.Ref{Resource: call, ID: 20}},
			{Stage: "acknowledged", State: "done", At: ptr(at(32)), By: &timeline.Ref{Resource: call, ID: 20}},
			{Stage: "verified", State: "done", At: ptr(at(45)), By: &timeline.Ref{Resource: effect, ID: 24}, Note: "confirmed (readback)"},
		},
		Missing:  []string{},
		Decision: &timeline.Ref{Resource: decision, ID: 23}, Approval: &timeline.Ref{Resource: approval, ID: 22},
		Ledger: []timeline.Ref{{Resource: effect, ID: 24}}, Failures: []timeline.Ref{{Resource: failure, ID: 25}},
	}, a)
}

func TestNothingGivesAnEmptyTimeline(t *testing.T) {
	t.Parallel()
	require.Equal(t, timeline.Timeline{Entries: []timeline.Entry{}, Missing: []string{}}, timeline.Build(nil, now))
}

func TestCausesComeBeforeEffectsWhateverTheClocksSay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		records []timeline.Record
		want    []string
	}{
		"a parent that begins after its child": {
			[]timeline.Record{rec(t, step, 2, 1, `{"parent_step_run_id":1}`), rec(t, step, 1, 9, `{}`)},
			[]string{"primitive-step-runs1", "  primitive-step-runs2"},
		},
		"a retry, and steps that say their place": {
			[]timeline.Record{
				rec(t, step, 1, 0, `{}`), rec(t, step, 2, 5, `{"parent_step_run_id":1,"sequence":1}`), rec(t, step, 3, 4, `{"parent_step_run_id":1,"sequence":2}`),
				rec(t, step, 4, 3, `{"parent_step_run_id":1,"retry_of_id":3}`),
			},
			[]string{"primitive-step-runs1", "  primitive-step-runs2", "  primitive-step-runs3", "  primitive-step-runs4"},
		},
		"what undoes an effect elsewhere": {
			[]timeline.Record{
				rec(t, step, 1, 1, `{}`), rec(t, call, 2, 1, `{"primitive_step_run_id":1,"invocation_id":"undo"}`), rec(t, effect, 3, 1, `{"tool_invocation_evidence_id":2,"compensates_id":6}`),
				rec(t, step, 4, 2, `{}`), rec(t, call, 5, 2, `{"primitive_step_run_id":4,"invocation_id":"do","attributes":{"side_effect_ledger_ids":[6]}}`), rec(t, effect, 6, 2, `{}`),
			},
			[]string{
				"primitive-step-runs4", "  tool-invocation-evidence5", "    side-effect-ledger6",
				"primitive-step-runs1", "  tool-invocation-evidence2", "    side-effect-ledger3",
			},
		},
		"one decision about calls of two steps": {
			[]timeline.Record{
				rec(t, step, 1, 0, `{}`), rec(t, step, 2, 1, `{"parent_step_run_id":1}`), rec(t, step, 3, 2, `{"parent_step_run_id":1}`),
				rec(t, call, 4, 1, `{"primitive_step_run_id":2,"policy_decision_id":6}`), rec(t, call, 5, 2, `{"primitive_step_run_id":3,"policy_decision_id":6}`),
				rec(t, decision, 6, 8, `{"decision":"allow"}`),
			},
			[]string{
				"primitive-step-runs1", "  policy-decisions6", "  primitive-step-runs2", "    tool-invocation-evidence4",
				"  primitive-step-runs3", "    tool-invocation-evidence5",
			},
		},
		"attempts, and what each of them caused": {
			[]timeline.Record{
				rec(t, call, 1, 9, `{"invocation_id":"x","attempt":1}`), rec(t, call, 2, 3, `{"invocation_id":"x","attempt":2}`),
				rec(t, effect, 3, 4, `{"invocation_id":"x"}`), rec(t, effect, 4, 10, `{"tool_invocation_evidence_id":1}`), rec(t, failure, 5, 11, `{"invocation_id":"x"}`),
			},
			[]string{
				"tool-invocation-evidence1", "  side-effect-ledger4",
				"tool-invocation-evidence2", "  side-effect-ledger3", "  failures5",
			},
		},
		"an event after what it was turned into": {
			[]timeline.Record{rec(t, event, 1, 0, `{"status":"normalized","records":[{"resource":"failures","id":3}]}`), rec(t, step, 2, 1, `{"raw_event_id":1}`), rec(t, failure, 3, 2, `{}`)},
			[]string{"primitive-step-runs2", "failures3", "  raw-events1"},
		},
		"invocations of other runtimes": {
			[]timeline.Record{
				rec(t, call, 1, 1, `{"invocation_id":"x","runtime_key":"a"}`), rec(t, call, 2, 2, `{"invocation_id":"x","runtime_key":"b"}`),
				rec(t, effect, 3, 0, `{"invocation_id":"x","runtime_key":"b"}`),
			},
			[]string{"tool-invocation-evidence1", "tool-invocation-evidence2", "  side-effect-ledger3"},
		},
		"equal times by id": {
			[]timeline.Record{rec(t, step, 3, 1, `{}`), rec(t, step, 1, 1, `{}`), rec(t, step, 2, 0, `{}`)},
			[]string{"primitive-step-runs2", "primitive-step-runs1", "primitive-step-runs3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, outline(timeline.Build(c.records, now)))
			slices.Reverse(c.records)
			require.Equal(t, c.want, outline(timeline.Build(c.records, now)))
		})
	}
}

func TestATraceSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	loop := []timeline.Record{rec(t, step, 5, 0, `{"parent_step_run_id":6}`), rec(t, step, 6, 1, `{"parent_step_run_id":5}`)}
	tl := timeline.Build(append(loop,
		rec(t, event, 1, 0, `{"status":"unmapped"}`), rec(t, event, 2, 0, `{"status":"unmapped"}`), rec(t, event, 3, 0, `{"status":"invalid"}`), rec(t, event, 4, 0, `{"status":"partially_normalized"}`),
		span(t, "b1", "ffff", 3, `{"primitive_type":"tool_call"}`), span(t, "b2", "0000", 3, `{"primitive_type":"plan"}`),
	), now)
	require.Equal(t, []string{
		"2 raw events were not mapped",
		"1 raw event was mapped in part",
		"1 raw event could not be read",
		"1 tool call has a step and no evidence of the call",
		"1 step is part of a step that is not recorded",
		"1 circle of records that are each part of the other",
	}, tl.Missing)
	require.Contains(t, outline(tl), "primitive-step-runs5")
	require.Contains(t, outline(tl), "  primitive-step-runs6")
}

func TestALongTextIsCut(t *testing.T) {
	t.Parallel()
	long := make([]rune, 400)
	for i := range long {
		long[i] = '語'
	}
	tl := timeline.Build([]timeline.Record{rec(t, explanation, 1, 0, `{"evaluation_name":"x","explanation":"`+string(long)+`","score_value":0.5}`)}, now)
	require.Equal(t, string(long[:300])+"…", tl.Entries[0].Summary)
	require.Equal(t, "0.5", tl.Entries[0].Status)
}

func TestATimelineIsWrittenInSnakeCase(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(timeline.Build([]timeline.Record{rec(t, call, 1, 0, `{"invocation_id":"x","tool_name":"find","status":"succeeded","side_effect_class":"read","ended_at":"2026-11-02T10:00:01Z"}`)}, now))
	require.NoError(t, err)
	require.JSONEq(t, `{"entries":[{"resource":"tool-invocation-evidence","id":1,"at":"2026-11-02T10:00:00Z","ended_at":"2026-11-02T10:00:01Z","depth":0,"title":"find","status":"succeeded","summary":"read","origin":"platform","parent":-1,
		"action":{"invocation_id":"x","tool":"find","connector":"","side_effect_class":"read","missing":[],"ledger":[],"failures":[],"marks":[
			{"stage":"requested","state":"done","at":"2026-11-02T10:00:00Z","by":{"resource":"tool-invocation-evidence","id":1}},
			{"stage":"authorized","state":"not_needed"},
			{"stage":"dispatched","state":"done","at":"2026-11-02T10:00:00Z","by":{"resource":"tool-invocation-evidence","id":1}},
			{"stage":"acknowledged","state":"done","at":"2026-11-02T10:00:01Z","by":{"resource":"tool-invocation-evidence","id":1}},
			{"stage":"verified","state":"not_needed"}]}}],
		"missing":[],"start":"2026-11-02T10:00:00Z","end":"2026-11-02T10:00:01Z"}`, string(text))
}
