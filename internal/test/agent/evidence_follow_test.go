package agent_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/test/testkit"
)

// called is a span of the call of a tool.
func called(traceID, call, failure string) testkit.OTLPSpan {
	return testkit.OTLPSpan{
		Trace: traceID, ID: testkit.NewSpanID(), Parent: testkit.NewSpanID(), Name: "execute_tool refund", Service: "refund-agent", Start: time.Now().Add(-time.Minute), Duration: 120 * time.Millisecond, Error: failure,
		Attributes: map[string]any{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund", "gen_ai.tool.call.id": call,
			"gen_ai.tool.call.arguments": `{"order":"A-17"}`, "gen_ai.tool.call.result": `{"ok":true}`,
		},
	}
}

func TestSpansThatArriveAreEvidence(t *testing.T) {
	t.Parallel()
	// No write takes as long as this: what was sent is read once the clock says so.
	k := testkit.Own(t, "its followers wait for long", func(cfg *app.Config) { cfg.Evidence.Settle = 10 * time.Minute })
	k.Work(t)
	us, others := k.Org(t), k.Org(t)
	ctx := t.Context()
	ours, theirs := testkit.NewTraceID(), testkit.NewTraceID()
	done, failed := called(ours, "call_1", ""), called(ours, "call_2", "the bank is closed")
	inference := testkit.OTLPSpan{
		Trace: ours, ID: testkit.NewSpanID(), Parent: testkit.NewSpanID(), Name: "search", Service: "refund-agent", Start: time.Now().Add(-time.Minute), Duration: time.Second,
		Attributes: map[string]any{"openinference.span.kind": "TOOL", "tool.name": "search", "tool_call.id": "call_3", "input.value": `{"q":"A-17"}`, "input.mime_type": "application/json"},
	}
	us.SendOTLP(t, testkit.Spans(done, failed, inference))
	others.SendOTLP(t, testkit.Spans(called(theirs, "call_1", "")))
	k.Clock.Advance(11 * time.Minute)

	var calls []testkit.Evidence
	// The workflow engine does not say when it has looked.
	require.Eventually(t, func() bool {
		var err error
		calls, _, err = us.ListEvidence(ctx, invocations, "traceId="+ours)
		return err == nil && len(calls) == 3
	}, 10*time.Minute, 50*time.Millisecond)
	by := map[any]testkit.Evidence{}
	for _, c := range calls {
		by[c["invocation_id"]] = c
		require.Equal(t, "ingested", c["origin"])
		require.Equal(t, "refund-agent", c["runtime_key"])
		require.NotNil(t, c["runtime_id"])
		require.Equal(t, ours, c["otel_trace_id"])
		require.NotNil(t, c["trace_id"])
	}
	require.Equal(t, "succeeded", by["call_1"]["status"])
	require.Equal(t, done.ID, by["call_1"]["span_id"])
	require.Equal(t, map[string]any{"order": "A-17"}, by["call_1"]["arguments"])
	require.Equal(t, map[string]any{"ok": true}, by["call_1"]["result"])
	require.Equal(t, "failed", by["call_2"]["status"])
	require.Equal(t, "search", by["call_3"]["tool_name"])
	require.Equal(t, map[string]any{"q": "A-17"}, by["call_3"]["arguments"])

	require.Eventually(t, func() bool {
		found, _, err := us.ListEvidence(ctx, "failures", "failureMode=tool_error_unhandled")
		return err == nil && len(found) == 1 && found[0]["otel_trace_id"] == ours
	}, 10*time.Minute, 50*time.Millisecond)
	require.Eventually(t, func() bool {
		found, _, err := others.ListEvidence(ctx, invocations, "")
		return err == nil && len(found) == 1 && found[0]["otel_trace_id"] == theirs
	}, 10*time.Minute, 50*time.Millisecond, "an organization has its own and no other")

	// What comes later to the same trace is found too.
	us.SendOTLP(t, testkit.Spans(called(ours, "call_4", "")))
	k.Clock.Advance(11 * time.Minute)
	require.Eventually(t, func() bool {
		found, _, err := us.ListEvidence(ctx, invocations, "invocationId=call_4")
		return err == nil && len(found) == 1
	}, 10*time.Minute, 50*time.Millisecond)
}

