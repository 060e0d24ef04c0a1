package span

import (
	"github.com/assayhq/assay/internal/telemetry/span/payload"
)

// appendElements appends sorted parts of one list as a JSON list. Messages
// without a role get the one that is given.
func (k *meaning) appendElements(b []byte, parts []part, role string) []byte {
	b = append(b, '[')
	for i := 0; len(parts) > 0; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		n := 1
		for n < len(parts) && parts[n].index() == parts[0].index() {
			n++
		}
		b = k.appendElement(b, parts[:n], role)
		parts = parts[n:]
	}
	return append(b, ']')
}

func (k *meaning) appendElement(b []byte, parts []part, role string) []byte {
	switch first := parts[0]; {
	case first.field() == fieldRaw:
		return append(b, k.texts[first.text()].text...)
	case first.field() == fieldSchema && len(parts) == 1:
		// A tool that is nothing but its definition is that definition.
		return k.texts[first.text()].appendEmbedded(b)
	case role != "" && first.field() != fieldRole:
		b = append(AppendJSONString(append(b, `{"role":`...), []byte(role)), ',')
	default:
		b = append(b, '{')
	}
	hasContent := false
	for i := 0; len(parts) > 0; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		g, n := parts[0].group(), 1
		for g != groupFirst && g != groupLast && n < len(parts) && parts[n].group() == g {
			n++
		}
		switch g {
		case groupContents:
			name := member[fieldContent]
			if hasContent {
				name = `"contents":`
			}
			b = k.appendInner(append(b, name...), parts[:n])
		case groupFunction:
			b = k.appendFields(append(b, `"function_call":`...), parts[:n])
		case groupCalls:
			b = k.appendInner(append(b, `"tool_calls":`...), parts[:n])
		default:
			hasContent = hasContent || parts[0].field() == fieldContent
			b = k.appendField(b, parts[0])
		}
		parts = parts[n:]
	}
	return append(b, '}')
}

// appendInner appends a list within a message.
func (k *meaning) appendInner(b []byte, parts []part) []byte {
	b = append(b, '[')
	for i := 0; len(parts) > 0; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		n := 1
		for n < len(parts) && parts[n].inner() == parts[0].inner() {
			n++
		}
		if parts[0].group() == groupCalls {
			b = k.appendCall(b, parts[:n])
		} else {
			b = k.appendFields(b, parts[:n])
		}
		parts = parts[n:]
	}
	return append(b, ']')
}

// appendCall appends a call of a tool in the form that most providers use.
func (k *meaning) appendCall(b []byte, parts []part) []byte {
	b = append(b, '{')
	if parts[0].field() == fieldID {
		b = append(k.appendField(b, parts[0]), ',')
		parts = parts[1:]
	}
	b = append(b, `"type":"function","function":`...)
	return append(k.appendFields(b, parts), '}')
}

func (k *meaning) appendFields(b []byte, parts []part) []byte {
	b = append(b, '{')
	for i, p := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = k.appendField(b, p)
	}
	return append(b, '}')
}

func (k *meaning) appendField(b []byte, p part) []byte {
	f, t := p.field(), &k.texts[p.text()]
	b = append(b, member[f]...)
	switch f {
	case fieldMetadata, fieldSchema, fieldParameters:
		return t.appendEmbedded(b)
	case fieldContent:
		// OpenLLMetry sends content that has several parts as JSON in a text.
		if hasPrefix(t.text, `[{"type":`) {
			return t.appendEmbedded(b)
		}
	}
	return t.append(b)
}

func (t *partText) append(b []byte) []byte {
	if t.json {
		return append(b, t.text...)
	}
	return AppendJSONString(b, t.text)
}

// appendEmbedded appends a text that is JSON as JSON.
func (t *partText) appendEmbedded(b []byte) []byte {
	if !t.json && payload.Valid(t.text) {
		return append(b, t.text...)
	}
	return t.append(b)
}

// appendReply appends an answer whose text and calls were sent apart as the
// one message that it is.
func appendReply(b []byte, text, calls *candidate) []byte {
	b = append(b, `[{"role":"assistant"`...)
	if text.form != absent {
		b = append(b, `,"content":`...)
		b = appendPayload(b, text)
	}
	if calls.form != absent {
		b = append(b, `,"tool_calls":`...)
		if calls.json || payload.Valid(calls.text) {
			b = appendCalls(b, calls.text)
		} else {
			b = AppendJSONString(b, calls.text)
		}
	}
	return append(b, `}]`...)
}

// appendCalls appends calls of tools in the form that most providers use; the AI
// SDK has names of its own. Calls in any other form stay as they are.
func appendCalls(b, calls []byte) []byte {
	at := payload.SkipSpace(calls, 0)
	if at >= len(calls) || calls[at] != '[' {
		return append(b, calls...)
	}
	mark := len(b)
	b = append(b, '[')
	for w := payload.Walk(calls, at); w.Next(); w.Skip() {
		id, name, arguments := []byte(nil), []byte(nil), []byte("null")
		if calls[w.At] == '{' {
			for m := payload.Walk(calls, w.At); m.Next(); m.Skip() {
				value := calls[m.At:payload.ValueEnd(calls, m.At)]
				switch string(m.Key) {
				case "toolCallId":
					id = value
				case "toolName":
					name = value
				case "input", "args":
					arguments = value
				}
			}
		}
		if name == nil {
			return append(b[:mark], calls...)
		}
		if len(b) > mark+1 {
			b = append(b, ',')
		}
		b = append(b, '{')
		if id != nil {
			b = append(append(append(b, `"id":`...), id...), ',')
		}
		b = append(append(b, `"type":"function","function":{"name":`...), name...)
		b = append(append(append(b, `,"arguments":`...), arguments...), '}', '}')
	}
	return append(b, ']')
}

func appendPayload(b []byte, p *candidate) []byte {
	if p.json {
		return append(b, p.text...)
	}
	return AppendJSONString(b, p.text)
}
