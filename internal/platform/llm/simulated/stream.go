package simulated

import (
	"net/http"
	"strings"
)

// streamType is the type of an answer that comes in events.
const streamType = "text/event-stream; charset=utf-8"

// events are an answer in pieces: server-sent events, as text.
type events struct{ text []byte }

// add writes an event. Those of OpenAI's chat have no name.
func (e *events) add(name string, data any) {
	if name != "" {
		e.text = append(append(append(e.text, "event: "...), name...), '\n')
	}
	e.text = append(append(append(e.text, "data: "...), mustJSON(data)...), "\n\n"...)
}

// pieces are the words of a text, each with the space behind it.
func pieces(text string) []string {
	var out []string
	for len(text) > 0 {
		n := strings.IndexByte(text, ' ') + 1
		if n == 0 {
			n = len(text)
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// stream is an answer of the chat in pieces.
func (chat) stream(id string, p *prompt, a answer) []byte {
	var e events
	created := created()
	chunk := func(choices []object, usage any) {
		out := object{"id": "chatcmpl-" + id, "object": "chat.completion.chunk", "created": created, "model": p.model, "choices": choices}
		if p.usage {
			out["usage"] = usage // null in all but the last
		}
		e.add("", out)
	}
	delta := func(delta object, finish any) {
		chunk([]object{{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}, nil)
	}
	delta(object{"role": "assistant", "content": ""}, nil)
	switch {
	case a.finish == finishRefusal:
		delta(object{"refusal": a.text}, nil)
	case a.call != nil:
		call := object{"name": a.call.name, "arguments": string(a.call.arguments)}
		delta(object{"tool_calls": []object{{"index": 0, "id": a.call.id, "type": "function", "function": call}}}, nil)
	default:
		for _, piece := range pieces(a.text) {
			delta(object{"content": piece}, nil)
		}
	}
	delta(object{}, chatFinishes[a.finish])
	if p.usage {
		chunk([]object{}, chatUsageOf(a))
	}
	return append(e.text, "data: [DONE]\n\n"...)
}

// stream is an answer of Anthropic's in pieces.
func (m messages) stream(id string, p *prompt, a answer) []byte {
	whole := m.reply(id, p, a)
	var e events
	begun := whole
	begun.Content, begun.StopReason, begun.StopSequence, begun.Usage.Output = []messagesBlock{}, nil, nil, 1
	e.add("message_start", object{"type": "message_start", "message": begun})
	for i, block := range whole.Content {
		add := func(delta object) {
			e.add("content_block_delta", object{"type": "content_block_delta", "index": i, "delta": delta})
		}
		empty, first := "", block
		if block.Text != nil {
			first.Text = &empty
		} else {
			first.Input = []byte(`{}`)
		}
		e.add("content_block_start", object{"type": "content_block_start", "index": i, "content_block": first})
		if block.Text != nil {
			for _, piece := range pieces(*block.Text) {
				add(object{"type": "text_delta", "text": piece})
			}
		} else {
			add(object{"type": "input_json_delta", "partial_json": string(block.Input)})
		}
		e.add("content_block_stop", object{"type": "content_block_stop", "index": i})
	}
	e.add("message_delta", object{
		"type": "message_delta", "delta": object{"stop_reason": whole.StopReason, "stop_sequence": whole.StopSequence},
		"usage": object{"output_tokens": whole.Usage.Output},
	})
	e.add("message_stop", object{"type": "message_stop"})
	return e.text
}

// contentType is the type of the body that is written: what was set before, or
// JSON.
func contentType(w http.ResponseWriter) string {
	if set := w.Header().Get("Content-Type"); set != "" {
		return set
	}
	return jsonType
}
