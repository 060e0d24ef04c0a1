package trace

import "bytes"

// liftEvent reads an event of the span whose meaning a convention fixes. It
// returns true if the event is kept elsewhere.
func (r *row) liftEvent(e *event) bool {
	if !hasPrefix(e.name, "gen_ai.") {
		r.firstChunk(e)
		return false
	}
	switch string(e.name) {
	case "gen_ai.system.message":
		return r.messageEvent(listEventInput, "system", e)
	case "gen_ai.user.message":
		return r.messageEvent(listEventInput, "user", e)
	case "gen_ai.assistant.message":
		return r.messageEvent(listEventInput, "assistant", e)
	case "gen_ai.tool.message":
		return r.messageEvent(listEventInput, "tool", e)
	case "gen_ai.choice":
		return r.messageEvent(listEventOutput, "assistant", e)
	case "gen_ai.content.prompt", "gen_ai.content.completion", "gen_ai.client.inference.operation.details":
		return r.detailsEvent(e)
	case "gen_ai.content.completion.chunk":
		r.firstChunk(e)
	}
	return false
}

// firstChunk takes the time of the first token from the event that marks it.
func (r *row) firstChunk(e *event) {
	switch string(e.name) {
	case "ai.stream.firstChunk", "First Token Stream Event", "llm.content.completion.chunk", "gen_ai.content.completion.chunk":
		if k := r.know(); k.firstTokenAt == 0 {
			k.firstTokenAt = int64(e.nano / 1000)
		}
	}
}

// detailsEvent reads an event whose attributes are the span's own: what the
// span does not hold already moves there, and nothing is left of the event.
func (r *row) detailsEvent(e *event) bool {
	k, before, readable := r.know(), len(r.attrs), true
	err := eachMessage(e.src, 3, func(kv []byte) error {
		key, v, err := keyValue(kv)
		if err != nil || r.lift(key, &v) || len(r.attrs) >= maxAttributes || k.moved >= maxAttributes {
			return err
		}
		k.moved++
		for i := range r.attrs {
			if bytes.Equal(r.attrs[i].key, key) {
				return nil
			}
		}
		text, json, ok := r.sent(&v)
		if ok {
			r.attrs = append(r.attrs, attr{key: key, value: text, json: json})
		}
		readable = readable && (ok || v.kind == valueText || v.kind == valueEmpty)
		return nil
	})
	if err != nil || !readable {
		r.attrs = r.attrs[:before]
		return false
	}
	return true
}

// messageEvent makes an element of a list of messages from an event. Its
// fields are attributes, or stand in gen_ai.event.content as JSON.
func (r *row) messageEvent(l list, role string, e *event) bool {
	k := r.know()
	if k.counts[l] >= maxIndex || len(k.parts) >= maxParts {
		return false
	}
	var said []byte // the role that the event itself names
	var whole []byte
	err := eachMessage(e.src, 3, func(kv []byte) error {
		key, v, err := keyValue(kv)
		if err == nil && v.kind == valueText {
			switch string(key) {
			case "role":
				said = v.text
			case "gen_ai.event.content":
				whole = v.text
			}
		}
		return err
	})
	if err != nil {
		return false
	}
	b, err := appendMessageEvent(r.scratch.open(), e.src, role, said, whole)
	if err != nil {
		return false
	}
	k.addPart(part(l)<<listShift|part(k.counts[l])<<indexShift|part(fieldRaw)<<fieldShift, r.scratch.close(b), true)
	k.counts[l]++
	return true
}

// appendMessageEvent appends a message as a JSON object.
func appendMessageEvent(b, src []byte, role string, said, whole []byte) ([]byte, error) {
	if at := jsonSpace(whole, 0); at < len(whole) && whole[at] == '{' && jsonValid(whole) {
		whole = whole[at:]
		for w := walkJSON(whole, 0); w.next(); w.skip() {
			if string(w.key) == "role" {
				return append(b, whole...), nil
			}
		}
		b = appendRole(b, role, said)
		if rest := jsonSpace(whole, 1); whole[rest] != '}' {
			b = append(b, ',')
		}
		return append(b, whole[1:]...), nil
	}
	b = appendRole(b, role, said)
	err := eachMessage(src, 3, func(kv []byte) error {
		key, v, err := keyValue(kv)
		if err != nil {
			return err
		}
		switch string(key) {
		case "role", "gen_ai.system", "gen_ai.provider.name", "event.name":
			return nil
		case "gen_ai.event.content":
			key = contentKey
		case "message":
			// A choice's message is an object with its content, or the content.
			if at := jsonSpace(v.text, 0); v.kind == valueText && (at >= len(v.text) || v.text[at] != '{') {
				key = contentKey
			}
		}
		b = append(appendJSONString(append(b, ','), key), ':')
		if v.kind == valueText {
			if at := jsonSpace(v.text, 0); at < len(v.text) && (v.text[at] == '{' || v.text[at] == '[') && jsonValid(v.text) {
				b = append(b, v.text...)
				return nil
			}
		}
		b, err = appendValue(b, &v, 0)
		return err
	})
	return append(b, '}'), err
}

var contentKey = []byte("content")

// appendRole opens a message.
func appendRole(b []byte, role string, said []byte) []byte {
	b = append(b, `{"role":`...)
	if len(said) > 0 {
		return appendJSONString(b, said)
	}
	return append(append(append(b, '"'), role...), '"')
}
