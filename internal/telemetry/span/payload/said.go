package payload

import "bytes"

// This file finds the question and the answer in payloads. It is used when a
// trace is read, not when spans arrive, and may allocate.

// Question is what a model was asked in an input: the last message of a user, as
// text if it is nothing but text, else as a list of one message. An input in
// which no user speaks is returned as it is.
func Question(input []byte) (out []byte, text bool) {
	m := findMessages(input)
	if m.user < 0 {
		return input, false
	}
	return m.question(input)
}

// Request is what an agent or a workflow was asked. Some record the whole
// conversation as their input, with what came after the question: that is cut
// off. If nothing was said before the question, the question is all there is. Of
// a function with one argument it is the argument.
func Request(input []byte) (out []byte, text bool) {
	m := findMessages(input)
	switch {
	case m.user < 0:
		return argument(input)
	case !m.earlier:
		return m.question(input)
	case m.last == m.user:
		return input, false
	default:
		return listOf(input[m.first:m.userEnd]), false
	}
}

// argument is what a function was given that has one argument, and the prompt
// that the AI SDK was given. Any other input is returned as it is.
func argument(input []byte) (out []byte, text bool) {
	at := SkipSpace(input, 0)
	if at >= len(input) || input[at] != '{' || !Valid(input) {
		return input, false
	}
	value := -1
	for w := Walk(input, at); w.Next(); w.Skip() {
		if empty(input, w.At) {
			continue
		}
		in := -1
		switch string(w.Key) {
		case "system":
			continue
		case "prompt":
			in = w.At
		case "args", "kwargs":
			in = only(input, w.At)
		}
		if in < 0 || value >= 0 {
			return input, false
		}
		value = in
	}
	if value < 0 {
		return input, false
	}
	end := ValueEnd(input, value)
	if input[value] == '"' {
		return AppendUnescaped(nil, input[value+1:end-1]), true
	}
	return input[value:end], false
}

// only is where the only element of the list or object at i is, or -1.
func only(b []byte, i int) int {
	if b[i] != '[' && b[i] != '{' {
		return -1
	}
	at := -1
	for w := Walk(b, i); w.Next(); w.Skip() {
		if at >= 0 {
			return -1
		}
		at = w.At
	}
	return at
}

// Answer is what came out: the text of the last message if a model wrote it and
// it is nothing but text. Any other output is returned as it is.
func Answer(output []byte) (out []byte, text bool) {
	m := findMessages(output)
	if m.last < 0 || m.lastRole != roleAssistant {
		return output, false
	}
	if said, ok := messageText(output, m.last, 0); ok {
		return said, true
	}
	return output, false
}

// messages is where in a payload someone speaks; positions are -1 if nobody does.
type messages struct {
	first, last   int
	lastRole      role
	user, userEnd int  // the last message of a user
	earlier       bool // a user or a model spoke before
}

// findMessages goes through the messages of a payload.
func findMessages(b []byte) messages {
	m := messages{first: -1, last: -1, user: -1}
	s := findLayout(b)
	if s.shape != shapeMessages {
		return m
	}
	m.first = s.first
	spoken := false
	for i := s.first; i >= 0 && i < len(b); {
		who, end := roleNone, ValueEnd(b, i)
		switch b[i] {
		case '{':
			who, end = roleOf(b, i, 0)
		case '[':
			who, _, _ = pair(b, i)
		}
		if end < 0 {
			break
		}
		if who != roleNone {
			m.last, m.lastRole = i, who
		}
		if who == roleUser {
			m.user, m.userEnd, m.earlier = i, end, spoken
		}
		spoken = spoken || who == roleUser || who == roleAssistant
		if i = SkipSpace(b, end); i >= len(b) || b[i] != ',' {
			break
		}
		i = SkipSpace(b, i+1)
	}
	return m
}

func (m *messages) question(b []byte) (out []byte, text bool) {
	if said, ok := messageText(b, m.user, 0); ok {
		return said, true
	}
	return listOf(b[m.user:m.userEnd]), false
}

// listOf is a list of elements that are written one after another.
func listOf(elements []byte) []byte {
	return append(append([]byte{'['}, elements...), ']')
}

// messageText is the text of the message that begins at i; ok is false if there
// is none, or more than text.
func messageText(b []byte, i, depth int) (text []byte, ok bool) {
	if b[i] == '[' {
		_, content, _ := pair(b, i)
		text, ok = contentText(nil, b, content, depth)
		return text, ok && len(text) > 0
	}
	ok = true
	for w := Walk(b, i); w.Next() && ok; w.Skip() {
		switch string(w.Key) {
		case "content", "parts", "text", "message.content", "contents", "message.contents":
			text, ok = contentText(text, b, w.At, depth)
		case "message", "kwargs", "data":
			if b[w.At] == '{' && depth < 2 {
				var in []byte
				if in, ok = messageText(b, w.At, depth+1); ok {
					text = line(text, in)
				}
			}
		case "tool_calls", "toolCalls", "function_call", "refusal":
			ok = empty(b, w.At)
		}
	}
	return text, ok && len(text) > 0
}

// contentText adds the text of a message's content: a text, or a list of parts.
func contentText(text, b []byte, i, depth int) ([]byte, bool) {
	switch b[i] {
	case '"':
		end := StringEnd(b, i)
		if end < 0 {
			return text, false
		}
		return line(text, AppendUnescaped(nil, b[i+1:end-1])), true
	case '[':
		for w := Walk(b, i); w.Next(); w.Skip() {
			ok := false
			switch {
			case b[w.At] == '"':
				text, ok = contentText(text, b, w.At, depth)
			case b[w.At] == '{' && isText(b, w.At):
				var in []byte
				if in, ok = messageText(b, w.At, 2); ok {
					text = line(text, in)
				}
			case b[w.At] == '{':
				// What a model thought is not what it said.
				ok = typeOf(b, w.At) == "reasoning" || typeOf(b, w.At) == "thinking"
			}
			if !ok {
				return text, false
			}
		}
		return text, true
	case '{': // Gemini's candidates hold {"parts": […]}
		if depth < 2 {
			in, ok := messageText(b, i, depth+1)
			return line(text, in), ok
		}
		return text, false
	default:
		return text, empty(b, i)
	}
}

// isText reports whether the part of a message that begins at i is text.
func isText(b []byte, i int) bool {
	switch typeOf(b, i) {
	case "", "text", "input_text", "output_text":
		return true
	default:
		return false
	}
}

// typeOf is the type that the object at i names.
func typeOf(b []byte, i int) string {
	for w := Walk(b, i); w.Next(); w.Skip() {
		if key := string(w.Key); (key == "type" || key == "message_content.type") && b[w.At] == '"' {
			if end := StringEnd(b, w.At); end > 0 {
				return string(b[w.At+1 : end-1])
			}
		}
	}
	return ""
}

// empty reports whether the value at i says nothing.
func empty(b []byte, i int) bool {
	end := ValueEnd(b, i)
	if end < 0 {
		return false
	}
	switch string(b[i:end]) {
	case "null", `""`, "[]", "{}":
		return true
	default:
		return false
	}
}

// line adds a text on a line of its own. LangChain says every answer twice.
func line(text, more []byte) []byte {
	if bytes.Equal(text, more) {
		return text
	}
	if len(text) > 0 && len(more) > 0 {
		text = append(text, '\n')
	}
	return append(text, more...)
}
