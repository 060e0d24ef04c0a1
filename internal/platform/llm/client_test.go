package llm_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/platform/secret"
)

func TestComplete(t *testing.T) {
	t.Parallel()
	script := simulated.Script{Models: map[string]simulated.Behaviour{
		"caching":  {Do: simulated.DoFixed, Text: "four", Cached: 0.5, Reasoning: 7},
		"thoughts": {Do: simulated.DoFixed, Text: "not said", Reasoning: 100},
	}}
	for _, w := range ways(t, simulated.Options{Script: script}) {
		for _, provider := range protocols {
			t.Run(w.name+" "+provider, func(t *testing.T) {
				t.Parallel()
				ask := func(r llm.Request) llm.Reply {
					reply, err := w.client.Complete(t.Context(), w.to(provider), r)
					require.NoError(t, err)
					require.NotEmpty(t, reply.ID)
					require.Equal(t, r.Model, reply.Model)
					return reply
				}

				plain := ask(say("Grüße, \"world\" \x00"))
				require.Equal(t, "Grüße, \"world\" \x00", plain.Text)
				require.Equal(t, llm.FinishStop, plain.Finish)
				require.Equal(t, llm.Usage{Input: 5, Output: 5}, plain.Usage)

				mended := ask(say("a\xffb"))
				require.Equal(t, "a\uFFFDb", mended.Text)

				r := say("eight hundred")
				r.Params.MaxTokens = 2
				short := ask(r)
				require.Equal(t, "eight hu", short.Text)
				require.Equal(t, llm.FinishLength, short.Finish)

				r = say("one, two, three")
				r.Params.Stop = []string{", three"}
				require.Equal(t, "one, two", ask(r).Text)

				r = say("12345678")
				r.Model = "caching"
				require.Equal(t, uint32(1), ask(r).Usage.Cached)
				require.Equal(t, uint32(2), ask(r).Usage.Input, "what a cache had counts as input")
				require.Equal(t, uint32(8), ask(r).Usage.Output)

				r.Model, r.Params.MaxTokens = "thoughts", 50
				spent := ask(r)
				require.Empty(t, spent.Text)
				require.Equal(t, llm.FinishLength, spent.Finish)
			})
		}
	}
}

func TestCompleteWithTools(t *testing.T) {
	t.Parallel()
	w := local(t, simulated.Options{})
	for _, provider := range protocols {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			r := say("What is the weather?")
			r.Model, r.System = "tool", "Use tools."
			r.Tools = []llm.Tool{
				{Name: "weather", Description: "Tells it.", Schema: jsontext.Value(`{"type":"object","required":["city"],"properties":{"city":{"enum":["Oslo"]}}}`)},
				{Name: "nothing"},
			}
			first, err := w.client.Complete(t.Context(), w.to(provider), r)
			require.NoError(t, err)
			require.Equal(t, llm.FinishTools, first.Finish)
			require.Empty(t, first.Text)
			require.Len(t, first.ToolCalls, 1)
			require.Equal(t, "weather", first.ToolCalls[0].Name)
			require.JSONEq(t, `{"city":"Oslo"}`, string(first.ToolCalls[0].Arguments))

			r.Messages = append(r.Messages,
				llm.Message{Role: llm.RoleAssistant, ToolCalls: first.ToolCalls},
				llm.Message{Role: llm.RoleTool, ToolCallID: first.ToolCalls[0].ID, Content: "It snows."})
			second, err := w.client.Complete(t.Context(), w.to(provider), r)
			require.NoError(t, err)
			require.Equal(t, "It snows.", second.Text)
			require.Equal(t, llm.FinishStop, second.Finish)
		})
	}
}

func TestCompleteWithSchema(t *testing.T) {
	t.Parallel()
	w := local(t, simulated.Options{})
	for _, provider := range protocols {
		r := say("Is it good? [[score:0.75]]")
		r.Model = "judge"
		r.Params.ResponseSchema = jsontext.Value(`{"type":"object","required":["verdict","points"],"properties":{"verdict":{"enum":["pass","fail"]},"points":{"type":"integer","minimum":1,"maximum":5}}}`)
		reply, err := w.client.Complete(t.Context(), w.to(provider), r)
		require.NoError(t, err)
		require.JSONEq(t, `{"verdict":"pass","points":4}`, reply.Text, provider)
	}
}

