package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const small = `{"paths":{"/things/{thingId}":{"get":{"operationId":"getThing","summary":"Get a thing.",
	"parameters":[{"name":"thingId","in":"path"},{"name":"deep","in":"query"}],
	"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}}}}}}}},
	"components":{"schemas":{"Thing":{"type":"object","required":["id","owner_id","made_at"],"properties":{
		"id":{"type":"string"},"owner_id":{"type":["integer","null"]},"made_at":{"type":"string","format":"date-time"},
		"part":{"oneOf":[{"$ref":"#/components/schemas/Thing"},{"type":"null"}]},"key":{"oneOf":[{"type":"string"},{"type":"integer"}]},
		"tags":{"type":"array","items":{"type":"string"}},"scores":{"type":"object","additionalProperties":{"type":["number","null"]}},"input":{}}}}}}`

func TestTypesAndMethodsFollowTheDocument(t *testing.T) {
	t.Parallel()
	files, err := generate([]byte(small))
	require.NoError(t, err)
	types, operations := strings.Join(strings.Fields(string(files[api+"/types_gen.go"])), " "), string(files[api+"/operations_gen.go"])
	for _, want := range []string{
		"ID string `json:\"id\"`", "OwnerID *int64 `json:\"owner_id\"`", "MadeAt time.Time `json:\"made_at\"`", "Part *Thing `json:\"part,omitzero\"`",
		"Key string `json:\"key,omitzero\"`", "Tags []string `json:\"tags,omitzero\"`", "Scores map[string]*float64 `json:\"scores,omitzero\"`", "Input any `json:\"input,omitzero\"`",
	} {
		require.Contains(t, types, want)
	}
	require.Contains(t, operations, "func (c Client) GetThing(ctx context.Context, thingID string, query url.Values, opts ...Option) (out Thing, err error)")
	require.True(t, strings.HasPrefix(operations, "// Code generated "))
	require.Contains(t, string(files[testkit+"/operation_gen.go"]), "func (c operations) GetThing(ctx context.Context, thingID any, query string, opts ...Option) (out api.Thing, err error)")

	again, err := generate([]byte(small))
	require.NoError(t, err)
	require.Equal(t, files, again, "the same document gives the same code")
}

func TestAnUnknownConstructIsAnError(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{`"allOf":[{"type":"string"}]`, `"anyOf":[{"type":"string"}]`, `"type":"tuple"`} {
		_, err := generate([]byte(strings.Replace(small, `"input":{}`, `"input":{`+odd+`}`, 1)))
		require.ErrorContains(t, err, "does not know", odd)
	}
	_, err := generate([]byte(strings.Replace(small, `{"$ref":"#/components/schemas/Thing"}}}}}}}},`, `{"type":"object","properties":{"id":{"type":"string"}}}}}}}}}},`, 1)))
	require.ErrorContains(t, err, "not a named schema")
}

func TestTheCommittedClientMatchesTheDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../../" + document)
	require.NoError(t, err)
	files, err := generate(text)
	require.NoError(t, err)
	for name, want := range files {
		got, err := os.ReadFile("../../../../" + name)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "%s is out of date: run `make gen`", name)
	}
}
