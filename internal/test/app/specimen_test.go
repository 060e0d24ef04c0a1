package app_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
	"github.com/assayhq/assay/internal/test/testkit/specimen"
)

// routes are the operations of the document: by "METHOD path", the id and
// whether there is a body of JSON.
func routes(t testing.TB) map[string]struct {
	id   string
	body bool
} {
	t.Helper()
	text, err := os.ReadFile("../../../api/openapi.json")
	require.NoError(t, err)
	var doc struct {
		Paths map[string]map[string]struct {
			ID   string `json:"operationId"`
			Body struct {
				Content map[string]any `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(text, &doc))
	out := map[string]struct {
		id   string
		body bool
	}{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			r := out[""]
			r.id, r.body = op.ID, op.Body.Content["application/json"] != nil
			out[strings.ToUpper(method)+" "+path] = r
		}
	}
	return out
}

// problems says what the specimens lack for a set of operations.
func problems(t testing.TB, operations []specimen.Operation) (found []string) {
	t.Helper()
	known := routes(t)
	for route, op := range known {
		i := slices.IndexFunc(operations, func(o specimen.Operation) bool { return o.ID == op.id })
		switch {
		case i < 0 && (op.body || !strings.HasPrefix(route, http.MethodGet)):
			found = append(found, op.id+" has no specimen")
		case i < 0:
		case op.body && operations[i].Body == "":
			found = append(found, op.id+" has no body")
		case op.body && operations[i].Refused == "" && !strings.Contains(route, "/v1/"):
			found = append(found, op.id+" has no refused body")
		case !strings.HasPrefix(route, http.MethodGet) && operations[i].Audit == "" && !operations[i].Telemetry:
			found = append(found, op.id+" has no audit entry")
		}
		_, path, _ := strings.Cut(route, " ")
		for _, upTo := range specimen.Params(path) {
			if _, ok := specimen.NounOf(upTo); !ok {
				found = append(found, op.id+": no noun for "+upTo)
			}
		}
	}
	for _, o := range operations {
		if known[o.Route].id != o.ID {
			found = append(found, o.ID+" is not "+o.Route)
		}
	}
	slices.Sort(found)
	return found
}

func TestEveryOperationHasASpecimen(t *testing.T) {
	t.Parallel()
	require.Empty(t, problems(t, specimen.Operations()))

	// What is missing or stale is named.
	all := specimen.Operations()
	require.Equal(t, []string{all[0].ID + " has no specimen"}, problems(t, all[1:]))
	stale := slices.Clone(all)
	stale[0].ID = "createNothing"
	require.Contains(t, problems(t, stale), "createNothing is not "+all[0].Route)
	silent := slices.Clone(all)
	silent[0].Audit, silent[1].Refused = "", ""
	require.Equal(t, []string{all[0].ID + " has no audit entry", all[1].ID + " has no refused body"}, problems(t, silent))
}

func whole(t testing.TB) (*testkit.Kit, *specimen.Maker) {
	t.Helper()
	k := testkit.Shared(t)
	rows, err := pgx.Connect(t.Context(), k.App.Config.Postgres.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = rows.Close(t.Context()) })
	return k, specimen.NewMaker(k.Org(t), rows, "specimen")
}

func TestRefusedBodiesAreRefusedAtTheirPlace(t *testing.T) {
	t.Parallel()
	_, m := whole(t)
	for _, o := range specimen.Operations() {
		if o.Refused != "" {
			status, places := m.Reject(t, o)
			require.Equal(t, http.StatusBadRequest, status, o.ID)
			require.Equal(t, []string{o.At}, places, o.ID)
		}
	}
}

func TestEverythingFillsEveryTable(t *testing.T) {
	t.Parallel()
	k, m := whole(t)
	m.Everything(t)
	k.App.Tenancy.FlushMeter(t.Context())
	rows, err := m.Rows.Query(t.Context(), `
		SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id'
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	for _, table := range tables {
		var n int
		require.NoError(t, m.Rows.QueryRow(t.Context(), "SELECT count(*) FROM "+table+" WHERE org_id = $1", m.Client.Org).Scan(&n), table)
		require.Positive(t, n, "%s has no row: add one to its area", table)
	}
}