func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	half, seed := 0.0, int64(7)
	r := llm.Request{
		Model: "m", System: "s", IdempotencyKey: "run-1/item-2",
		Messages: []llm.Message{
			{Role: llm.RoleUser, Content: "q"},
			{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "1", Name: "f", Arguments: jsontext.Value(`{"x":1}`)}, {ID: "2", Name: "g"}}},
			{Role: llm.RoleTool, ToolCallID: "1", Content: "one"},
			{Role: llm.RoleTool, ToolCallID: "2"},
			{Role: llm.RoleUser, Content: "go on"},
			{Role: llm.RoleAssistant},
		},
		Tools:  []llm.Tool{{Name: "f", Description: "d", Schema: jsontext.Value(`{"type":"object"}`)}, {Name: "g"}},
		Params: llm.Params{Temperature: &half, TopP: &half, MaxTokens: 9, Seed: &seed, Stop: []string{"x"}, ResponseSchema: jsontext.Value(`{"type":"object"}`)},
	}
	const format = `{"type":"json_schema","json_schema":{"name":"reply","strict":true,"schema":{"type":"object"}}}`
	chat := func(limit string) string {
		return `{"model":"m","` + limit + `":9,"temperature":0,"top_p":0,"seed":7,"stop":["x"],"response_format":` + format + `,
			"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}},{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}],
			"messages":[{"role":"system","content":"s"},{"role":"user","content":"q"},
				{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"2","type":"function","function":{"name":"g","arguments":"{}"}}]},
				{"role":"tool","content":"one","tool_call_id":"1"},{"role":"tool","content":"","tool_call_id":"2"},{"role":"user","content":"go on"},{"role":"assistant","content":""}]}`
	}
	bearer := "Bearer " + key.Reveal()
	for _, c := range []struct {
		provider, base, url, body string
		header                    http.Header
	}{
		{"openai", "https://api.example/v1", "https://api.example/v1/chat/completions", chat("max_completion_tokens"), http.Header{"Authorization": {bearer}}},
		{"mistral", "https://api.example/v1/", "https://api.example/v1/chat/completions", chat("max_tokens"), http.Header{"Authorization": {bearer}}},
		{"azure", "https://x.example/openai/deployments/d?api-version=1", "https://x.example/openai/deployments/d/chat/completions?api-version=1", chat("max_completion_tokens"), http.Header{"Api-Key": {key.Reveal()}}},
		{"azure-eu", "https://x.example/openai/deployments/?api-version=1", "https://x.example/openai/deployments/m/chat/completions?api-version=1", chat("max_completion_tokens"), http.Header{"Api-Key": {key.Reveal()}}},
		{
			"openai", "https://api.example/v1/responses", "https://api.example/v1/responses", `{"model":"m","instructions":"s","max_output_tokens":9,"temperature":0,"top_p":0,"store":false,
			"text":{"format":{"type":"json_schema","name":"reply","strict":true,"schema":{"type":"object"}}},
			"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":false},{"type":"function","name":"g","parameters":{"type":"object","properties":{}},"strict":false}],
			"input":[{"type":"message","role":"user","content":"q"},{"type":"function_call","call_id":"1","name":"f","arguments":"{\"x\":1}"},{"type":"function_call","call_id":"2","name":"g","arguments":"{}"},
				{"type":"function_call_output","call_id":"1","output":"one"},{"type":"function_call_output","call_id":"2","output":""},{"type":"message","role":"user","content":"go on"},{"type":"message","role":"assistant","content":""}]}`,
			http.Header{"Authorization": {bearer}},
		},
		{
			"bedrock", "https://bedrock-runtime.eu-west-1.amazonaws.com", "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/invoke", `{"anthropic_version":"bedrock-2023-05-31","system":"s","max_tokens":9,"temperature":0,"top_p":0,"stop_sequences":["x"],
			"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}},
			"tools":[{"name":"f","description":"d","input_schema":{"type":"object"}},{"name":"g","input_schema":{"type":"object","properties":{}}}],
			"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},
				{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{"x":1}},{"type":"tool_use","id":"2","name":"g","input":{}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"one"},{"type":"tool_result","tool_use_id":"2"},{"type":"text","text":"go on"}]}]}`,
			http.Header{"Authorization": {bearer}},
		},
		{
			"anthropic", "https://api.example/v1", "https://api.example/v1/messages", `{"model":"m","system":"s","max_tokens":9,"temperature":0,"top_p":0,"stop_sequences":["x"],
			"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}},
			"tools":[{"name":"f","description":"d","input_schema":{"type":"object"}},{"name":"g","input_schema":{"type":"object","properties":{}}}],
			"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},
				{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{"x":1}},{"type":"tool_use","id":"2","name":"g","input":{}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"one"},{"type":"tool_result","tool_use_id":"2"},{"type":"text","text":"go on"}]}]}`,
			http.Header{"X-Api-Key": {key.Reveal()}, "Anthropic-Version": {"2023-06-01"}},
		},
		{
			"google", "https://api.example/v1beta", "https://api.example/v1beta/models/m:generateContent", `{"systemInstruction":{"parts":[{"text":"s"}]},
			"generationConfig":{"maxOutputTokens":9,"temperature":0,"topP":0,"seed":7,"stopSequences":["x"],"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}},
			"tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":{"type":"object"}},{"name":"g","parametersJsonSchema":{"type":"object","properties":{}}}]}],
			"contents":[{"role":"user","parts":[{"text":"q"}]},
				{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"x":1}}},{"functionCall":{"id":"2","name":"g","args":{}}}]},
				{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"output":"one"}}},{"functionResponse":{"id":"2","name":"g","response":{"output":""}}},{"text":"go on"}]}]}`,
			http.Header{"X-Goog-Api-Key": {key.Reveal()}},
		},
	} {
		t.Run(c.provider+" "+c.url, func(t *testing.T) {
			t.Parallel()
			span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
			ctx := trace.ContextWithSpanContext(t.Context(), span)
			var got *http.Request
			var body []byte
			client := answering(func(w http.ResponseWriter, r *http.Request) {
				got = r
				body, _ = io.ReadAll(r.Body)
				w.WriteHeader(http.StatusTeapot)
			})

			_, err := client.Complete(ctx, llm.Endpoint{Provider: c.provider, BaseURL: c.base, Secret: key}, r)

			require.JSONEq(t, c.body, string(body))
			require.Equal(t, c.url, got.URL.String())
			wanted := c.header.Clone()
			wanted.Set("Content-Type", "application/json")
			wanted.Set("Accept", "application/json")
			wanted.Set("Idempotency-Key", "run-1/item-2")
			wanted.Set("Traceparent", "00-01000000000000000000000000000000-0200000000000000-01")
			require.Equal(t, wanted, got.Header)
			require.Equal(t, llm.Invalid, failed(t, err).Kind)
		})
	}
}

