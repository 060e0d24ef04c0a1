package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContract(t *testing.T) { //nolint:paralleltest // it changes the working directory
	t.Chdir("../../..") // the tool runs at the root of the checkout
	doc, err := os.ReadFile(document)
	require.NoError(t, err)
	name, err := fingerprint(doc)
	require.NoError(t, err)
	const silent = "# Changes\n\n## Two\n\nContract: %\n\nSomething.\n\n## One\n\n**Breaking** Long ago.\n"
	entry := strings.ReplaceAll(silent, "%", name)

	require.NoError(t, named(doc, entry))
	require.Error(t, named(doc, silent), "an entry that names another contract is refused")

	// A tightened bound and a removed operation are found.
	tightened := strings.Replace(string(doc), `"maximum": 1000`, `"maximum": 10`, 1)
	require.NotEqual(t, string(doc), tightened)
	broken, err := breaking(t.Context(), doc, []byte(tightened))
	require.NoError(t, err)
	require.NotEmpty(t, broken)
	require.ErrorContains(t, argued(broken, entry), "breaks clients")
	require.NoError(t, argued(broken, strings.Replace(entry, "Something.", "**Breaking** Ask for fewer.", 1)))

	same, err := breaking(t.Context(), doc, doc)
	require.NoError(t, err)
	require.Empty(t, same)
	require.NoError(t, argued(same, entry))
}
