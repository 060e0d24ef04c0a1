package schema_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/core/schema"
)

// nested draws from leaf, or from what more makes of values one level lower.
func nested[T any](leaf *rapid.Generator[T], more func(inner *rapid.Generator[T]) *rapid.Generator[T]) *rapid.Generator[T] {
	deep := leaf
	for range 3 {
		deep = rapid.OneOf(leaf, more(deep))
	}
	return deep
}

func anyValue() *rapid.Generator[any] {
	leaf := rapid.SampledFrom([]any{
		nil, true, "", "a", "ab", "é", json.Number("0"), json.Number("1"), json.Number("1.0"), json.Number("1.5"), json.Number("-2"), json.Number("12345678901234567890"),
	})
	return nested(leaf, func(inner *rapid.Generator[any]) *rapid.Generator[any] {
		return rapid.OneOf(
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "x"}), inner, 0, 3), func(m map[string]any) any { return m }),
		)
	})
}

func anySchema() *rapid.Generator[string] {
	leaf := rapid.SampledFrom([]string{
		`true`, `false`, `{}`, `{"type":"string"}`, `{"type":"integer"}`, `{"const":"a"}`, `{"enum":[1,"a",null]}`, `{"minimum":1}`,
		`{"pattern":"^a"}`, `{"required":["a"]}`, `{"minItems":2}`, `{"uniqueItems":true}`, `{"maxLength":1}`, `{"multipleOf":0.5}`, `{"minProperties":1}`,
	})
	return nested(leaf, func(inner *rapid.Generator[string]) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			a, b := inner.Draw(t, "a"), inner.Draw(t, "b")
			return strings.NewReplacer("A", a, "B", b).Replace(rapid.SampledFrom([]string{
				`{"allOf":[A,B]}`, `{"anyOf":[A,B]}`, `{"oneOf":[A,B]}`, `{"not":A}`, `{"if":A,"then":B}`, `{"properties":{"a":A,"b":B}}`, `{"items":A}`,
				`{"additionalProperties":A}`, `{"patternProperties":{"^a":A},"additionalProperties":B}`, `{"contains":A}`, `{"prefixItems":[A],"items":B}`,
				`{"propertyNames":A}`, `{"properties":{"a":A},"unevaluatedProperties":B}`, `{"dependentSchemas":{"a":A}}`,
			}).Draw(t, "shape"))
		})
	})
}

// The verdict is the library's; only its work is counted.
func TestTheVerdictIsTheLibrarys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := `{"allOf":[` + anySchema().Draw(t, "schema") + `]}`
		doc, err := json.Marshal(anyValue().Draw(t, "value"))
		require.NoError(t, err)

		parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err)
		compiler := jsonschema.NewCompiler()
		require.NoError(t, compiler.AddResource("test:schema", parsed))
		library, err := compiler.Compile("test:schema")
		require.NoError(t, err)
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
		require.NoError(t, err)

		compiled, err := schema.Compile(text)
		require.NoError(t, err)
		matches, wrong := check(t, compiled, string(doc))
		require.Equal(t, library.Validate(instance) == nil, matches, "%s of %s", text, doc)
		require.Equal(t, matches, len(wrong) == 0)
	})
}
