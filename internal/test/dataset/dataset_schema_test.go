package dataset_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestSchemaOfItems(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	schema := map[string]any{
		"type":     "object",
		"required": []any{"input", "labels"},
		"properties": map[string]any{
			"input":           map[string]any{"type": "object", "required": []any{"a/b"}, "properties": map[string]any{"a/b": map[string]any{"type": "integer", "minimum": 1}}},
			"expected_output": map[string]any{"type": "string"},
		},
	}
	good := testkit.Item{Input: map[string]any{"a/b": 1}, Labels: "x"}

	t.Run("an item that matches is taken", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{Schema: schema})
		added, err := us.AddItems(t.Context(), d.ID, []testkit.Item{good})
		require.NoError(t, err)
		require.EqualValues(t, 1, added.Created)
	})

	t.Run("each violation is named by its place in the request", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{Schema: schema})

		_, err := us.AddItems(t.Context(), d.ID, []testkit.Item{
			good,
			{Input: map[string]any{"a/b": 0}, Labels: "x"},
			{Input: map[string]any{"a/b": 2}, ExpectedOutput: 5},
		})

		require.Equal(t, "schema_mismatch", details(t, err)["reason"])
		require.ElementsMatch(t, []field{
			{"/items/1/input/a~1b", "format"},
			{"/items/2", "format"}, // labels are missing
			{"/items/2/expected_output", "format"},
		}, fields(t, err))
		page, err := us.ListDatasetItems(t.Context(), d.ID, "")
		require.NoError(t, err)
		require.Empty(t, page.Items, "nothing of the import is kept")
	})

	t.Run("a single item has no index, a list of one has", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{Schema: schema})
		bad := map[string]any{"input": map[string]any{"a/b": 0}, "labels": "x"}

		_, single := us.Call(t.Context(), http.MethodPost, "/api/datasets/"+d.ID+"/items", bad, nil)
		_, list := us.Call(t.Context(), http.MethodPost, "/api/datasets/"+d.ID+"/items", map[string]any{"items": []any{bad}}, nil)

		require.Equal(t, []field{{"/input/a~1b", "format"}}, fields(t, single))
		require.Equal(t, []field{{"/items/0/input/a~1b", "format"}}, fields(t, list))
	})

	t.Run("a change is held against it too", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{Schema: schema})
		added, err := us.AddItems(t.Context(), d.ID, []testkit.Item{good})
		require.NoError(t, err)

		_, err = us.UpdateDatasetItem(t.Context(), d.ID, added.Items[0].ID, map[string]any{"input": "text"})

		require.Equal(t, []field{{"/input", "format"}}, fields(t, err))
	})

	t.Run("violations are cut at a hundred", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{Schema: schema})
		_, err := us.AddItems(t.Context(), d.ID, questions(1000))
		require.Len(t, fields(t, err), 100)
	})

	t.Run("a schema that is none is refused, on creation and on change", func(t *testing.T) {
		t.Parallel()
		wrong := map[string]any{"type": "no such type"}
		_, creating := us.CreateDataset(t.Context(), testkit.NewDataset{Name: "x", Schema: wrong})
		d := us.Dataset(t, testkit.NewDataset{})
		_, changing := us.UpdateDataset(t.Context(), d.ID, map[string]any{"schema": wrong})
		for _, err := range []error{creating, changing} {
			require.Equal(t, []field{{"/schema", "format"}}, fields(t, err))
		}
	})
}

// TestSchemaReadsNothing shows that a schema cannot make the server read a file
// or call out, in whatever way it names a target.
func TestSchemaReadsNothing(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	var calls atomic.Int32
	trap := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		_, _ = w.Write([]byte(`{"type": "string"}`))
	}))
	t.Cleanup(trap.Close)
	file := filepath.Join(t.TempDir(), "secret.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"type": "string"}`), 0o600))

	for name, schema := range map[string]string{
		"a remote reference":             `{"$ref": "URL/schema.json"}`,
		"a nested remote reference":      `{"properties": {"input": {"anyOf": [{"$ref": "URL/schema.json"}]}}}`,
		"a dynamic reference":            `{"$dynamicRef": "URL/schema.json"}`,
		"a remote vocabulary":            `{"$schema": "URL/schema.json", "type": "object"}`,
		"a relative one to a remote id":  `{"$id": "URL/base.json", "$ref": "other.json"}`,
		"a file":                         `{"$ref": "file://FILE"}`,
		"a path":                         `{"$ref": "FILE"}`,
		"a relative path":                `{"$ref": "../../../../etc/passwd"}`,
		"a file through the schema's id": `{"$id": "file://FILE", "$ref": "other.json"}`,
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			t.Parallel()
			var doc map[string]any
			require.NoError(t, json.Unmarshal([]byte(strings.NewReplacer("URL", trap.URL, "FILE", file).Replace(schema)), &doc))

			_, err := us.CreateDataset(t.Context(), testkit.NewDataset{Name: "x", Schema: doc})

			require.Equal(t, []field{{"/schema", "format"}}, fields(t, err))
			require.NotContains(t, err.Error(), file)
			require.Zero(t, calls.Load())
		})
	}

	t.Run("a reference within the schema is fine", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{Schema: map[string]any{
			"$defs":      map[string]any{"text": map[string]any{"type": "string"}},
			"properties": map[string]any{"input": map[string]any{"$ref": "#/$defs/text"}},
		}})
		_, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: 5}})
		require.Equal(t, []field{{"/items/0/input", "format"}}, fields(t, err))
	})
}
