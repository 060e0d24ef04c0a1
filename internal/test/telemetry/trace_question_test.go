package telemetry_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/testkit"
)

// chat is the attributes of a call of a model.
func chat(input, output string) map[string]any {
	return map[string]any{"gen_ai.operation.name": "chat", "gen_ai.input.messages": input, "gen_ai.output.messages": output}
}

const (
	asked    = `[{"role":"system","parts":[{"type":"text","content":"be brief"}]},{"role":"user","parts":[{"type":"text","content":"How is the weather?"}]}]`
	called   = `[{"role":"assistant","parts":[{"type":"tool_call","name":"get_weather"}]}]`
	answered = `[{"role":"assistant","parts":[{"type":"text","content":"Sunny."}],"finish_reason":"stop"}]`
)

// TestQuestionAndAnswer shows where the input and the output of a trace come
// from, in a detail, in a list and in a dataset alike.
func TestQuestionAndAnswer(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	start := time.Now().Add(-time.Minute).UTC().Truncate(time.Millisecond)
	// at is a span that starts and ends so many milliseconds after the start.
	at := func(id, parent, name string, from, to int, attributes map[string]any) testkit.OTLPSpan {
		pad := func(id string) string {
			if id == "" {
				return ""
			}
			return "00000000000000" + id
		}
		return testkit.OTLPSpan{
			ID: pad(id), Parent: pad(parent), Name: name, Attributes: attributes,
			Start: start.Add(time.Duration(from) * time.Millisecond), Duration: time.Duration(to-from) * time.Millisecond,
		}
	}
	root := func(attributes map[string]any) testkit.OTLPSpan {
		return at("01", "", "answer question", 0, 100, attributes)
	}
	first, second := at("02", "01", "chat", 10, 20, chat(asked, called)), at("04", "01", "chat", 40, 50, chat(asked, answered))
	tool := at("03", "01", "get_weather", 20, 30, map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": `{"city":"Lisbon"}`, "gen_ai.tool.call.result": "sun"})

	// served is a request that another process serves.
	served := func(parent string, from, to int) testkit.OTLPSpan {
		s := at("06", parent, "POST /search", from, to, map[string]any{"input.value": "weather, Lisbon", "output.value": "3 pages"})
		s.Server = true
		return s
	}

	for name, c := range map[string]struct {
		spans         []testkit.OTLPSpan
		input, output any
		preview       string // of the input; the input itself if it is empty
	}{
		"a root of the program's own":         {spans: []testkit.OTLPSpan{root(nil), first, tool, second}, input: "How is the weather?", output: "Sunny."},
		"the root has a payload":              {spans: []testkit.OTLPSpan{root(map[string]any{"input.value": "Q", "output.value": "A"}), first, second}, input: "Q", output: "A"},
		"the root has an input":               {spans: []testkit.OTLPSpan{root(map[string]any{"input.value": "Q"}), first, second}, input: "Q", output: "Sunny."},
		"nobody asked a model":                {spans: []testkit.OTLPSpan{root(nil), tool}},
		"a service looks something up first":  {spans: []testkit.OTLPSpan{root(nil), served("01", 2, 8), first, second}, input: "How is the weather?", output: "Sunny."},
		"a service is called last":            {spans: []testkit.OTLPSpan{root(nil), first, second, served("01", 60, 90)}, input: "How is the weather?", output: "Sunny."},
		"a service that asks no model":        {spans: []testkit.OTLPSpan{root(nil), served("01", 2, 8)}, input: "weather, Lisbon", output: "3 pages"},
		"the caller of a service never comes": {spans: []testkit.OTLPSpan{served("07", 0, 100), first, second}, input: "weather, Lisbon", output: "3 pages"},
		"an agent ends last": {
			spans: []testkit.OTLPSpan{root(nil), at("05", "01", "invoke_agent", 5, 60, map[string]any{"gen_ai.operation.name": "invoke_agent", "output.value": "Take no umbrella."}), first, second},
			input: "How is the weather?", output: "Take no umbrella.",
		},
		"a question with a picture": {
			spans:   []testkit.OTLPSpan{root(nil), at("02", "01", "chat", 10, 20, chat(`[{"role":"user","parts":[{"type":"text","content":"What is it?"},{"type":"uri","uri":"https://x"}]}]`, answered))},
			input:   []any{map[string]any{"role": "user", "parts": []any{map[string]any{"type": "text", "content": "What is it?"}, map[string]any{"type": "uri", "uri": "https://x"}}}},
			preview: "What is it?", output: "Sunny.",
		},
		"LangGraph's root": {
			spans: []testkit.OTLPSpan{root(map[string]any{
				"openinference.span.kind": "CHAIN", "llm.input_messages.0.message.role": "user", "input.mime_type": "application/json",
				"input.value":  `{"messages": [{"role": "user", "content": "How is the weather?"}]}`,
				"output.value": `{"messages": [{"content": "How is the weather?", "type": "human", "id": "1"}, {"content": "Sunny.", "type": "ai", "tool_calls": [], "id": "2"}]}`,
			})},
			input: "How is the weather?", output: "Sunny.",
		},
		"LlamaIndex's root": {
			spans: []testkit.OTLPSpan{
				root(map[string]any{
					"openinference.span.kind": "CHAIN", "output.value": "StopEvent(result='Sunny.')",
					"input.value": `{"init_state": {"is_running": false, "workers": {}}, "start_event": "AgentWorkflowStartEvent()", "tags": {}}`,
				}),
				at("05", "01", "OpenAI._prepare_chat_with_tools", 5, 6, map[string]any{
					"openinference.span.kind": "LLM", "llm.model_name": "gpt-4o-mini",
					"input.value": `{"tools": ["<FunctionTool object>"], "chat_history": ["ChatMessage(…)"]}`, "output.value": `{"messages": ["ChatMessage(…)"]}`,
				}),
				first,
			},
			input: "How is the weather?", output: "StopEvent(result='Sunny.')",
		},
		"Pydantic AI's agent": {
			spans: []testkit.OTLPSpan{root(map[string]any{
				"gen_ai.operation.name": "invoke_agent", "final_result": "Sunny.",
				"pydantic_ai.all_messages": `[{"role": "user", "parts": [{"type": "text", "content": "How is the weather?"}]}, {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "get_weather"}]}, ` +
					`{"role": "user", "parts": [{"type": "tool_call_response", "id": "c", "result": "sun"}]}, {"role": "assistant", "parts": [{"type": "text", "content": "Sunny."}]}]`,
			})},
			input: "How is the weather?", output: "Sunny.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := c
			us := k.Org(t)
			id := testkit.NewTraceID()
			for i := range c.spans {
				c.spans[i].Trace = id
			}
			us.SendOTLP(t, testkit.Spans(c.spans...))

			read, err := us.GetTrace(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, []any{c.input, c.output}, []any{read.Input, read.Output})
			list, err := us.ListTraces(t.Context(), "")
			require.NoError(t, err)
			if c.preview == "" {
				require.Equal(t, c.input, list.Traces[0].Input)
			} else {
				require.Equal(t, c.preview, list.Traces[0].Input)
			}
			require.Equal(t, c.output, list.Traces[0].Output)

			made, err := us.AddTracesToDataset(t.Context(), map[string]any{"datasetId": us.Dataset(t, testkit.NewDataset{}).ID, "traceIds": []any{id}})
			require.NoError(t, err)
			require.Equal(t, c.input != nil, made.Created == 1, "%v", made.Skipped)
		})
	}

	t.Run("a change of the trace does not freeze what spans say", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		send := func(spans ...testkit.OTLPSpan) {
			for i := range spans {
				spans[i].Trace = id
			}
			us.SendOTLP(t, testkit.Spans(spans...))
		}
		send(first)
		_, err := us.PatchTrace(t.Context(), id, map[string]any{"tags": []string{"seen"}})
		require.NoError(t, err)
		send(second, root(nil))
		read, err := us.GetTrace(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, []any{"How is the weather?", "Sunny."}, []any{read.Input, read.Output})
	})
}

