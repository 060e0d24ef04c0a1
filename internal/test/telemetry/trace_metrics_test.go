package telemetry_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/test/testkit"
)

// figures are what plain code counts.
type figures struct {
	key                          string
	spans, errors, input, output int
	traces                       map[string]bool
	cost                         float64
	costs                        int
	latency, first               []float64
}

func (f *figures) add(s testkit.OTLPSpan) {
	if f.traces == nil {
		f.traces = map[string]bool{}
	}
	f.spans++
	f.traces[s.Trace] = true
	if s.Error != "" {
		f.errors++
	}
	f.input += whole(s, "gen_ai.usage.input_tokens")
	f.output += whole(s, "gen_ai.usage.output_tokens")
	if cost, ok := s.Attributes["gen_ai.usage.cost"].(float64); ok {
		f.cost += cost
		f.costs++
	}
	if s.Duration > 0 {
		f.latency = append(f.latency, float64(s.Duration.Microseconds())/1000)
	}
	if first, ok := s.Attributes["gen_ai.response.time_to_first_chunk"].(float64); ok {
		f.first = append(f.first, first*1000)
	}
}

// group counts spans by a key.
func group(spans map[string]map[string]testkit.OTLPSpan, key func(testkit.OTLPSpan) (string, bool)) []*figures {
	by := map[string]*figures{}
	for _, of := range spans {
		for _, s := range of {
			k, ok := key(s)
			if !ok {
				continue
			}
			if by[k] == nil {
				by[k] = &figures{key: k}
			}
			by[k].add(s)
		}
	}
	var out []*figures
	for _, f := range by {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b *figures) int { return cmp.Or(cmp.Compare(b.spans, a.spans), cmp.Compare(a.key, b.key)) })
	return out
}

// percentile holds one against the values that it may be: nearest rank, from
// either side, within half a percent.
func percentile(t testing.TB, got *float64, values []float64, q float64, least int, name string) {
	t.Helper()
	if len(values) < least {
		require.Nil(t, got, name)
		return
	}
	require.NotNil(t, got, name)
	slices.Sort(values)
	rank := q * float64(len(values)-1)
	low, high := values[int(math.Floor(rank))], values[int(math.Ceil(rank))]
	require.GreaterOrEqual(t, *got, low*0.994, name)
	require.LessOrEqual(t, *got, high*1.006, name)
}

func sameFigures(t testing.TB, want *figures, got testkit.MetricGroup) {
	t.Helper()
	name := "group " + api.Value(got.Key)
	require.Equal(t,
		[]any{want.spans, len(want.traces), want.errors, want.spans, want.input, want.output, want.costs, len(want.latency), len(want.first)},
		[]any{int(got.Spans), int(got.Traces), int(got.Errors), int(got.ErrorRate.N), int(got.InputTokens), int(got.OutputTokens), int(got.CostKnownSpans), int(got.LatencyMs.N), int(got.FirstTokenMs.N)}, name)
	if want.costs == 0 {
		require.Nil(t, got.CostUSD, name)
	} else {
		require.InDelta(t, want.cost, *got.CostUSD, 1e-6, name)
	}
	rate := float64(want.errors) / float64(want.spans)
	require.InDelta(t, rate, got.ErrorRate.Value, 1e-6, name)
	require.LessOrEqual(t, got.ErrorRate.Low, rate+1e-6, name)
	require.GreaterOrEqual(t, got.ErrorRate.High, rate-1e-6, name)
	require.Equal(t, "wilson_95", got.ErrorRate.Method)
	percentile(t, got.LatencyMs.P50, want.latency, 0.5, 2, name)
	percentile(t, got.LatencyMs.P90, want.latency, 0.9, 10, name)
	percentile(t, got.LatencyMs.P95, want.latency, 0.95, 20, name)
	percentile(t, got.LatencyMs.P99, want.latency, 0.99, 100, name)
	percentile(t, got.FirstTokenMs.P50, want.first, 0.5, 2, name)
	percentile(t, got.FirstTokenMs.P95, want.first, 0.95, 20, name)

	spans, errors, input, output, cost := 0, 0, 0, 0, 0.0
	for i, p := range got.Series {
		spans, errors, input, output = spans+int(p.Spans), errors+int(p.Errors), input+int(p.InputTokens), output+int(p.OutputTokens)
		if p.CostUSD != nil {
			cost += *p.CostUSD
		}
		require.True(t, i == 0 || p.At.After(got.Series[i-1].At), name)
		require.Equal(t, p.At.Truncate(5*time.Minute), p.At, name)
	}
	require.Equal(t, []any{want.spans, want.errors, want.input, want.output}, []any{spans, errors, input, output}, name)
	require.InDelta(t, want.cost, cost, 1e-6, name)
}

