package metric_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/measure/metric"
)

// configurations are the metrics as the properties below are tried on them.
func configurations(tb tester) map[string]metric.Metric {
	tb.Helper()
	out := map[string]metric.Metric{}
	for _, d := range registry.All() {
		if !d.Judge {
			out[d.Name] = find(tb, d.Name, "")
		}
	}
	for name, object := range map[string]string{
		"exact_match":       `{"case":"insensitive","whitespace":"collapse","path":"/a"}`,
		"contains":          `{"values":["a","b"],"mode":"any"}`,
		"regex_match":       `{"pattern":"(a|b)+c?","mode":"full"}`,
		"json_valid":        `{"fence":true,"root":"object"}`,
		"json_schema":       `{"schema":{"type":["object","array"],"properties":{"a":{"type":"string"}},"items":{"$ref":"#"},"uniqueItems":true}}`,
		"similarity":        `{"method":"token_f1"}`,
		"numeric_tolerance": `{"absolute":1,"relative":0.1,"find":"first"}`,
		"tool_selection":    `{"calls":["a","b"]}`,
		"tool_arguments":    `{"calls":[{"name":"a","arguments":{"x":1}},{"name":"a","arguments":{"y":[2]}}],"match":"exact"}`,
		"trajectory_match":  `{"calls":["a",{"name":"a","arguments":{"x":1}}],"mode":"superset","arguments":"expected"}`,
		"goal_success":      `{"label":"ok"}`,
	} {
		out[name+" "+object] = find(tb, name, object)
	}
	return out
}

// anyJSON draws a JSON document: few names and texts, so that documents meet.
func anyJSON() *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.SampledFrom([]string{"0", "-0", "1", "1.0", "1e0", "10", "1e1", "0.1", "12345678901234567890", "1e400", "1e-400"}), func(n string) any { return json.Number(n) }),
		rapid.Map(rapid.SampledFrom([]string{"", "a", "b", "A b", " a ", "It is 1.", "{\"a\":1}", "```json\n[]\n```", "é", "e\u0301"}), func(s string) any { return s }),
		rapid.Map(rapid.String(), func(s string) any { return s }),
	)
	name := rapid.SampledFrom([]string{"a", "b", "name", "role", "content", "text", "tool_calls", "arguments", "type", "x"})
	deep := leaf
	for range 3 {
		inner := deep
		deep = rapid.OneOf(leaf,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(name, inner, 0, 4), func(m map[string]any) any { return m }),
		)
	}
	return deep
}

func encoded(t *rapid.T, v any) jsontext.Value {
	doc, err := json.Marshal(v)
	require.NoError(t, err)
	return jsontext.Value(doc)
}

func anyCalls() *rapid.Generator[[]metric.ToolCall] {
	one := rapid.Custom(func(t *rapid.T) metric.ToolCall {
		c := metric.ToolCall{Name: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")}
		if rapid.Bool().Draw(t, "given") {
			c.Arguments = encoded(t, rapid.MapOfN(rapid.SampledFrom([]string{"x", "y", "z"}), rapid.IntRange(0, 2), 0, 3).Draw(t, "arguments"))
		}
		return c
	})
	return rapid.SliceOfN(one, 0, 5)
}

func anyCase() *rapid.Generator[metric.Case] {
	doc := anyJSON()
	return rapid.Custom(func(t *rapid.T) metric.Case {
		c := metric.Case{Input: encoded(t, doc.Draw(t, "input"))}
		for part, to := range map[string]*jsontext.Value{"output": &c.Output, "expected": &c.ExpectedOutput, "labels": &c.Labels, "context": &c.Context} {
			if rapid.IntRange(0, 4).Draw(t, part) > 0 {
				*to = encoded(t, doc.Draw(t, part+" value"))
			}
		}
		if rapid.Bool().Draw(t, "calls") {
			c.ToolCalls = anyCalls().Draw(t, "made")
		}
		types := rapid.SampledFrom([]string{"exact_match", "contains", "regex_match", "json_schema", "tool_called", "max_steps", "judge", "similarity", "trajectory_match"})
		for range rapid.IntRange(0, 2).Draw(t, "assertions") {
			members := map[string]any{"type": types.Draw(t, "type")}
			for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"expected", "values", "pattern", "schema", "tool_name", "max", "calls", "at_least"}), 0, 2).Draw(t, "members") {
				members[name] = doc.Draw(t, name)
			}
			c.Assertions = append(c.Assertions, encoded(t, members))
		}
		if rapid.Bool().Draw(t, "measured") {
			d, f := time.Duration(rapid.Int64().Draw(t, "duration")), rapid.Float64().Draw(t, "cost")
			c.Duration, c.CostUSD = &d, &f
		}
		return c
	})
}

func TestEveryScoreIsSoundAndRepeatable(t *testing.T) {
	t.Parallel()
	all := configurations(t)
	rapid.Check(t, func(t *rapid.T) {
		c := anyCase().Draw(t, "case")
		before := bytes.Join([][]byte{c.Input, c.Output, c.ExpectedOutput, c.Labels}, nil)
		for name, m := range all {
			s := m.Score(c)
			requireSound(t, m.Definition(), s)
			require.Equal(t, s, m.Score(c), name)
		}
		require.Equal(t, before, bytes.Join([][]byte{c.Input, c.Output, c.ExpectedOutput, c.Labels}, nil))
	})
}

