package arch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// compiledAgain lists the packages that are built for the tests of another one, as
// "package for test". Go builds a package once more for a test binary that has tests
// inside one of its dependencies.
func compiledAgain(t *testing.T, dir string) (found []string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-test", "-deps", "-f", "{{.ForTest}}\t{{.ImportPath}}", "./...")
	list.Dir = dir
	list.Env = append(os.Environ(), "GOWORK=off")
	out, err := list.Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		of, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		path, _, _ = strings.Cut(path, " ") // "path [test]"
		if of != "" && path != of && path != of+"_test" && path != of+".test" {
			found = append(found, path+" for "+of)
		}
	}
	return found
}

func TestNothingIsCompiledForTheTestsOfAnother(t *testing.T) {
	t.Parallel()
	require.Empty(t, compiledAgain(t, "../../.."), "move the tests that import what imports their package into a folder of their own")
}

func TestWhatIsCompiledTwiceIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":            "module example.com/m\n\ngo 1.26\n",
		"low/low.go":        "package low\n",
		"low/in_test.go":    "package low\n",
		"low/out_test.go":   "package low_test\n\nimport _ \"example.com/m/high\"\n",
		"high/high.go":      "package high\n\nimport _ \"example.com/m/low\"\n",
		"high/high_test.go": "package high_test\n\nimport _ \"example.com/m/high\"\n",
	} {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	require.Equal(t, []string{"example.com/m/high for example.com/m/low"}, compiledAgain(t, dir))
}
