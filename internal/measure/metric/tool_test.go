package metric_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/metric"
)

const searchThenBook = `{"tool_calls":[{"name":"search","arguments":{"to":"Rome"}},{"name":"book","arguments":{"flight":"AZ1","seats":2}}]}`

func TestToolSelection(t *testing.T) {
	t.Parallel()
	runTrials(t, "tool_selection", map[string]trial{
		"the expected tools":             {expected: searchThenBook, calls: calls("search", "book"), want: 1},
		"in another order":               {expected: searchThenBook, calls: calls("book", "search"), want: 1},
		"one too many":                   {expected: searchThenBook, calls: calls("search", "search", "book"), want: 0.8, says: "Precision 0.67: 2 of the 3 calls were expected. Recall 1.00"},
		"one too few":                    {expected: searchThenBook, calls: calls("search"), want: 2.0 / 3, says: "Recall 0.50"},
		"others":                         {expected: searchThenBook, calls: calls("cancel")},
		"none":                           {expected: searchThenBook, calls: calls(), says: "Precision undefined"},
		"none, as expected":              {expected: `{"tool_calls":[]}`, calls: calls(), want: 1},
		"one where none is expected":     {expected: `{"tool_calls":[]}`, calls: calls("search")},
		"names in the parameters":        {params: `{"calls":["search","book"]}`, calls: calls("search", "book"), want: 1},
		"the item's calls":               {params: `{"calls":["search"]}`, calls: calls("book"), assertions: []string{`{"type":"tool_selection","calls":["book"]}`}, want: 1},
		"a call that failed was made":    {params: `{"calls":["search"]}`, calls: []metric.ToolCall{{Name: "search", Error: "timeout"}}, want: 1},
		"nobody recorded calls":          {expected: searchThenBook, reason: metric.ReasonNoToolCalls},
		"nothing says what is expected":  {expected: `"a text"`, calls: calls("search"), reason: metric.ReasonNoExpectation},
		"no expected output":             {calls: calls("search"), reason: metric.ReasonNoExpectation},
		"an empty list is not of calls":  {expected: `[]`, calls: calls(), reason: metric.ReasonNoExpectation},
		"the item's calls cannot be":     {calls: calls("book"), assertions: []string{`{"type":"tool_selection","calls":[7]}`}, reason: metric.ReasonBadAssertion},
		"more calls than are looked at":  {params: `{"calls":["a"]}`, calls: make([]metric.ToolCall, 1001), reason: metric.ReasonTooLarge},
		"arguments that are not JSON":    {params: `{"calls":["a"]}`, calls: []metric.ToolCall{call("a", `{`)}, reason: metric.ReasonBadValue},
		"an expectation of many calls":   {expected: `{"tool_calls":[` + repeated(`{"name":"a"}`, 1001) + `]}`, calls: calls("a"), reason: metric.ReasonTooLarge},
		"a call without a name is none":  {expected: `{"tool_calls":[{"arguments":{}}]}`, calls: calls("a"), reason: metric.ReasonNoExpectation},
		"an expectation of other things": {expected: `[{"city":"Rome"}]`, calls: calls("a"), reason: metric.ReasonNoExpectation},
	})
}

func repeated(element string, n int) string { return strings.Repeat(element+",", n-1) + element }

