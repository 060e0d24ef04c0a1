package simulated_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/llm/simulated"
)

// eventsOf are the data of server-sent events, without the mark at their end.
func eventsOf(t *testing.T, text string) []string {
	t.Helper()
	require.True(t, strings.HasSuffix(text, "\n\n"))
	var out []string
	for event := range strings.SplitSeq(strings.TrimSuffix(text, "\n\n"), "\n\n") {
		_, data, ok := strings.Cut(event, "data: ")
		require.True(t, ok, event)
		if data != "[DONE]" {
			out = append(out, data)
		}
	}
	return out
}

var bearer = []string{"Authorization", "Bearer x"}

const ask = `{"model":"echo","stream":true,"messages":[{"role":"user","content":"one two"}]`

func TestChatStream(t *testing.T) {
	t.Parallel()
	k := newKit(t, simulated.Options{})
	type chunk struct {
		Choices []struct {
			Delta struct {
				Content   string `json:"content"`
				ToolCalls []struct {
					Function struct {
						Name      string `json:"name"`
						Arguments string `json:"arguments"`
					} `json:"function"`
				} `json:"tool_calls"`
			} `json:"delta"`
			FinishReason string `json:"finish_reason"`
		} `json:"choices"`
		Usage *struct {
			Total int `json:"total_tokens"`
		} `json:"usage"`
	}
	status, text := k.call(t, "POST", chatPath, ask+`,"stream_options":{"include_usage":true}}`, bearer...)
	require.Equal(t, 200, status)
	require.True(t, strings.HasSuffix(text, "data: [DONE]\n\n"))
	var said, finish []string
	total := 0
	for _, event := range eventsOf(t, text) {
		c := decode[chunk](t, event)
		for _, choice := range c.Choices {
			said, finish = append(said, choice.Delta.Content), append(finish, choice.FinishReason)
		}
		if c.Usage != nil {
			total = c.Usage.Total
		}
	}
	require.Equal(t, []any{"one two", "stop", 4}, []any{strings.Join(said, ""), strings.Join(finish, ""), total})
	_, text = k.call(t, "POST", chatPath, ask+`}`, bearer...)
	require.NotContains(t, text, `"usage"`, "nobody asked for it")

	_, text = k.call(t, "POST", chatPath, strings.Replace(ask, "echo", "tool", 1)+`,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}`, bearer...)
	require.Contains(t, text, `"function":{"arguments":"{}","name":"f"}`)
	require.Contains(t, text, `"finish_reason":"tool_calls"`)

	k = newKit(t, rules(simulated.Rule{Fault: simulated.FaultRefusal}))
	_, text = k.call(t, "POST", chatPath, ask+`}`, bearer...)
	require.Contains(t, text, `"refusal":"I cannot help with that."`)
}

func TestMessagesStream(t *testing.T) {
	t.Parallel()
	k := newKit(t, simulated.Options{})
	headers := []string{"X-Api-Key", "x", "Anthropic-Version", "2023-06-01"}
	status, text := k.call(t, "POST", messagesPath, ask+`,"max_tokens":100}`, headers...)
	require.Equal(t, 200, status)
	var kinds []string
	for _, event := range eventsOf(t, text) {
		kinds = append(kinds, decode[struct {
			Type string `json:"type"`
		}](t, event).Type)
	}
	require.Equal(t, "message_start content_block_start content_block_delta content_block_delta content_block_stop message_delta message_stop", strings.Join(kinds, " "))
	require.Contains(t, text, `"text":"one "`)
	require.Contains(t, text, `"stop_reason":"end_turn"`)
	_, text = k.call(t, "POST", messagesPath, strings.Replace(ask, "echo", "tool", 1)+`,"max_tokens":100,"tools":[{"name":"f","input_schema":{"type":"object"}}]}`, headers...)
	require.Contains(t, text, `"partial_json":"{}"`)
}

