package payload

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func searched(input, output string) string {
	var t Texts
	return string(t.Search([]byte(input), []byte(output)))
}

func previews(input, output string) (in, out string) {
	var t Texts
	return string(t.InputPreview([]byte(input))), string(t.OutputPreview([]byte(output)))
}

func TestSearchText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("QUJD", 60) // 240 characters of base64
	for name, c := range map[string]struct{ input, output, want string }{
		"nothing":                            {"", "", ""},
		"plain text":                         {"how are you", "fine", "how are you\nfine"},
		"text that looks like JSON":          {`[INST] hi [/INST]`, `{user} left`, "[INST] hi [/INST]\n{user} left"},
		"JSON that is cut off":               {`[{"role":"user","content":"hel`, "", `[{"role":"user","content":"hel`},
		"messages that are broken":           {"", `[{"role":"assistant","content":"a" "b"}]`, `[{"role":"assistant","content":"a" "b"}]`},
		"a number":                           {"42", "true", "42\ntrue"},
		"a quoted text":                      {`"say \"hi\"\nnow"`, `"é\u00e8\ud83d\ude00"`, "say \"hi\"\nnow\néè😀"},
		"strings of an object, no names":     {`{"city":"Ulm","days":[2,"rain"]}`, "", "Ulm\nrain"},
		"all of a first turn":                {`[{"role":"system","content":"be kind"},{"role":"user","content":"hi"}]`, "", "be kind\nhi"},
		"what follows the last answer":       {`[{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":"three"}]`, "", "three"},
		"an answer begun for the model":      {`[{"role":"user","content":"one"},{"content":"two","role":"assistant"}]`, "", "one\ntwo"},
		"two answers in a row":               {`[{"role":"user","content":"one"},{"role":"model","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]},{"role":"tool","content":"c"}]`, "", "c"},
		"parts, without types and ids":       {`[{"role":"user","parts":[{"type":"text","content":"hello"},{"type":"uri","uri":"https://x"}]}]`, "", "hello"},
		"arguments in a text":                {"", `[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"city\":\"New \\\"York\\\"\",\"n\":[1,\"x\"]}"}}]}]`, "New \"York\"\nx"},
		"arguments that are no JSON":         {"", `[{"role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\": broken"}}]}]`, `{"city": broken`},
		"no data URLs":                       {`[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"text","text":"data:image/png;base64,BBBB"},{"type":"text","text":"what is it"}]}]`, "", "what is it"},
		"no encoded data":                    {`{"a":"before ` + long + ` after","b":"` + long + `"}`, "", "before  after"},
		"long words of another script":       {strings.Repeat("漢字", 200), "", strings.Repeat("漢字", 200)},
		"a request":                          {`{"model":"m","system":"x","messages":[{"role":"user","content":"hi"}],"tools":[{"name":"t","description":"d"}]}`, "", "hi"},
		"a response":                         {"", `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}],"model":"m"}`, "yes"},
		"Gemini":                             {`{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, `{"candidates":[{"content":{"role":"model","parts":[{"text":"yes"}]}}]}`, "hi\nyes"},
		"Anthropic":                          {`{"system":"s","messages":[{"role":"user","content":"hi"}]}`, `{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","name":"f","input":{"q":"z"}}]}`, "hi\nhm\nz"},
		"the Responses API":                  {`[{"role":"user","content":"hi"},{"type":"reasoning","summary":[]},{"type":"function_call","arguments":"{\"q\":\"old\"}"},{"type":"function_call_output","output":"new"}]`, `[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]}]`, "new\nyes"},
		"an output that repeats the history": {"go", `{"messages":[{"type":"human","content":"go"},{"type":"ai","content":"gone"}]}`, "go\ngone"},
		"pairs of a graph":                   {`{"messages":[["user","one"],["ai","two"],["user","three"]]}`, `{"messages":[["user","three"],["ai",[{"type":"text","text":"four"}]]]}`, "three\nfour"},
		"documents":                          {"", `[{"id":"d1","content":"text","score":1}]`, "d1\ntext"},
		"a text that is said twice in a row": {"", `{"generations":[[{"text":"once","message":{"kwargs":{"content":"once","type":"ai"}}}]]}`, "once"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, searched(c.input, c.output))
		})
	}

	t.Run("a long input leaves half of the room to the output", func(t *testing.T) {
		t.Parallel()
		got := searched(strings.Repeat("in é ", MaxSearch), strings.Repeat("out ü ", MaxSearch))
		require.LessOrEqual(t, len(got), MaxSearch+1)
		require.Greater(t, strings.Count(got, "in"), MaxSearch/2/8)
		require.Greater(t, strings.Count(got, "out"), MaxSearch/2/8)
		require.True(t, utf8.ValidString(got))
	})

	t.Run("nesting without end is no danger", func(t *testing.T) {
		t.Parallel()
		for _, s := range []string{strings.Repeat("[", 1<<20), strings.Repeat(`{"a":`, 1<<18), strings.Repeat("[", 1<<16) + strings.Repeat("]", 1<<16)} {
			searched(s, s)
			previews(s, s)
			require.False(t, Valid([]byte(s)))
		}
	})
}

