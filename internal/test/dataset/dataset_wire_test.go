package dataset_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestWhatIsNotThereIsNull shows the resources as their JSON is, which the
// client's types would hide.
func TestWhatIsNotThereIsNull(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	d := us.Dataset(t, testkit.NewDataset{})
	read := func(t *testing.T, path string) map[string]any {
		t.Helper()
		var out map[string]any
		_, err := us.Call(t.Context(), http.MethodGet, "/api/datasets/"+d.ID+path, nil, &out)
		require.NoError(t, err)
		return out
	}

	empty := read(t, "")
	for _, name := range []string{"description", "schema", "latest_dataset_version"} {
		require.Contains(t, empty, name)
		require.Nil(t, empty[name], name)
	}
	require.Equal(t, map[string]any{}, empty["metadata"])
	require.Equal(t, []any{}, empty["tags"])

	added, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "bare"}, {Input: "sourced", Source: &testkit.Source{Type: "trace"}}})
	require.NoError(t, err)
	item := read(t, "/items/"+added.Items[0].ID)
	for _, name := range []string{"expected_output", "output", "context", "messages", "tools", "labels", "split", "source"} {
		require.Contains(t, item, name)
		require.Nil(t, item[name], name)
	}
	require.Equal(t, []any{}, item["assertions"])
	require.Equal(t, map[string]any{"type": "trace", "id": nil}, read(t, "/items/"+added.Items[1].ID)["source"])

	_, err = us.Freeze(t.Context(), d.ID, "")
	require.NoError(t, err)
	version := read(t, "/versions/1")
	require.Equal(t, "1", version["id"])
	require.EqualValues(t, 1, version["dataset_version"])
	require.Contains(t, version, "note")
	require.Nil(t, version["note"])
	require.EqualValues(t, 1, read(t, "")["latest_dataset_version"])
}

func TestNullIsTheSameContentAsNothing(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	d := us.Dataset(t, testkit.NewDataset{})
	body := `{"items": [{"input": "a"}, {"input": "a", "expectedOutput": null, "labels": null, "tools": null}]}`
	res, err := us.Send(t.Context(), http.MethodPost, "/api/datasets/"+d.ID+"/items", strings.NewReader(body))
	require.NoError(t, err)
	require.Contains(t, string(res.Body), `"created":1`)
}

// TestLocation follows the header of everything that is created.
func TestLocation(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	d := us.Dataset(t, testkit.NewDataset{})
	for name, c := range map[string]struct {
		path string
		body any
		want string // a part of the target's body
	}{
		"a dataset":        {"/api/datasets", map[string]any{"name": "Located"}, `"name":"Located"`},
		"an item":          {"/api/datasets/" + d.ID + "/items", map[string]any{"input": "one"}, `"input":"one"`},
		"a list of one":    {"/api/datasets/" + d.ID + "/items", map[string]any{"items": []any{map[string]any{"input": "two"}}}, `"input":"two"`},
		"several items":    {"/api/datasets/" + d.ID + "/items", map[string]any{"items": []any{map[string]any{"input": 3}, map[string]any{"input": 4}}}, `"items":[`},
		"a frozen version": {"/api/datasets/" + d.ID + "/versions", map[string]any{"note": "Located"}, `"note":"Located"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // the second time items are skipped, and still found
				res, err := us.Call(t.Context(), http.MethodPost, c.path, c.body, nil)
				require.NoError(t, err)
				require.Equal(t, http.StatusCreated, res.Status)
				target, err := us.Send(t.Context(), http.MethodGet, res.Header.Get("Location"), nil)
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, target.Status, res.Header.Get("Location"))
				require.Contains(t, string(target.Body), c.want)
			}
		})
	}
}

func TestAFrozenVersionCanBeRead(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	d := us.Dataset(t, testkit.NewDataset{})
	frozen, err := us.Freeze(t.Context(), d.ID, "first")
	require.NoError(t, err)
	got, err := us.GetDatasetVersion(t.Context(), d.ID, 1)
	require.NoError(t, err)
	require.Equal(t, frozen, got)

	for _, other := range []string{"2", "0", "-1", "01", "latest", "2147483648", "9007199254740992"} {
		_, err := us.Call(t.Context(), http.MethodGet, "/api/datasets/"+d.ID+"/versions/"+other, nil, nil)
		require.ErrorIs(t, err, dataset.ErrVersionNotFound, other)
	}
	_, err = us.GetDatasetVersion(t.Context(), "999999", 1)
	require.ErrorIs(t, err, dataset.ErrNotFound)
}
