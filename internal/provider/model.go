package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/otel/trace"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/price"
	"github.com/assayhq/assay/internal/principal"
)

// ModelConfig is which model is asked, and how.
type ModelConfig struct {
	// KeyID is the key to ask with; zero for a Provider that needs none.
	KeyID    int64
	Provider string
	Model    string
	Params   jsontext.Value
	Timeout  time.Duration // of one call; zero for that of the client
}

// Model asks a model.
type Model struct {
	client   *llm.Client
	to       llm.Endpoint
	config   ModelConfig
	params   llm.Params
	prices   *price.Table
	provider string
	clock    func() time.Time
}

// Question is what a model is asked.
type Question struct {
	System   string
	Messages []llm.Message
	Tools    []llm.Tool
	// IdempotencyKey is the same for every attempt.
	IdempotencyKey string
	Trace          [16]byte // the trace that the call becomes part of
}

// ParseParams reads the parameters of a model.
func ParseParams(text jsontext.Value) (llm.Params, error) {
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

// Model prepares to ask a model. An *Unusable means that it cannot be asked.
func (s *Service) Model(ctx context.Context, org principal.OrgID, c ModelConfig) (*Model, error) {
	params, err := ParseParams(c.Params)
	if err != nil {
		return nil, &Unusable{CodeUnreachable, "The model's params cannot be read."}
	}
	o, err := s.tenancy.Organization(ctx, org)
	if err != nil {
		return nil, err
	}
	m := &Model{client: s.models, to: llm.Endpoint{Provider: c.Provider}, config: c, params: params, prices: o.Settings.Prices(), provider: c.Provider, clock: s.clock}
	if c.KeyID == 0 {
		return m, nil
	}
	k, text, err := s.openKey(ctx, org, c.KeyID, "")
	if err != nil {
		return nil, err
	}
	m.to, m.provider = llm.Endpoint{Provider: k.Provider, BaseURL: k.BaseURL, Secret: text}, k.Provider
	return m, nil
}

// openKey opens a key for an address, which is the key's own if none is given.
// An *Unusable means that it may not be used.
func (s *Service) openKey(ctx context.Context, org principal.OrgID, id int64, url string) (Key, secret.Text, error) {
	k, err := s.Find(ctx, org, id)
	if errors.Is(err, ErrKeyNotFound) {
		return k, "", &Unusable{CodeKeyMissing, fmt.Sprintf("The provider key %d does not exist.", id)}
	}
	if err != nil {
		return k, "", err
	}
	if k.Status != KeyActive {
		return k, "", &Unusable{CodeKeyMissing, fmt.Sprintf("The provider key %q is %s.", k.Name, k.Status)}
	}
	opened, err := s.Open(ctx, org, k, cmp.Or(url, k.BaseURL))
	if f, ok := fault.From(err); ok && f.Kind != fault.Unavailable {
		return k, "", &Unusable{CodeKeyMissing, f.Message}
	}
	return k, opened, err
}

// Ask asks once. An error is a *Failure, or the end of ctx.
func (m *Model) Ask(ctx context.Context, q Question) (Answer, error) {
	if m.config.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, m.config.Timeout)
		defer cancel()
	}
	a := Answer{Calls: 1, Trace: q.Trace}
	began := m.clock()
	reply, err := m.client.Complete(withTrace(ctx, q.Trace), m.to, llm.Request{
		Model: m.config.Model, System: q.System, Params: m.params, Messages: q.Messages, Tools: q.Tools, IdempotencyKey: q.IdempotencyKey,
	})
	took := m.clock().Sub(began)
	a.Took, a.Usage = &took, reply.Usage
	// The cost of a failed call is known only if the call reports its usage.
	known := err == nil || reply.Usage != llm.Usage{}
	if p, ok := m.prices.Find([]byte(m.provider), []byte(m.config.Model)); ok && known {
		nano := p.NanoUSD(reply.Usage.Input, reply.Usage.Cached, reply.Usage.CacheWrite, reply.Usage.Output)
		a.CostNanoUSD = &nano
	}
	if err != nil {
		return a, modelFailure(ctx, err)
	}
	if a.Output, err = json.Marshal(reply.Text); err != nil {
		return a, &Failure{Code: string(llm.Malformed), Message: "The answer is not text."}
	}
	a.Tools = []metric.ToolCall{}
	for _, c := range reply.ToolCalls {
		a.Tools = append(a.Tools, metric.ToolCall{Name: c.Name, Arguments: c.Arguments})
	}
	if len(a.Tools) > 0 {
		if a.ToolsJSON, err = callsJSON(a.Tools); err != nil {
			return a, &Failure{Code: string(llm.Malformed), Message: "The calls of tools are not JSON."}
		}
	}
	return a, nil
}

func callsJSON(calls []metric.ToolCall) (jsontext.Value, error) {
	type call struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments,omitzero"`
		Error     string         `json:"error,omitzero"`
	}
	list := make([]call, len(calls))
	for i, c := range calls {
		list[i] = call(c)
	}
	return json.Marshal(list, json.Deterministic(true))
}

func modelFailure(ctx context.Context, err error) error {
	var e *llm.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Kind == llm.Cancelled && ctx.Err() != nil {
		return ctx.Err()
	}
	return &Failure{Code: string(e.Kind), Message: e.Error(), Wait: e.RetryAfter, Retry: e.Retryable(), Stop: e.Fatal()}
}

// withTrace makes calls part of a trace.
func withTrace(ctx context.Context, id [16]byte) context.Context {
	return trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: id, SpanID: trace.SpanID(id[8:]), TraceFlags: trace.FlagsSampled, Remote: true,
	}))
}
