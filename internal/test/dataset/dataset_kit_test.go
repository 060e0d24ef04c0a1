// Package dataset_test tests datasets through the client, on real engines.
package dataset_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestMain bounds property tests: each case is some dozens of requests. The
// command line can ask for more.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
	os.Exit(testkit.Main(m))
}

// database opens a second pool on the test's database, for what no operation
// of the interface does.
func database(t testing.TB, k *testkit.Kit) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), k.App.Config.Postgres)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return db
}

func number(t testing.TB, id string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(id, 10, 64)
	require.NoError(t, err)
	return n
}

// questions are n items with different contents.
func questions(n int) []testkit.Item {
	items := make([]testkit.Item, n)
	for i := range items {
		items[i] = testkit.Item{Input: fmt.Sprintf("Question %d?", i)}
	}
	return items
}

// ids are the identifiers of a page, in its order.
func ids(p testkit.ItemPage) []string {
	out := make([]string, len(p.Items))
	for i, item := range p.Items {
		out[i] = item.ID
	}
	return out
}

// details are what a refusal says beside its message.
func details(t testing.TB, err error) map[string]any {
	t.Helper()
	f, ok := fault.From(err)
	require.True(t, ok, "%v", err)
	return f.Details
}

// field is one violation as a client sees it.
type field struct{ Path, Code string }

func fields(t testing.TB, err error) []field {
	t.Helper()
	list, _ := details(t, err)["fields"].([]any)
	var out []field
	for _, f := range list {
		m, ok := f.(map[string]any)
		require.True(t, ok)
		out = append(out, field{fmt.Sprint(m["path"]), fmt.Sprint(m["code"])})
	}
	return out
}

// waiting returns once a statement of the test's database waits for a lock.
func waiting(t testing.TB, k *testkit.Kit, of *testkit.Client) {
	t.Helper()
	conn := k.Owner(t, of.Org)
	// Nothing but the server's own view tells that a statement has reached
	// the lock.
	require.Eventually(t, func() bool {
		var n int
		err := conn.QueryRow(t.Context(), `
			SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
			WHERE NOT l.granted AND a.datname = current_database()`).Scan(&n)
		return err == nil && n > 0
	}, 10*time.Minute, 5*time.Millisecond)
}
