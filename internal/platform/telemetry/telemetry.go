// Package telemetry is how the process shows itself: structured logs, and its
// own traces and metrics through OpenTelemetry.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	promexport "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
)

// Config of logs, traces and metrics.
type Config struct {
	LogLevel   string  `setting:"log_level" default:"info" help:"Log level: debug, info, warn or error. Each request is logged at debug."`
	LogFormat  string  `setting:"log_format" default:"json" help:"Log format: json, or human-readable text."`
	TracesURL  string  `setting:"traces_url" help:"OTLP/HTTP endpoint for the process's own traces; empty disables them."`
	TraceRatio float64 `setting:"trace_ratio" default:"0.01" help:"Fraction of requests traced if the caller did not decide."`
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	var errs []error
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		errs = append(errs, fmt.Errorf("log_level is %q: use debug, info, warn or error", c.LogLevel))
	}
	if c.LogFormat != "json" && c.LogFormat != "text" {
		errs = append(errs, fmt.Errorf("log_format is %q: use json or text", c.LogFormat))
	}
	if c.TraceRatio < 0 || c.TraceRatio > 1 {
		errs = append(errs, fmt.Errorf("trace_ratio is %v: give a share between 0 and 1", c.TraceRatio))
	}
	return errors.Join(errs...)
}

// Logger writes structured lines to w, and none that only repeats others.
func Logger(cfg Config, w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.LogLevel)) // Validate has read it
	opts := &slog.HandlerOptions{Level: level}
	if cfg.LogFormat == "text" {
		return slog.New(withoutRepeats(slog.NewTextHandler(w, opts)))
	}
	return slog.New(withoutRepeats(slog.NewJSONHandler(w, opts)))
}

// registry holds the metrics of the process.
var registry = prometheus.NewRegistry()

// Start installs the process-wide tracer and meter, and returns the function
// that sends what is still held.
func Start(ctx context.Context, cfg Config, build string) (stop func(context.Context) error, err error) {
	res := resource.NewSchemaless(attribute.String("service.name", "assay"), attribute.String("service.version", build))
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	exporter, err := promexport.New(promexport.WithRegisterer(registry))
	if err != nil {
		return nil, fmt.Errorf("start metrics: %w", err)
	}
	meters := metric.NewMeterProvider(metric.WithReader(exporter), metric.WithResource(res))
	otel.SetMeterProvider(meters)

	options := []trace.TracerProviderOption{
		trace.WithResource(res),
		trace.WithSampler(trace.ParentBased(trace.TraceIDRatioBased(cfg.TraceRatio))),
	}
	if cfg.TracesURL != "" {
		out, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(cfg.TracesURL))
		if err != nil {
			return nil, fmt.Errorf("start traces: %w", err)
		}
		options = append(options, trace.WithBatcher(out))
	}
	tracers := trace.NewTracerProvider(options...)
	otel.SetTracerProvider(tracers)
	otel.SetTextMapPropagator(propagation.TraceContext{})

	return func(ctx context.Context) error {
		return errors.Join(tracers.Shutdown(ctx), meters.Shutdown(ctx))
	}, nil
}

// Handler serves /metrics and profiles. It belongs on the internal listener.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}
