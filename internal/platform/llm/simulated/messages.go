package simulated

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// messages is Anthropic's protocol.
type messages struct{}

func (messages) requestID() string { return "Request-Id" }
func (messages) overloaded() int   { return 529 }

func (messages) key(h http.Header) (string, *failure) {
	key := h.Get("X-Api-Key")
	if key == "" {
		key, _ = strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	}
	if key == "" {
		return "", &failure{status: http.StatusUnauthorized, message: "x-api-key: the header is required, or Authorization as Bearer KEY."}
	}
	if h.Get("Anthropic-Version") == "" {
		return "", invalid("anthropic-version: the header is required.")
	}
	return key, nil
}

type messagesRequest struct {
	Model     string         `json:"model"`
	MaxTokens int            `json:"max_tokens"`
	System    jsontext.Value `json:"system"`
	Messages  []struct {
		Role    string         `json:"role"`
		Content jsontext.Value `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string         `json:"name"`
		InputSchema jsontext.Value `json:"input_schema"`
	} `json:"tools"`
	OutputConfig struct {
		Format struct {
			Type   string         `json:"type"`
			Schema jsontext.Value `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
	StopSequences []string `json:"stop_sequences"`
	Stream        bool     `json:"stream"`
}

func (messages) read(body []byte) (*prompt, *failure) {
	var in messagesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, invalid("The body is not a request in JSON.")
	}
	system, ok := words(in.System)
	format := in.OutputConfig.Format
	switch {
	case in.Model == "":
		return nil, invalid("model: the field is required.")
	case in.MaxTokens < 1:
		return nil, invalid("max_tokens: the field is required and at least 1.")
	case !ok:
		return nil, invalid("system: give text, or a list of text blocks.")
	case len(in.Messages) == 0:
		return nil, invalid("messages: at least one is required.")
	case format.Type != "" && (format.Type != "json_schema" || format.Schema.Kind() != '{'):
		return nil, invalid("output_config.format: give the type json_schema and a schema.")
	}
	if word := unheeded(parsed(format.Schema)); format.Type != "" && word != "" {
		return nil, invalid("output_config.format.schema: the property '" + word + "' is not supported.")
	}
	p := &prompt{model: in.Model, system: system, max: in.MaxTokens, stop: in.StopSequences, schema: in.OutputConfig.Format.Schema.Clone(), stream: in.Stream}
	for _, m := range in.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			return nil, invalid("messages: the role " + m.Role + " is not one of user and assistant.")
		}
		turns, ok := blocks(m.Role, m.Content)
		if !ok {
			return nil, invalid("messages: content is text, or a list of blocks, and not empty.")
		}
		p.turns = append(p.turns, turns...)
	}
	for _, t := range in.Tools {
		if t.Name == "" || t.InputSchema.Kind() != '{' {
			return nil, invalid("tools: name and input_schema are required.")
		}
		p.tools = append(p.tools, tool{t.Name, t.InputSchema.Clone()})
	}
	p.seal()
	return p, nil
}

// blocks reads a turn as what the other protocol would make of it, so that the
// same conversation has the same hash in both: the results of tools are turns
// of their own.
func blocks(role string, content jsontext.Value) ([]turn, bool) {
	if content.Kind() != '[' {
		text, ok := words(content)
		return []turn{{role, text}}, ok && text != ""
	}
	var list []struct {
		Type    string         `json:"type"`
		Text    string         `json:"text"`
		Name    string         `json:"name"`
		Input   jsontext.Value `json:"input"`
		Content jsontext.Value `json:"content"`
	}
	if json.Unmarshal(content, &list) != nil || len(list) == 0 {
		return nil, false
	}
	var results []turn
	said := turn{role: role}
	for _, b := range list {
		switch b.Type {
		case "text":
			said.text += b.Text
		case "tool_use":
			said.text += b.Name + string(b.Input)
		case "tool_result":
			text, _ := words(b.Content)
			results = append(results, turn{"tool", text})
		}
	}
	if said.text != "" || len(results) == 0 {
		results = append(results, said)
	}
	return results, true
}

type messagesReply struct {
	ID           string          `json:"id"`
	Type         string          `json:"type"`
	Role         string          `json:"role"`
	Model        string          `json:"model"`
	Content      []messagesBlock `json:"content"`
	StopReason   *string         `json:"stop_reason"`
	StopSequence *string         `json:"stop_sequence"`
	Usage        messagesUsage   `json:"usage"`
}

type messagesBlock struct {
	Type  string         `json:"type"`
	Text  *string        `json:"text,omitzero"`
	ID    string         `json:"id,omitzero"`
	Name  string         `json:"name,omitzero"`
	Input jsontext.Value `json:"input,omitzero"`
}

type messagesUsage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
}

var messagesFinishes = map[finish]string{
	finishStop: "end_turn", finishWord: "stop_sequence", finishLength: "max_tokens", finishTool: "tool_use", finishRefusal: "refusal", finishFilter: "refusal",
}

func (m messages) answer(id string, p *prompt, a answer) []byte { return mustJSON(m.reply(id, p, a)) }

func (messages) reply(id string, p *prompt, a answer) messagesReply {
	out := messagesReply{
		ID: "msg_" + id, Type: "message", Role: "assistant", Model: p.model, Content: []messagesBlock{}, StopReason: new(messagesFinishes[a.finish]),
		Usage: messagesUsage{Input: a.input - a.cached, CacheRead: a.cached, Output: a.output},
	}
	if a.call != nil {
		out.Content = append(out.Content, messagesBlock{Type: "tool_use", ID: a.call.id, Name: a.call.name, Input: a.call.arguments})
	} else if a.text != "" {
		out.Content = append(out.Content, messagesBlock{Type: "text", Text: &a.text})
	}
	if a.finish == finishWord {
		out.StopSequence = &a.word
	}
	return out
}

var messagesTypes = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 504: "timeout_error", 529: "overloaded_error",
}

func (messages) failure(f *failure, id string) []byte {
	var out struct {
		Type  string `json:"type"`
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
		RequestID string `json:"request_id"`
	}
	out.Type, out.RequestID, out.Error.Message, out.Error.Type = "error", id, f.message, messagesTypes[f.status]
	switch {
	case out.Error.Type == "" && f.status >= 500:
		out.Error.Type = "api_error"
	case out.Error.Type == "":
		out.Error.Type = "invalid_request_error"
	}
	return mustJSON(out)
}
