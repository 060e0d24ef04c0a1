package simulated_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/llm/simulated"
)

const (
	chatPath       = "/v1/chat/completions"
	responsesPath  = "/v1/responses"
	embeddingsPath = "/v1/embeddings"
	messagesPath   = "/v1/messages"
)

func TestGenerateWire(t *testing.T) {
	t.Parallel()
	k := newKit(t, simulated.Options{})
	const path = "/v1beta/models/echo:generateContent"
	google := []string{"X-Goog-Api-Key", "any"}

	status, text := k.call(t, "POST", path, `{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"parts":[{"text":"he"},{"text":"llo"}]}]}`, google...)
	require.Equal(t, 200, status)
	got := decode[map[string]any](t, text)
	require.Regexp(t, `^[0-9a-f]{24}$`, got["responseId"])
	delete(got, "responseId")
	require.Equal(t, decode[map[string]any](t, `{"modelVersion":"echo",
		"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"hello"}]},"finishReason":"STOP"}],
		"usageMetadata":{"promptTokenCount":3,"cachedContentTokenCount":0,"candidatesTokenCount":2,"thoughtsTokenCount":0,"totalTokenCount":5}}`), got)

	status, text = k.call(t, "POST", "/v1beta/models/echo:streamGenerateContent?alt=sse", `{"contents":[{"parts":[{"text":"one two"}]}]}`, google...)
	require.Equal(t, 200, status)
	require.Equal(t, 3, strings.Count(text, "data: "), "two words, and why it ended")
	require.Contains(t, text, `"finishReason":"STOP"`)

	for body, words := range map[string]string{
		`{`: "not a request", `{}`: "contents: at least one", `{"contents":[{"role":"robot","parts":[{"text":"x"}]}]}`: "the role robot",
		`{"contents":[{"parts":[]}]}`: "parts are required", `{"contents":[{"parts":[{"functionResponse":{"name":"f"}}]}]}`: "a functionResponse has",
		`{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"responseJsonSchema":{"type":"object"}}}`: "a schema needs application/json",
		`{"contents":[{"parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[{}]}]}`:                     "functionDeclarations have a name",
	} {
		status, text := k.call(t, "POST", path, body, google...)
		require.Equal(t, 400, status, body)
		require.Contains(t, text, words)
		require.Contains(t, text, `"status":"INVALID_ARGUMENT"`)
	}
	status, _ = k.call(t, "POST", path, `{"contents":[{"parts":[{"text":"x"}]}]}`)
	require.Equal(t, 403, status)
	status, _ = k.call(t, "POST", "/v1beta/models/echo:countTokens", `{}`, google...)
	require.Equal(t, 404, status)
	status, text = k.call(t, "GET", "/v1/models", "", google...)
	require.Equal(t, 200, status)
	require.Contains(t, text, `"name":"models/judge"`)
}

