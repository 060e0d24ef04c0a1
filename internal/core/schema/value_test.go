package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/schema"
)

func TestATextIsReadAsADecoderWould(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]any{
		`""`: "", `"a b"`: "a b", `"ü€"`: "ü€", `"a\nb"`: "a\nb", `"\u00e9"`: "é", `"\""`: `"`, "\"\xff\"": "\uFFFD", "\"\x7f\"": "\x7f", ` "a" `: "a",
	} {
		w := schema.NewWork()
		got, err := w.Decode([]byte(doc))
		require.NoError(t, err, doc)
		require.Equal(t, want, got, doc)
	}
	for _, doc := range []string{`"`, "\"a\nb\"", `"a"b"`, `"a\"`, `"a""b"`} {
		w := schema.NewWork()
		_, err := w.Decode([]byte(doc))
		require.Error(t, err, doc)
	}
}
