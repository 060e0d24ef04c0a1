package metric_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/metric"
)

func TestAll(t *testing.T) {
	t.Parallel()
	var names, judged []string
	for _, d := range registry.All() {
		names = append(names, d.Name)
		if d.Judge {
			judged = append(judged, d.Name)
		}
		require.NotEmpty(t, d.Summary, d.Name)
		require.NotEmpty(t, d.Abstains, d.Name)
		require.NotEmpty(t, d.Needs, d.Name)
		require.Contains(t, []metric.Direction{metric.Higher, metric.Lower}, d.Better, d.Name)
		require.Contains(t, []metric.Kind{metric.Binary, metric.Numeric}, d.Kind, d.Name)
		share := d.Low != nil && d.High != nil && *d.Low == 0 && *d.High == 1
		require.Equal(t, share && d.Name != "effects_verified", d.Overall, "%s: what counts in the overall score is between 0 and 1", d.Name)
		for _, p := range d.Parameters {
			require.NotEmpty(t, p.Summary, p.Name)
			require.NotEmpty(t, p.Type, p.Name)
		}
	}
	require.Equal(t, strings.Fields("exact_match contains regex_match json_valid json_schema similarity numeric_tolerance latency_ms cost_usd "+
		"tool_selection tool_arguments trajectory_match goal_success effects_verified faithfulness relevance correctness helpfulness safety"), names)
	require.Equal(t, strings.Fields("faithfulness relevance correctness helpfulness safety"), judged)
	require.Equal(t, registry.All(), metric.NewRegistry().All())
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, d := range registry.All() {
		m, err := registry.Find(d.Name, nil)
		if d.Judge {
			require.ErrorIs(t, err, metric.ErrNeedsJudge)
			continue
		}
		require.NoError(t, err, "a metric needs no parameters")
		require.Equal(t, d, m.Definition())
		s := m.Score(metric.Case{})
		_, ok := s.Value()
		require.False(t, ok, "%s scores a case that has nothing", d.Name)
	}
	_, err := registry.Find("vibes", nil)
	require.ErrorIs(t, err, metric.ErrUnknown)
	require.ErrorContains(t, err, `"vibes"`)
}

