package evaluation_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

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
	k.Work(t)
	d := filled(t, them, cases(4))
	theirs := them.Evaluation(t, d.ID, map[string]any{"name": "Theirs"})
	done := ran(t, them, theirs.ID, nil)
	open, _ := waiting(t, them, 2, nil)
	ours := us.Evaluation(t, d.ID, map[string]any{"name": "Ours"})
	require.Len(t, ours.Warnings, 1, "another organization's dataset is none")
	failed := ran(t, us, ours.ID, nil)
	require.Equal(t, "dataset_not_found", failed.Error.Code)
	shown, err := us.GetEvaluation(ctx, ours.ID)
	require.NoError(t, err)
	require.Zero(t, shown.Items)
	before, err := them.GetEvaluation(ctx, theirs.ID)
	require.NoError(t, err)

	for _, call := range []struct {
		method, path string
		body         any
	}{
		{http.MethodGet, "", nil},
		{http.MethodPatch, "", map[string]any{"name": "Taken"}},
		{http.MethodDelete, "", nil},
		{http.MethodGet, "/runs", nil},
		{http.MethodPost, "/runs", map[string]any{}},
		{http.MethodGet, "/runs/%s", nil},
		{http.MethodPost, "/runs/%s/cancel", nil},
		{http.MethodGet, "/runs/%s/progress", nil},
		{http.MethodGet, "/runs/%s/results", nil},
		{http.MethodPost, "/runs/%s/results", map[string]any{"final": true}},
	} {
		for _, run := range []string{done.RunID, open.RunID} {
			for _, id := range []string{theirs.ID, open.EvaluationID} {
				path := "/api/evaluations/" + id + call.path
				if len(call.path) > len("/runs") {
					path = "/api/evaluations/" + id + fmt.Sprintf(call.path, run)
				}
				res, err := us.Call(ctx, call.method, path, call.body, nil)
				require.Error(t, err, "%s %s", call.method, path)
				require.Equal(t, http.StatusNotFound, res.Status, "%s %s", call.method, path)
			}
			// The same run below an evaluation of our own is not there either.
			if len(call.path) > len("/runs") {
				res, err := us.Call(ctx, call.method, "/api/evaluations/"+ours.ID+fmt.Sprintf(call.path, run), call.body, nil)
				require.Error(t, err)
				require.Equal(t, http.StatusNotFound, res.Status, "%s %s", call.method, call.path)
			}
		}
	}
	list, err := us.ListEvaluations(ctx, "")
	require.NoError(t, err)
	require.EqualValues(t, 1, list.Total)
	require.Equal(t, ours.ID, list.Evaluations[0].ID)
	after, err := them.GetEvaluation(ctx, theirs.ID)
	require.NoError(t, err)
	require.Equal(t, before, after)
	now, err := them.GetEvaluationRun(ctx, open.EvaluationID, open.RunID)
	require.NoError(t, err)
	require.Equal(t, open, now)
	require.Len(t, results(t, them, done), 4)
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