func TestChatWire(t *testing.T) {
	t.Parallel()
	k := newKit(t, simulated.Options{})

	status, text := k.call(t, "POST", chatPath, `{"model":"echo","messages":[{"role":"developer","content":"s"},{"role":"user","content":[{"type":"text","text":"he"},{"type":"image_url","image_url":{"url":"data:"}},{"type":"text","text":"llo"}]}]}`, bearer...)
	require.Equal(t, 200, status)
	got := decode[map[string]any](t, text)
	require.Regexp(t, `^chatcmpl-[0-9a-f]{24}$`, got["id"])
	require.Positive(t, got["created"])
	delete(got, "id")
	delete(got, "created")
	require.Equal(t, decode[map[string]any](t, `{"object":"chat.completion","model":"echo",
		"choices":[{"index":0,"message":{"role":"assistant","content":"hello","refusal":null},"logprobs":null,"finish_reason":"stop"}],
		"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`), got)

	status, text = k.call(t, "POST", chatPath, `{"model":"echo","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_object"}}`, bearer...)
	require.Equal(t, 200, status)
	require.Contains(t, text, `"content":"{}"`)

	for body, words := range map[string]string{
		`{`: "not a request", `{"messages":[{"role":"user","content":"x"}]}`: "model is missing", `{"model":"m"}`: "messages is empty",
		`{"model":"m","messages":[{"role":"user","content":"x"}],"n":2}`:                                             "n is above 1",
		`{"model":"m","messages":[{"role":"robot","content":"x"}]}`:                                                  "the role robot",
		`{"model":"m","messages":[{"role":"user","content":7}]}`:                                                     "neither text nor",
		`{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema"}}`:          "no name or no schema",
		`{"model":"m","messages":[{"role":"user","content":"x"}],"messages":[{"role":"user","content":"a second"}]}`: "not a request",
	} {
		status, text := k.call(t, "POST", chatPath, body, bearer...)
		require.Equal(t, 400, status, body)
		e := decode[struct {
			Error struct {
				Message, Type string
				Param, Code   *string
			}
		}](t, strings.NewReplacer(`"error"`, `"Error"`, `"message"`, `"Message"`, `"type"`, `"Type"`).Replace(text))
		require.Equal(t, "invalid_request_error", e.Error.Type)
		require.Contains(t, e.Error.Message, words)
	}
	status, text = k.call(t, "POST", chatPath, `{"model":"missing","messages":[{"role":"user","content":"x"}]}`, bearer...)
	require.Equal(t, 404, status)
	require.Contains(t, text, `"code":"model_not_found"`)
	status, _ = k.call(t, "POST", chatPath, `{}`)
	require.Equal(t, 401, status)
	status, _ = k.call(t, "POST", chatPath, `{}`, "X-Api-Key", "x", "Anthropic-Version", "2023-06-01")
	require.Equal(t, 401, status, "each provider has its own header")
}

func TestMessagesWire(t *testing.T) {
	t.Parallel()
	k := newKit(t, simulated.Options{})
	headers := []string{"X-Api-Key", "x", "Anthropic-Version", "2023-06-01"}

	status, text := k.call(t, "POST", messagesPath, `{"model":"echo","max_tokens":100,"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":"hello"}]}`, headers...)
	require.Equal(t, 200, status)
	got := decode[map[string]any](t, text)
	require.Regexp(t, `^msg_[0-9a-f]{24}$`, got["id"])
	delete(got, "id")
	require.Equal(t, decode[map[string]any](t, `{"type":"message","role":"assistant","model":"echo","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","stop_sequence":null,
		"usage":{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}}`), got)

	_, text = k.call(t, "POST", messagesPath, `{"model":"echo","max_tokens":100,"stop_sequences":["q","l"],"messages":[{"role":"user","content":"hello"}]}`, headers...)
	require.Contains(t, text, `"stop_reason":"stop_sequence","stop_sequence":"l"`)

	for body, words := range map[string]string{
		`[]`: "not a request", `{"max_tokens":1,"messages":[{"role":"user","content":"x"}]}`: "model:",
		`{"model":"m","messages":[{"role":"user","content":"x"}]}`:                                                        "max_tokens:",
		`{"model":"m","max_tokens":1,"messages":[]}`:                                                                      "messages:",
		`{"model":"m","max_tokens":1,"messages":[{"role":"system","content":"x"}]}`:                                       "the role system",
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":""}]}`:                                          "not empty",
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[]}]}`:                                          "not empty",
		`{"model":"m","max_tokens":1,"system":7,"messages":[{"role":"user","content":"x"}]}`:                              "system:",
		`{"model":"m","max_tokens":1,"tools":[{"name":"f"}],"messages":[{"role":"user","content":"x"}]}`:                  "tools:",
		`{"model":"m","max_tokens":1,"output_config":{"format":{"type":"x"}},"messages":[{"role":"user","content":"x"}]}`: "output_config.format:",
	} {
		status, text := k.call(t, "POST", messagesPath, body, headers...)
		require.Equal(t, 400, status, body)
		require.Contains(t, text, `{"type":"error","error":{"type":"invalid_request_error","message":"`, body)
		require.Contains(t, text, words)
		require.Contains(t, text, `"request_id":"req_`)
	}
	status, text = k.call(t, "POST", messagesPath, `{}`, "X-Api-Key", "x")
	require.Equal(t, 400, status)
	require.Contains(t, text, "anthropic-version")
	status, text = k.call(t, "POST", messagesPath, `{}`, "Authorization", "Bearer x", "Anthropic-Version", "2023-06-01")
	require.Equal(t, 400, status)
	require.Contains(t, text, "model:", "a bearer token is a key too")
	status, text = k.call(t, "POST", messagesPath, `{}`, "Anthropic-Version", "2023-06-01")
	require.Equal(t, 401, status)
	require.Contains(t, text, `"type":"authentication_error"`)
}

