package metric_test

import (
	"strings"
	"testing"
	"time"

	"github.com/assayhq/assay/internal/measure/metric"
)

// BenchmarkScore measures each metric on an answer of a paragraph, and those
// that read text on one of a megabyte.
func BenchmarkScore(b *testing.B) {
	const sentence = "The invoice of March was sent twice because the job ran again after a timeout, and 1,024 customers got both. "
	paragraph, other := strings.Repeat(sentence, 10), strings.Repeat(sentence, 9)+strings.ToUpper(sentence)
	megabyte := strings.Repeat(sentence, 1<<20/len(sentence))
	object := `{"id":"INV-1024","lines":[` + repeated(`{"sku":"A-7","count":2,"price":9.5,"tags":["x","y"]}`, 10) + `]}`
	const schema = `{"schema":{"type":"object","required":["id","lines"],"properties":{"id":{"type":"string","pattern":"^INV-[0-9]+$"},"lines":{"type":"array","items":{"type":"object","required":["sku"],"properties":{"count":{"type":"integer","minimum":0},"price":{"type":"number"}}}}}}}`
	took, paid := 1200*time.Millisecond, 0.0125
	made := []metric.ToolCall{call("search", `{"to":"Rome"}`), call("search", `{"to":"Oslo"}`), call("book", `{"seats":2,"flight":"AZ1"}`)}
	for _, c := range []struct {
		name, metric string
		trial        trial
	}{
		{"exact_match", "exact_match", trial{output: text(paragraph), expected: text(paragraph)}},
		{"exact_match of JSON", "exact_match", trial{output: object, expected: object}},
		{"exact_match 1MB", "exact_match", trial{output: text(megabyte), expected: text(megabyte)}},
		{"contains", "contains", trial{params: `{"values":["customers","timeout"]}`, output: text(paragraph)}},
		{"contains 1MB", "contains", trial{params: `{"values":["nowhere"]}`, output: text(megabyte)}},
		{"regex_match", "regex_match", trial{params: `{"pattern":"[0-9]{5}"}`, output: text(paragraph)}},
		{"regex_match 1MB", "regex_match", trial{params: `{"pattern":"[0-9]{5}"}`, output: text(megabyte)}},
		{"json_valid", "json_valid", trial{output: text(object)}},
		{"json_schema", "json_schema", trial{params: schema, output: object}},
		{"json_schema of the item", "json_schema", trial{output: object, assertions: []string{`{"type":"json_schema",` + schema[1:]}}},
		{"similarity", "similarity", trial{output: text(paragraph), expected: text(other)}},
		{"similarity 100KB", "similarity", trial{output: text(megabyte[:100_000]), expected: text(strings.ToUpper(megabyte[:100_000]))}},
		{"similarity by words", "similarity", trial{params: `{"method":"token_f1"}`, output: text(paragraph), expected: text(other)}},
		{"similarity by words 1MB", "similarity", trial{params: `{"method":"token_f1"}`, output: text(megabyte), expected: text(megabyte)}},
		{"numeric_tolerance", "numeric_tolerance", trial{output: text(paragraph), expected: `1024`}},
		{"numeric_tolerance 1MB", "numeric_tolerance", trial{output: text(megabyte), expected: `1024`}},
		{"latency_ms", "latency_ms", trial{duration: &took}},
		{"cost_usd", "cost_usd", trial{cost: &paid}},
		{"tool_selection", "tool_selection", trial{expected: searchThenBook, calls: made}},
		{"tool_arguments", "tool_arguments", trial{expected: searchThenBook, calls: made}},
		{"trajectory_match", "trajectory_match", trial{params: `{"mode":"superset","arguments":"expected"}`, expected: searchThenBook, calls: made}},
		{"goal_success", "goal_success", trial{output: text(paragraph), calls: made, assertions: []string{
			`{"type":"output_contains","text":"invoice"}`, `{"type":"tool_called","tool_name":"book"}`, `{"type":"regex_match","pattern":"[0-9]{3}"}`,
		}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			m, item := find(b, c.metric, c.trial.params), c.trial.asCase()
			if _, ok := m.Score(item).Value(); !ok {
				b.Fatal(m.Score(item).Explanation())
			}
			b.SetBytes(int64(len(item.Output)))
			b.ReportAllocs()
			for b.Loop() {
				m.Score(item)
			}
		})
	}
}
