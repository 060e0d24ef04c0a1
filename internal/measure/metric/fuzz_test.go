package metric_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/metric"
)

// FuzzScore shows that no case and no configuration makes a metric panic, leave
// its range, or answer differently the second time.
func FuzzScore(f *testing.F) {
	f.Add([]byte(`"Paris"`), []byte(`"paris"`), []byte(`{"type":"exact_match","case":"insensitive"}`), []byte(`{"x":1}`), "values", []byte(`["a"]`))
	f.Add([]byte(`{"a":[1,2.0,"x"]}`), []byte(`{"tool_calls":[{"name":"a","arguments":{"x":1.0}}]}`), []byte(`{"type":"json_schema","schema":{"items":{"$ref":"#"},"uniqueItems":true,"multipleOf":0.1}}`), []byte(`"{\"x\":1}"`), "schema", []byte(`{"type":"object","enum":[1e3],"pattern":"a{3}"}`))
	f.Add([]byte(`"It is -1,234.5e3 or 7"`), []byte(`[{"role":"assistant","content":[{"type":"text","text":"7"}]}]`), []byte(`{"type":"regex_match","pattern":"(a|b)*$"}`), []byte(`[1]`), "pattern", []byte(`"(?i)x+y?"`))
	f.Add([]byte("\"```json\\n{}\\n```\""), []byte(`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]}}`), []byte(`{"type":"arguments_match","tool_name":"a","arguments":null}`), []byte(``), "calls", []byte(`["a",{"name":"b","arguments":"x"}]`))
	f.Add([]byte(`1e400`), []byte(`-0.0`), []byte(`{"type":"numeric_tolerance","absolute":1e308}`), []byte(`{}`), "expected", []byte(`null`))
	f.Add([]byte(`"日本 é"`), []byte(`"e\u0301"`), []byte(`{"type":"similarity","method":"token_f1","at_least":0.5}`), []byte(`null`), "method", []byte(`"token_f1"`))
	f.Add([]byte(`null`), []byte(`null`), []byte(`{"type":"max_steps","max":0}`), []byte(`7`), "path", []byte(`"/a~0/1"`))

	f.Fuzz(func(t *testing.T, output, expected, assertion, arguments []byte, parameter string, value []byte) {
		took, paid := time.Duration(len(output)), float64(len(expected))/7
		c := metric.Case{
			Output: output, ExpectedOutput: expected, Labels: expected, Messages: expected, Tools: output,
			ToolCalls: []metric.ToolCall{{Name: "a", Arguments: arguments}, {Name: parameter}, {Name: "a", Arguments: output}},
			Duration:  &took, CostUSD: &paid,
		}
		asserted := c
		asserted.Assertions = []jsontext.Value{assertion, expected}
		for _, d := range registry.All() {
			if d.Judge {
				continue
			}
			metrics := []metric.Metric{find(t, d.Name, "")}
			if m, err := registry.Find(d.Name, metric.Params{parameter: value}); err == nil {
				metrics = append(metrics, m)
			} else {
				var wrong *metric.ParameterError
				require.ErrorAs(t, err, &wrong)
			}
			for _, m := range metrics {
				for _, c := range []metric.Case{c, asserted} {
					s := m.Score(c)
					requireSound(t, m.Definition(), s)
					require.Equal(t, s, m.Score(c))
				}
			}
		}
		_, _ = metric.Text(output)
		_, _ = metric.ToolCallsIn(expected)
	})
}
