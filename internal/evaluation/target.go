package evaluation

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/provider"
)

// target answers items.
type target interface {
	// ask answers once. An error is a *provider.Failure, or the end of ctx.
	ask(ctx context.Context, r Run, i dataset.Item, epoch int) (provider.Answer, error)
}

// checkTarget refuses a target that can never work.
func (s *Service) checkTarget(t Target) error {
	invalid := func(path, code, message string) error { return fault.Invalid("body", "/target/"+path, code, message) }
	switch t.Type {
	case TargetHTTP:
		if t.URL == "" {
			return invalid("url", "required", "is required for a target of type http")
		}
		if err := s.provider.CheckURL(t.URL); err != nil {
			return invalid("url", "format", "cannot be called: "+err.Error())
		}
	case TargetModel:
		switch {
		case t.Model == "":
			return invalid("model", "required", "is required for a target of type model")
		case (t.ProviderKeyID == 0) == (t.Provider == ""):
			return invalid("providerKeyId", "one_of_required", "or provider is required, and not both: a provider key, or a provider that needs none")
		case t.Provider != "" && s.provider.NeedsKey(t.Provider):
			return invalid("provider", "unknown_reference", "needs a key: create a provider key and give its id as providerKeyId")
		}
		if _, err := provider.ParseParams(t.Params); err != nil {
			return invalid("params", "format", err.Error())
		}
	}
	return nil
}

// newTarget prepares to ask. A *RunError means that nothing can be asked.
func (s *Service) newTarget(ctx context.Context, org principal.OrgID, t Target) (target, error) {
	timeout := time.Duration(t.TimeoutMS) * time.Millisecond
	var to target
	var err error
	switch t.Type {
	case TargetHTTP:
		var a *provider.Application
		a, err = s.provider.Application(ctx, org, provider.ApplicationConfig{URL: t.URL, KeyID: t.SecretRef, Timeout: timeout})
		to = application{a}
	case TargetModel:
		var m *provider.Model
		m, err = s.provider.Model(ctx, org, provider.ModelConfig{KeyID: t.ProviderKeyID, Provider: t.Provider, Model: t.Model, Params: t.Params, Timeout: timeout})
		to = model{m, t}
	default:
		return recorded{}, nil
	}
	var unusable *provider.Unusable
	if errors.As(err, &unusable) {
		return nil, &RunError{unusable.Code, unusable.Message}
	}
	return to, err
}

// stopCode is the code of a run that a failure stopped.
func stopCode(code string) string {
	switch code {
	case "unauthorized", "exhausted":
		return CodeProviderKeyMissing
	default:
		return CodeTargetUnreachable
	}
}

// recorded answers with what the item says.
type recorded struct{}

func (recorded) ask(_ context.Context, _ Run, i dataset.Item, _ int) (provider.Answer, error) {
	if i.Content.Output == nil {
		return provider.Answer{}, &provider.Failure{Code: "no_output", Message: "The item has no recorded output."}
	}
	a := provider.Answer{Output: i.Content.Output}
	a.Tools, a.ToolsJSON = recordedCalls(i.Content.Output)
	return a, nil
}

// recordedCalls reads the calls of an output that is an object with tool_calls.
func recordedCalls(output jsontext.Value) ([]metric.ToolCall, jsontext.Value) {
	if output.Kind() != '{' {
		return nil, nil
	}
	var o struct {
		ToolCalls jsontext.Value `json:"tool_calls"`
	}
	if json.Unmarshal(output, &o) != nil || o.ToolCalls.Kind() != '[' {
		return nil, nil
	}
	return provider.ToolCalls(o.ToolCalls), o.ToolCalls
}

// application asks an application.
type application struct{ *provider.Application }

// asked is what an application is sent.
type asked struct {
	Input      jsontext.Value `json:"input"`
	Context    jsontext.Value `json:"context,omitzero"`
	Messages   jsontext.Value `json:"messages,omitzero"`
	TestCaseID string         `json:"test_case_id"`
	RunID      string         `json:"run_id"`
	Epoch      int            `json:"epoch"`
}

func (a application) ask(ctx context.Context, r Run, i dataset.Item, epoch int) (provider.Answer, error) {
	body := encode(asked{
		Input: i.Content.Input, Context: i.Content.Context, Messages: i.Content.Messages,
		TestCaseID: strconv.FormatInt(i.ID, 10), RunID: strconv.FormatInt(r.ID, 10), Epoch: epoch,
	})
	return a.Ask(ctx, body, idempotencyKey(r, i, epoch), traceID(r.ID, i.ID, epoch))
}

// idempotencyKey is the same for every attempt at a unit.
func idempotencyKey(r Run, i dataset.Item, epoch int) string {
	return fmt.Sprintf("assay-%d-%d-%d", r.ID, i.ID, epoch)
}

// traceID names the trace of a unit, the same one for every attempt.
func traceID(run, item int64, epoch int) (id [16]byte) {
	b := []byte("assay unit\x00")
	for _, n := range []int64{run, item, int64(epoch)} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	sum := sha256.Sum256(b)
	copy(id[:], sum[:])
	return id
}

// model asks a model.
type model struct {
	*provider.Model
	target Target
}

func (m model) ask(ctx context.Context, r Run, i dataset.Item, epoch int) (provider.Answer, error) {
	return m.Ask(ctx, provider.Question{
		System: m.target.System, Messages: m.messages(i), Tools: offered(i.Content.Tools),
		IdempotencyKey: idempotencyKey(r, i, epoch), Trace: traceID(r.ID, i.ID, epoch),
	})
}

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
