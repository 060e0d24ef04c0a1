package llm_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
)

func TestResponses(t *testing.T) {
	t.Parallel()
	script := simulated.Script{Models: map[string]simulated.Behaviour{"caching": {Do: simulated.DoFixed, Text: "four", Cached: 0.5, Reasoning: 7}}}
	w := network(t, simulated.Options{Script: script}, egress.Options{})
	to := w.to("openai")
	to.BaseURL += "/responses"
	ask := func(r llm.Request) llm.Reply {
		t.Helper()
		reply, err := w.client.Complete(t.Context(), to, r)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(reply.ID, "resp_"), reply.ID)
		return reply
	}

	plain := ask(say("hello"))
	require.Equal(t, "hello", plain.Text)
	require.Equal(t, llm.FinishStop, plain.Finish)
	require.Equal(t, llm.Usage{Input: 2, Output: 2}, plain.Usage)
	r := say("12345678")
	r.Model = "caching"
	require.Equal(t, llm.Usage{Input: 2, Cached: 1, Output: 8, Reasoning: 7}, ask(r).Usage)
	r = say("eight hundred")
	r.Params.MaxTokens = 2
	short := ask(r)
	require.Equal(t, "eight hu", short.Text)
	require.Equal(t, llm.FinishLength, short.Finish)

	r = say("What is the weather?")
	r.Model, r.Tools = "tool", []llm.Tool{{Name: "weather", Schema: jsontext.Value(`{"type":"object","required":["city"],"properties":{"city":{"enum":["Oslo"]}}}`)}}
	called := ask(r)
	require.Equal(t, llm.FinishTools, called.Finish)
	require.JSONEq(t, `{"city":"Oslo"}`, string(called.ToolCalls[0].Arguments))
	r.Messages = append(r.Messages, llm.Message{Role: llm.RoleAssistant, ToolCalls: called.ToolCalls}, llm.Message{Role: llm.RoleTool, ToolCallID: called.ToolCalls[0].ID, Content: "It snows."})
	require.Equal(t, "It snows.", ask(r).Text)

	for way, code := range map[string]string{"refused": "", "filtered": "content_filter"} {
		r := say("[[answer:" + way + "]]")
		r.Model = "judge"
		reply, err := w.client.Complete(t.Context(), to, r)
		e := failed(t, err)
		require.Equal(t, llm.Refused, e.Kind)
		require.Equal(t, code, e.Code)
		require.NotZero(t, reply.Usage.Input)
	}
	require.NoError(t, w.provider.SetFaults(simulated.Faults{Rules: []simulated.Rule{{Fault: simulated.FaultRateLimit}}}))
	_, err := w.client.Complete(t.Context(), to, say("x"))
	e := failed(t, err)
	require.Equal(t, llm.RateLimited, e.Kind)
	require.True(t, e.Overload())
}

func TestResponsesThatFail(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]llm.Kind{
		`{`:                   llm.Malformed,
		`{"status":"queued"}`: llm.Malformed,
		`{"status":"failed","error":{"code":"server_error","message":"It broke."}}`:                                   llm.Unavailable,
		`{"status":"completed","output":[{"type":"function_call","name":"","arguments":"{}"}]}`:                       llm.Malformed,
		`{"status":"completed","output":[{"type":"function_call","name":"f","arguments":"{"}]}`:                       llm.Malformed,
		`{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"I will not."}]}]}`: llm.Refused,
	} {
		client := answering(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
		_, err := client.Complete(t.Context(), llm.Endpoint{Provider: "openai", BaseURL: "https://api.example/v1/responses", Secret: key}, say("x"))
		require.Equal(t, want, failed(t, err).Kind, body)
	}
}

func TestBedrockSigns(t *testing.T) {
	t.Parallel()
	var got *http.Request
	client := answering(func(w http.ResponseWriter, r *http.Request) {
		got = r
		_, _ = w.Write([]byte(`{"type":"message","id":"msg_1","model":"claude","content":[{"type":"text","text":"Yes."}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}`))
	})
	r := say("x")
	r.Model = "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude"
	to := llm.Endpoint{Provider: "bedrock", BaseURL: "https://bedrock-runtime.eu-west-1.amazonaws.com", Secret: "AKIDEXAMPLE:canary-secret-key/x+y:canary-token"}
	reply, err := client.Complete(t.Context(), to, r)
	require.NoError(t, err)
	require.Equal(t, "Yes.", reply.Text)
	require.Equal(t, "/model/arn:aws:bedrock:eu-west-1:1:inference-profile%2Feu.anthropic.claude/invoke", got.URL.EscapedPath())
	auth := got.Header.Get("Authorization")
	require.Regexp(t, `^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\d{8}/eu-west-1/bedrock/aws4_request, SignedHeaders=[a-z0-9;-]*host[a-z0-9;-]*, Signature=[0-9a-f]{64}$`, auth)
	require.Equal(t, "canary-token", got.Header.Get("X-Amz-Security-Token"))
	for name, values := range got.Header {
		require.NotContains(t, strings.Join(values, " "), "canary-secret", name)
	}
	first := auth[strings.Index(auth, "Signature="):]
	r.Messages[0].Content = "y"
	_, err = client.Complete(t.Context(), to, r)
	require.NoError(t, err)
	require.NotContains(t, got.Header.Get("Authorization"), first, "the body is signed")

	to.Secret, to.BaseURL = "bedrock-api-key-0123456789", to.BaseURL+"/openai/v1"
	_, err = client.Complete(t.Context(), to, r)
	require.Equal(t, llm.Malformed, failed(t, err).Kind, "the chat cannot read a message")
	require.Equal(t, "/openai/v1/chat/completions", got.URL.Path)
	require.Equal(t, "Bearer bedrock-api-key-0123456789", got.Header.Get("Authorization"))
}

func TestListModels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ provider, base, url, header, value string }{
		{"openai", "https://api.example/v1/", "https://api.example/v1/models", "Authorization", "Bearer " + key.Reveal()},
		{"openai", "https://api.example/v1/responses", "https://api.example/v1/models", "Authorization", "Bearer " + key.Reveal()},
		{"azure", "https://x.example/openai/deployments/d?api-version=1", "https://x.example/openai/models?api-version=1", "Api-Key", key.Reveal()},
		{"anthropic", "https://api.example/v1", "https://api.example/v1/models", "X-Api-Key", key.Reveal()},
		{"google", "https://api.example/v1beta", "https://api.example/v1beta/models", "X-Goog-Api-Key", key.Reveal()},
		{"google", "https://api.example/v1beta/openai", "https://api.example/v1beta/openai/models", "Authorization", "Bearer " + key.Reveal()},
	} {
		req, err := llm.ListModels(t.Context(), llm.Endpoint{Provider: c.provider, BaseURL: c.base, Secret: key})
		require.NoError(t, err)
		require.Equal(t, c.url, req.URL.String())
		require.Equal(t, c.value, req.Header.Get(c.header))
	}
}
