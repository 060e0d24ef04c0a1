package traffic_test

import (
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/assayhq/assay/internal/test/bench/traffic"
)

var options = traffic.Options{Seed: 7, From: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Over: time.Hour}

func TestNarrow(t *testing.T) {
	t.Parallel()
	r := traffic.Narrow(options).Next(1000)
	require.Equal(t, 1000, r.Spans)
	require.Len(t, r.Traces, 100)
	require.Zero(t, r.Payload)

	got := decode(t, r.Body)
	require.Equal(t, 1000, got.SpanCount())
	spans := got.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	ids := map[[8]byte]bool{}
	for _, s := range spans.All() {
		require.Equal(t, 10, s.Attributes().Len(), s.Name())
		require.Greater(t, s.EndTimestamp(), s.StartTimestamp())
		ids[s.SpanID()] = true
	}
	require.Len(t, ids, 1000)
}

func TestAgent(t *testing.T) {
	t.Parallel()
	source := traffic.Agent(options)
	var models, payload int
	for _, r := range source.Requests(10, 60) {
		models, payload = models+r.Models, payload+r.Payload
		require.Equal(t, r.Spans, decode(t, r.Body).SpanCount())
	}
	require.InDelta(t, 30_000, payload/models, 5_000, "bytes of JSON for each call of a model")

	// What is new in a trace compresses like written text, not like a list of
	// the same words.
	one := decode(t, source.Next(1).Body).ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	last := ""
	for _, s := range one.All() {
		if v, ok := s.Attributes().Get("gen_ai.input.messages"); ok {
			last = v.Str()
		}
	}
	enc, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	packed := enc.EncodeAll([]byte(last), nil)
	require.InDelta(t, 2.7, float64(len(last))/float64(len(packed)), 0.3)
}

func TestOneSeedMakesOneTraffic(t *testing.T) {
	t.Parallel()
	for _, make := range []func(traffic.Options) *traffic.Source{traffic.Narrow, traffic.Agent} {
		a, b := make(options), make(options)
		for range 3 {
			require.Equal(t, a.Next(40), b.Next(40))
		}
		other := options
		other.Seed++
		require.NotEqual(t, make(options).Next(40), make(other).Next(40))
	}
}

func decode(t *testing.T, body []byte) ptrace.Traces {
	t.Helper()
	got, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(body)
	require.NoError(t, err)
	return got
}