// TestOrphan shows what becomes of a trace whose root never comes because it
// began in another process.
func TestOrphan(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	start := time.Now().Add(-time.Minute).UTC().Truncate(time.Millisecond)
	for name, c := range map[string]struct {
		span   testkit.OTLPSpan
		status string
	}{
		"it serves a request":          {testkit.OTLPSpan{Server: true, Duration: time.Second}, "completed"},
		"its sender knows the parent":  {testkit.OTLPSpan{Remote: true, Duration: time.Second}, "completed"},
		"it failed":                    {testkit.OTLPSpan{Server: true, Duration: time.Second, Error: "no"}, "failed"},
		"it has not ended":             {testkit.OTLPSpan{Server: true}, "running"},
		"its parent may be on its way": {testkit.OTLPSpan{Duration: time.Second}, "running"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := c.span
			s.Trace, s.Parent, s.Name, s.Start = testkit.NewTraceID(), testkit.NewSpanID(), "POST /answer", start
			us.SendOTLP(t, testkit.Spans(s))
			read, err := us.GetTrace(t.Context(), s.Trace)
			require.NoError(t, err)
			require.Equal(t, []any{c.status, "POST /answer"}, []any{read.Status, api.Value(read.Name)})
			list, err := us.ListTraces(t.Context(), "limit=100&status="+c.status)
			require.NoError(t, err)
			require.Contains(t, idsOf(seenAll(list.Traces)), s.Trace)
		})
	}

	t.Run("a root that comes later decides", func(t *testing.T) {
		t.Parallel()
		id, parent := testkit.NewTraceID(), testkit.NewSpanID()
		us.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{Trace: id, Parent: parent, Name: "POST /answer", Server: true, Start: start, Duration: time.Second}))
		us.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{Trace: id, ID: parent, Name: "ask", Start: start}))
		read, err := us.GetTrace(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, []any{"running", "ask"}, []any{read.Status, api.Value(read.Name)})
	})
}

