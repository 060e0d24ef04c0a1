package metric

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATextIsReadAsADecoderWould(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]any{
		`""`: "", `"a b"`: "a b", `"ü€"`: "ü€", `"a\nb"`: "a\nb", `"\u00e9"`: "é", `"\""`: `"`, "\"\xff\"": "\uFFFD", "\"\x7f\"": "\x7f", ` "a" `: "a",
	} {
		w := work{allowance}
		got, err := w.decode([]byte(doc))
		require.NoError(t, err, doc)
		require.Equal(t, want, got, doc)
	}
	for _, doc := range []string{`"`, "\"a\nb\"", `"a"b"`, `"a\"`, `"a""b"`} {
		w := work{allowance}
		_, err := w.decode([]byte(doc))
		require.Error(t, err, doc)
	}
}
