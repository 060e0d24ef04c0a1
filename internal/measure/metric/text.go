package metric

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/assayhq/assay/internal/core/schema"
)

// textOf returns what a JSON value says as text:
//
//   - a string is itself, and null is the empty text;
//   - a chat message, which is an object with a role and a content or parts, is
//     its content: a string, or the joined texts of its text parts; one that only
//     calls tools is the empty text;
//   - a list of chat messages is the last of them, and so is an object with a list
//     of messages, as agents keep their state; there a message may also be a pair
//     of a role and a content;
//   - an object whose only member is a string named content, output, text or
//     answer is that string;
//   - everything else is its canonical JSON (RFC 8785).
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		if isConversation(v) {
			return textOf(v[len(v)-1])
		}
	case map[string]any:
		if text, ok := message(v); ok {
			return text
		}
		if text, ok := wrapped(v); ok {
			return text
		}
		if list, ok := v["messages"].([]any); ok {
			if list = unpaired(list); isConversation(list) {
				return textOf(list[len(list)-1])
			}
		}
	}
	return canonical(v)
}

// message returns the text of a chat message.
func message(v map[string]any) (string, bool) {
	if !isMessage(v) {
		return "", false
	}
	switch content := v["content"].(type) {
	case nil:
		if list, ok := v["parts"].([]any); ok {
			return parts(list)
		}
		_, empty := v["content"]
		_, calls := v["tool_calls"]
		return "", empty || calls
	case string:
		return content, true
	case []any:
		return parts(content)
	default:
		return "", false
	}
}

// isMessage reports whether a value is a message: it has a role, or a type that is
// one where libraries call it so.
func isMessage(v any) bool {
	m, _ := v.(map[string]any)
	if _, ok := m["role"].(string); ok {
		return true
	}
	_, ok := m["content"]
	switch m["type"] {
	case "human", "ai", "system", "tool":
		return ok
	}
	return false
}

func isConversation(list []any) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(e any) bool { return !isMessage(e) })
}

// unpaired is a list of messages in which pairs, such as ["user", "Where?"], have
// become messages.
func unpaired(list []any) []any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = e
		if pair, ok := e.([]any); ok && len(pair) == 2 {
			switch pair[0] {
			case "user", "human", "ai", "assistant", "system":
				out[i] = map[string]any{"role": pair[0], "content": pair[1]}
			}
		}
	}
	return out
}

// parts joins the text parts of a message; images, thoughts and the like are
// not what was answered.
func parts(list []any) (string, bool) {
	var b strings.Builder
	for _, e := range list {
		part, ok := e.(map[string]any)
		if !ok {
			return "", false
		}
		switch part["type"] {
		case nil, "text", "input_text", "output_text":
			text, ok := part["text"].(string)
			if !ok {
				text, _ = part["content"].(string)
			}
			b.WriteString(text)
		}
	}
	return b.String(), true
}

func wrapped(v map[string]any) (string, bool) {
	if len(v) != 1 {
		return "", false
	}
	for _, name := range [...]string{"content", "output", "text", "answer"} {
		if text, ok := v[name].(string); ok {
			return text, true
		}
	}
	return "", false
}

// canonical writes a value as RFC 8785 does. Numbers that it cannot write, as
// they are larger than any float64, stay as they are.
func canonical(v any) string {
	if n, ok := v.(json.Number); ok && len(n) > 400 {
		return string(n)
	}
	text := jsontext.Value(appendPlain(nil, v))
	plain := string(text)
	if err := text.Canonicalize(); err != nil {
		return plain
	}
	return string(text)
}

// How texts are made comparable.
const (
	whitespaceExact    = "exact"
	whitespaceTrim     = "trim"
	whitespaceCollapse = "collapse"

	caseSensitive   = "sensitive"
	caseInsensitive = "insensitive"
)

// normal is how a metric reads texts before it compares them.
type normal struct{ whitespace, letters string }

// apply brings a text into Unicode normal form C, and treats white space and
// letters as asked.
func (n normal) apply(w *work, text string) (string, error) {
	if !w.Spend(costNormalize * int64(len(text))) {
		return "", schema.ErrTooCostly
	}
	text = norm.NFC.String(text)
	if n.letters == caseInsensitive {
		// Folding may leave the normal form, as may what it unfolds to.
		text = norm.NFC.String(cases.Fold().String(text))
	}
	switch n.whitespace {
	case whitespaceTrim:
		text = strings.TrimSpace(text)
	case whitespaceCollapse:
		text = strings.Join(strings.Fields(text), " ")
	}
	return text, nil
}