func TestPreviews(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ input, output, wantInput, wantOutput string }{
		"texts":                     {" how\n\tare you ", "fine", "how are you", "fine"},
		"the last user":             {`[{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":[{"type":"text","text":"three"},{"type":"text","text":"four"}]},{"role":"assistant","content":"five"},{"role":"tool","content":"six"}]`, "", "three four", ""},
		"no user":                   {`[{"role":"system","content":"only this"}]`, "", "only this", ""},
		"an answer":                 {"", `[{"role":"assistant","parts":[{"type":"text","content":"yes\nof course"}]}]`, "", "yes of course"},
		"pairs of a graph":          {`{"messages":[["system","be kind"],["user","one two"]]}`, `{"messages":[["user","one"],["ai","three"]]}`, "one two", "three"},
		"other JSON as it is":       {`{"city": "Ulm"}`, `[1,2]`, `{"city": "Ulm"}`, `[1,2]`},
		"a quoted text":             {`"a\tb"`, `"\u00e9"`, "a b", "é"},
		"200 characters, not bytes": {strings.Repeat("é", 300), `"` + strings.Repeat("漢", 300) + `"`, strings.Repeat("é", 200), strings.Repeat("漢", 200)},
		"a space is no end":         {strings.Repeat("a", 199) + " b", "", strings.Repeat("a", 199), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, out := previews(c.input, c.output)
			require.Equal(t, c.wantInput, in)
			require.Equal(t, c.wantOutput, out)
		})
	}
}

// drawMessages draws a conversation, and what of it is new.
func drawMessages(t *rapid.T) (messages []map[string]any, fresh []string) {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab \"\\/\n\t{}[],:é漢😀\u2028")), 1, 30, -1)
	n := rapid.IntRange(1, 8).Draw(t, "messages")
	answered := false
	for i := range n {
		role := rapid.SampledFrom([]string{"user", "assistant", "tool", "system"}).Draw(t, "role")
		if i == 0 && role == "assistant" {
			role = "user"
		}
		words := "w" + text.Draw(t, "text")
		var content any = words
		switch rapid.IntRange(0, 2).Draw(t, "form") {
		case 1:
			content = []any{map[string]any{"type": "text", "text": words, "id": "never"}}
		case 2:
			content = []any{map[string]any{"type": "text", "content": words}, map[string]any{"type": "image", "image_url": map[string]any{"url": "never"}}}
		}
		messages = append(messages, map[string]any{"role": role, "content": content, "name": "never", "zeta": []any{"never", map[string]any{"content": "never"}}})
		if role != "assistant" && answered {
			fresh = nil
		}
		answered = role == "assistant"
		fresh = append(fresh, words)
	}
	return messages, fresh
}

