package metric_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/metric"
)

func TestGoalSuccess(t *testing.T) {
	t.Parallel()
	paris := func(assertions ...string) trial {
		second := time.Second
		return trial{output: `"It is Paris."`, expected: `"Paris"`, calls: []metric.ToolCall{call("search", `{"q":"capital","n":1}`), call("search", `{}`)}, duration: &second, assertions: assertions}
	}
	holds := func(assertions ...string) trial {
		c := paris(assertions...)
		c.want = 1
		return c
	}
	fails := func(says string, assertions ...string) trial {
		c := paris(assertions...)
		c.says = says
		return c
	}
	open := func(reason metric.Reason, assertions ...string) trial {
		c := paris(assertions...)
		c.reason = reason
		return c
	}
	runTrials(t, "goal_success", map[string]trial{
		"a metric as an assertion":            holds(`{"type":"contains"}`),
		"several":                             holds(`{"type":"contains"}`, `{"type":"regex_match","pattern":"\\.$"}`, `{"type":"tool_called","tool_name":"search"}`),
		"one of several fails":                fails("Assertion 2 (exact_match) does not hold", `{"type":"contains"}`, `{"type":"exact_match"}`),
		"a score below one":                   fails("does not hold", `{"type":"similarity"}`),
		"a score above its threshold":         holds(`{"type":"similarity","at_least":0.3}`),
		"a score below its threshold":         fails("is less than 0.9", `{"type":"similarity","atLeast":0.9}`),
		"no more than that":                   holds(`{"type":"similarity","at_most":0.9}`),
		"latency within its limit":            holds(`{"type":"latency_ms","at_most":1000}`),
		"latency over its limit":              fails("1000 is more than 999", `{"type":"latency_ms","at_most":999}`),
		"latency without a limit":             open(metric.ReasonBadAssertion, `{"type":"latency_ms"}`),
		"a cost that is not known":            open(metric.ReasonNoCost, `{"type":"cost_usd","at_most":1}`),
		"text in the output":                  holds(`{"type":"output_contains","text":"Paris"}`),
		"text in any case":                    holds(`{"type":"output_contains","text":"PARIS","case":"insensitive"}`),
		"several texts":                       fails("does not contain", `{"type":"output_contains","values":["Paris","Rome"]}`),
		"text that is not in the output":      holds(`{"type":"output_not_contains","text":"Rome"}`),
		"text that should not be there":       fails("contains", `{"type":"output_not_contains","text":"Paris"}`),
		"an assertion of no text":             open(metric.ReasonBadAssertion, `{"type":"output_contains"}`),
		"a schema":                            fails("not JSON", `{"type":"schema","schema":{"type":"string"}}`),
		"a tool was called":                   holds(`{"type":"tool_called","toolName":"search"}`),
		"so many times":                       holds(`{"type":"tool_called","tool_name":"search","times":2}`),
		"not so many times":                   fails("Calls of", `{"type":"tool_called","tool_name":"search","times":1}`),
		"a tool was not called":               fails("does not hold", `{"type":"tool_called","tool_name":"book"}`),
		"rightly not called":                  holds(`{"type":"tool_not_called","tool_name":"book"}`),
		"wrongly called":                      fails("does not hold", `{"type":"tool_not_called","tool_name":"search"}`),
		"which tool":                          open(metric.ReasonBadAssertion, `{"type":"tool_called"}`),
		"some call has the arguments":         holds(`{"type":"arguments_match","tool_name":"search","arguments":{"q":"capital"}}`),
		"exactly the arguments":               holds(`{"type":"arguments_match","tool_name":"search","arguments":{},"match":"exact"}`),
		"no call has the arguments":           fails("A call was made, but", `{"type":"arguments_match","tool_name":"search","arguments":{"q":"Rome"}}`),
		"no call at all":                      fails("was not called", `{"type":"arguments_match","tool_name":"book","arguments":{"q":"Rome"}}`),
		"few enough steps":                    holds(`{"type":"max_steps","max":2}`),
		"too many steps":                      fails("Tool calls: 2", `{"type":"max_steps","max":1}`),
		"words need a judge":                  open(metric.ReasonNeedsJudge, `"mentions the Seine"`),
		"an object without a type":            open(metric.ReasonNeedsJudge, `{"rubric":"polite"}`),
		"a judge":                             open(metric.ReasonNeedsJudge, `{"type":"judge","rubric":"polite"}`),
		"a judged metric":                     open(metric.ReasonNeedsJudge, `{"type":"safety","at_least":0.8}`),
		"a decision of a policy":              open(metric.ReasonNeedsJudge, `{"type":"decision_is","stepKey":"a","decision":"deny"}`),
		"a type that does not exist":          open(metric.ReasonBadAssertion, `{"type":"vibes"}`),
		"itself":                              open(metric.ReasonBadAssertion, `{"type":"goal_success"}`),
		"a failure decides what is open":      fails("Assertion 2", `"mentions the Seine"`, `{"type":"exact_match"}`),
		"what holds does not":                 open(metric.ReasonNeedsJudge, `{"type":"contains"}`, `"mentions the Seine"`),
		"not JSON":                            open(metric.ReasonBadAssertion, `{"type":`),
		"a label says yes":                    {labels: `{"goal_success":true}`, want: 1},
		"a label says no":                     {labels: `{"goal_success":false}`},
		"a label of another name":             {params: `{"label":"resolved"}`, labels: `{"resolved":true}`, want: 1},
		"a label that is neither":             {labels: `{"goal_success":"yes"}`, reason: metric.ReasonNoGoal},
		"labels that are no object":           {labels: `["goal_success"]`, reason: metric.ReasonNoGoal},
		"assertions go before a label":        {output: `"x"`, labels: `{"goal_success":true}`, assertions: []string{`{"type":"output_contains","text":"y"}`}},
		"neither assertions nor labels":       {output: `"x"`, reason: metric.ReasonNoGoal},
		"an assertion about a missing output": {assertions: []string{`{"type":"output_contains","text":"y"}`}, reason: metric.ReasonNoOutput},
		"steps that nobody recorded":          {assertions: []string{`{"type":"max_steps","max":1}`}, reason: metric.ReasonNoToolCalls},
		"calls that nobody recorded":          {assertions: []string{`{"type":"tool_not_called","tool_name":"a"}`}, reason: metric.ReasonNoToolCalls},
		"more assertions than a dataset has":  {assertions: make([]string, 1001), reason: metric.ReasonTooLarge},
	})
}

