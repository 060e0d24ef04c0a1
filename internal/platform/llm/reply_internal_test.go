package llm

import (
	"math"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// TestOddReplies has answers as providers and local servers really give them.
func TestOddReplies(t *testing.T) {
	t.Parallel()
	const most = math.MaxUint32
	for _, c := range []struct {
		name string
		p    protocol
		body string
		want Reply
		kind Kind
	}{
		{
			"content in parts beside thoughts",
			chat{},
			`{"choices":[{"finish_reason":"stop","message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"text","text":7}]}}]}`,
			Reply{Text: "ab", Finish: FinishStop},
			"",
		},
		{"content that is neither", chat{}, `{"choices":[{"finish_reason":"stop","message":{"content":7}}]}`, Reply{Finish: FinishStop}, ""},
		{"a name twice", chat{}, `{"id":"1","id":"2","choices":[{"finish_reason":"stop","message":{"content":"x"}}]}`, Reply{ID: "2", Text: "x", Finish: FinishStop}, ""},
		{"text that is not UTF-8", chat{}, "{\"choices\":[{\"finish_reason\":\"stop\",\"message\":{\"content\":\"a\xff\"}}]}", Reply{Text: "a\uFFFD", Finish: FinishStop}, ""},
		{"no finish", chat{}, `{"choices":[{"finish_reason":null,"message":{"content":"x"}}]}`, Reply{Text: "x", Finish: FinishOther}, ""},
		{"arguments as an object", chat{}, `{"choices":[{"finish_reason":"stop","message":{"tool_calls":[{"function":{"name":"f","arguments":{"a": 1}}}]}}]}`, Reply{Finish: FinishTools, ToolCalls: []ToolCall{{Name: "f", Arguments: jsontext.Value(`{"a":1}`)}}}, ""},
		{"no arguments", chat{}, `{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"function":{"name":"f","arguments":""}}]}}]}`, Reply{Finish: FinishTools, ToolCalls: []ToolCall{{Name: "f", Arguments: jsontext.Value(`{}`)}}}, ""},
		{"arguments that are not JSON", chat{}, `{"usage":{"completion_tokens":9},"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"function":{"name":"f","arguments":"{a:1}"}}]}}]}`, Reply{Finish: FinishTools, Usage: Usage{Output: 9}}, Malformed},
		{"two values as arguments", chat{}, `{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"function":{"name":"f","arguments":"{} {}"}}]}}]}`, Reply{Finish: FinishTools}, Malformed},
		{"a filter", chat{}, `{"usage":{"prompt_tokens":3},"choices":[{"finish_reason":"content_filter","message":{"content":"I was say"}}]}`, Reply{Text: "I was say", Finish: FinishRefused, Usage: Usage{Input: 3}}, Refused},
		{"a failure in the middle", chat{}, `{"choices":[{"finish_reason":"error","message":{"content":"I was say"}}]}`, Reply{Text: "I was say", Finish: FinishOther}, Malformed},
		{"no choices", chat{}, `{"id":"1","usage":{"prompt_tokens":3},"choices":[]}`, Reply{ID: "1", Usage: Usage{Input: 3}}, Malformed},
		{"no message", chat{}, `{"choices":[{}]}`, Reply{}, Malformed},
		{"null", chat{}, `null`, Reply{}, Malformed},
		{"nothing", chat{}, ``, Reply{}, Malformed},
		{"a list", chat{}, `[]`, Reply{}, Malformed},
		{
			"counts that are none",
			chat{},
			`{"usage":{"prompt_tokens":"many","completion_tokens":-1,"prompt_cache_hit_tokens":4.0,"prompt_tokens_details":null,"completion_tokens_details":{"reasoning_tokens":1e99}},"choices":[{"message":{}}]}`,
			Reply{Finish: FinishOther, Usage: Usage{Cached: 4, Reasoning: most}},
			"",
		},

		{
			"thoughts, and parts to come",
			generate{},
			`{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"hm","thought":true},{"text":"a"},{"hologram":{}},{"text":"b"}]}}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"thoughtsTokenCount":9}}`,
			Reply{Text: "ab", Finish: FinishStop, Usage: Usage{Input: 3, Output: 11, Reasoning: 9}},
			"",
		},
		{"a call of a tool", generate{}, `{"candidates":[{"finishReason":"STOP","content":{"parts":[{"functionCall":{"name":"f"}}]}}]}`, Reply{Finish: FinishTools, ToolCalls: []ToolCall{{Name: "f", Arguments: jsontext.Value(`{}`)}}}, ""},
		{"a question that is blocked", generate{}, `{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":3}}`, Reply{Finish: FinishRefused, Usage: Usage{Input: 3}}, Refused},
		{"an answer that is cut", generate{}, `{"candidates":[{"finishReason":"RECITATION","content":{"parts":[{"text":"I was say"}]}}]}`, Reply{Text: "I was say", Finish: FinishRefused}, Refused},
		{"a call that cannot be read", generate{}, `{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`, Reply{Finish: FinishOther}, Malformed},
		{"no candidates", generate{}, `{"candidates":[]}`, Reply{}, Malformed},
		{"nothing of Google's", generate{}, ``, Reply{}, Malformed},

		{
			"thoughts and blocks to come",
			messages{},
			`{"type":"message","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"x"},{"type":"text","text":"a"},{"type":"hologram"},{"type":"text","text":"b"}],"stop_reason":"pause_turn"}`,
			Reply{Text: "ab", Finish: FinishOther},
			"",
		},
		{
			"caches",
			messages{},
			`{"type":"message","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1,"cache_read_input_tokens":20,"cache_creation_input_tokens":300,"output_tokens":5,"output_tokens_details":{"thinking_tokens":4}}}`,
			Reply{Finish: FinishStop, Usage: Usage{Input: 321, Cached: 20, CacheWrite: 300, Output: 5, Reasoning: 4}},
			"",
		},
		{"counts without end", messages{}, `{"type":"message","content":[],"stop_reason":"max_tokens","usage":{"input_tokens":4294967295,"cache_read_input_tokens":1}}`, Reply{Finish: FinishLength, Usage: Usage{Input: most, Cached: 1}}, ""},
		{"a tool without input", messages{}, `{"type":"message","content":[{"type":"tool_use","id":"1","name":"f"}],"stop_reason":"tool_use"}`, Reply{Finish: FinishTools, ToolCalls: []ToolCall{{ID: "1", Name: "f", Arguments: jsontext.Value(`{}`)}}}, ""},
		{"a tool without a name", messages{}, `{"type":"message","content":[{"type":"tool_use","id":"1"}],"stop_reason":"tool_use"}`, Reply{Finish: FinishTools}, Malformed},
		{"a refusal without words", messages{}, `{"type":"message","content":[],"stop_reason":"refusal"}`, Reply{Finish: FinishRefused}, Refused},
		{"an error with the status of a success", messages{}, `{"type":"error","error":{"type":"overloaded_error","message":"x"}}`, Reply{Finish: FinishOther}, Unavailable},
		{"no content", messages{}, `{"type":"message"}`, Reply{Finish: FinishOther}, Malformed},
		{"another protocol", messages{}, `{"choices":[{"message":{"content":"x"}}]}`, Reply{Finish: FinishOther}, Malformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, problem := c.p.decode([]byte(c.body))
			require.Equal(t, c.want, got)
			if c.kind == "" {
				require.Nil(t, problem)
				return
			}
			require.NotNil(t, problem)
			require.Equal(t, c.kind, problem.Kind)
		})
	}
}

