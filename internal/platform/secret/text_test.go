package secret_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/secret"
)

func TestTextIsNeverPrinted(t *testing.T) {
	t.Parallel()
	s := secret.Text("hunter2")
	wrapped := struct{ S secret.Text }{s}

	var out bytes.Buffer
	fmt.Fprintf(&out, "%s %v %+v %#v %q %v", s, s, wrapped, wrapped, s, &wrapped)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "s", s, "wrapped", wrapped)
	encoded, err := json.Marshal(wrapped)
	require.NoError(t, err)
	out.Write(encoded)

	require.NotContains(t, out.String(), "hunter2")
	require.Equal(t, "hunter2", s.Reveal())
}