func TestParameters(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct{ metric, params, parameter, code, says string }{
		"unknown":               {"contains", `{"value":"x"}`, "value", "unknown_field", "it has values, mode"},
		"unknown, of no others": {"latency_ms", `{"max":1}`, "max", "unknown_field", "it has none"},
		"not a string":          {"contains", `{"mode":1}`, "mode", "type", "must be a string"},
		"not listed":            {"contains", `{"mode":"most"}`, "mode", "enum", "must be one of all, any, none"},
		"not strings":           {"contains", `{"values":["a",1]}`, "values", "type", "list of strings"},
		"an empty list":         {"contains", `{"values":[]}`, "values", "length", "must not be empty"},
		"an empty text":         {"contains", `{"values":["a",""]}`, "values", "length", "must not be empty"},
		"too many":              {"contains", `{"values":[` + repeated(`"a"`, 101) + `]}`, "values", "length", "at most 100 elements"},
		"too long":              {"contains", `{"values":["` + strings.Repeat("a", 10_001) + `"]}`, "values", "length", "at most 10000 bytes"},
		"not a number":          {"numeric_tolerance", `{"absolute":"1"}`, "absolute", "type", "must be a number"},
		"too small":             {"numeric_tolerance", `{"absolute":-1}`, "absolute", "min", "at least 0"},
		"too great":             {"numeric_tolerance", `{"relative":1.5}`, "relative", "max", "at most 1"},
		"beyond all":            {"numeric_tolerance", `{"absolute":1e999}`, "absolute", "format", "finite"},
		"not a yes or no":       {"json_valid", `{"fence":"yes"}`, "fence", "type", "true or false"},
		"not an object":         {"json_schema", `{"schema":true}`, "schema", "type", "must be an object"},
		"not a list":            {"tool_selection", `{"calls":"a"}`, "calls", "type", "must be a list"},
		"not a pointer":         {"exact_match", `{"path":"answer"}`, "path", "format", "JSON Pointer"},
		"not a pointer, escape": {"exact_match", `{"expected_path":"/~2"}`, "expected_path", "format", "JSON Pointer"},
		"not a pattern":         {"regex_match", `{"pattern":"a("}`, "pattern", "pattern", "RE2"},
		"two halves of one":     {"regex_match", `{"pattern":"a)(b","mode":"full"}`, "pattern", "pattern", "RE2"},
		"a pattern that grows":  {"regex_match", `{"pattern":"(?:a{99}b{99}c{99}d{99}){9}{9}{9}"}`, "pattern", "pattern", ""},
		"a pattern too large":   {"regex_match", `{"pattern":"(?:abcdefghijkl){1000}"}`, "pattern", "pattern", "too large"},
		"not a schema":          {"json_schema", `{"schema":{"type":"strnig"}}`, "schema", "format", "must be a JSON Schema"},
		"a schema too large":    {"json_schema", `{"schema":{"title":"` + strings.Repeat("a", 256<<10) + `"}}`, "schema", "length", "at most"},
		"a schema of many":      {"json_schema", `{"schema":{"anyOf":[` + repeated(`{}`, 2001) + `]}}`, "schema", "format", "at most 2000 parts"},
		"a schema in a circle":  {"json_schema", `{"schema":{"anyOf":[{"type":"string"},{"$ref":"#"}]}}`, "schema", "format", "without going deeper"},
		"a dynamic schema":      {"json_schema", `{"schema":{"$dynamicAnchor":"a","items":{"$dynamicRef":"#a"}}}`, "schema", "format", "$dynamicRef"},
		"a schema's pattern":    {"json_schema", `{"schema":{"pattern":"(?:abcdefghijkl){1000}"}}`, "schema", "format", "must be a JSON Schema"},
		"a schema's number":     {"json_schema", `{"schema":{"minimum":1e1000001}}`, "schema", "format", "must be a JSON Schema"},
		"a call without a name": {"trajectory_match", `{"calls":[{"arguments":{}}]}`, "calls", "type", "objects with name"},
		"two spellings":         {"exact_match", `{"expectedPath":"/a","expected_path":"/b"}`, "expected_path", "ambiguous_field", "two spellings"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			_, err := registry.Find(c.metric, params(t, c.params))
			var wrong *metric.ParameterError
			require.ErrorAs(t, err, &wrong)
			require.Len(t, wrong.Problems, 1)
			require.Equal(t, c.parameter, wrong.Problems[0].Parameter)
			require.Equal(t, c.code, wrong.Problems[0].Code)
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, c.metric+": "+c.parameter)
		})
	}
	t.Run("all problems are reported together", func(t *testing.T) {
		t.Parallel()
		_, err := registry.Find("contains", params(t, `{"mode":"most","case":7,"x":1}`))
		var wrong *metric.ParameterError
		require.ErrorAs(t, err, &wrong)
		require.Len(t, wrong.Problems, 3)
	})
	t.Run("null is no setting", func(t *testing.T) {
		t.Parallel()
		trial{params: `{"mode":null,"values":["a","b"]}`, output: `"a"`}.run(t, "contains")
	})
	t.Run("what is not JSON is none either", func(t *testing.T) {
		t.Parallel()
		for _, v := range []string{``, `{`} {
			_, err := registry.Find("contains", metric.Params{"mode": jsontext.Value(v)})
			require.ErrorContains(t, err, "is not JSON")
		}
	})
}

func TestScore(t *testing.T) {
	t.Parallel()
	t.Run("the zero score is a missing one", func(t *testing.T) {
		t.Parallel()
		var s metric.Score
		_, ok := s.Value()
		require.False(t, ok)
		require.Equal(t, metric.ReasonNotComputed, s.Reason())
		require.NotEmpty(t, s.Explanation())
	})
	t.Run("a long explanation is cut between characters", func(t *testing.T) {
		t.Parallel()
		s := metric.Scored(1, strings.Repeat("é", metric.MaxExplanation))
		require.LessOrEqual(t, len(s.Explanation()), metric.MaxExplanation)
		require.True(t, strings.HasSuffix(s.Explanation(), "é…"))
	})
}

