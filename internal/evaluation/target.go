package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/price"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/tenancy"
)

// answer is what a target said about an item.
type answer struct {
	output    jsontext.Value
	tools     []metric.ToolCall // nil if nobody recorded calls
	took      *time.Duration
	cost      *uint64 // billionths of a US dollar
	usage     llm.Usage
	calls     int
	traceID   [16]byte
	toolsJSON jsontext.Value
}

// failure is an answer that did not come.
type failure struct {
	code    string
	message string
	// wait is what the target asks to wait before the next attempt.
	wait time.Duration
	// again: another attempt may succeed. stop: no other item would fare better.
	again, stop bool
}

func (f *failure) Error() string { return f.code + ": " + f.message }

// target answers items.
type target interface {
	// ask answers once. An error is a *failure, or the end of ctx.
	ask(ctx context.Context, r Run, i dataset.Item, epoch int) (answer, error)
}

// checkTarget refuses a target that can never work.
func (s *Service) checkTarget(t Target) error {
	invalid := func(path, code, message string) error { return fault.Invalid("body", "/target/"+path, code, message) }
	switch t.Type {
	case TargetHTTP:
		if t.URL == "" {
			return invalid("url", "required", "is required for a target of type http")
		}
		if err := s.egress.CheckURL(t.URL); err != nil {
			return invalid("url", "format", "cannot be called: "+err.Error())
		}
	case TargetModel:
		switch {
		case t.Model == "":
			return invalid("model", "required", "is required for a target of type model")
		case (t.ProviderKeyID == 0) == (t.Provider == ""):
			return invalid("providerKeyId", "one_of_required", "or provider is required, and not both: a provider key, or a provider that needs none")
		case t.Provider != "" && !s.models.IsInside(t.Provider):
			return invalid("provider", "unknown_reference", "needs a key: create a provider key and give its id as providerKeyId")
		}
		if _, err := modelParams(t.Params); err != nil {
			return invalid("params", "format", err.Error())
		}
	}
	return nil
}

// newTarget makes ready to ask. A *RunError means that nothing can be asked.
func (s *Service) newTarget(ctx context.Context, org principal.OrgID, t Target) (target, error) {
	switch t.Type {
	case TargetHTTP:
		return s.newApplication(ctx, org, t)
	case TargetModel:
		return s.newModel(ctx, org, t)
	default:
		return recorded{}, nil
	}
}

// recorded answers with what the item says.
type recorded struct{}

func (recorded) ask(_ context.Context, _ Run, i dataset.Item, _ int) (answer, error) {
	if i.Content.Output == nil {
		return answer{}, &failure{code: "no_output", message: "The item has no recorded output."}
	}
	a := answer{output: i.Content.Output}
	a.tools, a.toolsJSON = recordedCalls(i.Content.Output)
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
	return toolCalls(o.ToolCalls), o.ToolCalls
}

// toolCalls reads a list of calls; nil if there is something else in it.
func toolCalls(list jsontext.Value) []metric.ToolCall {
	calls, _ := metric.ToolCallsIn(slices.Concat([]byte(`{"tool_calls":`), list, []byte("}")))
	return calls
}

// model asks a model.
type model struct {
	client   *llm.Client
	to       llm.Endpoint
	target   Target
	params   llm.Params
	prices   *price.Table
	provider string
	clock    func() time.Time
}

// nanoUSD is an amount of US dollars in billionths, to the nearest.
func nanoUSD(usd float64) uint64 { return uint64(math.Round(usd * 1e9)) }

func modelParams(text jsontext.Value) (llm.Params, error) {
	var p struct {
		Temperature    *float64       `json:"temperature"`
		TopP           *float64       `json:"top_p"`
		MaxTokens      int            `json:"max_tokens"`
		Seed           *int64         `json:"seed"`
		Stop           []string       `json:"stop"`
		ResponseSchema jsontext.Value `json:"response_schema"`
	}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &p, json.RejectUnknownMembers(true)); err != nil {
			return llm.Params{}, errors.New("must be an object with temperature, top_p, max_tokens, seed, stop or response_schema")
		}
	}
	return llm.Params{Temperature: p.Temperature, TopP: p.TopP, MaxTokens: p.MaxTokens, Seed: p.Seed, Stop: p.Stop, ResponseSchema: p.ResponseSchema}, nil
}

