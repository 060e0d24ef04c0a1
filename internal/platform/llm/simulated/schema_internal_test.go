package simulated

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

var exampleSchemas = []string{
	`{}`, `true`, `{"type":"string"}`, `{"type":"string","minLength":5,"maxLength":7}`, `{"type":"null"}`, `{"type":["null","integer"]}`, `{"const":{"a":[1]}}`,
	`{"type":"integer","minimum":3}`, `{"type":"integer","maximum":-3}`, `{"type":"integer","exclusiveMinimum":3,"multipleOf":5}`, `{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":0.1}`,
	`{"type":"number","minimum":0.3,"multipleOf":0.25}`, `{"type":"integer","minimum":1,"maximum":5}`, `{"type":"number","exclusiveMaximum":0}`, `{"minimum":2}`,
	`{"type":"array","items":{"type":"integer","minimum":1},"minItems":3}`, `{"type":"array"}`, `{"type":"array","prefixItems":[{"const":1},{"const":"b"}],"items":{"type":"boolean"},"minItems":3}`,
	`{"type":"object","additionalProperties":false,"required":["a","b"],"properties":{"a":{"enum":["x","y"]},"b":{"type":"object","required":["c"],"properties":{"c":{"type":"boolean"}}},"d":{"type":"string"}}}`,
	`{"properties":{"a":{"type":"string"}},"required":["a"]}`, `{"required":["free"]}`,
	`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `{"oneOf":[{"type":"string","format":"date-time"},{"type":"null"}]}`,
	`{"allOf":[{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}},{"$ref":"#/$defs/b"}],"required":["c"],"properties":{"c":{"const":1}},"$defs":{"b":{"required":["b"],"properties":{"b":{"type":"string"}}}}}`,
	`{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"integer","minimum":4}}}`,
	`{"$ref":"#/definitions/node","definitions":{"node":{"type":"object","required":["next"],"properties":{"next":{"anyOf":[{"$ref":"#/definitions/node"},{"type":"null"}]}}}}}`,
	`{"type":"object","required":["children"],"properties":{"children":{"type":"array","items":{"$ref":"#"}}}}`,
	`{"type":"string","format":"uuid"}`, `{"type":"string","format":"email"}`, `{"type":"string","format":"date"}`, `{"type":"string","format":"uri"}`, `{"type":"string","format":"ipv6"}`,
	`{"type":"object","required":["score","reason","criteria"],"properties":{"score":{"type":"number","minimum":0,"maximum":1},"reason":{"type":"string","maxLength":10},"criteria":{"type":"array","minItems":2,"items":{"type":"object","required":["key","points"],"properties":{"key":{"enum":["tone","facts"]},"points":{"type":"integer","minimum":1,"maximum":7}}}}}}`,
}

func TestFillObeysTheSchema(t *testing.T) {
	t.Parallel()
	for _, text := range exampleSchemas {
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err)
		require.NoError(t, compiler.AddResource("schema.json", document))
		schema, err := compiler.Compile("schema.json")
		require.NoError(t, err)
		for _, c := range []chooser{{}, {judges: true, reason: "Because."}, {judges: true, score: 0.37}, {judges: true, score: 1}} {
			got := fill(jsontext.Value(text), c)
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(got)))
			require.NoError(t, err)
			require.NoError(t, schema.Validate(value), "%s\n%s", text, got)
			require.Equal(t, got, fill(jsontext.Value(text), c), "the same each time")
		}
	}
}

// FuzzFill shows that every schema is filled, with JSON of bounded size.
func FuzzFill(f *testing.F) {
	for _, s := range exampleSchemas {
		f.Add(s, 0.5, true)
	}
	f.Add(`{"type":"array","minItems":1e9,"items":{"$ref":"#"}}`, 0.0, false)
	f.Add(`{"required":["a","b"],"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"}}}`, 0.0, false)
	f.Add(`{"type":"number","minimum":1e308,"multipleOf":1e-308}`, 1.0, true)
	f.Fuzz(func(t *testing.T, schema string, score float64, judges bool) {
		if !(score >= 0 && score <= 1) {
			return
		}
		if got := fill(jsontext.Value(schema), chooser{judges: judges, score: score}); !got.IsValid() {
			t.Fatalf("%s", got)
		}
	})
}
