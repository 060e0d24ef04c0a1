package simulated

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chat is OpenAI's chat completions.
type chat struct{}

func (chat) requestID() string { return "X-Request-Id" }
func (chat) overloaded() int   { return http.StatusServiceUnavailable }

func (chat) key(h http.Header) (string, *failure) {
	if key, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer "); ok && key != "" {
		return key, nil
	}
	if key := h.Get("Api-Key"); key != "" { // Azure's
		return key, nil
	}
	return "", &failure{status: http.StatusUnauthorized, message: "There is no API key. Send one in the header Authorization, as Bearer KEY."}
}

type chatRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role      string         `json:"role"`
		Content   jsontext.Value `json:"content"`
		ToolCalls []struct {
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name       string         `json:"name"`
			Parameters jsontext.Value `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ResponseFormat struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name   string         `json:"name"`
			Schema jsontext.Value `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	MaxTokens           int            `json:"max_tokens"`
	MaxCompletionTokens int            `json:"max_completion_tokens"`
	Stop                jsontext.Value `json:"stop"`
	Seed                int64          `json:"seed"`
	N                   int            `json:"n"`
	Stream              bool           `json:"stream"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

func (chat) read(body []byte) (*prompt, *failure) {
	var in chatRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, invalid("The body is not a request in JSON.")
	}
	switch format := in.ResponseFormat; {
	case in.Model == "":
		return nil, invalid("model is missing.")
	case len(in.Messages) == 0:
		return nil, invalid("messages is empty: send at least one.")
	case in.N > 1:
		return nil, invalid("n is above 1: the simulated provider gives one choice.")
	case format.Type == "json_schema" && (format.JSONSchema.Name == "" || format.JSONSchema.Schema.Kind() != '{'):
		return nil, invalid("response_format.json_schema has no name or no schema.")
	}
	p := &prompt{model: in.Model, max: in.MaxTokens + in.MaxCompletionTokens, seed: in.Seed, stop: stops(in.Stop), stream: in.Stream, usage: in.StreamOptions.IncludeUsage}
	switch in.ResponseFormat.Type {
	case "json_schema":
		p.schema = in.ResponseFormat.JSONSchema.Schema.Clone()
	case "json_object":
		p.schema = jsontext.Value(`{"type":"object"}`)
	}
	for _, m := range in.Messages {
		text, ok := words(m.Content)
		if !ok {
			return nil, invalid("The content of a message is neither text nor a list of parts.")
		}
		switch m.Role {
		case "system", "developer":
			p.system += text
			continue
		case "user", "tool":
		case "assistant":
			parts := []string{text}
			for _, c := range m.ToolCalls {
				parts = append(parts, c.Function.Name, c.Function.Arguments)
			}
			text = strings.Join(parts, "")
		default:
			return nil, invalid("A message has the role " + m.Role + ": use system, developer, user, assistant or tool.")
		}
		p.turns = append(p.turns, turn{m.Role, text})
	}
	for _, t := range in.Tools {
		p.tools = append(p.tools, tool{t.Function.Name, t.Function.Parameters.Clone()})
	}
	p.seal()
	return p, nil
}

// stops reads stop words: one, or a list.
func stops(v jsontext.Value) []string {
	var list []string
	if v.Kind() == '[' && json.Unmarshal(v, &list) == nil {
		return list
	}
	if text, ok := words(v); ok && text != "" {
		return []string{text}
	}
	return nil
}

type chatReply struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   chatUsage    `json:"usage"`
}

type chatChoice struct {
	Index        int        `json:"index"`
	Message      chatAnswer `json:"message"`
	Logprobs     *struct{}  `json:"logprobs"`
	FinishReason string     `json:"finish_reason"`
}

type chatAnswer struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	Refusal   *string    `json:"refusal"`
	ToolCalls []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	PromptOf   struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionOf struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

var chatFinishes = map[finish]string{finishStop: "stop", finishWord: "stop", finishLength: "length", finishTool: "tool_calls", finishRefusal: "stop", finishFilter: "content_filter"}

func (chat) answer(id string, p *prompt, a answer) []byte {
	message := chatAnswer{Role: "assistant", Content: &a.text}
	switch {
	case a.finish == finishRefusal:
		message.Content, message.Refusal = nil, &a.text
	case a.call != nil:
		message.Content = nil
		message.ToolCalls = []chatCall{{a.call.id, "function", chatFunction{a.call.name, string(a.call.arguments)}}}
	}
	return mustJSON(chatReply{
		ID: "chatcmpl-" + id, Object: "chat.completion", Created: created(), Model: p.model,
		Choices: []chatChoice{{Message: message, FinishReason: chatFinishes[a.finish]}},
		Usage:   chatUsageOf(a),
	})
}

func chatUsageOf(a answer) chatUsage {
	out := chatUsage{Prompt: a.input, Completion: a.output, Total: a.input + a.output}
	out.PromptOf.Cached, out.CompletionOf.Reasoning = a.cached, a.reasoning
	return out
}

// chatTypes are the types of errors by status; what is not here has the first.
var chatTypes = map[int]string{
	http.StatusBadRequest: "invalid_request_error", http.StatusTooManyRequests: "requests",
	http.StatusInternalServerError: "server_error", http.StatusServiceUnavailable: "server_error",
}

func (chat) failure(f *failure, _ string) []byte {
	var out struct {
		Error struct {
			Message string  `json:"message"`
			Type    string  `json:"type"`
			Param   *string `json:"param"`
			Code    *string `json:"code"`
		} `json:"error"`
	}
	out.Error.Message, out.Error.Type = f.message, chatTypes[f.status]
	switch {
	case f.code == "insufficient_quota":
		out.Error.Type = f.code
	case out.Error.Type == "" && f.status >= 500:
		out.Error.Type = "server_error"
	case out.Error.Type == "":
		out.Error.Type = "invalid_request_error"
	}
	if f.code != "" {
		out.Error.Code = &f.code
	}
	return mustJSON(out)
}
