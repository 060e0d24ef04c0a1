package provider

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/assayhq/assay/internal/platform/llm"
)

var tracer = otel.Tracer("github.com/assayhq/assay/internal/judging/provider")

// begin starts the operator's span of a call, in the words of OpenTelemetry for
// generative models. It belongs to whatever this process is doing; the trace of the
// tenant's own that the call becomes part of is a link. It has no content.
func (m *Model) begin(ctx context.Context, q Question, params llm.Params) (context.Context, trace.Span) {
	about := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"),
		attribute.String("gen_ai.provider.name", m.provider),
		attribute.String("gen_ai.request.model", m.config.Model),
		attribute.String("assay.org_id", m.spending.org.String()),
		attribute.Int64("assay.provider_key_id", m.config.KeyID),
	}
	if params.MaxTokens > 0 {
		about = append(about, attribute.Int("gen_ai.request.max_tokens", params.MaxTokens))
	}
	if params.Temperature != nil {
		about = append(about, attribute.Float64("gen_ai.request.temperature", *params.Temperature))
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(about...)}
	if of := trace.SpanContextFromContext(withTrace(ctx, q.Trace)); of.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: of}))
	}
	return tracer.Start(ctx, "chat "+m.config.Model, options...)
}

// conclude ends the span with what the call took. An error is named by its code:
// its words may repeat what a provider said.
func conclude(span trace.Span, a said, err error) {
	defer span.End()
	span.SetAttributes(
		attribute.Int64("gen_ai.usage.input_tokens", int64(a.Usage.Input)),
		attribute.Int64("gen_ai.usage.output_tokens", int64(a.Usage.Output)),
		attribute.Int64("gen_ai.usage.cache_read.input_tokens", int64(a.Usage.Cached)),
	)
	if a.ReplyID != "" {
		span.SetAttributes(attribute.String("gen_ai.response.id", a.ReplyID), attribute.String("gen_ai.response.model", a.Model))
	}
	if a.finish != "" {
		span.SetAttributes(attribute.StringSlice("gen_ai.response.finish_reasons", []string{string(a.finish)}))
	}
	if a.CostNanoUSD != nil {
		span.SetAttributes(attribute.Float64("assay.cost_usd", float64(*a.CostNanoUSD)/1e9))
	}
	if err == nil {
		return
	}
	code := "_OTHER"
	var e *llm.Error
	var f *Failure
	switch {
	case errors.As(err, &e):
		code = string(e.Kind)
		if e.Status != 0 {
			span.SetAttributes(attribute.Int("http.response.status_code", e.Status))
		}
	case errors.As(err, &f):
		code = f.Code
	}
	span.SetAttributes(attribute.String("error.type", code))
	span.SetStatus(codes.Error, code)
}
