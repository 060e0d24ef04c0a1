package arch_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/arch"
)

func TestRepositoryKeepsTheLaws(t *testing.T) {
	t.Parallel()

	found, err := arch.Check(os.DirFS("../.."))

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

// A table that allowed a circle would leave the order to whoever compiles first.
func TestDomainsHaveAnOrder(t *testing.T) {
	t.Parallel()
	var visit func(path []string, name string)
	visit = func(path []string, name string) {
		require.NotContains(t, path, name, "domains go in a circle: %s", strings.Join(append(path, name), " → "))
		allowed, ok := arch.Domains[name]
		require.True(t, ok, "%s is allowed but is no domain", name)
		for _, next := range allowed {
			visit(append(path, name), next)
		}
	}
	for name := range arch.Domains {
		visit(nil, name)
	}
}
