package llm

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chat is OpenAI's chat completions, the protocol of every provider that has
// none of its own and of local servers.
type chat struct{}

func (chat) path(Request) string { return "/chat/completions" }

// An Azure resource has a deployment for each model, which is named in the path. A
// base URL that ends with /deployments leaves the name to the model.
type deployments struct{ chat }

func (deployments) path(r Request) string { return "/" + r.Model + "/chat/completions" }

func isDeployments(to Endpoint) bool {
	path, _, _ := strings.Cut(to.BaseURL, "?")
	return isAzure(to.Provider) && strings.HasSuffix(strings.TrimRight(path, "/"), "/deployments")
}

func (chat) authorize(h http.Header, to Endpoint) {
	switch {
	case to.Secret == "":
	case isAzure(to.Provider):
		// A bearer token is something else there: an identity's.
		h.Set("Api-Key", to.Secret.Reveal())
	default:
		h.Set("Authorization", "Bearer "+to.Secret.Reveal())
	}
}

func isAzure(provider string) bool { return strings.HasPrefix(provider, "azure") }

type chatRequest struct {
	Model          string        `json:"model"`
	Messages       []chatMessage `json:"messages"`
	Tools          []chatTool    `json:"tools,omitempty"`
	ResponseFormat *chatFormat   `json:"response_format,omitzero"`
	Temperature    *float64      `json:"temperature,omitzero"`
	TopP           *float64      `json:"top_p,omitzero"`
	// OpenAI's own models that think refuse the first name of the limit;
	// others do not know the second.
	MaxTokens           int      `json:"max_tokens,omitzero"`
	MaxCompletionTokens int      `json:"max_completion_tokens,omitzero"`
	Seed                *int64   `json:"seed,omitzero"`
	Stop                []string `json:"stop,omitempty"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"` // null beside tool calls
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitzero"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"` // JSON in a string
	} `json:"function"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string         `json:"name"`
		Description string         `json:"description,omitzero"`
		Parameters  jsontext.Value `json:"parameters"`
	} `json:"function"`
}

type chatFormat struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name   string         `json:"name"`
		Schema jsontext.Value `json:"schema"`
		Strict bool           `json:"strict"`
	} `json:"json_schema"`
}

func (chat) encode(to Endpoint, r Request) ([]byte, error) {
	p := r.Params
	out := chatRequest{Model: r.Model, Temperature: p.Temperature, TopP: p.TopP, Seed: p.Seed, Stop: p.Stop}
	if to.Provider == "openai" || isAzure(to.Provider) {
		out.MaxCompletionTokens = p.MaxTokens
	} else {
		out.MaxTokens = p.MaxTokens
	}
	if r.System != "" {
		out.Messages = append(out.Messages, chatMessage{Role: "system", Content: &r.System})
	}
	for _, m := range r.Messages {
		out.Messages = append(out.Messages, toChatMessage(m))
	}
	for _, t := range r.Tools {
		tool := chatTool{Type: "function"}
		tool.Function.Name, tool.Function.Description, tool.Function.Parameters = t.Name, t.Description, argumentSchema(t)
		out.Tools = append(out.Tools, tool)
	}
	if len(p.ResponseSchema) > 0 {
		out.ResponseFormat = &chatFormat{Type: "json_schema"}
		out.ResponseFormat.JSONSchema.Name = "reply"
		var err error
		if out.ResponseFormat.JSONSchema.Schema, err = strictSchema(p.ResponseSchema, chatUnheeded); err != nil {
			return nil, err
		}
		out.ResponseFormat.JSONSchema.Strict = true
	}
	return json.Marshal(out, jsontext.AllowInvalidUTF8(true))
}

func toChatMessage(m Message) chatMessage {
	out := chatMessage{Role: string(m.Role), Content: &m.Content, ToolCallID: m.ToolCallID}
	if m.Content == "" && len(m.ToolCalls) > 0 {
		out.Content = nil
	}
	for _, c := range m.ToolCalls {
		call := chatCall{ID: c.ID, Type: "function"}
		call.Function.Name, call.Function.Arguments = c.Name, string(arguments(c))
		out.ToolCalls = append(out.ToolCalls, call)
	}
	return out
}

// argumentSchema is the schema of a tool's arguments; one without takes none.
func argumentSchema(t Tool) jsontext.Value {
	if len(t.Schema) == 0 {
		return jsontext.Value(`{"type":"object","properties":{}}`)
	}
	return t.Schema
}

// arguments are the arguments of a call; one without has none.
func arguments(c ToolCall) jsontext.Value {
	if len(c.Arguments) == 0 {
		return jsontext.Value("{}")
	}
	return c.Arguments
}

