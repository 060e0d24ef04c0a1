package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const registering = `package dataset

import "github.com/assayhq/assay/internal/httpapi"

func (s *Service) Register(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{ID: "createDataset", Path: "/api/datasets"}, s.postDataset)
}
`

const handling = `package dataset

func (s *Service) postDataset(ctx context.Context, in *input) (*output, error) {
	if in == nil {
		return nil, errors.New("x")
	}
	return &output{ID: in.ID}, nil
}
`

func source(files ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return fsys
}

func hashOf(t *testing.T, handler string) string {
	t.Helper()
	hashes, err := collect(source("internal/dataset/http.go", registering, "internal/dataset/http_post.go", handler))
	require.NoError(t, err)
	require.Len(t, hashes, 1)
	require.Regexp(t, "^[0-9a-f]{64}$", hashes["createDataset"])
	return hashes["createDataset"]
}

func TestHash(t *testing.T) {
	t.Parallel()
	before := hashOf(t, handling)

	t.Run("comments and layout do not change it", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, before, hashOf(t, `package dataset

// postDataset has a comment now.
func (s *Service) postDataset(
	ctx context.Context, // the request's
	in *input,
) (*output, error) {
	// A thought.
	if in == nil { return nil, errors.New("x") }

	return &output{
		ID: in.ID, /* here too */
	}, nil
}
`))
	})

	t.Run("the place in the file and the neighbours do not change it", func(t *testing.T) {
		t.Parallel()
		moved := strings.Replace(handling, "package dataset\n", "package dataset\n\nfunc neighbour() {}\n\n\n", 1)
		require.Equal(t, before, hashOf(t, moved))
	})

	t.Run("the body changes it", func(t *testing.T) {
		t.Parallel()
		require.NotEqual(t, before, hashOf(t, strings.Replace(handling, "in == nil", "in != nil", 1)))
		require.NotEqual(t, before, hashOf(t, strings.Replace(handling, `"x"`, `"y"`, 1)))
	})

	t.Run("the signature changes it", func(t *testing.T) {
		t.Parallel()
		require.NotEqual(t, before, hashOf(t, strings.Replace(handling, "*input", "*other", 1)))
	})
}

