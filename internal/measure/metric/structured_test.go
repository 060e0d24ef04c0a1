package metric_test

import (
	"strings"
	"testing"

	"github.com/assayhq/assay/internal/measure/metric"
)

func TestJSONValid(t *testing.T) {
	t.Parallel()
	runTrials(t, "json_valid", map[string]trial{
		"an object in a text":         {output: text(` {"a": [1, 2]} `), want: 1},
		"an object":                   {output: `{"a":1}`, want: 1},
		"a word":                      {output: text(`hello`), says: "not JSON"},
		"the empty text":              {output: `""`},
		"a number in a text":          {output: text(`42`), want: 1},
		"a number where objects are":  {params: `{"root":"object"}`, output: text(`42`), says: "no object"},
		"an array where objects are":  {params: `{"root":"object"}`, output: `[]`},
		"an array where arrays are":   {params: `{"root":"array"}`, output: text(`[]`), want: 1},
		"a comma too many":            {output: text(`{"a":1,}`)},
		"single quotes":               {output: text(`{'a':1}`)},
		"two documents":               {output: text(`{} {}`)},
		"cut off":                     {output: text(`{"a":[1`)},
		"a name twice":                {output: text(`{"a":1,"a":2}`), want: 1},
		"a code block":                {output: text("```json\n{\"a\":1}\n```")},
		"a code block that may be":    {params: `{"fence":true}`, output: text("```json\n{\"a\":1}\n```\n"), want: 1},
		"a code block of no language": {params: `{"fence":true}`, output: text("```\n[]```"), want: 1},
		"a code block of another":     {params: `{"fence":true}`, output: text("```yaml\n[]\n```")},
		"words around a code block":   {params: `{"fence":true}`, output: text("Here:\n```json\n[]\n```")},
		"the item asks for an object": {output: text(`[]`), assertions: []string{`{"type":"json_valid","root":"object"}`}},
		"deeper than what is read":    {output: text(strings.Repeat("[", 300) + strings.Repeat("]", 300)), reason: metric.ReasonTooLarge},
		"no output":                   {reason: metric.ReasonNoOutput},
	})
}

func TestJSONSchema(t *testing.T) {
	t.Parallel()
	const person = `{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0}},"additionalProperties":false}`
	const schema = `{"schema":` + person + `}`
	runTrials(t, "json_schema", map[string]trial{
		"a match":                                     {params: schema, output: `{"name":"Ann","age":3}`, want: 1},
		"a match in a text":                           {params: schema, output: text(`{"name":"Ann"}`), want: 1},
		"an integer with a point":                     {params: schema, output: `{"name":"Ann","age":3.0}`, want: 1},
		"a member is missing":                         {params: schema, output: `{}`, says: "it lacks name"},
		"a member of another type":                    {params: schema, output: `{"name":7}`, says: "/name is of type number, not string"},
		"a rule is broken":                            {params: schema, output: `{"name":"Ann","age":-1}`, says: "/age breaks the rule minimum"},
		"members that nobody named":                   {params: schema, output: `{"name":"Ann","x":1,"y":2}`, says: "does not allow: 2"},
		"several problems in order":                   {params: schema, output: `{"name":1,"age":"x"}`, says: "/age is of type string, not integer; /name"},
		"a text that is not JSON":                     {params: schema, output: text(`Ann`), says: "not JSON"},
		"a code block that may be":                    {params: `{"fence":true,"schema":` + person + `}`, output: text("```json\n{\"name\":\"Ann\"}\n```"), want: 1},
		"a part":                                      {params: `{"path":"/user","schema":` + person + `}`, output: `{"user":{"name":"Ann"}}`, want: 1},
		"a schema that goes deeper":                   {params: `{"schema":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#"}}]}}`, output: `[["a",["b"]],"c"]`, want: 1},
		"and does not fit":                            {params: `{"schema":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#"}}]}}`, output: `[["a",[1]],"c"]`},
		"a schema with an address of its own":         {params: `{"schema":{"$id":"https://example.com/a","$defs":{"n":{"type":"number"}},"items":{"$ref":"a#/$defs/n"}}}`, output: `[1,2]`, want: 1},
		"and what does not fit it":                    {params: `{"schema":{"$id":"https://example.com/a","$defs":{"n":{"type":"number"}},"items":{"$ref":"#/$defs/n"}}}`, output: `[1,"2"]`, says: "/1 is of type string"},
		"an older draft":                              {params: `{"schema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"string","format":"date"}}`, output: text(`"today"`)},
		"the item's schema":                           {params: schema, output: `7`, assertions: []string{`{"type":"json_schema","schema":{"type":"number"}}`}, want: 1},
		"the item's schema is none":                   {output: `7`, assertions: []string{`{"type":"json_schema","schema":{"type":7}}`}, reason: metric.ReasonBadAssertion},
		"the item's schema calls out":                 {output: `7`, assertions: []string{`{"type":"json_schema","schema":{"$ref":"https://example.com/a.json"}}`}, reason: metric.ReasonBadAssertion},
		"the item's schema reads files":               {output: `7`, assertions: []string{`{"type":"json_schema","schema":{"$ref":"file:///etc/passwd"}}`}, reason: metric.ReasonBadAssertion},
		"the expected output":                         {output: `7`, expected: `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"number"}`, want: 1},
		"an expected output as schema, which is none": {output: `7`, expected: `{"$schema":"https://example.com/own"}`, reason: metric.ReasonBadExpectation},
		"an expected output that is no schema":        {output: `7`, expected: `{"type":"number"}`, reason: metric.ReasonNotConfigured},
		"no schema":                                   {output: `7`, reason: metric.ReasonNotConfigured},
		"no output":                                   {params: schema, reason: metric.ReasonNoOutput},
		"a number of a million digits":                {params: `{"schema":{"minimum":0,"uniqueItems":true,"enum":[1]}}`, output: `1e1000001`, reason: metric.ReasonTooLarge},
		"a number too small for any float64":          {params: `{"schema":{"multipleOf":0.1}}`, output: `1e-1000001`, reason: metric.ReasonTooLarge},
	})
}
