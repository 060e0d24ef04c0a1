package metric_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/metric"
)

// What was made to take for ever is stopped, and by what it does rather than by
// how long it takes: the answer is the same on a slow machine.
func TestHostileCasesAreStopped(t *testing.T) {
	t.Parallel()
	nested := strings.Repeat("[", 150) + "1" + strings.Repeat("]", 150)
	fits := strings.Repeat("[", 150) + strings.Repeat("]", 150)
	twice := func(keyword, wrap string) string {
		return fmt.Sprintf(`{"$defs":{"a":{"%s":[{"type":"array","items":{"$ref":"#/$defs/a"}},{"type":"array","items":{"$ref":"#/$defs/a"}}]}},%s}`, keyword, wrap)
	}
	var ladder strings.Builder // each rung asks twice for the next: 2^30 checks of one value
	ladder.WriteString(`{"$defs":{`)
	for i := range 30 {
		fmt.Fprintf(&ladder, `"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	ladder.WriteString(`"a30":{"type":"array"}},"$ref":"#/$defs/a0"}`)
	numbers := `[` + repeated("1.5", 50_000) + `]`
	long := strings.Repeat("ab", 500_000)
	for title, c := range map[string]struct{ metric, params, output string }{
		"all of two, each level":            {"json_schema", `{"schema":` + twice("allOf", `"$ref":"#/$defs/a"`) + `}`, fits},
		"any of two, each level":            {"json_schema", `{"schema":` + twice("anyOf", `"$ref":"#/$defs/a"`) + `}`, nested},
		"none of two, each level":           {"json_schema", `{"schema":` + twice("anyOf", `"not":{"$ref":"#/$defs/a"}`) + `}`, nested},
		"a ladder":                          {"json_schema", `{"schema":` + ladder.String() + `}`, `[]`},
		"many numbers in many enumerations": {"json_schema", `{"schema":{"items":{"enum":` + numbers + `}}}`, numbers},
		"large patterns for long names":     {"json_schema", `{"schema":{"patternProperties":{"(?:a?b?){400}1":{},"(?:a?b?){400}2":{}}}}`, `{` + text(strings.Repeat("ab", 50_000)) + `:1}`},
		"a large pattern on a long text":    {"regex_match", `{"pattern":"(?:a?b?){500}c"}`, text(long)},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			trial{params: c.params, output: c.output, reason: metric.ReasonTooCostly}.run(t, c.metric)
		})
	}

	t.Run("a thousand assertions on a megabyte", func(t *testing.T) {
		t.Parallel()
		c := trial{output: text(long), reason: metric.ReasonTooCostly}
		for i := range 1000 {
			c.assertions = append(c.assertions, fmt.Sprintf(`{"type":"regex_match","pattern":"(?:a|b|%d)+"}`, i))
		}
		c.run(t, "goal_success")
	})
	t.Run("a thousand calls of one tool", func(t *testing.T) {
		t.Parallel()
		c := metric.Case{ToolCalls: []metric.ToolCall{}}
		for i := range 1000 {
			c.ToolCalls = append(c.ToolCalls, call("a", fmt.Sprintf(`{"x":%d}`, i)))
		}
		asked := `{"calls":[` + repeated(`{"name":"a","arguments":{"x":1}}`, 1000) + `]`
		for _, m := range []metric.Metric{
			find(t, "tool_arguments", asked+`}`),
			find(t, "trajectory_match", asked+`,"mode":"any_order","arguments":"expected"}`),
			find(t, "tool_selection", asked+`}`),
		} {
			requireSound(t, m.Definition(), m.Score(c))
		}
	})
}

func TestHostileValuesAreNotRead(t *testing.T) {
	t.Parallel()
	for title, doc := range map[string]string{
		"deep":      strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000),
		"very deep": strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000),
		"wide":      `[` + repeated("0", 600_000) + `]`,
		"large":     text(strings.Repeat("a", 5<<20)),
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			for name, m := range configurations(t) {
				c := metric.Case{Output: raw(doc), ExpectedOutput: raw(doc), Labels: raw(doc), ToolCalls: []metric.ToolCall{call("a", doc)}, Assertions: []jsontext.Value{raw(`{"type":"exact_match","expected":` + doc + `}`)}}
				s := m.Score(c)
				_, ok := s.Value()
				require.False(t, ok, name)
				require.NotEmpty(t, s.Explanation())
			}
			_, ok := metric.Text(raw(doc))
			require.False(t, ok)
			_, ok = metric.ToolCallsIn(raw(doc))
			require.False(t, ok)
		})
	}
}

// One metric is used by many at once, also with a schema, whose compiled form
// can serve only one at a time.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	m := find(t, "json_schema", `{"schema":{"type":"array","items":{"type":"integer"}}}`)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			good, _ := m.Score(metric.Case{Output: raw(fmt.Sprintf(`[1,2,%d]`, i))}).Value()
			own, _ := m.Score(metric.Case{Output: raw(`7`), Assertions: []jsontext.Value{raw(fmt.Sprintf(`{"type":"json_schema","schema":{"maximum":%d}}`, i))}}).Value()
			bad := m.Score(metric.Case{Output: raw(`["x"]`)})
			if v, ok := bad.Value(); good != 1 || !ok || v != 0 || (own == 1) != (i >= 7) || !strings.Contains(bad.Explanation(), "/0 is of type string") {
				t.Errorf("%d: %v %v %v %q", i, good, own, v, bad.Explanation())
			}
		})
	}
	wg.Wait()
}
