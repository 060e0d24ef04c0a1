package metric_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/metric"
)

// tester is a test, a benchmark, a fuzz target or a property.
type tester interface {
	require.TestingT
	Helper()
}

var registry = metric.NewRegistry()

// trial is one case of a metric and what should come of it: a score, or a
// reason.
type trial struct {
	params           string // a JSON object
	output, expected string // JSON; empty is absent
	assertions       []string
	calls            []metric.ToolCall
	labels           string
	duration         *time.Duration
	cost             *float64
	effects          *metric.Effects

	want   float64
	reason metric.Reason
	says   string // a part of the explanation
}

func (c trial) run(t *testing.T, name string) {
	t.Helper()
	s := find(t, name, c.params).Score(c.asCase())
	v, ok := s.Value()
	require.Equal(t, c.reason, s.Reason(), s.Explanation())
	require.Equal(t, c.reason == "", ok)
	require.InDelta(t, c.want, v, 1e-9, s.Explanation())
	require.Contains(t, s.Explanation(), c.says)
	if !ok {
		require.NotEmpty(t, s.Explanation())
		require.Zero(t, v)
	}
}

func (c trial) asCase() metric.Case {
	out := metric.Case{Output: raw(c.output), ExpectedOutput: raw(c.expected), Labels: raw(c.labels), ToolCalls: c.calls, Duration: c.duration, CostUSD: c.cost, Effects: c.effects}
	for _, a := range c.assertions {
		out.Assertions = append(out.Assertions, raw(a))
	}
	return out
}

func runTrials(t *testing.T, name string, trials map[string]trial) {
	t.Helper()
	for title, c := range trials {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			c.run(t, name)
		})
	}
}

func raw(text string) jsontext.Value {
	if text == "" {
		return nil
	}
	return jsontext.Value(text)
}

func text(s string) string {
	quoted, _ := jsontext.AppendQuote(nil, s)
	return string(quoted)
}

func params(tb tester, object string) metric.Params {
	tb.Helper()
	if object == "" {
		return nil
	}
	var members map[string]json.RawMessage
	require.NoError(tb, json.Unmarshal([]byte(object), &members))
	out := metric.Params{}
	for name, v := range members {
		out[name] = jsontext.Value(v)
	}
	return out
}

func find(tb tester, name, object string) metric.Metric {
	tb.Helper()
	m, err := registry.Find(name, params(tb, object))
	require.NoError(tb, err)
	return m
}

func call(name, arguments string) metric.ToolCall {
	return metric.ToolCall{Name: name, Arguments: raw(arguments)}
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

func calls(names ...string) []metric.ToolCall {
	out := []metric.ToolCall{}
	for _, n := range names {
		out = append(out, call(n, `{}`))
	}
	return out
}

func requireSound(tb tester, d metric.Definition, s metric.Score) {
	tb.Helper()
	v, ok := s.Value()
	require.LessOrEqual(tb, len(s.Explanation()), metric.MaxExplanation)
	require.False(tb, math.IsNaN(v) || math.IsInf(v, 0))
	if !ok {
		require.NotEmpty(tb, s.Reason())
		require.NotEmpty(tb, s.Explanation())
		require.Zero(tb, v)
		return
	}
	require.Empty(tb, s.Reason())
	if d.Low != nil {
		require.GreaterOrEqual(tb, v, *d.Low)
	}
	if d.High != nil {
		require.LessOrEqual(tb, v, *d.High)
	}
	if d.Kind == metric.Binary {
		require.Contains(tb, []float64{0, 1}, v)
	}
}