func TestInsideProvidersNeedNoKey(t *testing.T) {
	t.Parallel()
	p, err := simulated.New(simulated.Options{})
	require.NoError(t, err)
	outside := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request went out") })
	c := llm.New(simulated.Transport(outside), llm.Inside("simulated", simulated.Transport(p)))
	require.True(t, c.IsInside("simulated"))
	require.False(t, c.IsInside("openai"))

	reply, err := c.Complete(t.Context(), llm.Endpoint{Provider: "simulated"}, say("hello"))

	require.NoError(t, err)
	require.Equal(t, "hello", reply.Text)
}

// TestACallIsMadeOnce has a server that reads a request on a connection that
// was used before and hangs up, which is when the standard transport sends a
// request again if it may.
func TestACallIsMadeOnce(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	var asked atomic.Int64
	const good = `{"id":"1","model":"m","choices":[{"message":{"content":"yes"},"finish_reason":"stop"}]}`
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if asked.Add(1) > 1 {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, good)
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	out, err := egress.New(egress.Config{Allow: []string{l.Addr().String()}})
	require.NoError(t, err)
	t.Cleanup(out.Close)
	c := llm.New(out.HTTP(egress.Options{}))
	r := say("once")
	r.IdempotencyKey = "k"
	to := llm.Endpoint{Provider: "openai", BaseURL: "http://" + l.Addr().String(), Secret: key}

	_, err = c.Complete(t.Context(), to, r)
	require.NoError(t, err)
	_, err = c.Complete(t.Context(), to, r)

	require.Equal(t, llm.Unavailable, failed(t, err).Kind)
	require.Equal(t, int64(2), asked.Load())
}

func TestASecretThatComesBackIsMasked(t *testing.T) {
	t.Parallel()
	for provider, body := range map[string]string{
		"openai":    `{"id":"KEY","model":"KEY","choices":[{"finish_reason":"stop","message":{"content":"it is KEY.","tool_calls":[{"id":"KEY","function":{"name":"KEY","arguments":"{\"k\":\"KEY\"}"}}]}}]}`,
		"anthropic": `{"type":"message","id":"KEY","model":"KEY","stop_reason":"end_turn","content":[{"type":"text","text":"it is KEY."},{"type":"tool_use","id":"KEY","name":"KEY","input":{"k":"KEY"}}]}`,
		"google":    `{"responseId":"KEY","modelVersion":"KEY","candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"thinking","thought":true},{"text":"it is KEY."},{"functionCall":{"id":"KEY","name":"KEY","args":{"k":"KEY"}}}]}}]}`,
	} {
		c := answering(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.ReplaceAll(body, "KEY", key.Reveal()))
		})
		reply, err := c.Complete(t.Context(), llm.Endpoint{Provider: provider, BaseURL: "http://x.example", Secret: key}, say("?"))
		require.NoError(t, err)
		require.Equal(t, "•••", reply.ID)
		require.Equal(t, "•••", reply.Model)
		require.Equal(t, "it is •••.", reply.Text)
		require.Equal(t, llm.ToolCall{ID: "•••", Name: "•••", Arguments: jsontext.Value(`{"k":"•••"}`)}, reply.ToolCalls[0])
	}

	odd := secret.Text(`with"quotes\and<more>`)
	c := answering(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"type":"message","stop_reason":"tool_use","content":[{"type":"tool_use","id":"1","name":"f","input":{"k":"with\"quotes\\and<more>"}}]}`)
	})
	reply, err := c.Complete(t.Context(), llm.Endpoint{Provider: "anthropic", BaseURL: "http://x.example", Secret: odd}, say("?"))
	require.NoError(t, err)
	require.JSONEq(t, `{"k":"•••"}`, string(reply.ToolCalls[0].Arguments))
}

func TestAShortKeyIsNoSecret(t *testing.T) {
	t.Parallel()
	c := answering(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"I am ollama."},"finish_reason":"stop"}]}`)
	})
	reply, err := c.Complete(t.Context(), llm.Endpoint{Provider: "ollama", BaseURL: "http://x.example", Secret: "ollama"}, say("?"))
	require.NoError(t, err)
	require.Equal(t, "I am ollama.", reply.Text)
}