func TestSpansAndEventsOfACallAreOneRecord(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t) // a write that waits is not read
	us := k.Org(t)
	ctx := t.Context()
	id := testkit.NewTraceID()
	failed := called(id, "call_1", "the bank is closed")
	open := called(id, "call_2", "")
	open.Duration = 0
	us.SendOTLP(t, testkit.Spans(failed, open))
	require.NoError(t, k.App.Evidence.ReadTraces(ctx, us.Org, traceIDs(t, id)))
	all := func() (out []testkit.Evidence) {
		for _, kind := range []string{invocations, "failures", "runtimes", "primitive-step-runs", "side-effect-ledger", "eval-explanations"} {
			list, _, err := us.ListEvidence(ctx, kind, "")
			require.NoError(t, err)
			out = append(out, list...)
		}
		return out
	}
	first := all()
	require.Len(t, first, 4, "two calls, a failure and a runtime, and no step")
	require.NoError(t, k.App.Evidence.ReadTraces(ctx, us.Org, traceIDs(t, id)))
	require.Equal(t, first, all(), "reading a trace again changes nothing")

	// The same calls are sent as events: one span, and one record of its own.
	_, err := us.IngestEvidence(ctx, map[string]any{"producer": map[string]any{"runtimeKey": "refund-agent"}, "events": []any{
		event("e1", "otel.span", map[string]any{
			"trace_id": id, "span_id": failed.ID, "name": "execute_tool refund", "start_time": "2026-11-02T10:00:00Z", "end_time": "2026-11-02T10:00:01Z", "status": map[string]any{"code": "ERROR", "message": "the bank is closed"},
			"attributes": map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund", "gen_ai.tool.call.id": "call_1"},
		}),
		event("e2", "agent-evidence.tool-invocation-evidence", map[string]any{"invocationId": "call_2", "toolName": "refund", "status": "succeeded", "sideEffectClass": "transact"}),
	}})
	require.NoError(t, err)
	calls, _, err := us.ListEvidence(ctx, invocations, "")
	require.NoError(t, err)
	require.Len(t, calls, 2)
	found, _, err := us.ListEvidence(ctx, "failures", "")
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.EqualValues(t, 1, found[0]["occurrences"], "a failure of one call is counted once")

	// When the span ends, what the event said stays.
	open.Duration = time.Second
	us.SendOTLP(t, testkit.Spans(open))
	require.NoError(t, k.App.Evidence.ReadTraces(ctx, us.Org, traceIDs(t, id)))
	calls, _, err = us.ListEvidence(ctx, invocations, "invocationId=call_2")
	require.NoError(t, err)
	require.Len(t, calls, 1)
	require.Equal(t, "succeeded", calls[0]["status"])
	require.Equal(t, "transact", calls[0]["side_effect_class"])
	require.InDelta(t, 1000, calls[0]["latency_ms"], 0.1)
}

