package plan

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/platform/llm"
)

// messages is the conversation that a model is asked to go on with: the prompt
// with the item's input in it, or the item's own messages, or its input.
func (m model) messages(i dataset.Item) []llm.Message {
	if m.target.Prompt != "" {
		return []llm.Message{{Role: llm.RoleUser, Content: fill(m.target.Prompt, i)}}
	}
	var said []struct {
		Role    string         `json:"role"`
		Content jsontext.Value `json:"content"`
	}
	if json.Unmarshal(i.Content.Messages, &said) == nil && len(said) > 0 {
		var all []llm.Message
		for _, s := range said {
			if role := llm.Role(s.Role); role == llm.RoleUser || role == llm.RoleAssistant {
				all = append(all, llm.Message{Role: role, Content: plain(s.Content)})
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return []llm.Message{{Role: llm.RoleUser, Content: plain(i.Content.Input)}}
}

// fill puts an item into a prompt: {{input}}, {{context}}, {{expected_output}},
// and {{input.field}} for a field of an object.
func fill(prompt string, i dataset.Item) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(prompt, "{{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, after, ok := strings.Cut(rest, "}}")
		if !ok {
			b.WriteString("{{" + rest)
			return b.String()
		}
		b.WriteString(lookUp(strings.TrimSpace(name), i))
		prompt = after
	}
}

func lookUp(name string, i dataset.Item) string {
	noun, field, inside := strings.Cut(name, ".")
	var value jsontext.Value
	switch noun {
	case "input":
		value = i.Content.Input
	case "context":
		value = i.Content.Context
	case "expected_output":
		value = i.Content.ExpectedOutput
	default:
		return "{{" + name + "}}"
	}
	if inside {
		var fields map[string]jsontext.Value
		if json.Unmarshal(value, &fields) != nil {
			return ""
		}
		value = fields[field]
	}
	return plain(value)
}

// plain is a JSON text as it is, and any other value as JSON.
func plain(v jsontext.Value) string {
	var text string
	if v.Kind() == '"' && json.Unmarshal(v, &text) == nil {
		return text
	}
	return string(v)
}

// offered reads the tools of an item, in the two forms that are common.
func offered(list jsontext.Value) []llm.Tool {
	type function struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  jsontext.Value `json:"parameters"`
		InputSchema jsontext.Value `json:"input_schema"`
	}
	var sent []struct {
		function
		Function function `json:"function"`
	}
	if len(list) == 0 || json.Unmarshal(list, &sent) != nil {
		return nil
	}
	var all []llm.Tool
	for _, t := range sent {
		f := t.function
		if f.Name == "" {
			f = t.Function
		}
		if f.Parameters == nil {
			f.Parameters = f.InputSchema
		}
		if f.Name != "" {
			all = append(all, llm.Tool{Name: f.Name, Description: f.Description, Schema: f.Parameters})
		}
	}
	return all
}
