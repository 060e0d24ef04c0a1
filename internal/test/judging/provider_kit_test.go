package judging_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/test/testkit"
)

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

func providerKey(t testing.TB, us *testkit.Client, base string) string {
	t.Helper()
	k, err := us.CreateProviderKey(t.Context(), map[string]any{"provider": "openai", "name": uuid.NewString(), "baseUrl": base, "secret": "sk-abcdefghijklmnopqrst"})
	require.NoError(t, err)
	return strconv.FormatInt(k.ID, 10)
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

// tableColumns are the tables with the column that names the organization.
func tableColumns(t testing.TB, c *pgx.Conn) map[string]string {
	t.Helper()
	rows, err := c.Query(t.Context(), `SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'org_id'
		WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`)
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	out := map[string]string{}
	for _, name := range names {
		out[name] = "org_id"
	}
	out["organizations"] = "id"
	return out
}

// get reads a path; any answer is a success.
func get(t testing.TB, c *testkit.Client, path string) *testkit.Response {
	t.Helper()
	res, err := c.Send(t.Context(), http.MethodGet, path, nil)
	require.NoError(t, err)
	return res
}
