package read_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	chgo "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/platform/clickhouse"
)

// statements returns what the application asks ClickHouse to answer a request,
// in the order of asking. The engine's own log tells, so the bare side is what
// is really asked.
func (w *world) statements(t testing.TB, request func() error) []string {
	t.Helper()
	began := w.clock(t)
	require.NoError(t, request())
	require.NoError(t, w.ch.Writer().Exec(t.Context(), "SYSTEM FLUSH LOGS"))
	var rows []struct {
		Query string `ch:"query"`
	}
	require.NoError(t, w.ch.Writer().Select(t.Context(), &rows, `SELECT query FROM system.query_log
		WHERE type = 'QueryFinish' AND current_database = currentDatabase() AND user = 'assay_reader' AND event_time_microseconds >= ?
		ORDER BY query_start_time_microseconds`, began))
	require.NotEmpty(t, rows, "the engine logs no queries")
	all := make([]string, len(rows))
	for i, r := range rows {
		all[i] = r.Query
	}
	return all
}

// clock is the engine's time.
func (w *world) clock(t testing.TB) string {
	t.Helper()
	var now string
	require.NoError(t, w.ch.Writer().QueryRow(t.Context(), "SELECT toString(now64(6))").Scan(&now))
	return now
}

// bare runs the first statement, which finds where the others have to look, and
// then the others at once, as the application does, and reads what they return.
func bare(ctx context.Context, as asker, statements []string) error {
	if err := readAll(ctx, as, statements[0]); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, s := range statements[1:] {
		g.Go(func() error { return readAll(ctx, as, s) })
	}
	return g.Wait()
}

// limits are those of every read of the application.
var limits = clickhouse.Settings{
	"max_threads": 4, "query_plan_optimize_lazy_materialization": 0, "do_not_merge_across_partitions_select_final": 1,
}

// asker runs a statement with settings.
type asker func(ctx context.Context, settings clickhouse.Settings, statement string) (driver.Rows, error)

// reader asks as the application does, under the row filter of an organization.
func (w *world) reader(o *org) asker {
	return func(ctx context.Context, settings clickhouse.Settings, statement string) (driver.Rows, error) {
		return w.ch.Org(o.caller.Org).With(settings).Query(ctx, statement)
	}
}

// unfiltered asks as the user that writes, who has no row filter.
func (w *world) unfiltered(ctx context.Context, settings clickhouse.Settings, statement string) (driver.Rows, error) {
	return w.ch.Writer().Query(chgo.Context(ctx, chgo.WithSettings(settings)), statement)
}

// readAll runs a statement and scans every row.
func readAll(ctx context.Context, as asker, statement string, more ...clickhouse.Settings) error {
	settings := maps.Clone(limits)
	for _, s := range more {
		maps.Copy(settings, s)
	}
	// A question mark of the text is none of a parameter's.
	rows, err := as(ctx, settings, strings.ReplaceAll(statement, "?", `\?`))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, statement)
	}
	defer func() { _ = rows.Close() }()
	types := rows.ColumnTypes()
	into := make([]any, len(types))
	for i, typ := range types {
		into[i] = reflect.New(typ.ScanType()).Interface()
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
	}
	return rows.Err()
}

// median is the middle of how long something takes, in seconds.
func median(n int, work func(i int) error) (float64, error) {
	took := make([]float64, n)
	for i := range took {
		start := time.Now()
		if err := work(i); err != nil {
			return 0, err
		}
		took[i] = time.Since(start).Seconds()
	}
	return middle(took), nil
}
