package policy

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
)

// TestDigestsTellApart shows that what an approval is bound to is not what is nearly the same.
func TestDigestsTellApart(t *testing.T) {
	t.Parallel()
	of := func(arguments string) string {
		act, err := bound(&engine.Question{RuntimeKey: "r", ConnectorKey: "c", ToolName: "t", Arguments: jsontext.Value(arguments)})
		require.NoError(t, err)
		return act.Digest
	}
	require.Equal(t, of(`{"a":1,"b":"é"}`), of(`{ "b": "\u00e9", "a": 1 }`), "how it is written does not matter")
	require.Equal(t, of(`{}`), of(`null`))
	for _, pair := range [][2]string{
		{`{"account":12345678901234567890}`, `{"account":12345678901234567891}`},
		{`{"a":0.1234567890123456789}`, `{"a":0.1234567890123456788}`},
		{`{"a":1}`, `{"a":"1"}`},
		{`{"a":null}`, `{}`},
	} {
		require.NotEqual(t, of(pair[0]), of(pair[1]), "%s", pair)
	}

	none, silent := asked{Request: Request{Supported: []string{}}, input: jsontext.Value("{}")}, asked{input: jsontext.Value("{}")}
	a, err := none.sum()
	require.NoError(t, err)
	b, err := silent.sum()
	require.NoError(t, err)
	require.NotEqual(t, a, b, "to honour nothing is not to say nothing")
}
