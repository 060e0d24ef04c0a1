package evaluation_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/test/testkit"
)

// agent is what an instrumented application sends about one answer: a request, a
// model that is asked and a tool that is called.
func agent(trace, parent string) []byte {
	server, now := testkit.NewSpanID(), time.Now()
	at := func(s testkit.OTLPSpan) testkit.OTLPSpan {
		s.Trace, s.Start, s.Duration = trace, now, time.Millisecond
		return s
	}
	return testkit.Spans(
		at(testkit.OTLPSpan{ID: server, Parent: parent, Name: "POST /answer", Server: true, Remote: true}),
		at(testkit.OTLPSpan{Parent: server, Name: "chat", Attributes: map[string]any{
			"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o", "gen_ai.usage.input_tokens": 1000, "gen_ai.usage.output_tokens": 100,
		}}),
		at(testkit.OTLPSpan{Parent: server, Name: "execute_tool look_up", Attributes: map[string]any{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look_up", "gen_ai.tool.call.arguments": `{"city":"Rome"}`,
		}}),
	)
}

// parentOf is the trace and the span that a request says it is part of.
func parentOf(r *http.Request) (trace, span string) {
	parts := strings.Split(r.Header.Get("traceparent"), "-")
	return parts[1], parts[2]
}

func sendSpans(t *testing.T, c *testkit.Client, body []byte) {
	t.Helper()
	res, err := c.Send(t.Context(), http.MethodPost, "/v1/traces", bytes.NewReader(body), testkit.Header("Content-Type", "application/x-protobuf"))
	if err != nil || res.Status != http.StatusOK {
		t.Errorf("spans are not taken: %v %v", res, err)
	}
}

