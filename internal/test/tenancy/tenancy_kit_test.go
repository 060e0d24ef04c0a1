package tenancy_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/test/testkit"
)

// connect opens a connection of the test's own.
func connect(t testing.TB, url secret.Text) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	return c
}

// asOwner connects as the owner of the tables, with row security out of the
// way: what it reads is what is stored, whoever it belongs to.
func asOwner(t testing.TB, k *testkit.Kit) *pgx.Conn {
	t.Helper()
	c := connect(t, k.App.Config.Postgres.OwnerURL)
	for table := range tableColumns(t, c) {
		_, err := c.Exec(t.Context(), "ALTER TABLE "+table+" NO FORCE ROW LEVEL SECURITY")
		require.NoError(t, err)
	}
	return c
}

// tableColumns are the tables with the column that names the organization.
func tableColumns(t testing.TB, c *pgx.Conn) map[string]string {
	t.Helper()
	rows, err := c.Query(t.Context(), `SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'org_id'
		WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`)
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	out := map[string]string{"organizations": "id"}
	for _, name := range names {
		out[name] = "org_id"
	}
	return out
}

// rowsOf counts an organization's rows in every table.
func rowsOf(t testing.TB, c *pgx.Conn, org principal.OrgID) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for table, column := range tableColumns(t, c) {
		out[table] = scalar[int64](t, c, "SELECT count(*) FROM "+table+" WHERE "+column+" = $1", org)
	}
	return out
}

// scalar reads one value.
func scalar[T any](t testing.TB, c *pgx.Conn, query string, args ...any) (out T) {
	t.Helper()
	require.NoError(t, c.QueryRow(t.Context(), query, args...).Scan(&out), query)
	return out
}

// refused requires that a call was refused with a status and a reason, and
// returns the details of the refusal.
func refused(t testing.TB, err error, kind fault.Kind, reason string) map[string]any {
	t.Helper()
	f, ok := fault.From(err)
	require.True(t, ok, "not a refusal: %v", err)
	require.Equal(t, kind, f.Kind, "%v %v", f.Reason, f.Details)
	require.Equal(t, reason, f.Reason, "%v", f.Details)
	return f.Details
}

// invalid requires that a call was refused because of one field.
func invalid(t testing.TB, err error, path, code string) {
	t.Helper()
	details := refused(t, err, fault.Validation, "invalid_request")
	var seen []string
	fields, _ := details["fields"].([]any)
	for _, f := range fields {
		field := f.(map[string]any)
		seen = append(seen, field["path"].(string)+" "+field["code"].(string))
	}
	require.Contains(t, seen, path+" "+code)
}

// get reads a path; any answer is a success.
func get(t testing.TB, c *testkit.Client, path string) *testkit.Response {
	t.Helper()
	res, err := c.Send(t.Context(), http.MethodGet, path, nil)
	require.NoError(t, err)
	return res
}

func someKey(t testing.TB, us *testkit.Client) string {
	t.Helper()
	k, err := us.CreateKey(t.Context(), testkit.NewKey{Name: uuid.NewString(), Scopes: reading})
	require.NoError(t, err)
	return strconv.FormatInt(k.ID, 10)
}

func providerKey(t testing.TB, us *testkit.Client, base string) string {
	t.Helper()
	k, err := us.CreateProviderKey(t.Context(), map[string]any{"provider": "openai", "name": uuid.NewString(), "baseUrl": base, "secret": "sk-abcdefghijklmnopqrst"})
	require.NoError(t, err)
	return strconv.FormatInt(k.ID, 10)
}