func (s *Service) newModel(ctx context.Context, org principal.OrgID, t Target) (target, error) {
	params, err := modelParams(t.Params)
	if err != nil {
		return nil, &RunError{CodeTargetUnreachable, "The model's params cannot be read."}
	}
	o, err := s.people.Organization(ctx, org)
	if err != nil {
		return nil, err
	}
	m := &model{client: s.models, to: llm.Endpoint{Provider: t.Provider}, target: t, params: params, prices: o.Settings.Prices(), provider: t.Provider, clock: s.clock}
	if t.ProviderKeyID == 0 {
		return m, nil
	}
	k, secret, err := s.openKey(ctx, org, t.ProviderKeyID, "")
	if err != nil {
		return nil, err
	}
	m.to, m.provider = llm.Endpoint{Provider: k.Provider, BaseURL: k.BaseURL, Secret: secret}, k.Provider
	return m, nil
}

// openKey opens a provider key for an address, which is the key's own if none is
// given. A *RunError means that it may not be used.
func (s *Service) openKey(ctx context.Context, org principal.OrgID, id int64, url string) (tenancy.ProviderKey, secret.Text, error) {
	k, err := s.people.ProviderKey(ctx, org, id)
	if errors.Is(err, tenancy.ErrProviderKeyNotFound) {
		return k, "", &RunError{CodeProviderKeyMissing, fmt.Sprintf("The provider key %d does not exist.", id)}
	}
	if err != nil {
		return k, "", err
	}
	if k.Status != tenancy.ProviderKeyActive {
		return k, "", &RunError{CodeProviderKeyMissing, fmt.Sprintf("The provider key %q is %s.", k.Name, k.Status)}
	}
	opened, err := s.people.ProviderSecret(ctx, org, k, cmp.Or(url, k.BaseURL))
	if f, ok := fault.From(err); ok && f.Kind != fault.Unavailable {
		return k, "", &RunError{CodeProviderKeyMissing, f.Message}
	}
	return k, opened, err
}

func (m *model) ask(ctx context.Context, r Run, i dataset.Item, epoch int) (answer, error) {
	if m.target.TimeoutMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(m.target.TimeoutMS)*time.Millisecond)
		defer cancel()
	}
	a := answer{calls: 1, traceID: traceID(r.ID, i.ID, epoch)}
	began := m.clock()
	reply, err := m.client.Complete(withTrace(ctx, a.traceID), m.to, llm.Request{
		Model: m.target.Model, System: m.target.System, Params: m.params, Messages: m.messages(i), Tools: offered(i.Content.Tools),
		IdempotencyKey: fmt.Sprintf("assay-%d-%d-%d", r.ID, i.ID, epoch),
	})
	took := m.clock().Sub(began)
	a.took, a.usage = &took, reply.Usage
	// What a call that failed has cost is known only if it says what it took.
	known := err == nil || reply.Usage != llm.Usage{}
	if p, ok := m.prices.Find([]byte(m.provider), []byte(m.target.Model)); ok && known {
		nano := p.NanoUSD(reply.Usage.Input, reply.Usage.Cached, reply.Usage.CacheWrite, reply.Usage.Output)
		a.cost = &nano
	}
	if err != nil {
		return a, modelFailure(ctx, err)
	}
	if a.output, err = json.Marshal(reply.Text); err != nil {
		return a, &failure{code: string(llm.Malformed), message: "The answer is not text."}
	}
	a.tools = []metric.ToolCall{}
	for _, c := range reply.ToolCalls {
		a.tools = append(a.tools, metric.ToolCall{Name: c.Name, Arguments: c.Arguments})
	}
	if len(a.tools) > 0 {
		a.toolsJSON = callsJSON(a.tools)
	}
	return a, nil
}

func callsJSON(calls []metric.ToolCall) jsontext.Value {
	type call struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments,omitzero"`
		Error     string         `json:"error,omitzero"`
	}
	list := make([]call, len(calls))
	for i, c := range calls {
		list[i] = call(c)
	}
	return encode(list)
}

func modelFailure(ctx context.Context, err error) error {
	var e *llm.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Kind == llm.Cancelled && ctx.Err() != nil {
		return ctx.Err()
	}
	return &failure{code: string(e.Kind), message: e.Error(), wait: e.RetryAfter, again: e.Retryable(), stop: e.Fatal()}
}

// messages is the conversation that a model is asked to go on with: the prompt
// with the item's input in it, or the item's own messages, or its input.
func (m *model) messages(i dataset.Item) []llm.Message {
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
