package payload

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// shownSaid is a result as one text: quoted if it is a text.
func shownSaid(out []byte, text bool) string {
	if text {
		return `"` + string(out) + `"`
	}
	return string(out)
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	const (
		system = `{"role":"system","content":"be brief"},`
		image  = `{"role":"user","content":[{"type":"text","text":"what is it"},{"type":"image_url","image_url":{"url":"https://x"}}]}`
	)
	for name, c := range map[string]struct{ input, question, request string }{
		"plain text": {"hello", "hello", "hello"},
		"no message": {`{"city":"Ulm"}`, `{"city":"Ulm"}`, `{"city":"Ulm"}`},
		"one turn":   {`[` + system + `{"role":"user","content":"hi"}]`, `"hi"`, `"hi"`},
		"parts":      {`[{"role":"user","parts":[{"type":"text","content":"a \"b\""},{"type":"text","content":"c"}]}]`, "\"a \"b\"\nc\"", "\"a \"b\"\nc\""},
		"an image":   {`[` + system + image + `]`, `[` + image + `]`, `[` + image + `]`},
		"no user":    {`[{"role":"system","content":"go"}]`, `[{"role":"system","content":"go"}]`, `[{"role":"system","content":"go"}]`},
		"several turns": {
			`[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]`, `"c"`,
			`[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]`,
		},
		"the state of a graph": {`{"messages":[{"role":"user","content":"hi"}]}`, `"hi"`, `"hi"`},
		"pairs of a graph":     {`{"messages": [["system", "be brief"], ["user", "hi"]]}`, `"hi"`, `"hi"`},
		"a pair with parts":    {`{"messages":[["human",[{"type":"text","text":"a"},{"type":"text","text":"b"}]]]}`, "\"a\nb\"", "\"a\nb\""},
		"a pair with an image": {`{"messages":[["user",[{"type":"image_url"}]]]}`, `[["user",[{"type":"image_url"}]]]`, `[["user",[{"type":"image_url"}]]]`},
		"several pairs": {
			`{"messages":[["user","a"],["ai","b"],["human","c"]]}`, `"c"`, `{"messages":[["user","a"],["ai","b"],["human","c"]]}`,
		},
		"pairs and messages": {
			`{"messages":[["user","a"],{"type":"ai","content":"b"},["user","c"]]}`, `"c"`, `{"messages":[["user","a"],{"type":"ai","content":"b"},["user","c"]]}`,
		},
		"pairs with the answer": {
			`{"messages":[["user","a"],["ai","b"],["user","c"],["ai","d"]]}`, `"c"`, `[["user","a"],["ai","b"],["user","c"]]`,
		},
		"pairs of something else":  {`{"rows":[["user","a"]]}`, `{"rows":[["user","a"]]}`, `{"rows":[["user","a"]]}`},
		"no role":                  {`{"messages":[["Ulm","rain"]]}`, `{"messages":[["Ulm","rain"]]}`, `{"messages":[["Ulm","rain"]]}`},
		"three are no pair":        {`{"messages":[["user","a","b"]]}`, `{"messages":[["user","a","b"]]}`, `{"messages":[["user","a","b"]]}`},
		"a role and nothing after": {`{"messages":[["user"]]}`, `{"messages":[["user"]]}`, `{"messages":[["user"]]}`},
		"a run that records its answer": {
			`[{"role": "user", "parts": [{"type": "text", "content": "hi"}]}, {"role": "assistant", "parts": [{"type": "tool_call", "name": "f"}]}, ` +
				`{"role": "user", "parts": [{"type": "tool_call_response", "result": "x"}]}, {"role": "assistant", "parts": [{"type": "text", "content": "ho"}]}]`, `"hi"`, `"hi"`,
		},
		"a run with a history": {
			`[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"}]`, `"c"`,
			`[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]`,
		},
		"results in the name of the user": {
			`[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t"}]},{"role":"user","content":[{"type":"tool_result","content":"x"}]}]`, `"hi"`, `"hi"`,
		},
		"a function's argument":         {`{"args":["hi"],"kwargs":{}}`, `{"args":["hi"],"kwargs":{}}`, `"hi"`},
		"a function's named argument":   {`{"args":[],"kwargs":{"question":"hi"}}`, `{"args":[],"kwargs":{"question":"hi"}}`, `"hi"`},
		"a function's two arguments":    {`{"args":["hi"],"kwargs":{"n":1}}`, `{"args":["hi"],"kwargs":{"n":1}}`, `{"args":["hi"],"kwargs":{"n":1}}`},
		"an argument that is an object": {`{"args":[{"a":1}],"kwargs":{}}`, `{"args":[{"a":1}],"kwargs":{}}`, `{"a":1}`},
		"a prompt":                      {`{"system":"be brief","prompt":"hi"}`, `{"system":"be brief","prompt":"hi"}`, `"hi"`},
		"cut off":                       {`[{"role":"user","content":"hi"`, `[{"role":"user","content":"hi"`, `[{"role":"user","content":"hi"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.question, shownSaid(Question([]byte(c.input))))
			require.Equal(t, c.request, shownSaid(Request([]byte(c.input))))
		})
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ output, want string }{
		"plain text":           {"fine", "fine"},
		"an object":            {`{"score":1}`, `{"score":1}`},
		"a message":            {`[{"role":"assistant","content":"fine"}]`, `"fine"`},
		"parts":                {`[{"role":"assistant","parts":[{"type":"reasoning","content":"hm"},{"type":"text","content":"fine"}],"finish_reason":"stop"}]`, `"fine"`},
		"a call of a tool":     {`[{"role":"assistant","tool_calls":[{"id":"c"}]}]`, `[{"role":"assistant","tool_calls":[{"id":"c"}]}]`},
		"no calls":             {`[{"role":"assistant","content":"fine","tool_calls":[],"refusal":null}]`, `"fine"`},
		"the state of a graph": {`{"messages":[{"type":"human","content":"hi"},{"type":"ai","content":"fine","tool_calls":[]}]}`, `"fine"`},
		"pairs of a graph":     {`{"messages":[["user","hi"],["assistant","fine"]]}`, `"fine"`},
		"a pair of a model":    {`{"messages":[["ai","fine"]]}`, `"fine"`},
		"a pair of a user":     {`{"messages":[["user","hi"]]}`, `{"messages":[["user","hi"]]}`},
		"a choice":             {`{"choices":[{"message":{"role":"assistant","content":"fine"}}]}`, `"fine"`},
		"a generation":         {`{"generations":[[{"text":"fine","message":{"kwargs":{"content":"fine","type":"ai"}}}]]}`, `"fine"`},
		"Gemini":               {`{"candidates":[{"content":{"role":"model","parts":[{"text":"fine"}]}}]}`, `"fine"`},
		"a user's words":       {`[{"role":"user","content":"hi"}]`, `[{"role":"user","content":"hi"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, shownSaid(Answer([]byte(c.output))))
		})
	}
}

// FuzzSaid reads whatever was stored as a payload: a question, a request and an
// answer are texts or JSON wherever the payload is JSON.
func FuzzSaid(f *testing.F) {
	for _, seed := range []string{
		`[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"ho"}]}]`, `{"messages":[{"type":"human","content":"go"}]}`,
		`[{"role":"user","parts":[{"type":"tool_call_response"}]}]`, `{"role":"assistant","message":{"content":{"parts":["x"]}}}`, `[{"role":"user","content":"\ud83d\"`, `[[{"role":"user"}]]`,
		`{"messages":[["user","a"],["ai",["b"]],["human"]]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		for _, read := range []func([]byte) ([]byte, bool){Question, Request, Answer} {
			if out, text := read(sent); Valid(sent) && !text {
				require.True(t, Valid(out), "%q became %q", sent, out)
			}
		}
	})
}
