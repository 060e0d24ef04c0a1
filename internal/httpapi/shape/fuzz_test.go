package shape_test

import (
	stdjson "encoding/json"
	"reflect"
	"strconv"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/httpapi/shape"
)

func itoa(n int) string { return strconv.Itoa(n) }

// FuzzRead holds the reader against the standard library's parser and against
// the validator of the framework that publishes the schema.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"name":"n","maxCount":3,"inner":{"innerName":"a"},"innerList":[{"inner_name":"b"}],"freeForm":{"a_b":[1,2.50,"\u00e9"]}}`,
		`{"max_count":1,"maxCount":1.0}`, `{"max_count":1,"maxCount":2}`, `{"MaxCount":1}`, `{"zz":{"maxCount":1},"inner":{"zz":1}}`,
		`{"organizationId":"a","organization_id":"b"}`, `{"a":1,"a":2}`, `{"a":{"b":1,"b":1}}`, `[1,2`, `"\ud800"`, "\"\xff\"", `9007199254740993`,
		`1e999`, `-0`, `1E+2`, `null`, ` {} `, `{} x`, `[[[[]]]]`, `{"":{"":""}}`, `{"a/b~c":1}`, "\ufeff{}", `{"free_form":null,"freeForm":null}`, ``,
		`{"name":"a","tags":["x","y"],"by_model":{"m":{"inner_name":"x","zz":[]}},"ratio":0.5,"slug":"a","at":"2026-01-31T12:00:00Z"}`,
	} {
		f.Add([]byte(seed))
	}
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schema := registry.Schema(reflect.TypeFor[order](), true, "")
	s := shape.Of(registry, schema, reflect.TypeFor[order]())
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, refuses := range []func(string) bool{nil, func(string) bool { return true }} {
			once, err := s.Read(body, refuses)
			if err != nil {
				continue
			}
			require.True(t, stdjson.Valid(body), "accepted, and not JSON")
			if len(once.Violations) > 0 {
				continue
			}
			require.True(t, stdjson.Valid(once.Body), "%s", once.Body)
			var sent any
			require.NoError(t, json.Unmarshal(once.Body, &sent))
			result := &huma.ValidateResult{}
			huma.Validate(registry, schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, sent, result)
			require.Empty(t, result.Errors, "%s", once.Body)
			again, err := s.Read(once.Body, refuses)
			require.NoError(t, err)
			require.Equal(t, string(once.Body), string(again.Body), "documented form stays")
			require.Empty(t, again.Ignored)
			require.Empty(t, again.Organizations)
			require.Empty(t, shape.Decode(once.Body, new(order)))
			sameFreeForm(t, body, once.Body)
		}
	})
}

// sameFreeForm checks that the free-form value at the top is what was sent.
func sameFreeForm(t *testing.T, before, after []byte) {
	t.Helper()
	var sent, kept map[string]jsontext.Value
	if stdjson.Unmarshal(before, &sent) != nil || stdjson.Unmarshal(after, &kept) != nil {
		return // not an object
	}
	value, ok := sent["freeForm"]
	if !ok {
		value, ok = sent["free_form"]
	}
	got, stays := kept["freeForm"]
	require.Equal(t, ok, stays)
	if ok {
		require.JSONEq(t, string(value), string(got))
	}
}