func TestSymmetry(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := encoded(t, anyJSON().Draw(t, "a")), encoded(t, anyJSON().Draw(t, "b"))
		if a.Kind() == 'n' || b.Kind() == 'n' {
			return // null is an output, but no expectation
		}
		for _, m := range []metric.Metric{find(t, "exact_match", ""), find(t, "similarity", ""), find(t, "similarity", `{"method":"token_f1"}`)} {
			there, _ := m.Score(metric.Case{Output: a, ExpectedOutput: b}).Value()
			back, _ := m.Score(metric.Case{Output: b, ExpectedOutput: a}).Value()
			require.InDelta(t, there, back, 0, "%s of %s and %s", m.Definition().Name, a, b)
		}
		x, y := anyCalls().Draw(t, "x"), anyCalls().Draw(t, "y")
		there, _ := find(t, "tool_selection", expecting(t, x, "")).Score(metric.Case{ToolCalls: y}).Value()
		back, _ := find(t, "tool_selection", expecting(t, y, "")).Score(metric.Case{ToolCalls: x}).Value()
		require.InDelta(t, there, back, 0)
	})
}

// expecting writes calls as the parameters of a metric.
func expecting(t *rapid.T, calls []metric.ToolCall, others string) string {
	list := []map[string]any{}
	for _, c := range calls {
		m := map[string]any{"name": c.Name}
		if c.Arguments != nil {
			m["arguments"] = json.RawMessage(c.Arguments)
		}
		list = append(list, m)
	}
	return `{"calls":` + string(encoded(t, list)) + others + `}`
}

func TestWhatIsIdenticalScoresOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := encoded(t, anyJSON().Draw(t, "a"))
		if a.Kind() != 'n' {
			for _, m := range []metric.Metric{find(t, "exact_match", ""), find(t, "similarity", ""), find(t, "similarity", `{"method":"token_f1"}`)} {
				requireOne(t, m.Score(metric.Case{Output: a, ExpectedOutput: a}))
			}
		}
		requireOne(t, find(t, "json_valid", "").Score(metric.Case{Output: jsontext.Value(text(string(a)))}))

		made := anyCalls().Draw(t, "calls")
		requireOne(t, find(t, "tool_selection", expecting(t, made, "")).Score(metric.Case{ToolCalls: made}))
		for _, mode := range []string{"exact", "in_order", "any_order", "superset"} {
			for _, arguments := range []string{"ignore", "expected", "exact"} {
				m := find(t, "trajectory_match", expecting(t, made, `,"mode":"`+mode+`","arguments":"`+arguments+`"`))
				requireOne(t, m.Score(metric.Case{ToolCalls: made}))
			}
		}
		for _, match := range []string{"expected", "exact"} {
			s := find(t, "tool_arguments", expecting(t, made, `,"missing_call":"zero","match":"`+match+`"`)).Score(metric.Case{ToolCalls: made})
			if s.Reason() != metric.ReasonNoExpectation { // nothing is expected of the arguments
				requireOne(t, s)
			}
		}
	})
}

func requireOne(t *rapid.T, s metric.Score) {
	v, ok := s.Value()
	require.True(t, ok, s.Explanation())
	require.InDelta(t, 1, v, 1e-12, s.Explanation())
}

// No pairing of calls matches more arguments than the one that is scored.
func TestToolArgumentsFindTheBestPairs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOfN(rapid.MapOfN(rapid.SampledFrom([]string{"x", "y", "z"}), rapid.IntRange(0, 2), 1, 3), 1, 5)
		want, made := args.Draw(t, "want"), args.Draw(t, "made")
		asked := []map[string]any{}
		for _, w := range want {
			asked = append(asked, map[string]any{"name": "a", "arguments": w})
		}
		c := metric.Case{ToolCalls: []metric.ToolCall{}}
		for _, m := range made {
			c.ToolCalls = append(c.ToolCalls, metric.ToolCall{Name: "a", Arguments: encoded(t, m)})
		}
		got, ok := find(t, "tool_arguments", `{"calls":`+string(encoded(t, asked))+`}`).Score(c).Value()
		require.True(t, ok)
		require.InDelta(t, best(want, made, 0)/float64(min(len(want), len(made))), got, 1e-9)
	})
}

// best tries every pairing.
func best(want, made []map[string]int, taken int) float64 {
	if len(want) == 0 {
		return 0
	}
	most := best(want[1:], made, taken) // this one stays alone
	for j, m := range made {
		if taken&(1<<j) != 0 {
			continue
		}
		hits := 0
		for name, v := range want[0] {
			if got, ok := m[name]; ok && got == v {
				hits++
			}
		}
		most = max(most, float64(hits)/float64(len(want[0]))+best(want[1:], made, taken|1<<j))
	}
	return most
}

func TestNumbersAreEqualAsNumbers(t *testing.T) {
	t.Parallel()
	m := find(t, "exact_match", "")
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,4})?([eE][-+]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		if rapid.Bool().Draw(t, "same") { // the number, one place further
			whole, exponent, _ := strings.Cut(strings.ToLower(a), "e")
			e, _ := new(big.Int).SetString(strings.TrimPrefix("0"+exponent, "0+"), 10)
			if e == nil {
				e, _ = new(big.Int).SetString(exponent, 10)
			}
			b = whole + "e" + e.String()
		}
		x, ok := new(big.Rat).SetString(a)
		require.True(t, ok)
		y, ok := new(big.Rat).SetString(b)
		require.True(t, ok)
		got, ok := m.Score(metric.Case{Output: jsontext.Value(a), ExpectedOutput: jsontext.Value(b)}).Value()
		require.True(t, ok)
		require.Equal(t, x.Cmp(y) == 0, got == 1, "%s and %s", a, b)
	})
}