// TestSearchTextIsWhatIsNew compares with a plain reading of the definition.
func TestSearchTextIsWhatIsNew(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages, fresh := drawMessages(t)
		text, err := json.Marshal(messages)
		require.NoError(t, err)
		if rapid.Bool().Draw(t, "indented") {
			var b bytes.Buffer
			require.NoError(t, json.Indent(&b, text, " ", "\t"))
			text = b.Bytes()
		}
		whole, _ := listLayout(text, 0, 0, false)
		back, ok := layoutFromEnd(text, 0)
		require.True(t, ok)
		require.Equal(t, whole, back, "reading from the end finds the same")
		if rapid.Bool().Draw(t, "within a request") {
			text = []byte(`{"model":"never","messages":` + string(text) + `,"user":"never"}`)
		}
		var want []string
		for i, words := range fresh {
			if i == 0 || words != fresh[i-1] {
				want = append(want, words)
			}
		}
		require.Equal(t, strings.Join(want, "\n"), searched(string(text), ""))
	})
}

// TestValidJSON compares with the standard library.
func TestValidJSON(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"{", "}", "[", "]", ",", ":", `"a"`, `"\n"`, `"\u00e9"`, `"\x"`, `"\u12"`, "\"\n\"", `"`, `\`, "0", "01", "-1", "1.5e+3", "1.", "-", "1e", "true", "nul", "null", " ", "\n", "x",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), ""))
		require.Equal(t, json.Valid(text), Valid(text), "%s", text)
	})
	for _, text := range []string{`{"a":[1,{"b":"c"}],"d":null}`, ` [ ] `, `{}`, `[1,]`, `{"a":1,}`, `{"a"}`, `[1 2]`, `"a"b`, ``} {
		require.Equal(t, json.Valid([]byte(text)), Valid([]byte(text)), text)
	}
}

// FuzzSearch shows that no payload breaks what lists and searches are made of.
func FuzzSearch(f *testing.F) {
	for _, s := range []string{
		"", "x", `[{"role":"user","content":"a"}]`, `{"messages":[[{"kwargs":{"content":"\ud83d","type":"human"}}]]}`,
		`[{"role":"assistant","tool_calls":[{"function":{"arguments":"{\"a\":\"\\u00e9\"}"}}]}]`, `"\"`, `{"content":{"role":1}}`, `{"messages":[["user","a"],["ai",["b"]],["human"`, "[[[[", `{"a":"b" "c"`,
		`[{"role":"user","content":"\\\""},{"role":"assistant","content":"\\\\"},{"role":"tool","content":[{"a":"}]"}]}, {"role":"user"}]`,
	} {
		f.Add([]byte(s), []byte(s))
	}
	f.Fuzz(func(t *testing.T, input, output []byte) {
		var r Texts
		sent, answer := bytes.Clone(input), bytes.Clone(output)
		for range 2 { // what was made the first time is not changed by the second
			in, out, text := string(r.InputPreview(sent)), string(r.OutputPreview(answer)), string(r.Search(sent, answer))
			require.Equal(t, in, string(r.InputPreview(sent)))
			require.LessOrEqual(t, utf8.RuneCountInString(in), MaxPreview)
			require.LessOrEqual(t, utf8.RuneCountInString(out), MaxPreview)
			require.LessOrEqual(t, len(text), MaxSearch+1)
			if utf8.Valid(input) && utf8.Valid(output) {
				require.True(t, utf8.ValidString(in) && utf8.ValidString(out) && utf8.ValidString(text))
			}
		}
		require.Equal(t, input, append([]byte{}, sent...), "the payload is only read")
		require.Equal(t, json.Valid(input), Valid(input) || deep(input), "%q", input)
		if at := SkipSpace(input, 0); at < len(input) && input[at] == '[' && json.Valid(input) {
			if back, ok := layoutFromEnd(input, at); ok {
				whole, _ := listLayout(input, at, 0, false)
				back.first = whole.first // what is before the last answer may be no message
				require.Equal(t, whole, back)
			}
		}
	})
}

// deep reports whether a text is nested deeper than we read.
func deep(text []byte) bool {
	return json.Valid(text) && bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxDepth
}
