package arch_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/tool/arch"
)

func TestRepositoryKeepsTheLaws(t *testing.T) {
	t.Parallel()

	found, err := arch.Check(os.DirFS("../../.."))

	require.NoError(t, err)
	for _, v := range found {
		t.Error(v)
	}
}

func TestLawsAreNamedOnceAndSayWhy(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, law := range arch.Laws() {
		require.False(t, seen[law.Name], "two laws are called %s", law.Name)
		require.NotEmpty(t, law.Says, law.Name)
		seen[law.Name] = true
	}
}