type chatReply struct {
	ID      string         `json:"id"`
	Model   string         `json:"model"`
	Choices []chatChoice   `json:"choices"`
	Usage   chatUsage      `json:"usage"`
	Error   jsontext.Value `json:"error"`
}

type chatChoice struct {
	FinishReason string      `json:"finish_reason"`
	Message      *chatAnswer `json:"message"`
}

type chatAnswer struct {
	Content   jsontext.Value `json:"content"` // a string, null, or a list of parts
	Refusal   string         `json:"refusal"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string         `json:"name"`
			Arguments jsontext.Value `json:"arguments"` // a string; some servers send the object
		} `json:"function"`
	} `json:"tool_calls"`
}

type chatUsage struct {
	Prompt     tokens `json:"prompt_tokens"`
	Completion tokens `json:"completion_tokens"`
	CacheHit   tokens `json:"prompt_cache_hit_tokens"` // DeepSeek's word
	PromptOf   struct {
		Cached tokens `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionOf struct {
		Reasoning tokens `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u chatUsage) usage() Usage {
	return Usage{
		Input: uint32(u.Prompt), Cached: uint32(max(u.PromptOf.Cached, u.CacheHit)),
		Output: uint32(u.Completion), Reasoning: uint32(u.CompletionOf.Reasoning),
	}
}

func (chat) decode(body []byte) (Reply, *Error) {
	var in chatReply
	if json.Unmarshal(body, &in, lenient) != nil {
		return Reply{}, &Error{Kind: Malformed, Message: "it is not a chat completion in JSON"}
	}
	out := Reply{ID: in.ID, Model: in.Model, Usage: in.Usage.usage()}
	if len(in.Choices) == 0 || in.Choices[0].Message == nil {
		if k := in.Error.Kind(); k == '{' || k == '"' {
			return out, broken(body)
		}
		return out, &Error{Kind: Malformed, Message: "it has no choice with a message"}
	}
	choice, answer := in.Choices[0], in.Choices[0].Message
	out.Finish = chatFinish(choice.FinishReason)
	out.Text = content(answer.Content)
	for _, c := range answer.ToolCalls {
		args, ok := readArguments(c.Function.Arguments)
		if !ok || c.Function.Name == "" {
			return out, &Error{Kind: Malformed, Message: "it calls a tool with arguments that are not JSON"}
		}
		out.ToolCalls = append(out.ToolCalls, ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: args})
	}
	if answer.Refusal != "" {
		out.Finish = FinishRefused
		if out.Text == "" {
			out.Text = answer.Refusal
		}
	}
	switch {
	case out.Finish == FinishRefused:
		return out, &Error{Kind: Refused, Code: choice.FinishReason}
	case choice.FinishReason == "error":
		return out, &Error{Kind: Malformed, Message: "the model failed in the middle of its answer"}
	case len(out.ToolCalls) > 0 && out.Finish == FinishStop:
		out.Finish = FinishTools
	}
	return out, nil
}

// broken is an error that came with the status of a success, as from routers
// whose own provider failed.
func broken(body []byte) *Error {
	said := readComplaint(body)
	status := http.StatusBadGateway
	if len(said.code) == 3 && said.code >= "400" && said.code <= "599" {
		status = int(said.code[0]-'0')*100 + int(said.code[1]-'0')*10 + int(said.code[2]-'0')
	}
	e := &Error{Kind: kindOf(status, said), Code: said.word(), Message: said.message}
	if e.Kind == Unauthorized {
		e.Message = ""
	}
	return e
}

func chatFinish(reason string) Finish {
	switch reason {
	case "stop":
		return FinishStop
	case "length", "model_length":
		return FinishLength
	case "tool_calls", "function_call":
		return FinishTools
	case "content_filter":
		return FinishRefused
	}
	return FinishOther
}

// content is the text of an answer, which some models give in parts beside
// their thoughts.
func content(v jsontext.Value) string {
	if v.Kind() != '[' {
		if v.Kind() != '"' {
			return ""
		}
		return text(v)
	}
	var parts []struct {
		Type string         `json:"type"`
		Text jsontext.Value `json:"text"`
	}
	_ = json.Unmarshal(v, &parts, lenient) // what are no parts have no text
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "text" && p.Text.Kind() == '"' {
			b.WriteString(text(p.Text))
		}
	}
	return b.String()
}

// readArguments gives the JSON of a call's arguments. A tool without arguments
// is called with nothing by some models.
func readArguments(v jsontext.Value) (jsontext.Value, bool) {
	if v.Kind() == '"' {
		v = jsontext.Value(strings.TrimSpace(text(v)))
	}
	if len(v) == 0 || v.Kind() == 'n' {
		return jsontext.Value("{}"), true
	}
	v = v.Clone()
	return v, v.Compact(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) == nil
}
