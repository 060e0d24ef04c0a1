package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"
)

// Doomed are rows of one table that are to go.
type Doomed struct {
	Table string
	// Where selects the rows; Args are the values of its placeholders.
	Where string
	Args  []any
	// Arrived is the column that says when a row, or the newest of what it was
	// made from, was taken in. Rows that arrived after Before stay; a zero time
	// lets none stay.
	Arrived string
	Before  time.Time
}

// condition selects the rows that go.
func (d Doomed) condition() (text string, args []any) {
	if d.Before.IsZero() {
		return d.Where, d.Args
	}
	return d.Where + " AND " + d.Arrived + " <= fromUnixTimestamp64Milli(?, 'UTC')", append(slices.Clone(d.Args), d.Before.UnixMilli())
}

// together selects the rows of several that are of one table.
func together(all []Doomed) (text string, args []any) {
	texts := make([]string, len(all))
	for i, d := range all {
		one, more := d.condition()
		texts[i] = "(" + one + ")"
		args = append(args, more...)
	}
	return strings.Join(texts, " OR "), args
}

// Eraser removes rows in two steps: they are hidden, which is quick and enough
// for every reader, and later removed from the disks, for many at once. Both
// reach every server of a cluster.
type Eraser struct{ db *DB }

// Eraser returns what removes rows.
func (db *DB) Eraser() Eraser { return Eraser{db: db} }

// local is the name of the table that stores rows on one server.
func (e Eraser) local(table string) string { return Topology{Cluster: e.db.cluster}.Local(table) }

// unmasked shows rows that are hidden already.
func unmasked(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"apply_deleted_mask": 0}))
}

// place is a partition that holds some of the rows.
type place struct {
	partition string
	// hidden rows cannot be read any more but are still on the disk.
	hidden, visible uint64
}

// places finds where rows are, on all servers of a shard together.
func (e Eraser) places(ctx context.Context, of shard, table, where string, args []any) ([]place, error) {
	found := map[string]place{}
	text := "SELECT _partition_id, countIf(_row_exists = 0), countIf(_row_exists = 1) FROM " + e.local(table) + " WHERE " + where + " GROUP BY _partition_id"
	for _, conn := range of {
		err := each(unmasked(ctx), conn, func(rows driver.Rows) error {
			var p place
			if err := rows.Scan(&p.partition, &p.hidden, &p.visible); err != nil {
				return err
			}
			known := found[p.partition]
			found[p.partition] = place{p.partition, max(p.hidden, known.hidden), max(p.visible, known.visible)}
			return nil
		}, text, args...)
		if err != nil {
			return nil, fmt.Errorf("find rows of %s: %w", table, err)
		}
	}
	all := make([]place, 0, len(found))
	for _, p := range found {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b place) int { return strings.Compare(a.partition, b.partition) })
	return all, nil
}

func each(ctx context.Context, conn driver.Conn, row func(driver.Rows) error, text string, args ...any) error {
	rows, err := conn.Query(ctx, text, args...)
	if err != nil {
		return Translate(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows); err != nil {
			return Translate(err)
		}
	}
	return Translate(rows.Err())
}

// hides are the callers that wait until rows are hidden, by table: each table is
// hidden in by one statement at a time, for everybody who waits.
type hides struct {
	mu     sync.Mutex
	tables map[string]*Together[Doomed]
}

const (
	hideMost    = 100
	hideTimeout = time.Minute
)

func (h *hides) of(table string, do func(context.Context, []Doomed) error) *Together[Doomed] {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tables == nil {
		h.tables = map[string]*Together[Doomed]{}
	}
	if h.tables[table] == nil {
		h.tables[table] = &Together[Doomed]{Do: do, Most: hideMost, Timeout: hideTimeout}
	}
	return h.tables[table]
}

// Hide makes all the rows unreadable. Somebody waits for it, so the tables are
// done side by side.
func (e Eraser) Hide(ctx context.Context, all ...Doomed) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, d := range all {
		g.Go(func() error { return e.db.hides.of(d.Table, e.hide).Add(ctx, d) })
	}
	return g.Wait()
}

// hide hides rows of one table.
func (e Eraser) hide(ctx context.Context, all []Doomed) error {
	where, args := together(all)
	return e.eachPlace(ctx, all[0].Table, where, args, func(of shard, p place) error {
		if p.visible == 0 {
			return nil
		}
		return e.mutate(ctx, of, hiding, all[0].Table, p.partition, e.hideSQL(all[0].Table, p.partition, where), args)
	})
}

// Erase removes rows from the disks at once, one partition after another.
func (e Eraser) Erase(ctx context.Context, d Doomed) error {
	where, args := d.condition()
	return e.eachPlace(ctx, d.Table, where, args, func(of shard, p place) error {
		if p.visible > 0 {
			if err := e.mutate(ctx, of, hiding, d.Table, p.partition, e.hideSQL(d.Table, p.partition, where), args); err != nil {
				return err
			}
		}
		return e.mutate(ctx, of, dropping, d.Table, p.partition, e.dropSQL(d.Table, p.partition), nil)
	})
}

// Drop removes from the disks what is hidden, in every table, one partition after
// another.
func (e Eraser) Drop(ctx context.Context) error {
	shards, err := e.db.shards(ctx)
	if err != nil {
		return err
	}
	for _, of := range shards {
		type part struct{ table, partition string }
		var parts []part
		err := each(ctx, of[0], func(rows driver.Rows) error {
			var p part
			err := rows.Scan(&p.table, &p.partition)
			parts = append(parts, p)
			return err
		}, "SELECT DISTINCT table, partition_id FROM system.parts WHERE database = currentDatabase() AND active AND has_lightweight_delete ORDER BY table, partition_id")
		if err != nil {
			return fmt.Errorf("find hidden rows: %w", err)
		}
		for _, p := range parts {
			table := strings.TrimSuffix(p.table, "_local")
			if err := e.mutate(ctx, of, dropping, table, p.partition, e.dropSQL(table, p.partition), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// Left counts rows that are still on a disk and must not be, hidden or not.
func (e Eraser) Left(ctx context.Context, d Doomed) (rows uint64, err error) {
	where, args := d.condition()
	// What is hidden goes, whenever it arrived.
	if !d.Before.IsZero() {
		where, args = "("+where+") OR _row_exists = 0 AND "+d.Where, append(args, d.Args...)
	}
	err = e.eachPlace(ctx, d.Table, where, args, func(_ shard, p place) error {
		rows += p.hidden + p.visible
		return nil
	})
	return rows, err
}

// eachPlace calls do for every partition of every shard that has such rows.
func (e Eraser) eachPlace(ctx context.Context, table, where string, args []any, do func(shard, place) error) error {
	shards, err := e.db.shards(ctx)
	if err != nil {
		return err
	}
	for _, of := range shards {
		places, err := e.places(ctx, of, table, where, args)
		if err != nil {
			return err
		}
		for _, p := range places {
			if err := do(of, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// hideSQL is a deletion that rewrites only a mask.
func (e Eraser) hideSQL(table, partition, where string) string {
	return "DELETE FROM " + e.local(table) + " IN PARTITION ID '" + partition + "' WHERE " + where
}

// dropSQL rewrites the parts of a partition without what is hidden in them. An
// ALTER … DELETE would not do: it finds no rows that are hidden already.
func (e Eraser) dropSQL(table, partition string) string {
	return "ALTER TABLE " + e.local(table) + " APPLY DELETED MASK IN PARTITION ID '" + partition + "'"
}