func TestResponses(t *testing.T) {
	t.Parallel()
	k := newKit(t, simulated.Options{})
	type response struct {
		Status string `json:"status"`
		Output []struct {
			Type      string `json:"type"`
			Name      string `json:"name"`
			CallID    string `json:"call_id"`
			Arguments string `json:"arguments"`
			Content   []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"output"`
		Usage struct {
			Input, Output int
		} `json:"usage"`
	}
	status, text := k.call(t, "POST", responsesPath, `{"model":"echo","instructions":"s","input":"hello"}`, bearer...)
	require.Equal(t, 200, status)
	got := decode[response](t, text)
	require.Equal(t, []string{"completed", "message", "hello"}, []string{got.Status, got.Output[0].Type, got.Output[0].Content[0].Text})
	require.Contains(t, text, `"input_tokens":3`)

	const tools = `,"tools":[{"type":"function","name":"f","parameters":{"type":"object"}},{"type":"web_search"}]`
	_, text = k.call(t, "POST", responsesPath, `{"model":"tool","input":[{"role":"user","content":[{"type":"input_text","text":"go"}]}]`+tools+`}`, bearer...)
	got = decode[response](t, text)
	require.Equal(t, []string{"function_call", "f", "{}"}, []string{got.Output[0].Type, got.Output[0].Name, got.Output[0].Arguments})
	_, text = k.call(t, "POST", responsesPath, `{"model":"tool","input":[{"role":"user","content":"go"},{"type":"function_call","name":"f","arguments":"{}","call_id":"c"},{"type":"function_call_output","call_id":"c","output":"done"}]`+tools+`}`, bearer...)
	require.Equal(t, "done", decode[response](t, text).Output[0].Content[0].Text)
	_, text = k.call(t, "POST", responsesPath, `{"model":"echo","input":"12345678","max_output_tokens":1}`, bearer...)
	require.Equal(t, "incomplete", decode[response](t, text).Status)
	_, text = k.call(t, "POST", responsesPath, `{"model":"echo","input":"x","text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}}}}`, bearer...)
	require.Equal(t, "{}", decode[response](t, text).Output[0].Content[0].Text)

	for body, words := range map[string]string{
		`[`: "not a request", `{"input":"x"}`: "model is missing", `{"model":"m"}`: "input is missing", `{"model":"m","input":[]}`: "neither text",
		`{"model":"m","input":[{"role":"robot","content":"x"}]}`: "the role robot", `{"model":"m","input":"x","instructions":7}`: "instructions",
		`{"model":"m","input":"x","text":{"format":{"type":"json_schema"}}}`: "no name or no schema", `{"model":"m","input":[{"role":"user","content":7}]}`: "neither text",
	} {
		status, text := k.call(t, "POST", responsesPath, body, bearer...)
		require.Equal(t, 400, status, body)
		require.Contains(t, text, words)
	}
	status, _ = k.call(t, "POST", responsesPath, `{}`)
	require.Equal(t, 401, status)

	_, text = k.call(t, "POST", responsesPath, `{"model":"echo","stream":true,"input":"one two"}`, bearer...)
	require.Contains(t, text, "event: response.output_text.delta\n")
	list := eventsOf(t, text)
	require.Contains(t, list[len(list)-1], `"text":"one two"`)
	require.Contains(t, list[len(list)-1], `"type":"response.completed"`)
	_, text = k.call(t, "POST", responsesPath, `{"model":"tool","stream":true,"input":"go"`+tools+`}`, bearer...)
	require.Contains(t, text, "event: response.function_call_arguments.done\n")
}

// TestOnePromptInEveryProtocol shows that a conversation gets the same answer
// however it is sent.
func TestOnePromptInEveryProtocol(t *testing.T) {
	t.Parallel()
	k := newKit(t, simulated.Options{})
	const body = `{"model":"judge","max_tokens":100,"input":"good?","messages":[{"role":"user","content":"good?"}]}`
	for _, path := range []string{chatPath, responsesPath, messagesPath} {
		status, _ := k.call(t, "POST", path, body, "Authorization", "Bearer x", "Anthropic-Version", "2023-06-01")
		require.Equal(t, 200, status)
	}
	_, text := k.call(t, "GET", "/simulated/calls?list=prompts", "")
	require.Contains(t, text, `"calls":3`)
}

func TestEmbeddings(t *testing.T) {
	t.Parallel()
	k := newKit(t, simulated.Options{})
	type reply struct {
		Data []struct {
			Embedding []float64 `json:"embedding"`
		} `json:"data"`
		Usage struct {
			Prompt int `json:"prompt_tokens"`
		} `json:"usage"`
	}
	embed := func(input string) reply {
		status, text := k.call(t, "POST", embeddingsPath, `{"model":"m","dimensions":3,"input":`+input+`}`, bearer...)
		require.Equal(t, 200, status, text)
		return decode[reply](t, text)
	}
	got := embed(`["hello","world!"]`)
	require.Equal(t, 4, got.Usage.Prompt)
	require.Len(t, got.Data, 2)
	length := 0.0
	for _, x := range got.Data[0].Embedding {
		length += x * x
	}
	require.InDelta(t, 1, length, 1e-6)
	require.NotEqual(t, got.Data[0], got.Data[1])
	require.Equal(t, got.Data[0], embed(`"hello"`).Data[0], "the same text has the same vector")
	require.Len(t, embed(`[[1,2],[3]]`).Data, 2)
	require.Len(t, embed(`[1,2]`).Data, 1)

	_, text := k.call(t, "POST", embeddingsPath, `{"model":"m","dimensions":3,"input":"hello","encoding_format":"base64"}`, bearer...)
	require.Regexp(t, `"embedding":"[A-Za-z0-9+/]{16}"`, text)
	for body, words := range map[string]string{
		`{"input":"x"}`: "model is missing", `{"model":"m"}`: "input is not", `{"model":"m","input":[]}`: "input is not", `{"model":"m","input":[{}]}`: "input is not",
		`{"model":"m","input":"x","dimensions":9999}`: "dimensions", `{"model":"m","input":"x","encoding_format":"int8"}`: "encoding_format",
	} {
		status, text := k.call(t, "POST", embeddingsPath, body, bearer...)
		require.Equal(t, 400, status, body)
		require.Contains(t, text, words)
	}
}
