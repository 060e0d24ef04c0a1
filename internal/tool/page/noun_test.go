// Package page_test follows a page of the documents as a reader does.
package page_test

import (
	"flag"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root  = "../../.."
	guide = "docs/contribute/noun.md"

	// A noun takes as many files and lines at most, all that is written by hand.
	maxFiles = 7
	maxLines = 350
)

// whole follows the page to its end, which takes minutes: see make noun.
var whole = flag.Bool("whole", false, "add the noun to a copy of the checkout, generate, build and test")

// written is a block of the page that a reader writes to a file.
type written struct {
	file, text string
	appended   bool
}

var (
	// block is a heading that names a file, and the first block below it.
	block    = regexp.MustCompile("(?ms)^## \\d+\\. `([^`]+)`(, at its end)?\n.*?^(````?)\\w+\n(.*?)^````?\n")
	numbered = regexp.MustCompile(`(?m)^## \d+\. `)
	// generated are the commands below the heading of what is generated.
	generated = regexp.MustCompile("(?ms)^## The rest is generated\n+```sh\n(.*?)^```\n")
)

// read returns what the page has a reader write. A block within a block is a part of it.
func read(page string) (all []written) {
	for _, at := range block.FindAllStringSubmatchIndex(page, -1) {
		m := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return page[at[2*i]:at[2*i+1]]
		}
		text := m(4)
		if fence := m(3); len(fence) == 4 {
			text, _, _ = strings.Cut(page[at[8]:], "\n"+fence+"\n")
			text += "\n"
		}
		all = append(all, written{m(1), text, m(2) != ""})
	}
	return all
}

// TestPageAddsANoun adds the noun of the page: to a copy of the checkout, from the page's own text.
func TestPageAddsANoun(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, guide))
	require.NoError(t, err)
	page := string(text)

	files, lines := read(page), 0
	for _, f := range files {
		lines += strings.Count(f.text, "\n")
		_, err := os.Stat(filepath.Join(root, f.file))
		require.Equal(t, f.appended, err == nil, "%s exists only where the page adds to its end", f.file)
		if strings.HasSuffix(f.file, ".go") {
			formatted, err := format.Source([]byte(f.text))
			require.NoError(t, err, f.file)
			require.Equal(t, string(formatted), f.text, f.file)
		}
	}
	t.Logf("noun files %d lines %d", len(files), lines)
	require.Len(t, numbered.FindAllString(page, -1), len(files), "each numbered section has a file and a block")
	require.LessOrEqual(t, len(files), maxFiles)
	require.LessOrEqual(t, lines, maxLines)
	commands := generated.FindStringSubmatch(page)
	require.NotNil(t, commands)
	if !*whole {
		return
	}

	dir := copied(t)
	for _, f := range files {
		how := os.O_CREATE | os.O_EXCL
		if f.appended {
			how = os.O_APPEND
		}
		out, err := os.OpenFile(filepath.Join(dir, f.file), how|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = out.WriteString(f.text)
		require.NoError(t, err)
		require.NoError(t, out.Close())
	}
	// What make test would run of it is named below: the noun's own test, and those of all operations.
	run(t, dir, strings.Replace(commands[1], "make test\n", "go build ./...\n", 1))
	run(t, dir, "go test -vet=off -count=1 -run 'Bookmark|^TestEveryWriteIsAudited$/Bookmark$' ./internal/test/tenancy")
	run(t, dir, "go test -vet=off -count=1 -run '^(TestEveryOperationHasASpecimen|TestRefusedBodiesAreRefusedAtTheirPlace|TestEverythingFillsEveryTable)$' ./internal/test/app")
	run(t, dir, "go test -vet=off -count=1 -run '^TestScopes$' ./internal/test/prove/access")
	run(t, dir, "go test -vet=off -count=1 ./internal/tool/arch ./internal/platform/postgres/postgrestest")
}

// copied is a copy of the checkout as it is now, with its engines.
func copied(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	require.NoError(t, err)
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00")+"\x00.dev/env", "\x00") {
		info, err := os.Stat(filepath.Join(root, name))
		if os.IsNotExist(err) && name != ".dev/env" {
			continue // deleted and not yet committed
		}
		require.NoError(t, err)
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o750))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, info.Mode().Perm()))
	}
	return dir
}

// run runs a script in a folder.
func run(t *testing.T, dir, script string) {
	t.Helper()
	t.Log(script)
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", script, out)
}