func TestToolArguments(t *testing.T) {
	t.Parallel()
	right := []metric.ToolCall{call("search", `{"to":"Rome"}`), call("book", `{"flight":"AZ1","seats":2}`)}
	runTrials(t, "tool_arguments", map[string]trial{
		"all of them":                          {expected: searchThenBook, calls: right, want: 1},
		"numbers however written":              {expected: searchThenBook, calls: []metric.ToolCall{right[0], call("book", `{"seats":2.0,"flight":"AZ1"}`)}, want: 1},
		"half of one call's":                   {expected: searchThenBook, calls: []metric.ToolCall{right[0], call("book", `{"flight":"AZ1","seats":3}`)}, want: 0.75, says: `Calling "book", the argument "seats" has another value`},
		"one is missing":                       {expected: searchThenBook, calls: []metric.ToolCall{right[0], call("book", `{"flight":"AZ1"}`)}, want: 0.75, says: "is missing"},
		"arguments as text":                    {expected: searchThenBook, calls: []metric.ToolCall{call("search", text(`{"to":"Rome"}`)), right[1]}, want: 1},
		"deep inside":                          {params: `{"calls":[{"name":"a","arguments":{"q":{"x":[1,{"y":null}]}}}]}`, calls: []metric.ToolCall{call("a", `{"q":{"x":[1.0,{"y":null}]}}`)}, want: 1},
		"others do not count":                  {expected: searchThenBook, calls: []metric.ToolCall{call("search", `{"to":"Rome","from":"Oslo"}`)}, want: 1},
		"others count":                         {params: `{"match":"exact"}`, expected: searchThenBook, calls: []metric.ToolCall{call("search", `{"to":"Rome","from":"Oslo"}`)}, want: 0.5, says: "arguments that are not expected: 1"},
		"calls of one tool in another order":   {params: `{"calls":[{"name":"a","arguments":{"x":1}},{"name":"a","arguments":{"x":2}}]}`, calls: []metric.ToolCall{call("a", `{"x":2}`), call("a", `{"x":1}`)}, want: 1},
		"the best pairs of three":              {params: `{"calls":[{"name":"a","arguments":{"x":1,"y":1}},{"name":"a","arguments":{"x":1,"y":2}}]}`, calls: []metric.ToolCall{call("a", `{"x":1,"y":2}`), call("a", `{"z":1}`), call("a", `{"x":1,"y":3}`)}, want: 0.75},
		"a call that was not made is left out": {expected: searchThenBook, calls: right[:1], want: 1},
		"a call that was not made is zero":     {params: `{"missing_call":"zero"}`, expected: searchThenBook, calls: right[:1], want: 0.5},
		"an expected call without arguments":   {params: `{"calls":["search",{"name":"book","arguments":{"flight":"AZ1"}}]}`, calls: []metric.ToolCall{call("search", `{"x":1}`), right[1]}, want: 1},
		"a call that takes none":               {params: `{"calls":[{"name":"a","arguments":{}}]}`, calls: []metric.ToolCall{call("a", ``)}, want: 1},
		"a call that takes none and got one":   {params: `{"match":"exact","calls":[{"name":"a","arguments":{}}]}`, calls: []metric.ToolCall{call("a", `{"x":1}`)}},
		"arguments that are no object":         {params: `{"calls":[{"name":"a","arguments":"x y"}]}`, calls: []metric.ToolCall{call("a", `"x y"`)}, want: 1},
		"no arguments are expected":            {params: `{"calls":["search"]}`, calls: right, reason: metric.ReasonNoExpectation},
		"no calls are expected":                {params: `{"calls":[]}`, calls: right, reason: metric.ReasonNoExpectation},
		"no expected tool was called":          {expected: searchThenBook, calls: calls("cancel"), reason: metric.ReasonNoMatch},
		"none was called, which is zero":       {params: `{"missing_call":"zero"}`, expected: searchThenBook, calls: calls("cancel")},
		"nobody recorded calls":                {expected: searchThenBook, reason: metric.ReasonNoToolCalls},
		"nothing says what is expected":        {calls: right, reason: metric.ReasonNoExpectation},
	})
}

func TestTrajectoryMatch(t *testing.T) {
	t.Parallel()
	const abc = `"calls":["a","b","c"]`
	made := map[string][]metric.ToolCall{
		"the same":         calls("a", "b", "c"),
		"in another order": calls("c", "b", "a"),
		"with others":      calls("a", "x", "b", "c", "x"),
		"mixed":            calls("c", "x", "b", "a"),
		"too few":          calls("a", "b"),
		"one for another":  calls("a", "b", "x"),
		"one twice":        calls("a", "b", "b"),
		"none":             calls(),
	}
	holds := map[string][]string{
		"exact":     {"the same"},
		"in_order":  {"the same", "with others"},
		"any_order": {"the same", "in another order"},
		"superset":  {"the same", "in another order", "with others", "mixed"},
	}
	for mode, those := range holds {
		for title, c := range made {
			t.Run(mode+": "+title, func(t *testing.T) {
				t.Parallel()
				want := 0.0
				for _, yes := range those {
					if yes == title {
						want = 1
					}
				}
				trial{params: `{"mode":"` + mode + `",` + abc + `}`, calls: c, want: want}.run(t, "trajectory_match")
			})
		}
	}
	const one = `"calls":[{"name":"a","arguments":{"x":1}}]`
	runTrials(t, "trajectory_match", map[string]trial{
		"exact unless it says otherwise":         {params: `{` + abc + `}`, calls: calls("a", "b", "c", "d"), says: "Expected calls: 3; calls that were made: 4"},
		"which call is another":                  {params: `{` + abc + `}`, calls: calls("a", "c", "b"), says: `Call 2 is "c" where "b" is expected`},
		"which call is missing":                  {params: `{"mode":"in_order",` + abc + `}`, calls: calls("a", "c"), says: `The expected call 2, "b"`},
		"arguments do not count":                 {params: `{` + one + `}`, calls: []metric.ToolCall{call("a", `{"x":2}`)}, want: 1},
		"arguments count":                        {params: `{"arguments":"expected",` + one + `}`, calls: []metric.ToolCall{call("a", `{"x":2}`)}, says: `In call 1, the argument "x"`},
		"others may be there":                    {params: `{"arguments":"expected",` + one + `}`, calls: []metric.ToolCall{call("a", `{"x":1,"y":2}`)}, want: 1},
		"others may not be there":                {params: `{"arguments":"exact",` + one + `}`, calls: []metric.ToolCall{call("a", `{"x":1,"y":2}`)}},
		"an expected call leaves arguments open": {params: `{"arguments":"exact","calls":["a"]}`, calls: []metric.ToolCall{call("a", `{"x":1,"y":2}`)}, want: 1},
		"choices are revised": {
			params: `{"mode":"any_order","arguments":"expected","calls":["a",{"name":"a","arguments":{"x":1}}]}`,
			calls:  []metric.ToolCall{call("a", `{"x":1}`), call("a", `{}`)}, want: 1,
		},
		"one call cannot stand for two": {
			params: `{"mode":"superset","arguments":"expected","calls":[{"name":"a","arguments":{"x":1}},{"name":"a","arguments":{"x":1}}]}`,
			calls:  []metric.ToolCall{call("a", `{"x":1}`), call("a", `{"x":2}`)},
		},
		"no calls, as expected":         {params: `{"calls":[]}`, calls: calls(), want: 1},
		"from the expected output":      {expected: searchThenBook, calls: calls("search", "book"), want: 1},
		"the item's mode":               {params: `{` + abc + `}`, calls: calls("c", "b", "a"), assertions: []string{`{"type":"trajectory_match","mode":"any_order"}`}, want: 1},
		"nobody recorded calls":         {params: `{` + abc + `}`, reason: metric.ReasonNoToolCalls},
		"nothing says what is expected": {calls: calls("a"), reason: metric.ReasonNoExpectation},
	})
}