func FuzzChatReply(f *testing.F) {
	f.Add([]byte(`{"id":"1","model":"m","choices":[{"finish_reason":"tool_calls","message":{"content":null,"refusal":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}}],"usage":{"prompt_tokens":1,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1}}}`))
	f.Add([]byte(`{"choices":[{"message":{"content":[{"type":"text","text":"a"}]},"finish_reason":"content_filter"}]}`))
	f.Add([]byte(`{"error":{"code":502,"message":"x"}}`))
	f.Fuzz(func(t *testing.T, body []byte) { checkDecoded(t, chat{}, body) })
}

func FuzzMessagesReply(f *testing.F) {
	f.Add([]byte(`{"id":"1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"f","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3}}`))
	f.Add([]byte(`{"type":"message","content":[],"stop_reason":"refusal"}`))
	f.Add([]byte(`{"type":"error","error":{"type":"overloaded_error","message":"x"}}`))
	f.Fuzz(func(t *testing.T, body []byte) { checkDecoded(t, messages{}, body) })
}

// checkDecoded shows that whatever comes, a reply is one that can be stored:
// its calls have names and arguments in JSON, and a problem has a kind with
// words.
func checkDecoded(t *testing.T, p protocol, body []byte) {
	t.Helper()
	r, problem := p.decode(body)
	r.hide("sk-canary-0123456789abcdef")
	for _, c := range r.ToolCalls {
		if c.Name == "" || !c.Arguments.IsValid(jsontext.AllowDuplicateNames(true)) {
			t.Fatalf("a call that cannot be stored: %+v", c)
		}
	}
	if problem == nil {
		if r.Finish == "" || r.Finish == FinishRefused {
			t.Fatalf("a reply that ends with %q and no problem", r.Finish)
		}
		return
	}
	checkShown(t, problem)
}

// FuzzComplaint shows that no error of a provider makes words that may not be
// shown.
func FuzzComplaint(f *testing.F) {
	f.Add(400, []byte(`{"error":{"message":"m sk-canary-0123456789abcdef","type":"t","code":"c"}}`))
	f.Add(429, []byte(`{"error":"sk-canary-0123456789abcdef"}`))
	f.Add(422, []byte(`{"detail":[{"msg":"m"}],"code":5}`))
	f.Add(500, []byte("plain canary-01234567 text"))
	f.Add(500, []byte("sk-cana\xffry-0123\xff456789a\xffbcdef"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		said := readComplaint(body)
		checkShown(t, &Error{Kind: kindOf(status, said), Code: said.word(), Message: said.message})
	})
}

func checkShown(t *testing.T, e *Error) {
	t.Helper()
	const key = "sk-canary-0123456789abcdef"
	words := e.of(Endpoint{Provider: "p", Secret: key}).Error()
	if kindWords[e.Kind] == "" || len(e.Message) > MaxExcerpt || len(e.Code) > 64 {
		t.Fatalf("kind %q, words %q", e.Kind, words)
	}
	for i := range len(key) - telling + 1 {
		if strings.Contains(words, key[i:i+telling]) {
			t.Fatalf("a piece of the secret is shown: %q", words)
		}
	}
}