func TestCollect(t *testing.T) {
	t.Parallel()

	t.Run("the edge registers without a package name, and functions and constants count", func(t *testing.T) {
		t.Parallel()
		hashes, err := collect(source("internal/httpapi/health.go", `package httpapi

const healthID = "getHealth"

func (e *Edge) register() {
	Register(e, Op{ID: healthID}, e.getHealth)
	Register[in, out](e, Op{ID: "getVersion"}, getVersion)
}

func (e *Edge) getHealth() {}

func getVersion() {}
`))
		require.NoError(t, err)
		require.Len(t, hashes, 2)
		require.Contains(t, hashes, "getHealth")
		require.Contains(t, hashes, "getVersion")
	})

	t.Run("an operation of OTLP counts as any other", func(t *testing.T) {
		t.Parallel()
		raw := strings.NewReplacer("internal/httpapi\"", "internal/httpapi/otlp\"", "httpapi.Register(", "otlp.Register(", "httpapi.Op{", "otlp.Op{Op: httpapi.Op{", "}, s.", "}}, s.").Replace(registering)
		hashes, err := collect(source("internal/dataset/http.go", raw, "internal/dataset/http_post.go", handling))
		require.NoError(t, err)
		require.Equal(t, map[string]string{"createDataset": hashOf(t, handling)}, hashes)
	})

	t.Run("a method is found by the type of its receiver", func(t *testing.T) {
		t.Parallel()
		_, err := collect(source("internal/dataset/http.go", registering, "internal/dataset/http_post.go", handling,
			"internal/dataset/item.go", "package dataset\n\nfunc (o Other) postDataset() {}\n"))
		require.NoError(t, err)
	})

	t.Run("an operation of a noun's routes counts as one that is written in place", func(t *testing.T) {
		t.Parallel()
		routed := strings.Replace(registering, `httpapi.Op{ID: "createDataset", Path: "/api/datasets"}`, `routes.Create("createDataset", "Makes one.")`, 1)
		hashes, err := collect(source("internal/dataset/http.go", routed, "internal/dataset/http_post.go", handling))
		require.NoError(t, err)
		require.Equal(t, map[string]string{"createDataset": hashOf(t, handling)}, hashes)
	})

	t.Run("another package's Register and a test's are none", func(t *testing.T) {
		t.Parallel()
		hashes, err := collect(source(
			"internal/dataset/http.go", "package dataset\n\nfunc f() { huma.Register(a, b, c); Register(a, b, c) }\n",
			"internal/dataset/http_test.go", registering))
		require.NoError(t, err)
		require.Empty(t, hashes)
	})

	refused := map[string]struct{ old, new, says string }{
		"an unknown handler":     {"s.postDataset)", "s.putDataset)", "internal/dataset/http.go:6:2: operation createDataset: the package declares no handler s.putDataset"},
		"a handler of a call":    {"s.postDataset)", "wrap(s.postDataset))", "neither a method nor a function"},
		"a function literal":     {"s.postDataset)", "func() {})", "neither a method nor a function"},
		"an id that is computed": {`"createDataset"`, `prefix + "Dataset"`, "internal/dataset/http.go:6:2: the ID of the Op is neither a string nor a constant"},
		"an unknown constant":    {`"createDataset"`, "createID", "neither a string nor a constant"},
		"an empty id":            {`"createDataset"`, `""`, "neither a string nor a constant"},
		"an Op without id":       {`ID: "createDataset", `, "", "the Op has no ID"},
		"an Op of a function":    {`httpapi.Op{ID: "createDataset", Path: "/api/datasets"}`, `op("createDataset", "")`, "the Op is not written in place"},
		"an Op elsewhere":        {`httpapi.Op{ID: "createDataset", Path: "/api/datasets"}`, "op", "the Op is not written in place"},
	}
	for name, c := range refused {
		t.Run(name+" is an error", func(t *testing.T) {
			t.Parallel()
			changed := strings.Replace(registering, c.old, c.new, 1)
			require.NotEqual(t, registering, changed)
			_, err := collect(source("internal/dataset/http.go", changed, "internal/dataset/http_post.go", handling))
			require.ErrorContains(t, err, c.says)
		})
	}

	t.Run("an id that occurs twice is an error", func(t *testing.T) {
		t.Parallel()
		_, err := collect(source("internal/dataset/http.go", registering, "internal/dataset/http_post.go", handling,
			"internal/telemetry/trace/http.go", registering, "internal/telemetry/trace/http_post.go", handling))
		require.ErrorContains(t, err, "internal/telemetry/trace/http.go:6:2: operation createDataset is already registered at internal/dataset/http.go:6:2")
	})
}

func TestRunWritesTheFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, content := range map[string]string{
		"internal/dataset/http.go":      registering,
		"internal/dataset/http_post.go": handling,
		"internal/app/main.go":          "package app\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(content), 0o644))
	}

	require.NoError(t, os.WriteFile(filepath.Join(root, "internal/app/http_gen.go"), []byte("package app\n"), 0o644))

	require.NoError(t, run(root))

	require.NoFileExists(t, filepath.Join(root, "internal/app/http_gen.go"), "the package has no noun any more")
	got, err := os.ReadFile(filepath.Join(root, output))
	require.NoError(t, err)
	require.Equal(t, `// Code generated by internal/tool/gen/sourcehash. DO NOT EDIT.

package app

// sourceHashes holds the SHA-256 of each handler's source by operation id.
var sourceHashes = map[string]string{
	"createDataset": "`+hashOf(t, handling)+`",
}
`, string(got))
}

func TestLists(t *testing.T) {
	t.Parallel()
	files, err := lists(source("internal/dataset/http_item.go", `package dataset

func (s *Service) registerItems(e *httpapi.Edge) {}
`, "internal/dataset/http_label.go", `package dataset

type labels struct{ *Service }

func (n labels) register(e *httpapi.Edge) {}
`, "internal/dataset/item.go", `package dataset

func (c cache) register(key string) {}

func (s *Service) registerItem(i Item) error { return nil }

func registerAll(e *httpapi.Edge) {}
`, "internal/dataset/http_gen.go", `package dataset

func (s *Service) registerNouns(e *httpapi.Edge) {}
`))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Equal(t, `// Code generated by internal/tool/gen/sourcehash. DO NOT EDIT.

package dataset

import "github.com/assayhq/assay/internal/httpapi"

// registerNouns adds the operations of each noun of the package to the route table.
func (s *Service) registerNouns(e *httpapi.Edge) {
	labels{s}.register(e)
	s.registerItems(e)
}
`, string(files["internal/dataset/http_gen.go"]))
}
