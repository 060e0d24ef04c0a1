package span

import (
	"bytes"

	"github.com/assayhq/assay/internal/telemetry/span/payload"
)

// liftEvent reads an event of the span whose meaning a convention fixes. It
// returns true if the event is kept elsewhere.
func (r *Record) liftEvent(e *event) bool {
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
func (r *Record) firstChunk(e *event) {
	switch string(e.name) {
	case "ai.stream.firstChunk", "First Token Stream Event", "llm.content.completion.chunk", "gen_ai.content.completion.chunk":
		if k := r.meaning(); k.firstTokenAt == 0 {
			k.firstTokenAt = int64(e.nano / 1000)
		}
	}
}

// detailsEvent reads an event whose attributes are the span's own: what the
// span does not hold already moves there, and nothing is left of the event.
func (r *Record) detailsEvent(e *event) bool {
	k, before, readable := r.meaning(), len(r.Attributes), true
	err := eachMessage(e.src, 3, func(kv []byte) error {
		key, v, err := keyValue(kv)
		if err != nil || r.lift(key, &v) || len(r.Attributes) >= maxAttributes || k.moved >= maxAttributes {
			return err
		}
		k.moved++
		for i := range r.Attributes {
			if bytes.Equal(r.Attributes[i].Key, key) {
				return nil
			}
		}
		text, json, ok := r.sent(&v)
		if ok {
			r.Attributes = append(r.Attributes, Attribute{Key: key, Value: text, JSON: json})
		}
		readable = readable && (ok || v.kind == valueText || v.kind == valueEmpty)
		return nil
	})
	if err != nil || !readable {
		r.Attributes = r.Attributes[:before]
		return false
	}
	return true
}

// messageEvent makes an element of a list of messages from an event. Its
// fields are attributes, or stand in gen_ai.event.content as JSON.
func (r *Record) messageEvent(l list, role string, e *event) bool {
	k := r.meaning()
	if k.counts[l] >= maxIndex || len(k.parts) >= maxParts {
		return false
	}
	var own []byte // the role that the event itself names
	var whole []byte
	err := eachMessage(e.src, 3, func(kv []byte) error {
		key, v, err := keyValue(kv)
		if err == nil && v.kind == valueText {
			switch string(key) {
			case "role":
				own = v.text
			case "gen_ai.event.content":
				whole = v.text
			}
		}
		return err
	})
	if err != nil {
		return false
	}
	b, err := appendMessageEvent(r.scratch.open(), e.src, role, own, whole)
	if err != nil {
		return false
	}
	k.addPart(part(l)<<listShift|part(k.counts[l])<<indexShift|part(fieldRaw)<<fieldShift, r.scratch.close(b), true)
	k.counts[l]++
	return true
}

// appendMessageEvent appends a message as a JSON object.
func appendMessageEvent(b, src []byte, role string, own, whole []byte) ([]byte, error) {
	if at := payload.SkipSpace(whole, 0); at < len(whole) && whole[at] == '{' && payload.Valid(whole) {
		whole = whole[at:]
		for w := payload.Walk(whole, 0); w.Next(); w.Skip() {
			if string(w.Key) == "role" {
				return append(b, whole...), nil
			}
		}
		b = appendRole(b, role, own)
		if rest := payload.SkipSpace(whole, 1); whole[rest] != '}' {
			b = append(b, ',')
		}
		return append(b, whole[1:]...), nil
	}
	b = appendRole(b, role, own)
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
			if at := payload.SkipSpace(v.text, 0); v.kind == valueText && (at >= len(v.text) || v.text[at] != '{') {
				key = contentKey
			}
		}
		b = append(AppendJSONString(append(b, ','), key), ':')
		if v.kind == valueText {
			if at := payload.SkipSpace(v.text, 0); at < len(v.text) && (v.text[at] == '{' || v.text[at] == '[') && payload.Valid(v.text) {
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
func appendRole(b []byte, role string, own []byte) []byte {
	b = append(b, `{"role":`...)
	if len(own) > 0 {
		return AppendJSONString(b, own)
	}
	return append(append(append(b, '"'), role...), '"')
}
