package dataset_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestPredicatesAlone shows the first barrier without the second: row security
// is off, and the queries still answer for their own organization only.
func TestPredicatesAlone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Own(t, "it switches row security off")
	us, them := k.Org(t), k.Org(t)
	disarm(t, k)

	theirs := them.Dataset(t, testkit.NewDataset{Name: "Theirs"})
	added, err := them.AddItems(ctx, theirs.ID, questions(3))
	require.NoError(t, err)
	item := added.Items[0].ID
	_, err = them.Freeze(ctx, theirs.ID, "")
	require.NoError(t, err)
	before, err := them.GetDataset(ctx, theirs.ID)
	require.NoError(t, err)

	body := map[string]any{"name": "Taken", "input": "Taken", "note": "Taken"}
	for _, path := range []string{"", "?datasetVersion=1", "/items", "/items?datasetVersion=1", "/items/" + item, "/items/" + item + "?datasetVersion=1", "/versions", "/versions/1"} {
		for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodDelete, http.MethodPost} {
			var in any
			if method == http.MethodPatch || method == http.MethodPost {
				in = body
			}
			res, err := us.Call(ctx, method, "/api/datasets/"+theirs.ID+path, in, nil)
			require.Error(t, err, "%s %s", method, path)
			require.Contains(t, []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusBadRequest}, res.Status, "%s %s", method, path)
			require.NotContains(t, string(res.Body), "Question")
		}
	}
	// The same identifiers below a dataset of our own are not there either.
	ours := us.Dataset(t, testkit.NewDataset{Name: "Ours"})
	_, err = us.Freeze(ctx, ours.ID, "")
	require.NoError(t, err)
	for _, query := range []string{"", "datasetVersion=1"} {
		_, err = us.GetDatasetItem(ctx, ours.ID, item, query)
		require.ErrorIs(t, err, dataset.ErrItemNotFound)
	}
	list, err := us.ListDatasets(ctx, "includeTotal=true")
	require.NoError(t, err)
	require.EqualValues(t, 1, api.Value(list.Total))
	require.Equal(t, ours.ID, list.Datasets[0].ID)

	after, err := them.GetDataset(ctx, theirs.ID)
	require.NoError(t, err)
	require.Equal(t, before, after)
	page, err := them.ListDatasetItems(ctx, theirs.ID, "")
	require.NoError(t, err)
	require.Len(t, page.Items, 3)
}

// disarm turns row security off on every table, and makes sure that it is off.
func disarm(t *testing.T, k *testkit.Kit) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), k.App.Config.Postgres.OwnerURL.Reveal())
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	rows, err := conn.Query(t.Context(), "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relrowsecurity")
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	for _, table := range tables {
		_, err := conn.Exec(t.Context(), fmt.Sprintf("ALTER TABLE %[1]s NO FORCE ROW LEVEL SECURITY; ALTER TABLE %[1]s DISABLE ROW LEVEL SECURITY", table))
		require.NoError(t, err)
	}
	runtime, err := pgx.Connect(t.Context(), k.App.Config.Postgres.URL.Reveal())
	require.NoError(t, err)
	defer func() { _ = runtime.Close(t.Context()) }()
	var seen int
	require.NoError(t, runtime.QueryRow(t.Context(), "SELECT count(*) FROM organizations").Scan(&seen))
	require.Equal(t, 2, seen, "the runtime role now sees every organization")
}
