package provider

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/otel/propagation"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/tenancy/price"
)

// Application asks an application over HTTP.
type Application struct {
	endpoint
	prices *price.Table
	clock  func() time.Time
}

// Application prepares to ask an application. An *Unusable means that it cannot
// be asked.
func (s *Service) Application(ctx context.Context, org principal.OrgID, c EndpointConfig) (*Application, error) {
	e, err := s.endpoint(ctx, org, "The target", CodeUnreachable, c)
	if err != nil {
		return nil, err
	}
	o, err := s.tenancy.Organization(ctx, org)
	if err != nil {
		return nil, err
	}
	return &Application{endpoint: e, prices: o.Settings.Prices(), clock: s.clock}, nil
}

// answered is the response of an application. Only the output has to be right: what
// else it says is read where it can be.
type answered struct {
	Output    jsontext.Value `json:"output"`
	ToolCalls jsontext.Value `json:"tool_calls"`
	Model     jsontext.Value `json:"model"`
	Usage     jsontext.Value `json:"usage"`
	CostUSD   jsontext.Value `json:"cost_usd"`
	CostCamel jsontext.Value `json:"costUsd"`
}

// usage are the numbers that an answer has about what it used, in the forms that
// libraries of models have them in.
func (sent *answered) usage() (u llm.Usage, cost *float64) {
	var members map[string]jsontext.Value
	_ = json.Unmarshal(sent.Usage, &members) // anybody's; without numbers there are none
	count := func(names ...string) uint32 {
		for _, name := range names {
			if v := number(members[name]); v != nil && *v > 0 && *v <= math.MaxUint32 {
				return uint32(*v)
			}
		}
		return 0
	}
	u = llm.Usage{Input: count("input_tokens", "inputTokens", "prompt_tokens"), Output: count("output_tokens", "outputTokens", "completion_tokens")}
	for _, text := range []jsontext.Value{sent.CostUSD, sent.CostCamel, members["cost_usd"], members["costUsd"]} {
		if v := number(text); v != nil && *v >= 0 && *v < 1e9 {
			return u, v
		}
	}
	return u, nil
}

// number is a value as a number, nil if it is not one.
func number(v jsontext.Value) *float64 {
	var n float64
	if v.Kind() != '0' || json.Unmarshal(v, &n) != nil {
		return nil
	}
	return &n
}

// cost is what an application says that its answer cost, or what the tokens of its
// model cost; nil if it says neither.
func (a *Application) cost(sent *answered, u llm.Usage, said *float64) *uint64 {
	if said != nil {
		nano := NanoUSD(*said)
		return &nano
	}
	var model string
	if u == (llm.Usage{}) || json.Unmarshal(sent.Model, &model) != nil {
		return nil
	}
	p, ok := a.prices.Find(nil, []byte(model))
	if !ok {
		return nil
	}
	nano := p.NanoUSD(u.Input, 0, 0, u.Output)
	return &nano
}

// Ask sends a JSON body once. The idempotency key is the same for every attempt,
// and the call becomes part of the trace. An error is a *Failure, or the end of
// ctx.
func (a *Application) Ask(ctx context.Context, body []byte, idempotencyKey string, trace [16]byte) (Answer, error) {
	got := Answer{Calls: 1, Trace: trace}
	header := http.Header{}
	// In lower case net/http does not send a request again by itself when a
	// connection breaks: a second call may be paid for.
	header["idempotency-key"] = []string{idempotencyKey}
	propagation.TraceContext{}.Inject(withTrace(ctx, trace), propagation.HeaderCarrier(header))
	began := a.clock()
	status, text, err := a.post(ctx, body, header)
	took := a.clock().Sub(began)
	got.Took = &took
	if err != nil {
		return got, err
	}
	err = a.read(&got, status, text)
	return got, err
}

// read turns a response into an answer, without the secret that was sent.
func (a *Application) read(got *Answer, status int, text []byte) error {
	var sent answered
	err := json.Unmarshal(text, &sent)
	if err == nil {
		sent.Output, err = a.scrub.value(sent.Output)
	}
	if err == nil {
		sent.ToolCalls, err = a.scrub.value(sent.ToolCalls)
	}
	if err != nil || sent.Output == nil {
		return a.malformed(status, `a JSON object that has "output"`, text)
	}
	got.Output = sent.Output
	if sent.ToolCalls.Kind() == '[' {
		got.Tools, got.ToolsJSON = ToolCalls(sent.ToolCalls), sent.ToolCalls
	}
	usage, cost := sent.usage()
	got.Usage, got.CostNanoUSD = usage, a.cost(&sent, usage, cost)
	return nil
}
