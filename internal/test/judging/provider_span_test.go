package judging_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestSpans watches the spans of the whole process, so it looks for a model that
// no other test asks.
func TestSpans(t *testing.T) {
	t.Parallel()
	seen := tracetest.NewSpanRecorder()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(seen)))
	const model = "model-of-spans"
	s := simulated.Start(t, simulated.Options{Script: simulated.Script{Models: map[string]simulated.Behaviour{model: {Do: simulated.DoFixed, Text: "classified answer"}}}})
	k := testkit.Shared(t)
	us := k.Org(t)
	_, err := us.UpdateOrganization(t.Context(), map[string]any{"priceOverrides": map[string]any{model: map[string]any{"inputPerMillion": 1, "outputPerMillion": 2}}})
	require.NoError(t, err)
	m := modelAt(t, k, us, s, "openai", model)
	q := ask("classified question")
	q.Trace = [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	a, err := m.Ask(t.Context(), q)
	require.NoError(t, err)
	require.NoError(t, s.SetFaults(simulated.Faults{Rules: []simulated.Rule{{Fault: simulated.FaultReflect}}}))
	require.Error(t, askOnce(t, m))

	var ours []sdktrace.ReadOnlySpan
	for _, span := range seen.Ended() {
		if span.Name() == "chat "+model {
			ours = append(ours, span)
		}
		require.NotContains(t, fmt.Sprint(span.Attributes(), span.Events(), span.Status(), span.Links()), "classified", "no content")
		require.NotContains(t, fmt.Sprint(span.Attributes(), span.Events(), span.Status()), "sk-abcdefghijklmnopqrst", "no secret")
	}
	require.Len(t, ours, 2)
	attrs := attribute.NewSet(ours[0].Attributes()...)
	is := func(name string, want any) {
		t.Helper()
		v, ok := attrs.Value(attribute.Key(name))
		require.True(t, ok, name)
		require.Equal(t, want, v.AsInterface(), name)
	}
	is("gen_ai.provider.name", "openai")
	is("gen_ai.request.model", model)
	is("gen_ai.response.model", model)
	is("gen_ai.response.id", a.ReplyID)
	is("gen_ai.response.finish_reasons", []string{"stop"})
	is("gen_ai.usage.input_tokens", int64(a.Usage.Input))
	is("gen_ai.usage.output_tokens", int64(a.Usage.Output))
	is("assay.cost_usd", float64(*a.CostNanoUSD)/1e9)
	require.Equal(t, trace.TraceID(q.Trace), ours[0].Links()[0].SpanContext.TraceID())
	require.NotEqual(t, trace.TraceID(q.Trace), ours[0].SpanContext().TraceID(), "the operator's trace is not the tenant's")
	require.Equal(t, trace.SpanKindClient, ours[0].SpanKind())

	attrs = attribute.NewSet(ours[1].Attributes()...)
	is("error.type", "invalid")
	is("http.response.status_code", int64(400))
	require.Equal(t, codes.Error, ours[1].Status().Code)
	require.Empty(t, ours[1].Links())
}
