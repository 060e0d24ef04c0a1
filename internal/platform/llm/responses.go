package llm

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// responses is OpenAI's responses, which some of its models speak alone. Keys and
// errors are those of its chat. It has no word for a seed and for stop words.
type responses struct{ chat }

// responsesPath ends the base URL of an endpoint that is spoken to in this way.
const responsesPath = "/responses"

func isResponses(to Endpoint) bool {
	path, _, _ := strings.Cut(to.BaseURL, "?")
	return strings.HasSuffix(strings.TrimRight(path, "/"), responsesPath)
}

func (responses) path(Request) string { return "" }

type responsesRequest struct {
	Model        string          `json:"model"`
	Instructions string          `json:"instructions,omitzero"`
	Input        []responsesItem `json:"input"`
	Tools        []responsesTool `json:"tools,omitempty"`
	Text         *responsesText  `json:"text,omitzero"`
	MaxTokens    int             `json:"max_output_tokens,omitzero"`
	Temperature  *float64        `json:"temperature,omitzero"`
	TopP         *float64        `json:"top_p,omitzero"`
	// The provider would keep what it is asked for a month; no call needs that.
	Store bool `json:"store"`
}

// responsesItem is a message, a call of a tool, or what the tool gave.
type responsesItem struct {
	Type      string  `json:"type"`
	Role      string  `json:"role,omitzero"`
	Content   *string `json:"content,omitzero"`
	CallID    string  `json:"call_id,omitzero"`
	Name      string  `json:"name,omitzero"`
	Arguments string  `json:"arguments,omitzero"` // JSON in a string
	Output    *string `json:"output,omitzero"`
}

type responsesTool struct {
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters"`
	Strict      bool           `json:"strict"` // true unless it says otherwise
}

type responsesText struct {
	Format struct {
		Type   string         `json:"type"`
		Name   string         `json:"name"`
		Schema jsontext.Value `json:"schema"`
		Strict bool           `json:"strict"`
	} `json:"format"`
}

func (responses) encode(_ Endpoint, r Request) ([]byte, error) {
	p := r.Params
	out := responsesRequest{Model: r.Model, Instructions: r.System, Input: []responsesItem{}, MaxTokens: p.MaxTokens, Temperature: p.Temperature, TopP: p.TopP}
	for _, m := range r.Messages {
		if m.Role == RoleTool {
			out.Input = append(out.Input, responsesItem{Type: "function_call_output", CallID: m.ToolCallID, Output: &m.Content})
			continue
		}
		if m.Content != "" || len(m.ToolCalls) == 0 {
			out.Input = append(out.Input, responsesItem{Type: "message", Role: string(m.Role), Content: &m.Content})
		}
		for _, c := range m.ToolCalls {
			out.Input = append(out.Input, responsesItem{Type: "function_call", CallID: c.ID, Name: c.Name, Arguments: string(arguments(c))})
		}
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, responsesTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: argumentSchema(t)})
	}
	if len(p.ResponseSchema) > 0 {
		schema, err := strictSchema(p.ResponseSchema, chatUnheeded)
		if err != nil {
			return nil, err
		}
		out.Text = &responsesText{}
		out.Text.Format.Type, out.Text.Format.Name, out.Text.Format.Schema, out.Text.Format.Strict = "json_schema", "reply", schema, true
	}
	return json.Marshal(out, jsontext.AllowInvalidUTF8(true))
}

type responsesReply struct {
	ID         string `json:"id"`
	Model      string `json:"model"`
	Status     string `json:"status"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []responsesOutput `json:"output"`
	Usage  struct {
		Input   tokens `json:"input_tokens"`
		InputOf struct {
			Cached tokens `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		Output   tokens `json:"output_tokens"`
		OutputOf struct {
			Reasoning tokens `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

type responsesOutput struct {
	Type    string `json:"type"`
	Content []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
}

func (responses) decode(body []byte) (Reply, *Error) {
	var in responsesReply
	if json.Unmarshal(body, &in, lenient) != nil {
		return Reply{}, &Error{Kind: Malformed, Message: "it is not a response in JSON"}
	}
	out := Reply{ID: in.ID, Model: in.Model, Finish: FinishStop, Usage: Usage{
		Input: uint32(in.Usage.Input), Cached: uint32(in.Usage.InputOf.Cached),
		Output: uint32(in.Usage.Output), Reasoning: uint32(in.Usage.OutputOf.Reasoning),
	}}
	if in.Status != "completed" && in.Status != "incomplete" {
		if in.Status == "failed" {
			return out, broken(body)
		}
		return out, &Error{Kind: Malformed, Message: "it is not a response that has ended"}
	}
	refused := in.Incomplete.Reason == "content_filter"
	for _, item := range in.Output {
		switch item.Type {
		case "message":
			for _, part := range item.Content {
				out.Text += part.Text + part.Refusal
				refused = refused || part.Type == "refusal"
			}
		case "function_call":
			args, ok := readArguments(item.Arguments)
			if !ok || item.Name == "" {
				return out, &Error{Kind: Malformed, Message: "it calls a tool with arguments that are not JSON"}
			}
			out.ToolCalls = append(out.ToolCalls, ToolCall{ID: item.CallID, Name: item.Name, Arguments: args})
		}
	}
	switch {
	case refused:
		out.Finish = FinishRefused
		return out, &Error{Kind: Refused, Code: in.Incomplete.Reason}
	case in.Incomplete.Reason == "max_output_tokens":
		out.Finish = FinishLength
	case in.Status == "incomplete":
		out.Finish = FinishOther
	case len(out.ToolCalls) > 0:
		out.Finish = FinishTools
	}
	return out, nil
}
