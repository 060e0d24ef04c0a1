package llm

import (
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// messages is Anthropic's protocol.
type messages struct{}

// messagesVersion is the only version of the protocol there has been since 2023.
const messagesVersion = "2023-06-01"

func (messages) path(Request) string { return "/messages" }

func (messages) authorize(h http.Header, to Endpoint) {
	h.Set("Anthropic-Version", messagesVersion)
	if to.Secret != "" {
		h.Set("X-Api-Key", to.Secret.Reveal())
	}
}

type messagesRequest struct {
	Model         string          `json:"model"`
	MaxTokens     int             `json:"max_tokens"`
	System        string          `json:"system,omitzero"`
	Messages      []messagesTurn  `json:"messages"`
	Tools         []messagesTool  `json:"tools,omitempty"`
	OutputConfig  *messagesOutput `json:"output_config,omitzero"`
	Temperature   *float64        `json:"temperature,omitzero"`
	TopP          *float64        `json:"top_p,omitzero"`
	StopSequences []string        `json:"stop_sequences,omitempty"`
}

type messagesTurn struct {
	Role    string          `json:"role"`
	Content []messagesBlock `json:"content"`
}

type messagesBlock struct {
	Type      string         `json:"type"`
	Text      string         `json:"text,omitzero"`
	ID        string         `json:"id,omitzero"`
	Name      string         `json:"name,omitzero"`
	Input     jsontext.Value `json:"input,omitzero"`
	ToolUseID string         `json:"tool_use_id,omitzero"`
	Content   string         `json:"content,omitzero"`
}

type messagesTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	InputSchema jsontext.Value `json:"input_schema"`
}

type messagesOutput struct {
	Format struct {
		Type   string         `json:"type"`
		Schema jsontext.Value `json:"schema"`
	} `json:"format"`
}

func (messages) encode(_ Endpoint, r Request) ([]byte, error) {
	p := r.Params
	out := messagesRequest{
		Model: r.Model, MaxTokens: p.MaxTokens, System: r.System, Messages: toTurns(r.Messages),
		Temperature: p.Temperature, TopP: p.TopP, StopSequences: p.Stop,
	}
	if out.MaxTokens <= 0 {
		out.MaxTokens = DefaultMaxTokens
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, messagesTool{t.Name, t.Description, argumentSchema(t)})
	}
	if len(p.ResponseSchema) > 0 {
		schema, err := strictSchema(p.ResponseSchema, messagesUnheeded)
		if err != nil {
			return nil, err
		}
		out.OutputConfig = &messagesOutput{}
		out.OutputConfig.Format.Type, out.OutputConfig.Format.Schema = "json_schema", schema
	}
	return json.Marshal(out, jsontext.AllowInvalidUTF8(true))
}

// toTurns writes a conversation as turns of user and assistant. Results of
// tools are the user's, and those of one turn must stand together.
func toTurns(conversation []Message) []messagesTurn {
	turns := []messagesTurn{}
	for _, m := range conversation {
		role, blocks := string(m.Role), []messagesBlock{}
		if m.Role == RoleTool {
			role = string(RoleUser)
			blocks = append(blocks, messagesBlock{Type: "tool_result", ToolUseID: m.ToolCallID, Content: m.Content})
		} else if m.Content != "" {
			blocks = append(blocks, messagesBlock{Type: "text", Text: m.Content})
		}
		for _, c := range m.ToolCalls {
			blocks = append(blocks, messagesBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: arguments(c)})
		}
		switch n := len(turns); {
		case len(blocks) == 0: // a turn without a word is not accepted
		case n > 0 && turns[n-1].Role == role:
			turns[n-1].Content = append(turns[n-1].Content, blocks...)
		default:
			turns = append(turns, messagesTurn{role, blocks})
		}
	}
	return turns
}

type messagesReply struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Model   string `json:"model"`
	Content []struct {
		Type  string         `json:"type"`
		Text  string         `json:"text"`
		ID    string         `json:"id"`
		Name  string         `json:"name"`
		Input jsontext.Value `json:"input"`
	} `json:"content"`
	StopReason string        `json:"stop_reason"`
	Usage      messagesUsage `json:"usage"`
}

type messagesUsage struct {
	Input      tokens `json:"input_tokens"` // without what a cache had or took
	CacheRead  tokens `json:"cache_read_input_tokens"`
	CacheWrite tokens `json:"cache_creation_input_tokens"`
	Output     tokens `json:"output_tokens"`
	OutputOf   struct {
		Thinking tokens `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

func (u messagesUsage) usage() Usage {
	return Usage{
		Input:  uint32(u.Input.plus(u.CacheRead).plus(u.CacheWrite)),
		Cached: uint32(u.CacheRead), CacheWrite: uint32(u.CacheWrite),
		Output: uint32(u.Output), Reasoning: uint32(u.OutputOf.Thinking),
	}
}

func (messages) decode(body []byte) (Reply, *Error) {
	var in messagesReply
	if json.Unmarshal(body, &in, lenient) != nil {
		return Reply{}, &Error{Kind: Malformed, Message: "it is not a message in JSON"}
	}
	out := Reply{ID: in.ID, Model: in.Model, Usage: in.Usage.usage(), Finish: messagesFinish(in.StopReason)}
	if in.Type == "error" {
		return out, broken(body)
	}
	if in.Type != "message" || in.Content == nil {
		return out, &Error{Kind: Malformed, Message: "it is not a message with content"}
	}
	for _, b := range in.Content {
		switch b.Type {
		case "text":
			out.Text += b.Text
		case "tool_use":
			args, ok := readArguments(b.Input)
			if !ok || b.Name == "" {
				return out, &Error{Kind: Malformed, Message: "it uses a tool that has no name"}
			}
			out.ToolCalls = append(out.ToolCalls, ToolCall{ID: b.ID, Name: b.Name, Arguments: args})
		}
	}
	if out.Finish == FinishRefused {
		return out, &Error{Kind: Refused, Code: in.StopReason}
	}
	return out, nil
}

func messagesFinish(reason string) Finish {
	switch reason {
	case "end_turn", "stop_sequence":
		return FinishStop
	case "max_tokens", "model_context_window_exceeded":
		return FinishLength
	case "tool_use":
		return FinishTools
	case "refusal":
		return FinishRefused
	}
	return FinishOther
}
