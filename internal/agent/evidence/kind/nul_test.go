package kind_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

func TestNUL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":"b"}`:                     `{"a":"b"}`,
		`"\u0000"`:                      `"\ufffd"`,
		`"\\u0000"`:                     `"\\u0000"`,
		`"\\\u0000\u0000"`:              `"\\\ufffd\ufffd"`,
		`["\\\\u0000",{"\u0000":"\\"}]`: `["\\\\u0000",{"\ufffd":"\\"}]`,
	} {
		got := kind.WithoutNUL(jsontext.Value(text))
		require.Equal(t, want, string(got))
		require.Equal(t, want != text, kind.HasNUL(jsontext.Value(text)), text)
		require.False(t, kind.HasNUL(got))
	}
}
