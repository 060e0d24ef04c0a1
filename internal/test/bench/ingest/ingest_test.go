// Package ingest_test measures what taking spans over OTLP costs beside what
// ClickHouse needs to store them.
//
// The bare side is a loader that sends the same rows in the same blocks, in
// ClickHouse's own form, over as many connections: what it takes is what no
// gateway can save.
package ingest_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	chgo "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/app"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/bench/traffic"
	"github.com/assayhq/assay/internal/test/testkit"
)

// What is wanted, and below or above what a change is refused.
const (
	throughputGoal  = 0.75
	throughputFloor = 0.55
	processorGoal   = 0.25
	processorFloor  = 0.50
)

// shape is one kind of traffic.
type shape struct {
	name   string
	source func(traffic.Options) *traffic.Source
	// spans is how many a request has.
	spans int
	// requests is how many a slice sends: in a short run and in a whole one.
	requests [2]int
	// connections is enough for blocks of the size that the gateway does not
	// hold back: a sender waits for its reply, so it has one request in a block.
	connections int
}

var shapes = []shape{
	{name: "narrow", source: traffic.Narrow, spans: 1000, requests: [2]int{128, 320}, connections: 64},
	{name: "agent", source: traffic.Agent, spans: 60, requests: [2]int{96, 192}, connections: 48},
}

// lanes is how many blocks the gateway stores at once on a machine like this.
const lanes = 2

func TestBench(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, s := range shapes {
		lines = append(lines, measure(t, s)...)
	}
	_, _ = fmt.Fprintln(os.Stdout, strings.Join(lines, "\n"))
}

// measure compares the two ways for one shape and returns what to print last.
func measure(t *testing.T, s shape) []string {
	t.Helper()
	rounds, requests := 4, s.requests[0]
	switch {
	case bench.Raced:
		rounds, requests = 2, 8
	case bench.Whole():
		rounds, requests = 1+11, s.requests[1]
	}
	cfg := testkit.Config(t)
	cfg.Plan.SpansHour, cfg.Plan.BytesHour = 1<<40, 1<<50
	client := testkit.NewWith(t, cfg).Org(t)
	// A trace of now, and none of which begins yesterday.
	now := time.Now().UTC()
	from := now.Add(-time.Hour)
	if day := now.Truncate(24 * time.Hour); from.Before(day) {
		from = day
	}
	sent := s.source(traffic.Options{Seed: 1, From: from, Over: now.Sub(from)}).Requests(requests, s.spans)
	g := startGateway(t, cfg, client.Key, s, sent)

	bare := clickhousetest.New(t)
	ours, theirs := newTables(t, cfg.ClickHouse), newTables(t, bare)
	l := capture(t, g, cfg, bare, ours)
	agree(t, g, l, ours, theirs)
	bench.Quiet(t)

	load := bench.LoadAverage()
	var slices [2][]slice
	side := func(i int, at *tables, work func(context.Context) error) bench.Side {
		return func() (float64, error) {
			m, err := at.timed(t.Context(), g.pid, g.spans, work)
			slices[i] = append(slices[i], m)
			return float64(g.spans) / m.wall.Seconds(), err
		}
	}
	// Few rounds leave doubt: what does not reach the floor is measured for longer.
	_, err := bench.Run(rounds, 3*rounds, func(r bench.Rounds) bool { return r[1:].Ratio(0, 1).High >= throughputFloor }, side(0, ours, g.send), side(1, theirs, l.load))
	require.NoError(t, err)
	for i := range slices {
		slices[i] = slices[i][1:] // the first warms up
	}
	return report(t, s, g, l, slices, load)
}

// report prints what was measured and judges it.
func report(t *testing.T, s shape, g *gateway, l *loader, slices [2][]slice, load string) []string {
	t.Helper()
	column := func(i int, f func(slice) float64) (all []float64) {
		for _, m := range slices[i] {
			all = append(all, f(m))
		}
		return all
	}
	n := float64(g.spans)
	rate := func(m slice) float64 { return n / m.wall.Seconds() }
	perProcessor := func(m slice) float64 { return n / (m.engine + m.gateway + m.own).Seconds() }
	throughput := bench.Columns(column(0, rate), column(1, rate)).Ratio(0, 1)
	frugality := bench.Columns(column(0, perProcessor), column(1, perProcessor)).Ratio(0, 1)
	processor := bench.Columns(
		column(0, func(m slice) float64 { return m.gateway.Seconds() }),
		column(0, func(m slice) float64 { return m.engine.Seconds() }),
	).Ratio(0, 1)

	say := func(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, s.name+": "+format+"\n", args...) }
	say("%d spans a slice in %d requests over %d connections; blocks of %d spans and %d payloads; load average %s to %s",
		g.spans, g.requests, len(g.load.Conns), l.rowsEach("spans"), l.rowsEach("span_payloads"), load, bench.LoadAverage())
	say("%-8s %12s %14s %14s %14s", "side", "spans/s", "gateway µs", "engine µs", "sender µs")
	for i, name := range []string{"ours", "bare"} {
		median := func(f func(slice) time.Duration) float64 {
			return bench.Median(column(i, func(m slice) float64 { return float64(f(m).Microseconds()) / n }))
		}
		say("%-8s %12.0f %14.2f %14.2f %14.2f", name, bench.Median(column(i, rate)),
			median(func(m slice) time.Duration { return m.gateway }), median(func(m slice) time.Duration { return m.engine }),
			median(func(m slice) time.Duration { return m.own }))
	}
	say("spans a second, OTLP over HTTP ÷ bare loader: %v; goal %.2f, floor %.2f", throughput, throughputGoal, throughputFloor)
	say("the same for each second of processors, merges included: %v", frugality)
	say("processor time of the gateway ÷ that of ClickHouse, merges included: %v; goal %.2f, floor %.2f", processor, processorGoal, processorFloor)
	if !bench.Raced {
		require.NoError(t, throughput.AtLeast(throughputFloor))
		require.NoError(t, processor.AtMost(processorFloor))
	}
	return []string{
		fmt.Sprintf("ingest-%s ratio %.2f", s.name, throughput.Median),
		fmt.Sprintf("gateway-cpu-%s ratio %.2f", s.name, processor.Median),
	}
}

// capture has the gateway store everything once, unmerged, and makes the bare
// side out of the blocks that it made.
func capture(t *testing.T, g *gateway, cfg app.Config, bare clickhouse.Config, ours *tables) *loader {
	t.Helper()
	require.NoError(t, g.send(t.Context())) // warm: the first blocks are small
	ours.truncate(t)
	ours.exec(t, "SYSTEM STOP MERGES")
	require.NoError(t, g.send(t.Context()))
	l := newLoader(t, cfg.ClickHouse, bare, lanes)
	ours.exec(t, "SYSTEM START MERGES")
	return l
}

// addressOf is where ClickHouse listens.
func addressOf(t testing.TB, cfg clickhouse.Config) string {
	t.Helper()
	opts, err := chgo.ParseDSN(cfg.URL.Reveal())
	require.NoError(t, err)
	return opts.Addr[0]
}
