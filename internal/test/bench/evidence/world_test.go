package evidence_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/testkit"
)

// world is an application with one organization.
type world struct {
	kit    *testkit.Kit
	client *testkit.Client
	ch     *clickhouse.DB
	owner  *pgx.Conn
	conn   *bench.Conn
	// records is how many of each class a fill has made.
	records int
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{kit: testkit.Own(t, "a bench measures it")}
	w.client = w.kit.Org(t)
	var err error
	w.ch, err = clickhouse.Open(w.kit.App.Config.ClickHouse)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.ch.Close() })
	w.owner, w.conn = w.own(t), w.dial(t)
	for _, table := range []string{"evidence_keys", "evidence_records", "evidence_history", "trace_refs"} {
		w.exec(t, "ALTER TABLE "+table+" NO FORCE ROW LEVEL SECURITY")
	}
	// When PostgreSQL looks at rows is the bench's choice.
	for _, table := range w.column(t, "SELECT relname FROM pg_class WHERE relkind = 'r' AND (relname ~ '^evidence_\\w+_\\d$' OR relname = 'trace_refs')") {
		w.exec(t, "ALTER TABLE "+table+" SET (autovacuum_enabled = false)")
	}
	return w
}

// own connects as the owner of the tables.
func (w *world) own(t testing.TB) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), w.kit.App.Config.Postgres.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	return c
}

// dial connects as a client of the application.
func (w *world) dial(t testing.TB) *bench.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.kit.URL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return bench.NewConn(c)
}

func (w *world) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	_, err := w.owner.Exec(t.Context(), sql, args...)
	require.NoError(t, err, sql)
}

func (w *world) column(t testing.TB, sql string, args ...any) []string {
	t.Helper()
	rows, err := w.owner.Query(t.Context(), sql, args...)
	require.NoError(t, err, sql)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err, sql)
	return out
}

// number is what PostgreSQL answers.
func (w *world) number(t testing.TB, sql string) (n float64) {
	t.Helper()
	require.NoError(t, w.owner.QueryRow(t.Context(), sql).Scan(&n), sql)
	return n
}

// stream runs a statement of ClickHouse.
func (w *world) stream(t testing.TB, statement string) {
	t.Helper()
	require.NoError(t, w.ch.Writer().Exec(t.Context(), statement), statement)
}

// streamed is what ClickHouse answers.
func (w *world) streamed(t testing.TB, query string) (n float64) {
	t.Helper()
	require.NoError(t, w.ch.Writer().QueryRow(t.Context(), "SELECT toFloat64(("+query+"))").Scan(&n), query)
	return n
}

// page is a page of a list.
type page struct {
	Records []map[string]jsontext.Value `json:"records"`
	HasMore bool                        `json:"has_more"`
}

// list asks for a page as a client does.
func (w *world) list(path string) ([]byte, error) {
	status, body, err := w.conn.Do(bench.Get(path, w.client.Key.Reveal()))
	if err == nil && status != 200 {
		err = fmt.Errorf("status %d: %.300s", status, body)
	}
	return body, err
}

// page asks for a page and reads it.
func (w *world) page(t testing.TB, path string) (p page) {
	t.Helper()
	body, err := w.list(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(body, &p))
	return p
}

// fill gives the organization so many calls of tools in ClickHouse and so many side
// effects in PostgreSQL, of the last 90 days.
func (w *world) fill(t testing.TB, records int) {
	t.Helper()
	began := time.Now()
	w.records = records
	// The databases of a bench that misses a bound are kept, but not millions of records.
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_, _ = w.owner.Exec(ctx, "TRUNCATE evidence_records, trace_refs")
		_ = w.ch.Writer().Exec(ctx, "TRUNCATE TABLE evidence")
	})
	w.fillTraces(t)
	w.fillState(t)
	lasting := time.Now()
	w.fillStream(t)
	_, _ = fmt.Fprintf(os.Stdout, "%d side effects were made in %.0f s, %d calls of tools in %.0f s\n", records, lasting.Sub(began).Seconds(), records, time.Since(lasting).Seconds())
}
