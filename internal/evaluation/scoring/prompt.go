package scoring

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/platform/llm"
)

// maxPrompt is the largest conversation that a model is asked to go on with, in
// bytes: several times what any of them reads.
const maxPrompt = 1 << 20

// errPrompt is the end of an item whose prompt would be too long.
var errPrompt = &provider.Failure{
	Code: "prompt_too_large", Message: fmt.Sprintf("The prompt with the item's values would be longer than %d bytes. Shorten the item, or use its fields less often.", maxPrompt),
}

// messages is the conversation that a model is asked to go on with: the prompt
// with the item's input in it, or the item's own messages, or its input.
func (m model) messages(i dataset.Item) ([]llm.Message, error) {
	if m.target.Prompt != "" {
		text, err := fill(m.target.Prompt, i)
		return []llm.Message{{Role: llm.RoleUser, Content: text}}, err
	}
	all := said(i.Content.Messages)
	if len(all) == 0 {
		all = []llm.Message{{Role: llm.RoleUser, Content: plain(i.Content.Input)}}
	}
	size := 0
	for _, one := range all {
		size += len(one.Content)
	}
	if size > maxPrompt {
		return nil, errPrompt
	}
	return all, nil
}

// said reads the messages of an item that a model goes on with.
func said(list jsontext.Value) (all []llm.Message) {
	var sent []struct {
		Role    string         `json:"role"`
		Content jsontext.Value `json:"content"`
	}
	if json.Unmarshal(list, &sent) != nil {
		return nil
	}
	for _, s := range sent {
		if role := llm.Role(s.Role); role == llm.RoleUser || role == llm.RoleAssistant {
			all = append(all, llm.Message{Role: role, Content: plain(s.Content)})
		}
	}
	return all
}

// fill puts an item into a prompt: {{input}}, {{context}}, {{expected_output}},
// and {{input.field}} for a field of an object. It stops before the text is too
// long, and reads each value of the item once.
func fill(prompt string, i dataset.Item) (string, error) {
	var b strings.Builder
	look := values{item: i, fields: map[string]map[string]jsontext.Value{}, texts: map[string]string{}}
	for {
		before, rest, ok := strings.Cut(prompt, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		var value string
		switch {
		case ok && closed:
			value = look.up(strings.TrimSpace(name))
		case ok:
			value, after = "{{"+rest, ""
		}
		if b.Len()+len(before)+len(value) > maxPrompt {
			return "", errPrompt
		}
		b.WriteString(before)
		b.WriteString(value)
		if !ok || !closed {
			return b.String(), nil
		}
		prompt = after
	}
}

// values are those of an item by the names that a prompt has for them.
type values struct {
	item   dataset.Item
	fields map[string]map[string]jsontext.Value // of a value that is an object
	texts  map[string]string                    // that were looked up
}

func (v values) up(name string) string {
	text, ok := v.texts[name]
	if !ok {
		text = v.text(name)
		v.texts[name] = text
	}
	return text
}

func (v values) text(name string) string {
	noun, field, inside := strings.Cut(name, ".")
	var value jsontext.Value
	switch noun {
	case "input":
		value = v.item.Content.Input
	case "context":
		value = v.item.Content.Context
	case "expected_output":
		value = v.item.Content.ExpectedOutput
	default:
		return "{{" + name + "}}"
	}
	if !inside {
		return plain(value)
	}
	fields, ok := v.fields[noun]
	if !ok {
		if json.Unmarshal(value, &fields) != nil {
			fields = nil
		}
		v.fields[noun] = fields
	}
	return plain(fields[field])
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
