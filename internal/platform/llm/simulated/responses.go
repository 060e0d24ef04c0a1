package simulated

import (
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// responses is OpenAI's responses. Headers and errors are those of its chat.
type responses struct{ chat }

type responsesRequest struct {
	Model        string         `json:"model"`
	Instructions jsontext.Value `json:"instructions"`
	Input        jsontext.Value `json:"input"`
	Tools        []struct {
		Type       string         `json:"type"`
		Name       string         `json:"name"`
		Parameters jsontext.Value `json:"parameters"`
	} `json:"tools"`
	Text struct {
		Format struct {
			Type   string         `json:"type"`
			Name   string         `json:"name"`
			Schema jsontext.Value `json:"schema"`
		} `json:"format"`
	} `json:"text"`
	MaxOutputTokens int  `json:"max_output_tokens"`
	Stream          bool `json:"stream"`
}

// responsesItem is an element of an input: a message, a call of a function, or
// what it gave.
type responsesItem struct {
	Type      string         `json:"type"`
	Role      string         `json:"role"`
	Content   jsontext.Value `json:"content"`
	Name      string         `json:"name"`
	Arguments string         `json:"arguments"`
	Output    jsontext.Value `json:"output"`
}

func (responses) read(body []byte) (*prompt, *failure) {
	var in responsesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, invalid("The body is not a request in JSON.")
	}
	system, ok := words(in.Instructions)
	switch format := in.Text.Format; {
	case in.Model == "":
		return nil, invalid("model is missing.")
	case !ok:
		return nil, invalid("instructions is not text.")
	case in.Input.Kind() != '"' && in.Input.Kind() != '[':
		return nil, invalid("input is missing: send text or a list of items.")
	case format.Type == "json_schema" && (format.Name == "" || format.Schema.Kind() != '{'):
		return nil, invalid("text.format has no name or no schema.")
	}
	p := &prompt{model: in.Model, system: system, max: in.MaxOutputTokens, stream: in.Stream}
	switch in.Text.Format.Type {
	case "json_schema":
		p.schema = in.Text.Format.Schema.Clone()
	case "json_object":
		p.schema = jsontext.Value(`{"type":"object"}`)
	}
	if bad := p.addItems(in.Input); bad != nil {
		return nil, bad
	}
	for _, t := range in.Tools {
		if t.Type == "function" { // the others are the provider's own
			p.tools = append(p.tools, tool{t.Name, t.Parameters.Clone()})
		}
	}
	p.seal()
	return p, nil
}

// addItems reads an input as what the chat would make of it, so that the same
// conversation has the same hash in both.
func (p *prompt) addItems(input jsontext.Value) *failure {
	if text, ok := words(input); ok && input.Kind() == '"' {
		p.turns = append(p.turns, turn{"user", text})
		return nil
	}
	var items []responsesItem
	if json.Unmarshal(input, &items) != nil || len(items) == 0 {
		return invalid("input is neither text nor a list of items.")
	}
	for _, item := range items {
		content, ok := words(item.Content)
		result, fine := words(item.Output)
		if !ok || !fine {
			return invalid("The content of an item is neither text nor a list of parts.")
		}
		switch {
		case item.Type == "function_call":
			p.turns = append(p.turns, turn{"assistant", item.Name + item.Arguments})
		case item.Type == "function_call_output":
			p.turns = append(p.turns, turn{"tool", result})
		case item.Type != "" && item.Type != "message": // reasoning and the like have no words
		case item.Role == "system", item.Role == "developer":
			p.system += content
		case item.Role == "user", item.Role == "assistant":
			p.turns = append(p.turns, turn{item.Role, content})
		default:
			return invalid("A message has the role " + item.Role + ": use system, developer, user or assistant.")
		}
	}
	return nil
}

func (responses) answer(id string, p *prompt, a answer) []byte { return mustJSON(response(id, p, a)) }

// response is the answer as OpenAI writes it.
func response(id string, p *prompt, a answer) object {
	status, incomplete := "completed", any(nil)
	switch a.finish {
	case finishLength:
		status, incomplete = "incomplete", object{"reason": "max_output_tokens"}
	case finishFilter:
		status, incomplete = "incomplete", object{"reason": "content_filter"}
	}
	return object{
		"id": "resp_" + id, "object": "response", "created_at": created(), "status": status, "model": p.model, "error": nil,
		"incomplete_details": incomplete, "instructions": nil, "metadata": object{}, "output": []object{output(id, a)}, "parallel_tool_calls": true,
		"temperature": 1.0, "tool_choice": "auto", "tools": []object{}, "top_p": 1.0,
		"usage": object{
			"input_tokens": a.input, "input_tokens_details": object{"cached_tokens": a.cached},
			"output_tokens": a.output, "output_tokens_details": object{"reasoning_tokens": a.reasoning}, "total_tokens": a.input + a.output,
		},
	}
}

// output is the one item of an answer.
func output(id string, a answer) object {
	if a.call != nil {
		return object{
			"type": "function_call", "id": "fc_" + id, "call_id": a.call.id, "name": a.call.name, "arguments": string(a.call.arguments), "status": "completed",
		}
	}
	part := object{"type": "output_text", "text": a.text, "annotations": []object{}, "logprobs": []object{}}
	if a.finish == finishRefusal {
		part = object{"type": "refusal", "refusal": a.text}
	}
	return object{"type": "message", "id": "msg_" + id, "role": "assistant", "status": "completed", "content": []object{part}}
}

// with is a copy of an object in which some members are others.
func with(o, changed object) object {
	out := maps.Clone(o)
	maps.Copy(out, changed)
	return out
}

// stream is the answer in pieces.
func (responses) stream(id string, p *prompt, a answer) []byte {
	whole, item := response(id, p, a), output(id, a)
	var e events
	n := 0
	add := func(name string, fields object) {
		e.add(name, with(fields, object{"type": name, "sequence_number": n}))
		n++
	}
	begun := with(whole, object{"status": "in_progress", "output": []object{}, "usage": nil})
	add("response.created", object{"response": begun})
	add("response.in_progress", object{"response": begun})
	at := object{"output_index": 0, "item_id": item["id"]}
	if a.call != nil {
		add("response.output_item.added", object{"output_index": 0, "item": with(item, object{"arguments": "", "status": "in_progress"})})
		add("response.function_call_arguments.delta", with(at, object{"delta": item["arguments"]}))
		add("response.function_call_arguments.done", with(at, object{"arguments": item["arguments"], "name": a.call.name}))
	} else {
		at["content_index"] = 0
		part := item["content"].([]object)[0]
		kind, name := "output_text", "text"
		if a.finish == finishRefusal {
			kind, name = "refusal", "refusal"
		}
		add("response.output_item.added", object{"output_index": 0, "item": with(item, object{"content": []object{}, "status": "in_progress"})})
		add("response.content_part.added", with(at, object{"part": with(part, object{name: ""})}))
		for _, piece := range pieces(a.text) {
			add("response."+kind+".delta", with(at, object{"delta": piece, "logprobs": []object{}}))
		}
		add("response."+kind+".done", with(at, object{name: a.text, "logprobs": []object{}}))
		add("response.content_part.done", with(at, object{"part": part}))
	}
	add("response.output_item.done", object{"output_index": 0, "item": item})
	add("response."+whole["status"].(string), object{"response": whole})
	return e.text
}