func TestModels(t *testing.T) {
	t.Parallel()
	k := newKit(t, simulated.Options{Keys: []string{"right"}, Script: simulated.Script{Models: map[string]simulated.Behaviour{"gpt-4o": {}}}})
	status, text := k.call(t, "GET", "/v1/models", "", "Authorization", "Bearer right")
	require.Equal(t, 200, status)
	require.Contains(t, text, `{"object":"list","data":[{"id":"gpt-4o","object":"model"`)
	require.Contains(t, text, `"id":"judge"`)
	status, text = k.call(t, "GET", "/v1/models", "", "X-Api-Key", "right", "Anthropic-Version", "2023-06-01")
	require.Equal(t, 200, status)
	require.Contains(t, text, `{"data":[{"type":"model","id":"gpt-4o","display_name":"gpt-4o"`)
	require.Contains(t, text, `"has_more":false,"first_id":"gpt-4o","last_id":"tool"`)

	status, text = k.call(t, "GET", "/v1/models", "", "Authorization", "Bearer wrong")
	require.Equal(t, 401, status)
	require.Contains(t, text, `"code":"invalid_api_key"`)
	status, _ = k.call(t, "POST", messagesPath, "", "X-Api-Key", "wrong", "Anthropic-Version", "2023-06-01")
	require.Equal(t, 401, status)
	status, _ = k.call(t, "GET", "/v1/models", "", "X-Api-Key", "right")
	require.Equal(t, 400, status)

	status, _ = k.call(t, "GET", chatPath, "")
	require.Equal(t, 405, status)
	status, _ = k.call(t, "GET", "/v2/models", "")
	require.Equal(t, 404, status)
}

// FuzzRequest shows that no request makes the provider fail.
func FuzzRequest(f *testing.F) {
	f.Add(byte(1), []byte(`{"model":"tool","stream":true,"input":[{"role":"user","content":[{"type":"input_text","text":"x"}]},{"type":"function_call","name":"f","arguments":"{}"}],"tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]}`))
	f.Add(byte(2), []byte(`{"model":"m","input":["x",[1,2]],"dimensions":3,"encoding_format":"base64"}`))
	f.Add(byte(0), []byte(`{"model":"tool","messages":[{"role":"user","content":"x [[score:0.5]]"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"max_tokens":3,"stop":"q"}`))
	f.Add(byte(0), []byte(`{"model":"judge@0.5","messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":[{"text":"x"}]}],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"$ref":"#"}}}}`))
	f.Add(byte(3), []byte(`{"model":"upper","max_tokens":1,"system":"s","messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"ü"}]},{"type":"text","text":"ü"}]}],"stop_sequences":[""]}`))
	p, err := simulated.New(simulated.Options{Remember: -1})
	require.NoError(f, err)
	k := kit{Provider: p}
	paths := []string{chatPath, responsesPath, embeddingsPath, messagesPath}
	f.Fuzz(func(t *testing.T, path byte, body []byte) {
		status, text := k.call(t, "POST", paths[int(path)%len(paths)], string(body), "Authorization", "Bearer x", "X-Api-Key", "x", "Anthropic-Version", "v")
		if status != 200 && status != 400 && status != 404 && status != 413 {
			t.Fatalf("%d %s", status, text)
		}
		if strings.HasPrefix(text, "data: ") || strings.HasPrefix(text, "event: ") {
			for _, event := range eventsOf(t, text) {
				decode[map[string]any](t, event)
			}
			return
		}
		decode[map[string]any](t, text)
	})
}