func TestFailuresAndMemoriesOfSpans(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t) // a write that waits is not read
	us := k.Org(t)
	ctx := t.Context()
	id, plain := testkit.NewTraceID(), testkit.NewTraceID()
	start := time.Now().Add(-time.Minute)
	span := func(trace, name, failure string, attributes map[string]any) testkit.OTLPSpan {
		return testkit.OTLPSpan{Trace: trace, ID: testkit.NewSpanID(), Parent: testkit.NewSpanID(), Name: name, Start: start, Duration: time.Second, Error: failure, Attributes: attributes}
	}
	model := span(id, "chat", "429 Too Many Requests", map[string]any{"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"})
	us.SendOTLP(t, testkit.Spans(
		model, span(id, "chat", "", map[string]any{"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}),
		span(id, "remember", "", map[string]any{"gen_ai.operation.name": "update_memory", "gen_ai.memory.store.id": "notes", "gen_ai.memory.record.id": "n-1"}),
		span(plain, "GET /", "boom", map[string]any{"http.request.method": "GET"}),
	))
	require.NoError(t, k.App.Evidence.ReadTraces(ctx, us.Org, traceIDs(t, id, plain)))
	require.NoError(t, k.App.Evidence.ReadTraces(ctx, us.Org, traceIDs(t, id, plain)))

	found, _, err := us.ListEvidence(ctx, "failures", "failureMode=rate_limited")
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.EqualValues(t, 1, found[0]["occurrences"])
	require.Equal(t, id, found[0]["otel_trace_id"])
	require.Equal(t, model.ID, found[0]["span_id"])
	require.Nil(t, found[0]["primitive_step_run_id"], "the step is not a record")
	effects, _, err := us.ListEvidence(ctx, "side-effect-ledger", "")
	require.NoError(t, err)
	require.Len(t, effects, 1)
	require.Equal(t, "acknowledged", effects[0]["state"])
	require.Equal(t, "unknown_service", effects[0]["runtime_key"])
	steps, _, err := us.ListEvidence(ctx, "primitive-step-runs", "")
	require.NoError(t, err)
	require.Empty(t, steps)
	line, err := timeline(t, us, id)
	require.NoError(t, err)
	n := 0
	for _, e := range line.Entries {
		if e.Resource == "primitive-step-runs" {
			n++
		}
	}
	require.Equal(t, 3, n, "each step once, from its span")
	of, _, err := us.ListEvidence(ctx, "failures", "traceId="+plain)
	require.NoError(t, err)
	require.Empty(t, of, "a span that is not an agent's is not evidence")
}

func TestAFollowerReadsOnWhereItStopped(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its followers do not wait", func(cfg *app.Config) { cfg.Evidence.Settle = 0 })
	us := k.Org(t)
	ctx := t.Context()
	calls := func() int {
		found, _, err := us.ListEvidence(ctx, invocations, "limit=1000")
		require.NoError(t, err)
		return len(found)
	}
	var spans []testkit.OTLPSpan
	for i := range 250 {
		spans = append(spans, called(testkit.NewTraceID(), fmt.Sprint("call_", i), ""))
	}
	us.SendOTLP(t, testkit.Spans(spans...))
	now := evidence.Follow{Org: us.Org, Period: time.Now().UnixNano() / int64(10*time.Minute)}
	look, err := k.App.Evidence.Look(ctx, now, 1)
	require.NoError(t, err)
	require.Zero(t, look.Wait, "there is more")
	require.Equal(t, 200, calls(), "no more at once than others can wait for")
	later := now
	later.Period++
	look, err = k.App.Evidence.Look(ctx, later, 1)
	require.NoError(t, err)
	require.Equal(t, 250, calls(), "any period reads on")
	require.False(t, look.Ended)
	past := now
	past.Period--
	look, err = k.App.Evidence.Look(ctx, past, 1)
	require.NoError(t, err)
	require.True(t, look.Ended, "all that came in it was read")
}

func TestScoresThatSpansCarryAreExplanations(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t) // a write that waits is not read
	us := k.Org(t)
	ctx := t.Context()
	id, at := testkit.NewTraceID(), time.Now().Add(-time.Minute).UnixNano()
	res, err := us.Send(ctx, http.MethodPost, "/v1/traces", strings.NewReader(fmt.Sprintf(`{"resourceSpans": [{"scopeSpans": [{"spans": [{
		"traceId": %q, "spanId": %q, "name": "chat", "startTimeUnixNano": "%d", "endTimeUnixNano": "%d",
		"attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}],
		"events": [{"name": "gen_ai.evaluation.result", "timeUnixNano": "%d", "attributes": [
			{"key": "gen_ai.evaluation.name", "value": {"stringValue": "relevance"}}, {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 0.5}},
			{"key": "gen_ai.evaluation.explanation", "value": {"stringValue": "half of it"}}]}]}]}]}]}`, id, testkit.NewSpanID(), at, at+1000, at)), testkit.Header("Content-Type", "application/json"))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.Status, "%s", res.Body)
	for range 2 {
		require.NoError(t, k.App.Evidence.ReadTraces(ctx, us.Org, traceIDs(t, id)))
	}
	found, _, err := us.ListEvidence(ctx, "eval-explanations", "traceId="+id)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "relevance", found[0]["evaluation_name"])
	require.Equal(t, "half of it", found[0]["explanation"])
	require.InDelta(t, 0.5, found[0]["score_value"], 0)
}

func TestArrivingTelemetryIsAnnouncedOnceInAPeriod(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	for range 3 {
		us.SendOTLP(t, testkit.Spans(called(testkit.NewTraceID(), "call_1", "")))
	}
	var periods, messages int
	err := k.Owner(t, us.Org).QueryRow(t.Context(), "SELECT count(DISTINCT subject), count(*) FROM outbox WHERE org_id = $1 AND topic = $2", us.Org, trace.TopicArrived).Scan(&periods, &messages)
	require.NoError(t, err)
	require.Positive(t, messages)
	require.Equal(t, periods, messages)
}

func traceIDs(t testing.TB, texts ...string) (ids []span.TraceID) {
	t.Helper()
	for _, text := range texts {
		id, ok := span.ParseTraceID(text)
		require.True(t, ok, text)
		ids = append(ids, id)
	}
	return ids
}