// The page promises what the definitions say.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/metric.md")
	require.NoError(t, err)
	heading := regexp.MustCompile("(?m)^### `([a-z_]+)`$")
	at := heading.FindAllStringSubmatchIndex(string(page), -1)
	sections, order := map[string]string{}, []string{}
	for i, m := range at {
		end := len(page)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		section, _, _ := strings.Cut(string(page[m[1]:end]), "\n## ")
		name := string(page[m[2]:m[3]])
		sections[name] = section
		order = append(order, name)
	}
	var names []string
	for _, d := range registry.All() {
		names = append(names, d.Name)
		section, ok := sections[d.Name]
		require.True(t, ok, "docs/metric.md has no section %s", d.Name)
		require.Contains(t, section, "| Range | "+rangeOf(d)+" |", d.Name)
		require.Contains(t, section, "| Better | "+string(d.Better)+" |", d.Name)
		require.Contains(t, section, "| Abstains when | ", d.Name)
		for _, p := range d.Parameters {
			require.Regexp(t, "(?m)^\\| `"+p.Name+"` \\| .*"+regexp.QuoteMeta(defaultOf(p)), section, "%s: %s", d.Name, p.Name)
			for _, v := range p.Enum {
				require.Contains(t, section, "`"+v+"`", "%s: %s", d.Name, p.Name)
			}
		}
		if !d.Judge {
			require.Contains(t, section, "```json\n", "%s has no example", d.Name)
		}
	}
	require.Equal(t, names, order)
}

func rangeOf(d metric.Definition) string {
	text := "0 to 1"
	switch {
	case d.High == nil:
		text = strconv.FormatFloat(*d.Low, 'g', -1, 64) + " and up, in " + d.Unit
	case d.Kind == metric.Binary:
		text = "0 or 1"
	}
	if !d.Overall {
		text += "; not part of the overall score"
	}
	return text
}

func defaultOf(p metric.Parameter) string {
	if len(p.Default) == 0 {
		return "| "
	}
	return "`" + strings.Trim(string(p.Default), `"`) + "`"
}

// The page's examples are what the metrics do: each block of JSON with a metric
// and a score is computed.
func TestPageExamples(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/metric.md")
	require.NoError(t, err)
	seen := []string{}
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)\n```\n").FindAllStringSubmatch(string(page), -1) {
		for _, line := range strings.Split(strings.TrimSpace(block[1]), "\n") {
			var e struct {
				Metric     string                     `json:"metric"`
				Parameters map[string]json.RawMessage `json:"parameters"`
				Output     json.RawMessage            `json:"output"`
				Expected   json.RawMessage            `json:"expected_output"`
				Assertions []json.RawMessage          `json:"assertions"`
				Labels     json.RawMessage            `json:"labels"`
				ToolCalls  json.RawMessage            `json:"tool_calls"`
				DurationMS *float64                   `json:"duration_ms"`
				CostUSD    *float64                   `json:"cost_usd"`
				Effects    *metric.Effects            `json:"effects"`
				Score      *float64                   `json:"score"`
				Reason     string                     `json:"reason"`
			}
			require.NoError(t, json.Unmarshal([]byte(line), &e), line)
			object, err := json.Marshal(e.Parameters)
			require.NoError(t, err)
			c := trial{output: string(e.Output), expected: string(e.Expected), labels: string(e.Labels), cost: e.CostUSD, effects: e.Effects, reason: metric.Reason(e.Reason)}
			if e.Parameters != nil {
				c.params = string(object)
			}
			for _, a := range e.Assertions {
				c.assertions = append(c.assertions, string(a))
			}
			if e.ToolCalls != nil {
				list, ok := metric.ToolCallsIn(raw(`{"tool_calls":` + string(e.ToolCalls) + `}`))
				require.True(t, ok, line)
				c.calls = list
			}
			if e.DurationMS != nil {
				d := milliseconds(*e.DurationMS)
				c.duration = &d
			}
			if e.Score != nil {
				c.want = *e.Score
			}
			require.True(t, e.Score != nil || e.Reason != "", line)
			c.run(t, e.Metric)
			seen = append(seen, e.Metric)
		}
	}
	for _, d := range registry.All() {
		require.True(t, d.Judge || slices.Contains(seen, d.Name), "no example of %s", d.Name)
	}
}
