package scoring

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/measure/metric"
)

// Asker answers items.
type Asker interface {
	// Ask answers an item of a run once. An error is a *provider.Failure, or the
	// end of ctx.
	Ask(ctx context.Context, run int64, i dataset.Item, epoch int) (provider.Answer, error)
}

// Asker prepares to ask the target. A *provider.Unusable means that nothing can be
// asked.
func (t Target) Asker(ctx context.Context, with *provider.Service, org principal.OrgID) (Asker, error) {
	timeout := time.Duration(t.TimeoutMS) * time.Millisecond
	switch t.Type {
	case TargetHTTP:
		a, err := with.Application(ctx, org, provider.EndpointConfig{URL: t.URL, KeyID: t.SecretRef, Timeout: timeout})
		return application{a}, err
	case TargetModel:
		m, err := with.Model(ctx, org, provider.ModelConfig{KeyID: t.ProviderKeyID, Provider: t.Provider, Model: t.Model, Params: t.Params, Timeout: timeout})
		return model{m, t}, err
	default:
		return recorded{}, nil
	}
}

// recorded answers with what the item says.
type recorded struct{}

func (recorded) Ask(_ context.Context, _ int64, i dataset.Item, _ int) (provider.Answer, error) {
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
type application struct{ to *provider.Application }

// asked is what an application is sent.
type asked struct {
	Input      jsontext.Value `json:"input"`
	Context    jsontext.Value `json:"context,omitzero"`
	Messages   jsontext.Value `json:"messages,omitzero"`
	TestCaseID string         `json:"test_case_id"`
	RunID      string         `json:"run_id"`
	Epoch      int            `json:"epoch"`
}

func (a application) Ask(ctx context.Context, run int64, i dataset.Item, epoch int) (provider.Answer, error) {
	body, err := json.Marshal(asked{
		Input: i.Content.Input, Context: i.Content.Context, Messages: i.Content.Messages,
		TestCaseID: strconv.FormatInt(i.ID, 10), RunID: strconv.FormatInt(run, 10), Epoch: epoch,
	}, json.Deterministic(true))
	if err != nil {
		return provider.Answer{}, fmt.Errorf("encode the item: %w", err)
	}
	return a.to.Ask(ctx, body, idempotencyKey(run, i, epoch), traceID(run, i.ID, epoch))
}

// idempotencyKey is the same for every attempt at a unit.
func idempotencyKey(run int64, i dataset.Item, epoch int) string {
	return fmt.Sprintf("assay-%d-%d-%d", run, i.ID, epoch)
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
	to     *provider.Model
	target Target
}

func (m model) Ask(ctx context.Context, run int64, i dataset.Item, epoch int) (provider.Answer, error) {
	messages, err := m.messages(i)
	if err != nil {
		return provider.Answer{}, err
	}
	return m.to.Ask(ctx, provider.Question{
		System: m.target.System, Messages: messages, Tools: offered(i.Content.Tools),
		IdempotencyKey: idempotencyKey(run, i, epoch), Trace: traceID(run, i.ID, epoch),
	})
}
