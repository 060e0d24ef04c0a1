package kind

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// FuzzSimple compares the short way to a canonical form with the long one.
func FuzzSimple(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, ` { "b" : [ 1 , -2 , true ] , "a" : { "z" : null , "y" : "é" } } `, `{"b":1,"a":2,"b":3}`, `{"a":1,"a":1}`, `{"a b":1,"a":2}`, `[1,]`, `{"a":1,}`, `[,1]`, `[1 2]`,
		`-0`, `01`, `1.0`, `1e3`, `999999999999999`, `1000000000000000`, `"\u0041"`, `"tab	"`, "\"\xff\"", `{"é":1,"z":2}`, `[[[]],{}]`, `nul`, `truefalse`, `"a`, `{"a"}`, `{"a":}`, `{"a":1}x`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := simple(text)
		if !ok {
			return
		}
		want := jsontext.Value(text).Clone()
		require.NoError(t, want.Canonicalize(), "%q has no canonical form", text)
		require.Equal(t, string(want), string(got))
	})
}

func TestWhatAgentsSendIsSimple(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"status":"succeeded","arguments":{"order_id":"O-17","customer_id":42,"amount":{"value":"240.00","currency":"EUR"}},"is_error":false,"result":null}`,
		` { "text" : "Grüße" , "list" : [ 1 , [ ] , { } ] } `,
	} {
		_, ok := simple(jsontext.Value(text))
		require.True(t, ok, text)
	}
	deep := strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1)
	_, ok := simple(jsontext.Value(deep))
	require.False(t, ok, "what is nested deeper is left to the library")
}
