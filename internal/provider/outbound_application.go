package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/otel/propagation"

	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/price"
	"github.com/assayhq/assay/internal/principal"
)

const (
	// defaultTimeout is how long an application may take for one answer.
	defaultTimeout = 60 * time.Second
	// maxAnswer is the largest answer, in bytes.
	maxAnswer = 4 << 20
)

// ApplicationConfig is which application is asked.
type ApplicationConfig struct {
	URL     string
	KeyID   int64         // of the key that is sent; zero for none
	Timeout time.Duration // of one call; zero for the default
}

// Application asks an application over HTTP.
type Application struct {
	client *http.Client
	url    string
	secret secret.Text
	scrub  *scrubber
	prices *price.Table
	clock  func() time.Time
}

// Application prepares to ask an application. An *Unusable means that it cannot
// be asked.
func (s *Service) Application(ctx context.Context, org principal.OrgID, c ApplicationConfig) (*Application, error) {
	a := &Application{url: c.URL, clock: s.clock}
	if err := s.egress.CheckURL(c.URL); err != nil {
		return nil, &Unusable{CodeUnreachable, "The target's URL may not be called: " + err.Error()}
	}
	o, err := s.tenancy.Organization(ctx, org)
	if err != nil {
		return nil, err
	}
	a.prices = o.Settings.Prices()
	timeout := defaultTimeout
	if c.Timeout > 0 {
		timeout = c.Timeout
	}
	a.client = s.egress.HTTP(egress.Options{Timeout: timeout})
	if c.KeyID == 0 {
		return a, nil
	}
	if _, a.secret, err = s.openKey(ctx, org, c.KeyID, c.URL); err != nil {
		return nil, err
	}
	a.scrub = newScrubber(a.secret.Reveal())
	return a, nil
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
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(body))
	if err != nil {
		return got, &Failure{Code: CodeUnreachable, Message: "The target's URL cannot be called.", Stop: true}
	}
	req.Header.Set("Content-Type", "application/json")
	// In lower case net/http does not send a request again by itself when a
	// connection breaks: a second call may be paid for.
	req.Header["idempotency-key"] = []string{idempotencyKey}
	propagation.TraceContext{}.Inject(withTrace(ctx, trace), propagation.HeaderCarrier(req.Header))
	if text := a.secret.Reveal(); text != "" {
		req.Header.Set("Authorization", "Bearer "+text)
	}
	began := a.clock()
	res, err := a.client.Do(req)
	took := a.clock().Sub(began)
	got.Took = &took
	if err != nil {
		return got, unreachable(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	took = a.clock().Sub(began)
	if err != nil {
		return got, unreachable(ctx, err)
	}
	err = a.read(&got, res, text)
	return got, err
}

func unreachable(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, egress.ErrForbidden):
		return &Failure{Code: CodeUnreachable, Message: "The target's address may not be called.", Stop: true}
	case errors.Is(err, context.DeadlineExceeded):
		return &Failure{Code: CodeTimeout, Message: "The target did not answer in time.", Retry: true}
	default:
		return &Failure{Code: CodeUnreachable, Message: "The target cannot be reached.", Retry: true, Down: true}
	}
}

// read turns a response into an answer, without the secret that was sent.
func (a *Application) read(got *Answer, res *http.Response, text []byte) error {
	switch {
	case res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500:
		return &Failure{
			Code: CodeUnreachable, Message: fmt.Sprintf("The target answered with status %d.", res.StatusCode),
			Retry: true, Wait: llm.RetryAfter(res.Header),
			Down: res.StatusCode == http.StatusBadGateway || res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusGatewayTimeout,
		}
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		return &Failure{Code: CodeUnreachable, Message: fmt.Sprintf("The target does not accept the call: status %d.", res.StatusCode), Stop: true}
	case res.StatusCode/100 != 2:
		return &Failure{Code: "refused", Message: fmt.Sprintf("The target answered with status %d.", res.StatusCode)}
	case len(text) > maxAnswer:
		return &Failure{Code: "too_large", Message: fmt.Sprintf("The answer is longer than %d bytes.", maxAnswer)}
	}
	var sent answered
	err := json.Unmarshal(text, &sent)
	if err == nil {
		sent.Output, err = a.scrub.value(sent.Output)
	}
	if err == nil {
		sent.ToolCalls, err = a.scrub.value(sent.ToolCalls)
	}
	if err != nil || sent.Output == nil {
		// Asking again would be paid for again, and the answer would be the same.
		return &Failure{Code: "malformed", Message: fmt.Sprintf(`The target answered with status %d, but not with a JSON object that has "output". It answered: %s`, res.StatusCode, snippet(a.scrub.quoted(text)))}
	}
	got.Output = sent.Output
	if sent.ToolCalls.Kind() == '[' {
		got.Tools, got.ToolsJSON = ToolCalls(sent.ToolCalls), sent.ToolCalls
	}
	usage, cost := sent.usage()
	got.Usage, got.CostNanoUSD = usage, a.cost(&sent, usage, cost)
	return nil
}

// snippet is the beginning of a text, on one line, for a message.
func snippet(text string) string {
	const most = 200
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if text == "" {
		return "nothing."
	}
	if len(text) <= most {
		return text
	}
	end := most
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
