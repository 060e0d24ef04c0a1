package trace

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/spandb"
	"github.com/assayhq/assay/internal/tenancy/price"
	"github.com/assayhq/assay/internal/tenancy/redact"
	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/bench/traffic"
)

// What decoding may cost beside the OpenTelemetry library, which only makes
// structs of the same bytes.
const (
	decodeGoal    = 0.15
	decodeCeiling = 0.30
)

// TestBenchDecode measures reading a body, conventions included, beside what
// the OpenTelemetry library takes to read it; and, for whoever wants to know
// where the rest goes, the way on into columns, without and with redaction.
//
//nolint:paralleltest // it counts the processor time of the whole process, so nothing else may run in it
func TestBenchDecode(t *testing.T) {
	rounds := 15
	switch {
	case bench.Raced:
		rounds = 2
	case bench.Whole():
		rounds = 101
	}
	options := traffic.Options{Seed: 1, From: time.Now().Add(-time.Hour), Over: time.Hour}
	var judged []error
	var last []string
	for _, shape := range []struct {
		name     string
		requests []traffic.Request
	}{
		{"narrow", traffic.Narrow(options).Requests(20, 1000)},
		{"agent", traffic.Agent(options).Requests(10, 60)},
	} {
		got := decodeRatio(t, shape.name, shape.requests, rounds)
		judged = append(judged, got.AtMost(decodeCeiling))
		last = append(last, fmt.Sprintf("otlp-decode-%s ratio %.3f", shape.name, got.Median))
	}
	_, _ = fmt.Fprintln(os.Stdout, strings.Join(last, "\n"))
	if !bench.Raced {
		require.NoError(t, errors.Join(judged...))
	}
}

// decodeRatio compares the three ways for one shape.
func decodeRatio(t *testing.T, name string, requests []traffic.Request, rounds int) bench.Ratio {
	t.Helper()
	spans := 0
	for _, r := range requests {
		spans += r.Spans
	}
	var d span.Decoder
	b := spandb.NewBlock()
	var bad span.Rejected
	columns := func() error {
		b.Reset()
		kept := spandb.Stamp{Org: principal.NewOrgID(), Ingested: time.Now().UnixMicro(), Retention: 90}
		for _, r := range requests {
			if err := d.Traces(r.Body, &bad, func(r *span.Record) error { b.AppendSpan(r, kept); return nil }); err != nil {
				return err
			}
		}
		return nil
	}
	rows := func() error {
		for _, r := range requests {
			if err := d.Traces(r.Body, &bad, func(*span.Record) error { return nil }); err != nil {
				return err
			}
		}
		return nil
	}
	redactor, err := redact.New(nil)
	require.NoError(t, err)
	settings := &orgSettings{retention: 90, redactor: redactor, prices: price.NewTable(nil)}
	redacted := func() error {
		b.Reset()
		for _, r := range requests {
			in := newIntake(principal.NewOrgID(), settings, time.Now().UnixMicro())
			err := in.read(t.Context(), len(r.Body), func() error {
				return d.Traces(r.Body, &bad, func(r *span.Record) error {
					if reason := in.add(r); reason != "" {
						bad.Add(reason)
					}
					return in.next()
				})
			})
			if err != nil {
				return err
			}
			if err := in.rows.MoveLive(b); err != nil {
				return err
			}
			in.rows.Release()
		}
		return nil
	}
	structs := func() error {
		for _, r := range requests {
			if _, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(r.Body); err != nil {
				return err
			}
		}
		return nil
	}

	// Every span arrives.
	for _, way := range []func() error{columns, redacted} {
		require.NoError(t, way())
		require.Zero(t, bad.Count, bad.Reason)
		require.Equal(t, spans, b.Spans())
	}
	// A block's dictionaries are made anew, which costs a few for each block and
	// none for each span.
	allocations := testing.AllocsPerRun(3, func() { _ = columns() }) / float64(spans)
	if name == "agent" { // growing a block to its size is not the span's doing
		allocations = testing.AllocsPerRun(3, func() { _ = rows() }) / float64(spans)
	}

	measured, err := bench.Run(rounds+1, rounds+1, func(bench.Rounds) bool { return true },
		decodeSide(spans, columns), decodeSide(spans, redacted), decodeSide(spans, structs), decodeSide(spans, rows))
	require.NoError(t, err)
	measured = measured[1:]
	got := measured.Ratio(3, 2)
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, name+": "+format+"\n", args...) }
	say("ns a span: %.0f read, %.0f into columns, %.0f with redaction and prices, %.0f into the library's structs; %.4f allocations a span",
		measured.Median(3), measured.Median(0), measured.Median(1), measured.Median(2), allocations)
	say("processor time of reading OTLP ÷ into the library's structs: %v; goal %.2f, ceiling %.2f", got, decodeGoal, decodeCeiling)
	say("the same into columns: %v; with redaction and prices: %v", measured.Ratio(0, 2), measured.Ratio(1, 2))
	if !bench.Raced {
		require.Less(t, allocations, 0.05, "a span allocates")
	}
	return got
}

// decodeSide measures nanoseconds of processor time for each span. What the
// garbage collector does is part of it.
func decodeSide(spans int, work func() error) bench.Side {
	return func() (float64, error) {
		var before, after syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
			return 0, err
		}
		if err := work(); err != nil {
			return 0, err
		}
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
			return 0, err
		}
		used := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
		return float64(used) / float64(spans), nil
	}
}
