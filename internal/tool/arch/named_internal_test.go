package arch

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// named lists the places of the repository that the laws know by name.
func named() []string {
	all := slices.Concat(pure, clickhouseDomains, outboundDirs, clockDirs, notCounted, slices.Collect(maps.Keys(sleeping)), slices.Collect(maps.Keys(pages)))
	for _, d := range doors() {
		all = append(all, "internal/"+d.name+"/...")
		all = append(all, d.may...)
	}
	for _, o := range outside {
		all = append(all, o.dir)
	}
	for _, l := range layers {
		all = append(all, l.dirs...)
	}
	for _, m := range makers {
		all = append(all, m.dir)
	}
	return all
}

// A place that moved would take its law, or its exception, with it in silence.
func TestTheLawsNameWhatExists(t *testing.T) {
	t.Parallel()
	tree, err := load(os.DirFS("../../.."))
	require.NoError(t, err)
	for _, pattern := range named() {
		require.True(t, pattern == "..." || slices.ContainsFunc(tree.files, func(f *file) bool {
			return f.path == pattern || matches(pattern, f.dir)
		}), "there is no %s", strings.TrimSuffix(pattern, "/..."))
	}
}

// linterPath is a pattern of the linter's settings for files, and linterImport one for
// packages of ours.
var (
	linterPath   = regexp.MustCompile(`(?m)^ +- (?:path: )?(\S*(?:internal|_test|dev)\S*)$`)
	linterImport = regexp.MustCompile(`(?m)^ +- pkg: (\^github\\.com/assayhq\S*)$`)
)

// A pattern that matches nothing excludes nothing, or checks nothing, in silence.
func TestTheLinterNamesWhatExists(t *testing.T) {
	t.Parallel()
	tree, err := load(os.DirFS("../../.."))
	require.NoError(t, err)
	settings, err := os.ReadFile("../../../.golangci.yml")
	require.NoError(t, err)
	paths, imports := linterPath.FindAllSubmatch(settings, -1), linterImport.FindAllSubmatch(settings, -1)
	require.GreaterOrEqual(t, len(paths), 5)
	require.NotEmpty(t, imports)
	for _, m := range paths {
		pattern := regexp.MustCompile(string(m[1]))
		require.True(t, slices.ContainsFunc(tree.files, func(f *file) bool { return pattern.MatchString(f.path) }), "%s matches no file", pattern)
	}
	for _, m := range imports {
		pattern := regexp.MustCompile(string(m[1]))
		require.True(t, slices.ContainsFunc(tree.files, func(f *file) bool {
			return slices.ContainsFunc(f.imports, func(i imported) bool { return pattern.MatchString(i.path) })
		}), "%s matches no import", pattern)
	}
}

// slack is how many lines a knot may be below its exception.
const slack = 200

func TestExceptionsOnlyShrink(t *testing.T) {
	t.Parallel()
	tree, err := load(os.DirFS("../../.."))
	require.NoError(t, err)
	knots, methods, wide := tree.knots(), tree.methods(), tree.wide()
	for dir, lines := range knotted {
		require.Greater(t, knots[dir], max(maxKnot, lines-slack), "%s: lower its exception, or take it out", dir)
	}
	for name, n := range manyMethods {
		require.Greater(t, methods[name], max(maxMethods, n-4), "%s: lower its exception, or take it out", name)
	}
	for dir, n := range wideLines {
		require.Len(t, wide[dir], n, "%s: set its exception to what is there", dir)
	}
}