// TestTraceMetadata shows that what a framework says about a trace describes it.
func TestTraceMetadata(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	for name, attributes := range map[string]map[string]any{
		"OpenInference": {"metadata": `{"plan": "pro"}`},
		"Vercel":        {"ai.telemetry.metadata.plan": "pro"},
		"Traceloop":     {"traceloop.association.properties.plan": "pro"},
		"Langfuse":      {"langfuse.trace.metadata.plan": "pro"},
		"LangSmith":     {"langsmith.metadata.plan": "pro"},
	} {
		for speaker, s := range map[string]testkit.OTLPSpan{
			"a root":                             {},
			"a request whose caller never comes": {Parent: testkit.NewSpanID(), Server: true},
			"a span whose parent is elsewhere":   {Parent: testkit.NewSpanID(), Remote: true},
		} {
			t.Run(name+", "+speaker, func(t *testing.T) {
				t.Parallel()
				us := k.Org(t)
				s := s
				s.Trace, s.Name, s.Start, s.Duration, s.Attributes = testkit.NewTraceID(), "a", time.Now().Add(-time.Second), time.Second, attributes
				us.SendOTLP(t, testkit.Spans(s))
				read, err := us.GetTrace(t.Context(), s.Trace)
				require.NoError(t, err)
				require.Equal(t, map[string]any{"plan": "pro"}, read.Metadata)
				list, err := us.ListTraces(t.Context(), "")
				require.NoError(t, err)
				require.Equal(t, map[string]any{"plan": "pro"}, list.Traces[0].Metadata)
			})
		}
	}

	t.Run("not of a step within the trace", func(t *testing.T) {
		t.Parallel()
		id, root := testkit.NewTraceID(), testkit.NewSpanID()
		start := time.Now().Add(-time.Second)
		us.SendOTLP(t, testkit.Spans(
			testkit.OTLPSpan{Trace: id, ID: root, Name: "a", Start: start, Duration: time.Second},
			testkit.OTLPSpan{Trace: id, Parent: root, Name: "b", Start: start, Duration: time.Second, Attributes: map[string]any{"langfuse.trace.metadata.plan": "pro"}},
		))
		read, err := us.GetTrace(t.Context(), id)
		require.NoError(t, err)
		require.Empty(t, read.Metadata)
	})
}