//nolint:paralleltest // the later steps change what the earlier ones read
func TestMetrics(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its tables are not merged")
	us, them := k.Org(t), k.Org(t)
	merges(t, k, "STOP")
	r := rand.New(rand.NewPCG(3, 5))
	w := newWorld(us)
	now := time.Now().UTC()
	var spans []testkit.OTLPSpan
	for range 80 {
		trace := testkit.NewTraceID()
		for range 1 + r.IntN(9) {
			s := testkit.OTLPSpan{
				Trace: trace, ID: testkit.NewSpanID(), Parent: pick(r, "", testkit.NewSpanID()), Name: "work", Service: pick(r, "shop", "bank"),
				Start: now.Add(-time.Duration(r.IntN(5*3600)) * time.Second), Duration: pick(r, 0, time.Duration(r.IntN(5_000_000)+1)*time.Microsecond), Error: pick(r, "", "", "bad"),
				Attributes: map[string]any{"deployment.environment.name": pick(r, "production", "staging"), "gen_ai.agent.name": pick(r, "helper", ""), "assay.release_id": pick(r, "r-1", "r-2")},
			}
			if r.IntN(3) > 0 {
				s.Attributes["gen_ai.request.model"] = pick(r, "model-a", "model-b", "model-c")
				s.Attributes["gen_ai.provider.name"] = pick(r, "one", "two")
				s.Attributes["gen_ai.usage.input_tokens"], s.Attributes["gen_ai.usage.output_tokens"] = r.IntN(1000), r.IntN(1000)
				s.Attributes["gen_ai.response.time_to_first_chunk"] = float64(r.IntN(900)+1) / 1000
				if r.IntN(2) == 0 {
					s.Attributes["gen_ai.usage.cost"] = float64(r.IntN(1000)) / 1000
				}
			}
			spans = append(spans, s)
		}
	}
	for part := range slices.Chunk(spans, 100) {
		w.send(t, part...)
	}
	newWorld(them).populate(t, r, now, 5)
	// What is said of a trace as a whole is no span.
	_, err := us.PatchTrace(t.Context(), spans[0].Trace, map[string]any{"name": "Whole", "environment": "production"})
	require.NoError(t, err)

	window := "startAfter=" + url.QueryEscape(now.Add(-6*time.Hour).Format(time.RFC3339)) + "&startBefore=" + url.QueryEscape(now.Add(time.Minute).Format(time.RFC3339))
	compare := func(t *testing.T) {
		for by, key := range map[string]func(testkit.OTLPSpan) (string, bool){
			"none":        func(testkit.OTLPSpan) (string, bool) { return "", true },
			"model":       func(s testkit.OTLPSpan) (string, bool) { return text(s, "gen_ai.request.model"), true },
			"provider":    func(s testkit.OTLPSpan) (string, bool) { return text(s, "gen_ai.provider.name"), true },
			"agent":       func(s testkit.OTLPSpan) (string, bool) { return text(s, "gen_ai.agent.name"), true },
			"release":     func(s testkit.OTLPSpan) (string, bool) { return text(s, "assay.release_id"), true },
			"environment": func(s testkit.OTLPSpan) (string, bool) { return text(s, "deployment.environment.name"), true },
			"service":     func(s testkit.OTLPSpan) (string, bool) { return s.Service, true },
			"model&environment=production&agentName=helper&releaseId=r-1": func(s testkit.OTLPSpan) (string, bool) {
				return text(s, "gen_ai.request.model"), text(s, "deployment.environment.name") == "production" && text(s, "gen_ai.agent.name") == "helper" && text(s, "assay.release_id") == "r-1"
			},
			"agent&model=model-a": func(s testkit.OTLPSpan) (string, bool) {
				return text(s, "gen_ai.agent.name"), text(s, "gen_ai.request.model") == "model-a"
			},
		} {
			got, err := us.GetTraceMetrics(t.Context(), window+"&interval=5m&groupBy="+by)
			require.NoError(t, err)
			want := group(w.spans, key)
			require.Len(t, got.Groups, len(want), by)
			for i, f := range want {
				require.Equal(t, f.key, api.Value(got.Groups[i].Key), by)
				sameFigures(t, f, got.Groups[i])
			}
			require.Nil(t, got.Other)
		}
	}
	t.Run("equal what plain code counts", compare)
	t.Run("and again after everything was sent twice", func(t *testing.T) {
		for part := range slices.Chunk(spans, 90) {
			w.send(t, part...)
		}
		compare(t)
	})

	t.Run("the interval fits the time", func(t *testing.T) {
		for length, interval := range map[time.Duration]string{time.Hour: "5m", 3 * 24 * time.Hour: "hour", 60 * 24 * time.Hour: "day"} {
			got, err := us.GetTraceMetrics(t.Context(), "startAfter="+url.QueryEscape(now.Add(-length).Format(time.RFC3339)))
			require.NoError(t, err)
			require.Equal(t, interval, got.Interval)
		}
	})

	t.Run("refusals", func(t *testing.T) {
		for _, query := range []string{
			"startAfter=2026-01-01T00:00:00Z&startBefore=2026-06-01T00:00:00Z", "startAfter=2026-06-01T00:00:00Z&startBefore=2026-01-01T00:00:00Z",
			"startAfter=2026-01-01T00:00:00Z&startBefore=2026-03-01T00:00:00Z&interval=5m", "groupBy=user", "interval=week",
		} {
			_, err := us.GetTraceMetrics(t.Context(), query)
			require.ErrorIs(t, err, fault.New(fault.Validation, "invalid_request", ""), query)
		}
	})

	t.Run("nothing is no group", func(t *testing.T) {
		got, err := us.GetTraceMetrics(t.Context(), "environment=nowhere")
		require.NoError(t, err)
		require.Empty(t, got.Groups)
	})
}