func TestToolCallsIn(t *testing.T) {
	t.Parallel()
	want := []metric.ToolCall{call("search", `{"to":"Rome"}`)}
	for title, doc := range map[string]string{
		"under tool_calls":       `{"tool_calls":[{"name":"search","arguments":{"to":"Rome"}}]}`,
		"in camelCase":           `{"toolCalls":[{"toolName":"search","args":{"to":"Rome"}}]}`,
		"a list of calls":        `[{"tool_name":"search","parameters":{"to":"Rome"}}]`,
		"as chat APIs do":        `{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"search","arguments":"{\"to\": \"Rome\"}"}}]}`,
		"among the parts":        `{"role":"assistant","content":[{"type":"text","text":"Let me see"},{"type":"tool_use","id":"1","name":"search","input":{"to":"Rome"}}]}`,
		"among OpenTelemetry's":  `{"role":"assistant","parts":[{"type":"text","content":"Let me see"},{"type":"tool_call","id":"1","name":"search","arguments":{"to":"Rome"}}]}`,
		"in a conversation":      `[{"role":"user","content":"Go"},{"role":"assistant","tool_calls":[{"name":"search","arguments":{"to":"Rome"}}]},{"role":"tool","content":"ok"},{"role":"assistant","content":"Done"}]`,
		"last in a conversation": `[{"role":"user","content":"Go"},{"role":"assistant","tool_calls":[{"name":"search","arguments":{"to":"Rome"}}]}]`,
		"parts without a role":   `{"content":[{"type":"function_call","name":"search","arguments":"{\"to\":\"Rome\"}"}]}`,
		"unknown members there":  `{"tool_calls":[{"name":"search","arguments":{"to":"Rome"},"id":7,"extra":[]}]}`,
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			got, ok := metric.ToolCallsIn(raw(doc))
			require.True(t, ok)
			require.Equal(t, want, got)
		})
	}
	t.Run("a conversation without calls has none", func(t *testing.T) {
		t.Parallel()
		got, ok := metric.ToolCallsIn(raw(`[{"role":"user","content":"Go"},{"role":"assistant","content":"No"}]`))
		require.True(t, ok)
		require.Empty(t, got)
	})
	t.Run("a call may have failed", func(t *testing.T) {
		t.Parallel()
		got, ok := metric.ToolCallsIn(raw(`{"tool_calls":[{"error":"timeout","function":{"name":"a"}},{"name":"b","error":null}]}`))
		require.True(t, ok)
		require.Equal(t, []metric.ToolCall{{Name: "a", Error: "timeout"}, {Name: "b"}}, got)
	})
	t.Run("a call may have no arguments, or a text that is not JSON", func(t *testing.T) {
		t.Parallel()
		got, ok := metric.ToolCallsIn(raw(`{"tool_calls":[{"name":"a"},{"name":"b","arguments":"x y"},{"name":"c","arguments":""}]}`))
		require.True(t, ok)
		require.Equal(t, []metric.ToolCall{{Name: "a"}, call("b", `"x y"`), call("c", `null`)}, got)
	})
	for title, doc := range map[string]string{
		"a text": `"search"`, "an empty list": `[]`, "other objects": `[{"a":1}]`, "an object without calls": `{"a":1}`,
		"nothing": ``, "not JSON": `{`, "a message with text parts": `{"role":"assistant","content":[{"type":"text","text":"x"}]}`,
		"a list of names": `["search"]`, "a call without a name": `{"tool_calls":[{"arguments":{}}]}`,
	} {
		t.Run("there are no calls in "+title, func(t *testing.T) {
			t.Parallel()
			_, ok := metric.ToolCallsIn(raw(doc))
			require.False(t, ok)
		})
	}
}