func TestMeasured(t *testing.T) {
	t.Parallel()
	took, back := 1500*time.Microsecond, -time.Second
	spent, free, debt, nan := 0.25, 0.0, -1.0, math.NaN()
	runTrials(t, "latency_ms", map[string]trial{
		"milliseconds":       {duration: &took, want: 1.5},
		"nobody measured":    {reason: metric.ReasonNoDuration},
		"less than nothing":  {duration: &back, reason: metric.ReasonBadValue},
		"an assertion on it": {duration: &took, assertions: []string{`{"type":"latency_ms","at_most":1}`}, want: 1.5},
	})
	runTrials(t, "cost_usd", map[string]trial{
		"dollars":               {cost: &spent, want: 0.25},
		"free is not unknown":   {cost: &free},
		"unknown is not free":   {reason: metric.ReasonNoCost},
		"less than nothing":     {cost: &debt, reason: metric.ReasonBadValue},
		"what is not a number":  {cost: &nan, reason: metric.ReasonBadValue},
		"parameters of no kind": {cost: &spent, assertions: []string{`{"type":"cost_usd","currency":"EUR"}`}, reason: metric.ReasonBadAssertion},
	})
}

func TestText(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`"a \"b\""`:                           `a "b"`,
		`null`:                                ``,
		`{"role":"assistant","content":"hi"}`: `hi`,
		`{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"image","url":"x"},{"type":"text","text":"b"}]}`: `ab`,
		`{"role":"assistant","content":null,"tool_calls":[]}`:                                                               ``,
		`[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]`:                                                `a`,
		`[{"role":"user","parts":[{"type":"text","content":"q"}]},{"role":"assistant","parts":[{"type":"text","content":"22C "},{"type":"tool_call","name":"x"},{"type":"text","content":"sunny"}]}]`: `22C sunny`,
		`{"role":"model","parts":[{"text":"a"}]}`:                                                                 `a`,
		`{"messages":[{"type":"human","content":"q"},{"type":"ai","content":"a"}],"step":2}`:                      `a`,
		`{"messages":[["user","q"],["ai","a"]]}`:                                                                  `a`,
		`{"messages":[["system","s"],{"type":"human","content":"q"},["assistant",[{"type":"text","text":"a"}]]]}`: `a`,
		`{"messages":[["Ulm","rain"]]}`:                                                                           `{"messages":[["Ulm","rain"]]}`,
		`[["user","q"],["ai","a"]]`:                                                                               `[["user","q"],["ai","a"]]`,
		`{"messages":[],"step":2}`:                                                                                `{"messages":[],"step":2}`,
		`{"content":"a"}`:                                                                                         `a`,
		`{"output":"a"}`:                                                                                          `a`,
		`{"text":"a"}`:                                                                                            `a`,
		`{"answer":"a"}`:                                                                                          `a`,
		`{"text":"a","lang":"en"}`:                                                                                `{"lang":"en","text":"a"}`,
		`{"text":7}`:                                                                                              `{"text":7}`,
		`{"role":"assistant","tool_calls":[{"name":"a"}]}`:                                                        ``,
		`{"role":"assistant","content":[{"type":"reasoning","text":"hm"},{"type":"output_text","text":"yes"}]}`: `yes`,
		`{"role":"assistant","content":7}`:   `{"content":7,"role":"assistant"}`,
		`{"role":"assistant","content":[7]}`: `{"content":[7],"role":"assistant"}`,
		`[1, 2.50, 1E3]`:                     `[1,2.5,1000]`,
		`true`:                               `true`,
		`[]`:                                 `[]`,
	} {
		t.Run(doc, func(t *testing.T) {
			t.Parallel()
			got, ok := metric.Text(raw(doc))
			require.True(t, ok)
			require.Equal(t, want, got)
		})
	}
	for _, doc := range []string{``, `{`, `"a" "b"`, `nul`} {
		_, ok := metric.Text(raw(doc))
		require.False(t, ok, doc)
	}
}
