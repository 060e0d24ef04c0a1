package httpapi

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

// hashOf is the contract hash of the one operation of a document whose schemas
// are given.
func hashOf(t *testing.T, operation, schemas string) string {
	t.Helper()
	var doc, op map[string]any
	require.NoError(t, json.Unmarshal([]byte(`{"components":{"schemas":`+schemas+`}}`), &doc))
	require.NoError(t, json.Unmarshal([]byte(operation), &op))
	hash, err := contractHash(doc, op)
	require.NoError(t, err)
	require.Regexp(t, `^sha256:[0-9a-f]{64}$`, hash)
	return hash
}

func TestContractHash(t *testing.T) {
	t.Parallel()
	const (
		op   = `{"operationId":"a","requestBody":{"schema":{"$ref":"#/components/schemas/A"}}}`
		base = `{"A":{"properties":{"b":{"$ref":"#/components/schemas/B"}}},"B":{"type":"string"},"C":{"type":"string"}}`
	)
	hash := hashOf(t, op, base)

	t.Run("changes when a schema changes that the operation reaches", func(t *testing.T) {
		t.Parallel()
		require.NotEqual(t, hash, hashOf(t, op, `{"A":{"properties":{"b":{"$ref":"#/components/schemas/B"}}},"B":{"type":"integer"},"C":{"type":"string"}}`))
		require.NotEqual(t, hash, hashOf(t, `{"operationId":"b","requestBody":{"schema":{"$ref":"#/components/schemas/A"}}}`, base))
	})

	t.Run("stays when something else changes", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, hash, hashOf(t, op, `{"C":{"type":"object"},"B":{"type":"string"},"A":{"properties":{"b":{"$ref":"#/components/schemas/B"}}}}`))
		require.Equal(t, hash, hashOf(t, `{"x-source-hash":"zz","requestBody":{"x-a":1,"schema":{"$ref":"#/components/schemas/A"}},"operationId":"a"}`, base))
		require.Equal(t, hash, hashOf(t, op, `{"A":{"x-b":2,"properties":{"b":{"$ref":"#/components/schemas/B"}}},"B":{"type":"string","x-c":[3]}}`))
		require.Equal(t, hash, hashOf(t, op, `{"A":{"properties":{"b":{"$ref":"#/components/schemas/Renamed"}}},"Renamed":{"type":"string"}}`))
	})

	t.Run("exists for a type that contains itself", func(t *testing.T) {
		t.Parallel()
		loop := hashOf(t, op, `{"A":{"properties":{"b":{"$ref":"#/components/schemas/A"}}}}`)
		require.NotEqual(t, hash, loop)
	})
}

func TestEnumsThatTakeNullListIt(t *testing.T) {
	t.Parallel()
	var doc any
	require.NoError(t, json.Unmarshal([]byte(`{"a":[{"type":["string","null"],"enum":["x"]},{"type":"string","enum":["x"]},{"type":["string","null"]},{"type":["string","null"],"enum":["x",null]}]}`), &doc))
	allowNull(doc)
	text, err := json.Marshal(doc)
	require.NoError(t, err)
	require.JSONEq(t, `{"a":[{"type":["string","null"],"enum":["x",null]},{"type":"string","enum":["x"]},{"type":["string","null"]},{"type":["string","null"],"enum":["x",null]}]}`, string(text))
}