func TestTracesCompleteResults(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	expecting := func(n int) []testkit.Item {
		items := cases(n)
		for i := range items {
			items[i].ExpectedOutput = map[string]any{"tool_calls": []any{map[string]any{"name": "look_up"}}}
		}
		return items
	}
	measured := func(target map[string]any) map[string]any {
		return map[string]any{"metrics": []string{"cost_usd", "tool_selection"}, "target": target}
	}

	t.Run("by cost, tokens and tool calls that the answer does not name", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		target := application(t, func(w http.ResponseWriter, r *http.Request) {
			trace, span := parentOf(r)
			sendSpans(t, c, agent(trace, span))
			_, _ = w.Write([]byte(`{"output":"It is sunny."}`))
		})
		e := c.Evaluation(t, filled(t, c, expecting(3)).ID, measured(target))

		done := ran(t, c, e.ID, nil)

		require.Equal(t, "completed", done.Status)
		require.EqualValues(t, 3, done.Statistics.Metrics["cost_usd"].N)
		require.InDelta(t, 1, *done.Statistics.Metrics["tool_selection"].Value, 1e-12)
		for _, one := range results(t, c, done) {
			require.NotNil(t, one.CostUSD)
			require.Positive(t, *one.CostUSD)
			require.Equal(t, "passed", one.Status)
		}
	})

	t.Run("that come later, if the run waits for them", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		answered := make(chan []byte, 2)
		target := application(t, func(w http.ResponseWriter, r *http.Request) {
			trace, span := parentOf(r)
			answered <- agent(trace, span)
			_, _ = w.Write([]byte(`{"output":"It is sunny."}`))
		})
		target["traceWaitMs"] = 120000
		e := c.Evaluation(t, filled(t, c, expecting(2)).ID, measured(target))
		r := started(t, c, e.ID, nil)
		// Both are answered, and nothing else is left to do.
		require.Eventually(t, func() bool { return len(answered) == 2 }, 10*time.Minute, 20*time.Millisecond)
		require.Eventually(t, func() bool {
			now, err := c.GetEvaluationRun(t.Context(), r.EvaluationID, r.RunID)
			return err == nil && now.Phase == "aggregating"
		}, 10*time.Minute, 20*time.Millisecond)
		for range 2 {
			sendSpans(t, c, <-answered)
		}

		done := c.Ended(t, r)

		require.Equal(t, "completed", done.Status)
		require.EqualValues(t, 2, done.Statistics.Metrics["cost_usd"].N)
	})

	t.Run("and never against what the answer says", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		target := application(t, func(w http.ResponseWriter, r *http.Request) {
			trace, span := parentOf(r)
			sendSpans(t, c, agent(trace, span))
			_, _ = w.Write([]byte(`{"output":"It is sunny.","cost_usd":7,"tool_calls":[{"name":"guess"}]}`))
		})
		e := c.Evaluation(t, filled(t, c, expecting(1)).ID, measured(target))

		done := ran(t, c, e.ID, nil)

		require.InDelta(t, 7, *done.Statistics.Metrics["cost_usd"].Value, 1e-12)
		require.InDelta(t, 0, *done.Statistics.Metrics["tool_selection"].Value, 1e-12)
	})

	t.Run("by scores that they were given", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		e, ids := judged(t, c, 4, map[string]any{"target": map[string]any{"type": "client"}, "externalMetrics": []any{
			map[string]any{"name": "my_judge"}, map[string]any{"name": "feedback.rating", "source": "human"},
		}}, nil)
		r := started(t, c, e.ID, nil)
		var all []map[string]any
		for i, id := range ids {
			trace := testkit.NewTraceID()
			sendSpans(t, c, agent(trace, ""))
			all = append(all, map[string]any{"testCaseId": id, "output": "x", "otelTraceId": trace})
			for _, value := range []float64{1, 0.5} { // a newer score of the same key replaces the older one
				_, err := c.AddTraceFeedback(ctx, trace, testkit.TraceFeedback{Type: "score", Name: new("my_judge"), Value: value, Comment: new("It depends.")})
				require.NoError(t, err)
			}
			_, err := c.AddTraceFeedback(ctx, trace, testkit.TraceFeedback{Type: "rating", Value: float64(i%2) / 2})
			require.NoError(t, err)
		}
		all[0]["scores"] = map[string]any{"my_judge": 1}
		require.NoError(t, c.PutResults(ctx, r.EvaluationID, r.RunID, all, true))

		done := c.Ended(t, r)

		require.Equal(t, "completed", done.Status)
		require.InDelta(t, (1+3*0.5)/4, *done.Statistics.Metrics["my_judge"].Value, 1e-12, "what was sent with the result stays")
		require.InDelta(t, 0.25, *done.Statistics.Metrics["feedback.rating"].Value, 1e-12)
		require.Equal(t, "human", done.Statistics.Metrics["feedback.rating"].Source)
	})

	t.Run("but not results without an answer", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		e, ids := judged(t, c, 3, map[string]any{"metrics": []string{"cost_usd"}, "target": map[string]any{"type": "client"}}, nil)
		r := started(t, c, e.ID, nil)
		all := []map[string]any{
			{"testCaseId": ids[0], "skipped": true},
			{"testCaseId": ids[1], "error": map[string]any{"message": "It fell over."}},
			{"testCaseId": ids[2], "error": map[string]any{"code": "crash", "message": "It fell over."}},
		}
		for _, one := range all {
			trace := testkit.NewTraceID()
			one["otelTraceId"] = trace
			sendSpans(t, c, agent(trace, ""))
			_, err := c.AddTraceFeedback(ctx, trace, testkit.TraceFeedback{Type: "score", Name: new("my_judge"), Value: 1.0})
			require.NoError(t, err)
		}
		require.NoError(t, c.PutResults(ctx, r.EvaluationID, r.RunID, all, true))

		done := c.Ended(t, r)

		var statuses []string
		for _, one := range results(t, c, done) {
			statuses = append(statuses, one.Status)
			require.Nil(t, one.Scores["my_judge"])
		}
		require.Equal(t, []string{"skipped", "errored", "errored"}, statuses)
	})

	t.Run("nor several results by one trace", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		trace := testkit.NewTraceID()
		sendSpans(t, c, agent(trace, ""))
		e, ids := judged(t, c, 2, map[string]any{"metrics": []string{"cost_usd"}, "target": map[string]any{"type": "client"}}, nil)
		r := started(t, c, e.ID, nil)
		var all []map[string]any
		for _, id := range ids {
			all = append(all, map[string]any{"testCaseId": id, "output": "x", "otelTraceId": trace})
		}
		require.NoError(t, c.PutResults(t.Context(), r.EvaluationID, r.RunID, all, true))

		require.Nil(t, c.Ended(t, r).Statistics.Metrics["cost_usd"].Value, "nobody knows whose cost it is")
	})

	t.Run("nor by those of another organization", func(t *testing.T) {
		t.Parallel()
		c, other := k.Org(t), k.Org(t)
		target := application(t, func(w http.ResponseWriter, r *http.Request) {
			trace, span := parentOf(r)
			sendSpans(t, other, agent(trace, span))
			_, _ = w.Write([]byte(`{"output":"It is sunny."}`))
		})
		e := c.Evaluation(t, filled(t, c, expecting(1)).ID, map[string]any{"metrics": []string{"cost_usd", "latency_ms"}, "target": target})

		done := ran(t, c, e.ID, nil)

		require.Nil(t, done.Statistics.Metrics["cost_usd"].Value)
	})

	t.Run("a score has a name, and nothing else has one", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		trace := testkit.NewTraceID()
		sendSpans(t, c, agent(trace, ""))
		for _, bad := range []testkit.TraceFeedback{{Type: "score", Value: 1.0}, {Type: "rating", Name: new("charm"), Value: 1.0}} {
			_, err := c.AddTraceFeedback(t.Context(), trace, bad)
			require.Equal(t, []string{"/name"}, paths(t, refused(t, err, fault.Validation, "invalid_request")))
		}
	})
}