func TestMetricsOfManyGroups(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	w := newWorld(us)
	now := time.Now().UTC()
	var spans []testkit.OTLPSpan
	for i := range 120 {
		for range 1 + i/10 {
			spans = append(spans, testkit.OTLPSpan{
				Trace: testkit.NewTraceID(), ID: testkit.NewSpanID(), Name: "work", Start: now.Add(-time.Minute), Duration: time.Duration(i+1) * time.Millisecond,
				Attributes: map[string]any{"gen_ai.request.model": fmt.Sprintf("model-%03d", i)},
			})
		}
	}
	w.send(t, spans...)

	got, err := us.GetTraceMetrics(t.Context(), "groupBy=model&interval=5m")
	require.NoError(t, err)
	want := group(w.spans, func(s testkit.OTLPSpan) (string, bool) { return text(s, "gen_ai.request.model"), true })
	require.Len(t, got.Groups, 100)
	for i, g := range got.Groups {
		require.Equal(t, want[i].key, api.Value(g.Key))
		sameFigures(t, want[i], g)
	}
	shown := map[string]bool{}
	for _, f := range want[:100] {
		shown[f.key] = true
	}
	rest := group(w.spans, func(s testkit.OTLPSpan) (string, bool) { return "", !shown[text(s, "gen_ai.request.model")] })
	require.NotNil(t, got.Other)
	sameFigures(t, rest[0], *got.Other)
}
