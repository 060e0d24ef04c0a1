package llm

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// generate is Google's generateContent.
type generate struct{}

// path names the model: a plain name, or that of a resource such as
// tunedModels/mine.
func (generate) path(r Request) string {
	name := r.Model
	if !strings.Contains(name, "/") {
		name = "models/" + name
	}
	return "/" + name + ":generateContent"
}

func (generate) authorize(h http.Header, to Endpoint) {
	if to.Secret != "" {
		h.Set("X-Goog-Api-Key", to.Secret.Reveal())
	}
}

type generateRequest struct {
	System   *generateTurn   `json:"systemInstruction,omitzero"`
	Contents []generateTurn  `json:"contents"`
	Tools    []generateTools `json:"tools,omitempty"`
	Config   generateConfig  `json:"generationConfig,omitzero"`
}

type generateTurn struct {
	Role  string         `json:"role,omitzero"`
	Parts []generatePart `json:"parts"`
}

type generatePart struct {
	Text     *string         `json:"text,omitzero"`
	Call     *generateCall   `json:"functionCall,omitzero"`
	Response *generateResult `json:"functionResponse,omitzero"`
}

type generateCall struct {
	ID   string         `json:"id,omitzero"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args"`
}

type generateResult struct {
	ID       string `json:"id,omitzero"`
	Name     string `json:"name"`
	Response struct {
		Output string `json:"output"`
	} `json:"response"`
}

type generateTools struct {
	Functions []generateFunction `json:"functionDeclarations"`
}

type generateFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Schema      jsontext.Value `json:"parametersJsonSchema"`
}

type generateConfig struct {
	Temperature *float64       `json:"temperature,omitzero"`
	TopP        *float64       `json:"topP,omitzero"`
	MaxTokens   int            `json:"maxOutputTokens,omitzero"`
	Seed        *int64         `json:"seed,omitzero"`
	Stop        []string       `json:"stopSequences,omitempty"`
	MediaType   string         `json:"responseMimeType,omitzero"`
	Schema      jsontext.Value `json:"responseJsonSchema,omitzero"`
}

func (generate) encode(_ Endpoint, r Request) ([]byte, error) {
	p := r.Params
	out := generateRequest{
		Contents: toContents(r.Messages),
		Config:   generateConfig{Temperature: p.Temperature, TopP: p.TopP, MaxTokens: p.MaxTokens, Seed: p.Seed, Stop: p.Stop},
	}
	if r.System != "" {
		out.System = &generateTurn{Parts: []generatePart{{Text: &r.System}}}
	}
	if len(p.ResponseSchema) > 0 {
		schema, err := strictSchema(p.ResponseSchema, generateUnheeded)
		if err != nil {
			return nil, err
		}
		out.Config.MediaType, out.Config.Schema = "application/json", schema
	}
	if len(r.Tools) > 0 {
		var all []generateFunction
		for _, t := range r.Tools {
			all = append(all, generateFunction{t.Name, t.Description, argumentSchema(t)})
		}
		out.Tools = []generateTools{{all}}
	}
	return json.Marshal(out, jsontext.AllowInvalidUTF8(true))
}

// toContents writes a conversation as turns of user and model. Results of tools are
// the user's, name the tool, and those of one turn must stand together.
func toContents(conversation []Message) []generateTurn {
	turns := []generateTurn{}
	tools := map[string]string{} // by the id of the call
	for _, m := range conversation {
		role, parts := "user", []generatePart{}
		switch {
		case m.Role == RoleTool:
			result := &generateResult{ID: m.ToolCallID, Name: tools[m.ToolCallID]}
			result.Response.Output = m.Content
			parts = append(parts, generatePart{Response: result})
		case m.Content != "":
			parts = append(parts, generatePart{Text: &m.Content})
		}
		if m.Role == RoleAssistant {
			role = "model"
		}
		for _, c := range m.ToolCalls {
			tools[c.ID] = c.Name
			parts = append(parts, generatePart{Call: &generateCall{ID: c.ID, Name: c.Name, Args: arguments(c)}})
		}
		switch n := len(turns); {
		case len(parts) == 0: // a turn without a word is not accepted
		case n > 0 && turns[n-1].Role == role:
			turns[n-1].Parts = append(turns[n-1].Parts, parts...)
		default:
			turns = append(turns, generateTurn{role, parts})
		}
	}
	return turns
}

type generateReply struct {
	ID         string `json:"responseId"`
	Model      string `json:"modelVersion"`
	Candidates []struct {
		Content struct {
			Parts []struct {
				Text    string        `json:"text"`
				Thought bool          `json:"thought"`
				Call    *generateCall `json:"functionCall"`
			} `json:"parts"`
		} `json:"content"`
		FinishReason string `json:"finishReason"`
	} `json:"candidates"`
	Feedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage generateUsage  `json:"usageMetadata"`
	Error jsontext.Value `json:"error"`
}

type generateUsage struct {
	Prompt     tokens `json:"promptTokenCount"` // with what a cache had
	ToolPrompt tokens `json:"toolUsePromptTokenCount"`
	Cached     tokens `json:"cachedContentTokenCount"`
	Candidates tokens `json:"candidatesTokenCount"` // without thoughts
	Thoughts   tokens `json:"thoughtsTokenCount"`
}

func (u generateUsage) usage() Usage {
	return Usage{
		Input: uint32(u.Prompt.plus(u.ToolPrompt)), Cached: uint32(u.Cached),
		Output: uint32(u.Candidates.plus(u.Thoughts)), Reasoning: uint32(u.Thoughts),
	}
}

func (generate) decode(body []byte) (Reply, *Error) {
	var in generateReply
	if json.Unmarshal(body, &in, lenient) != nil {
		return Reply{}, &Error{Kind: Malformed, Message: "it is not a generated content in JSON"}
	}
	out := Reply{ID: in.ID, Model: in.Model, Usage: in.Usage.usage()}
	switch {
	case in.Error.Kind() == '{':
		return out, broken(body)
	case len(in.Candidates) == 0 && in.Feedback.BlockReason != "":
		out.Finish = FinishRefused
		return out, &Error{Kind: Refused, Code: in.Feedback.BlockReason}
	case len(in.Candidates) == 0:
		return out, &Error{Kind: Malformed, Message: "it has no candidate"}
	}
	first := in.Candidates[0]
	out.Finish = generateFinish(first.FinishReason)
	for _, p := range first.Content.Parts {
		switch {
		case p.Call != nil:
			args, ok := readArguments(p.Call.Args)
			if !ok || p.Call.Name == "" {
				return out, &Error{Kind: Malformed, Message: "it calls a tool that has no name"}
			}
			out.ToolCalls = append(out.ToolCalls, ToolCall{ID: p.Call.ID, Name: p.Call.Name, Arguments: args})
		case !p.Thought:
			out.Text += p.Text
		}
	}
	switch {
	case out.Finish == FinishRefused:
		return out, &Error{Kind: Refused, Code: first.FinishReason}
	case first.FinishReason == "MALFORMED_FUNCTION_CALL":
		return out, &Error{Kind: Malformed, Message: "the model called a tool in a form that cannot be read"}
	case len(out.ToolCalls) > 0 && out.Finish == FinishStop:
		out.Finish = FinishTools
	}
	return out, nil
}

func generateFinish(reason string) Finish {
	switch reason {
	case "STOP":
		return FinishStop
	case "MAX_TOKENS":
		return FinishLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE":
		return FinishRefused
	}
	return FinishOther
}
