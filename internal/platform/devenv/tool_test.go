package devenv_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/devenv"
)

func TestTool(t *testing.T) {
	t.Parallel()

	t.Run("a pinned tool is there", func(t *testing.T) {
		t.Parallel()
		// The engines need it, so it is installed wherever tests run.
		path, err := devenv.Tool("chdb")
		require.NoError(t, err)
		require.FileExists(t, path)
	})

	t.Run("an unknown name leads to the list", func(t *testing.T) {
		t.Parallel()
		_, err := devenv.Tool("no-such-tool")
		require.ErrorContains(t, err, "no tool is called 'no-such-tool'; there are: ")
		require.ErrorContains(t, err, "versitygw toxiproxy-server")
	})
}
