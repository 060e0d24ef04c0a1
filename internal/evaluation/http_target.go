package evaluation

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/platform/egress"
	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/principal"
)

const (
	// defaultTimeout is how long an application may take for one item.
	defaultTimeout = 60 * time.Second
	// maxAnswer is how long its answer may be, in bytes.
	maxAnswer = 4 << 20
)

// application asks an application over HTTP.
type application struct {
	client *http.Client
	target Target
	secret secret.Text
	clock  func() time.Time
}

func (s *Service) newApplication(ctx context.Context, org principal.OrgID, t Target) (target, error) {
	a := &application{target: t, clock: s.clock}
	if err := s.egress.CheckURL(t.URL); err != nil {
		return nil, &RunError{CodeTargetUnreachable, "The target's URL may not be called: " + err.Error()}
	}
	timeout := defaultTimeout
	if t.TimeoutMS > 0 {
		timeout = time.Duration(t.TimeoutMS) * time.Millisecond
	}
	a.client = s.egress.HTTP(egress.Options{Timeout: timeout})
	if t.SecretRef == 0 {
		return a, nil
	}
	var err error
	if _, a.secret, err = s.openKey(ctx, org, t.SecretRef, t.URL); err != nil {
		return nil, err
	}
	return a, nil
}

// asked is what an application is sent.
type asked struct {
	Input      jsontext.Value `json:"input"`
	Context    jsontext.Value `json:"context,omitzero"`
	Messages   jsontext.Value `json:"messages,omitzero"`
	TestCaseID string         `json:"test_case_id"`
	RunID      string         `json:"run_id"`
	Epoch      int            `json:"epoch"`
}

// answered is what it says.
type answered struct {
	Output    jsontext.Value `json:"output"`
	ToolCalls jsontext.Value `json:"tool_calls"`
	Usage     struct {
		InputTokens  uint32   `json:"input_tokens"`
		OutputTokens uint32   `json:"output_tokens"`
		CostUSD      *float64 `json:"cost_usd"`
	} `json:"usage"`
}

func (a *application) ask(ctx context.Context, r Run, i dataset.Item, epoch int) (answer, error) {
	got := answer{calls: 1, traceID: traceID(r.ID, i.ID, epoch)}
	body := encode(asked{
		Input: i.Content.Input, Context: i.Content.Context, Messages: i.Content.Messages,
		TestCaseID: strconv.FormatInt(i.ID, 10), RunID: strconv.FormatInt(r.ID, 10), Epoch: epoch,
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.target.URL, bytes.NewReader(body))
	if err != nil {
		return got, &failure{code: CodeTargetUnreachable, message: "The target's URL cannot be called.", stop: true}
	}
	req.Header.Set("Content-Type", "application/json")
	// In lower case net/http does not send a request again by itself when a
	// connection breaks: a second call may be paid for.
	req.Header["idempotency-key"] = []string{fmt.Sprintf("assay-%d-%d-%d", r.ID, i.ID, epoch)}
	propagation.TraceContext{}.Inject(withTrace(ctx, got.traceID), propagation.HeaderCarrier(req.Header))
	if text := a.secret.Reveal(); text != "" {
		req.Header.Set("Authorization", "Bearer "+text)
	}
	began := a.clock()
	res, err := a.client.Do(req)
	took := a.clock().Sub(began)
	got.took = &took
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
		return &failure{code: CodeTargetUnreachable, message: "The target's address may not be called.", stop: true}
	case errors.Is(err, context.DeadlineExceeded):
		return &failure{code: CodeTimeout, message: "The target did not answer in time.", again: true}
	default:
		return &failure{code: CodeTargetUnreachable, message: "The target cannot be reached.", again: true}
	}
}

// read makes an answer of a response.
func (a *application) read(got *answer, res *http.Response, text []byte) error {
	switch {
	case res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500:
		return &failure{
			code: CodeTargetUnreachable, message: fmt.Sprintf("The target answered with status %d.", res.StatusCode),
			again: true, wait: llm.RetryAfter(res.Header),
		}
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		return &failure{code: CodeTargetUnreachable, message: fmt.Sprintf("The target does not accept the call: status %d.", res.StatusCode), stop: true}
	case res.StatusCode/100 != 2:
		return &failure{code: "refused", message: fmt.Sprintf("The target answered with status %d.", res.StatusCode)}
	case len(text) > maxAnswer:
		return &failure{code: "too_large", message: fmt.Sprintf("The answer is longer than %d bytes.", maxAnswer)}
	}
	var sent answered
	if err := json.Unmarshal(text, &sent); err != nil || sent.Output == nil {
		return &failure{code: "malformed", message: "The target's answer is not a JSON object with output.", again: true}
	}
	got.output = sent.Output
	if sent.ToolCalls.Kind() == '[' {
		got.tools, got.toolsJSON = toolCalls(sent.ToolCalls), sent.ToolCalls
	}
	got.usage = llm.Usage{Input: sent.Usage.InputTokens, Output: sent.Usage.OutputTokens}
	if c := sent.Usage.CostUSD; c != nil && *c >= 0 && *c < 1e9 {
		nano := nanoUSD(*c)
		got.cost = &nano
	}
	return nil
}

// traceID names the trace that a unit leaves: the same one however often it is
// tried.
func traceID(run, item int64, epoch int) (id [16]byte) {
	b := []byte("assay unit\x00")
	for _, n := range []int64{run, item, int64(epoch)} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	sum := sha256.Sum256(b)
	copy(id[:], sum[:])
	return id
}

// withTrace makes calls part of a trace.
func withTrace(ctx context.Context, id [16]byte) context.Context {
	return trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: id, SpanID: trace.SpanID(id[8:]), TraceFlags: trace.FlagsSampled, Remote: true,
	}))
}
