package simulated

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// generate is Google's protocol, in which the path names the model.
type generate struct {
	model     string
	streaming bool
}

// generated answers a call whose path is a model and what it is to do.
func (p *Provider) generated(w http.ResponseWriter, r *http.Request) {
	model, do, _ := strings.Cut(r.PathValue("call"), ":")
	d := generate{model: model, streaming: do == "streamGenerateContent"}
	if !d.streaming && do != "generateContent" {
		p.refuse(w, d, &failure{status: http.StatusNotFound, message: "There is no method " + do + " of a model."}, id(p.seed, 0, 0))
		return
	}
	p.complete(w, r, d)
}

func (generate) requestID() string { return "X-Request-Id" }
func (generate) overloaded() int   { return http.StatusServiceUnavailable }

func (generate) key(h http.Header) (string, *failure) {
	key := h.Get("X-Goog-Api-Key")
	if key == "" {
		return "", &failure{status: http.StatusForbidden, message: "The request has no API key: send it in the header x-goog-api-key."}
	}
	return key, nil
}

type generateRequest struct {
	System   generateTurn   `json:"systemInstruction"`
	Contents []generateTurn `json:"contents"`
	Tools    []struct {
		Functions []struct {
			Name   string         `json:"name"`
			Schema jsontext.Value `json:"parametersJsonSchema"`
			Snake  jsontext.Value `json:"parameters_json_schema"` // Google takes both spellings, and its Python client sends this one
			Subset jsontext.Value `json:"parameters"`             // what clients send that know only a part of JSON Schema
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		MaxTokens int            `json:"maxOutputTokens"`
		Stop      []string       `json:"stopSequences"`
		MediaType string         `json:"responseMimeType"`
		Schema    jsontext.Value `json:"responseJsonSchema"`
		Subset    jsontext.Value `json:"responseSchema"`
	} `json:"generationConfig"`
}

type generateTurn struct {
	Role  string `json:"role"`
	Parts []struct {
		Text string `json:"text"`
		Call *struct {
			Name string         `json:"name"`
			Args jsontext.Value `json:"args"`
		} `json:"functionCall"`
		Response *struct {
			Name     string         `json:"name"`
			Response jsontext.Value `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

func (d generate) read(body []byte) (*prompt, *failure) {
	var in generateRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, invalid("The body is not a request in JSON.")
	}
	c := in.Config
	switch {
	case len(in.Contents) == 0:
		return nil, invalid("contents: at least one is required.")
	case (c.Schema.Kind() == '{' || c.Subset.Kind() == '{') && c.MediaType != jsonType:
		return nil, invalid("generationConfig.responseMimeType: a schema needs application/json.")
	case c.Schema.Kind() == '{' && c.Subset.Kind() == '{':
		return nil, invalid("generationConfig: give responseSchema or responseJsonSchema.")
	}
	p := &prompt{model: d.model, max: c.MaxTokens, stop: c.Stop, stream: d.streaming, schema: either(c.Schema, c.Subset)}
	for _, part := range in.System.Parts {
		p.system += part.Text
	}
	for _, t := range in.Contents {
		if t.Role != "" && t.Role != "user" && t.Role != "model" {
			return nil, invalid("contents: the role " + t.Role + " is not one of user and model.")
		}
		if len(t.Parts) == 0 {
			return nil, invalid("contents: parts are required.")
		}
		turns, ok := t.turns()
		if !ok {
			return nil, invalid("contents: a functionResponse has a name and a response that is an object.")
		}
		p.turns = append(p.turns, turns...)
	}
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			if f.Name == "" {
				return nil, invalid("tools: functionDeclarations have a name.")
			}
			p.tools = append(p.tools, tool{f.Name, either(either(f.Schema, f.Snake), f.Subset)})
		}
	}
	p.seal()
	return p, nil
}

// either is the schema that was given, as an object.
func either(a, b jsontext.Value) jsontext.Value {
	if a.Kind() == '{' {
		return a.Clone()
	}
	if b.Kind() == '{' {
		return b.Clone()
	}
	return nil
}

// turns reads a turn as what the other protocols would make of it, so that the same
// conversation has the same hash in all: the results of tools are turns of their own.
func (t generateTurn) turns() ([]turn, bool) {
	said := turn{role: "user"}
	if t.Role == "model" {
		said.role = "assistant"
	}
	var results []turn
	for _, part := range t.Parts {
		switch {
		case part.Response != nil:
			var result struct {
				Output string `json:"output"`
			}
			if part.Response.Name == "" || part.Response.Response.Kind() != '{' {
				return nil, false
			}
			if json.Unmarshal(part.Response.Response, &result) != nil || result.Output == "" {
				result.Output = string(part.Response.Response)
			}
			results = append(results, turn{"tool", result.Output})
		case part.Call != nil:
			said.text += part.Call.Name + string(part.Call.Args)
		default:
			said.text += part.Text
		}
	}
	if said.text != "" || len(results) == 0 {
		results = append(results, said)
	}
	return results, true
}

var generateFinishes = map[finish]string{
	finishStop: "STOP", finishWord: "STOP", finishLength: "MAX_TOKENS", finishTool: "STOP", finishRefusal: "SAFETY", finishFilter: "PROHIBITED_CONTENT",
}

func (d generate) answer(id string, p *prompt, a answer) []byte {
	parts := []object{}
	if a.call != nil {
		parts = append(parts, object{"functionCall": object{"id": a.call.id, "name": a.call.name, "args": a.call.arguments}})
	} else if a.text != "" {
		parts = append(parts, object{"text": a.text})
	}
	return mustJSON(d.reply(id, p, a, parts, generateFinishes[a.finish]))
}

// stream is an answer in pieces, each a reply of its own; the last says why it ended.
func (d generate) stream(id string, p *prompt, a answer) []byte {
	var e events
	if a.call != nil {
		e.add("", d.reply(id, p, a, []object{{"functionCall": object{"id": a.call.id, "name": a.call.name, "args": a.call.arguments}}}, ""))
	} else {
		for _, piece := range pieces(a.text) {
			e.add("", d.reply(id, p, a, []object{{"text": piece}}, ""))
		}
	}
	e.add("", d.reply(id, p, a, []object{{"text": ""}}, generateFinishes[a.finish]))
	return e.text
}

func (generate) reply(id string, p *prompt, a answer, parts []object, finish string) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return object{
		"responseId": id, "modelVersion": p.model, "candidates": []object{candidate},
		"usageMetadata": object{
			"promptTokenCount": a.input, "cachedContentTokenCount": a.cached, "candidatesTokenCount": a.output - a.reasoning,
			"thoughtsTokenCount": a.reasoning, "totalTokenCount": a.input + a.output,
		},
	}
}

var generateStatuses = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 413: "INVALID_ARGUMENT",
	429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}

func (generate) failure(f *failure, _ string) []byte {
	status := generateStatuses[f.status]
	if status == "" {
		status = "UNKNOWN"
	}
	return mustJSON(object{"error": object{"code": f.status, "message": f.message, "status": status}})
}
