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

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy/price"
)

// ModelConfig is which model is asked, and how.
type ModelConfig struct {
	// KeyID is the key to ask with; zero for a Provider that needs none.
	KeyID    int64
	Provider string
	Model    string
	Params   jsontext.Value
	Timeout  time.Duration // of one call; zero for that of the client
	// Purses are paid from beside those of the organization and the key.
	Purses []Purse
	// CacheFor lets answers be used again for so long, by whoever asks exactly the
	// same; zero asks each time.
	CacheFor time.Duration
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
	spending *Spending
	width    *width // nil for a provider that lives in the process
}

// Question is what a model is asked.
type Question struct {
	System   string
	Messages []llm.Message
	Tools    []llm.Tool
	// IdempotencyKey is the same for every attempt.
	IdempotencyKey string
	Trace          [16]byte // the trace that the call becomes part of
	// CacheSalt keeps apart what is meant to be asked several times, such as the
	// repetitions of a judgement.
	CacheSalt string
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
	purses := append([]Purse{organizationPurse(o.Settings.ModelSpendCapUSD)}, c.Purses...)
	if c.KeyID == 0 {
		m.spending = s.spending(org, purses)
		return m, nil
	}
	k, text, err := s.openKey(ctx, org, c.KeyID, "")
	if err != nil {
		return nil, err
	}
	m.spending = s.spending(org, append(purses, k.purse()))
	if _, ok := m.prices.Find([]byte(k.Provider), []byte(c.Model)); !ok && m.spending.capped() {
		return nil, &Unusable{CodePriceMissing, fmt.Sprintf("There is a spend cap, and the price of the model %q is not known. Set it, or 0, in the organization's priceOverrides.", c.Model)}
	}
	m.to, m.provider = llm.Endpoint{Provider: k.Provider, BaseURL: k.BaseURL, Secret: text}, k.Provider
	m.width = s.widths.of(keyOf{org, k.ID})
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
	if again, ok := m.recall(ctx, q, m.params); ok {
		return again.Answer, nil
	}
	said, err := m.call(ctx, q, m.params)
	if err == nil {
		m.remember(ctx, q, m.params, said)
	}
	return said.Answer, err
}

// said is an answer with what only a reader of its text needs.
type said struct {
	Answer
	text   string
	finish llm.Finish
}

// call asks once, when it is this model's turn.
func (m *Model) call(ctx context.Context, q Question, params llm.Params) (said, error) {
	if m.width == nil {
		a, err := m.pay(ctx, q, params)
		return a, modelFailure(ctx, err)
	}
	round, err := m.width.enter(ctx, m, stopOf(ctx))
	if err != nil {
		return said{Answer: Answer{Trace: q.Trace}}, err
	}
	v, wait := unclear, time.Duration(0)
	defer func() { m.width.leave(round, v, wait) }()
	a, err := m.pay(ctx, q, params)
	v, wait = judged(err)
	return a, modelFailure(ctx, err)
}

// judged is what the outcome of a call says about how busy the provider is.
func judged(err error) (verdict, time.Duration) {
	var e *llm.Error
	switch {
	case err == nil:
		return served, 0
	case !errors.As(err, &e):
		return unclear, 0
	case e.Overload():
		return overloaded, e.RetryAfter
	case e.Kind == llm.Refused:
		return served, 0
	}
	return unclear, 0
}

// pay makes a call that no cap forbids, and counts what it costs. A call whose end
// is not known, such as one that timed out, is not counted: no provider says what
// it took.
func (m *Model) pay(ctx context.Context, q Question, params llm.Params) (said, error) {
	if err := m.spending.Before(ctx); err != nil {
		return said{Answer: Answer{Trace: q.Trace}}, err
	}
	ctx, span := m.begin(ctx, q, params)
	a, err := m.exchange(ctx, q, params)
	conclude(span, a, err)
	if a.CostNanoUSD != nil {
		m.spending.Paid(*a.CostNanoUSD)
	}
	return a, err
}

// exchange sends a question and reads the answer. An error is an *llm.Error or a
// *Failure.
func (m *Model) exchange(ctx context.Context, q Question, params llm.Params) (said, error) {
	if m.config.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, m.config.Timeout)
		defer cancel()
	}
	a := said{Answer: Answer{Calls: 1, Trace: q.Trace}}
	began := m.clock()
	reply, err := m.client.Complete(withTrace(ctx, q.Trace), m.to, llm.Request{
		Model: m.config.Model, System: q.System, Params: params, Messages: q.Messages, Tools: q.Tools, IdempotencyKey: q.IdempotencyKey,
	})
	took := m.clock().Sub(began)
	a.Took, a.Usage, a.ReplyID, a.Model = &took, reply.Usage, reply.ID, reply.Model
	a.text, a.finish = reply.Text, reply.Finish
	// The cost of a failed call is known only if the call reports its usage.
	known := err == nil || reply.Usage != llm.Usage{}
	if p, ok := m.prices.Find([]byte(m.provider), []byte(m.config.Model)); ok && known {
		nano := p.NanoUSD(reply.Usage.Input, reply.Usage.Cached, reply.Usage.CacheWrite, reply.Usage.Output)
		a.CostNanoUSD = &nano
	}
	if err != nil {
		return a, err
	}
	return a, a.keep(reply)
}

// keep takes over what a model said and which tools it called.
func (a *said) keep(reply llm.Reply) (err error) {
	if a.Output, err = json.Marshal(reply.Text); err != nil {
		return &Failure{Code: string(llm.Malformed), Message: "The answer is not text."}
	}
	a.Tools = []metric.ToolCall{}
	for _, c := range reply.ToolCalls {
		a.Tools = append(a.Tools, metric.ToolCall{Name: c.Name, Arguments: c.Arguments})
	}
	if len(a.Tools) > 0 {
		if a.ToolsJSON, err = callsJSON(a.Tools); err != nil {
			return &Failure{Code: string(llm.Malformed), Message: "The calls of tools are not JSON."}
		}
	}
	return nil
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
