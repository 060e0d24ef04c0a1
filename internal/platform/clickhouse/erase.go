package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"golang.org/x/sync/errgroup"
)

// Doomed are rows of one table that are to go.
type Doomed struct {
	Table string
	// Arrived is the column that says when a row, or the newest of what it was
	// made from, was taken in.
	Arrived string
	// Where selects the rows; Args are the values of its placeholders.
	Where string
	Args  []any
}

// Eraser removes rows in two steps: they are hidden, which is quick and enough
// for every reader, and later removed from the disks. On a cluster the
// statements go to the tables that store.
type Eraser struct {
	db       *DB
	topology Topology
}

// Eraser returns what removes rows.
func (db *DB) Eraser() Eraser { return db.EraserOf(Topology{Cluster: db.cluster}) }

// EraserOf returns what removes rows from tables that lie as the topology says.
func (db *DB) EraserOf(t Topology) Eraser { return Eraser{db: db, topology: t} }

// erasing shows rows that are hidden already, and waits for every replica.
func erasing(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"apply_deleted_mask": 0, "lightweight_deletes_sync": 2, "mutations_sync": 2,
	}))
}

// place is a partition that holds some of the rows.
type place struct {
	partition string
	// hidden rows cannot be read any more but are still on the disk; old rows
	// can be read and arrived before the deletion.
	hidden, old, all uint64
}

// places finds where the rows are.
func (e Eraser) places(ctx context.Context, d Doomed, before time.Time) ([]place, error) {
	text := "SELECT _partition_id, countIf(_row_exists = 0), countIf(_row_exists = 1 AND " + d.Arrived + " <= fromUnixTimestamp64Milli(?, 'UTC')), count() FROM " +
		d.Table + " WHERE " + d.Where + " GROUP BY _partition_id ORDER BY _partition_id"
	rows, err := e.db.writer.Query(erasing(ctx), text, append([]any{before.UnixMilli()}, d.Args...)...)
	if err != nil {
		return nil, fmt.Errorf("find rows of %s: %w", d.Table, Translate(err))
	}
	defer func() { _ = rows.Close() }()
	var out []place
	for rows.Next() {
		var p place
		if err := rows.Scan(&p.partition, &p.hidden, &p.old, &p.all); err != nil {
			return nil, fmt.Errorf("find rows of %s: %w", d.Table, Translate(err))
		}
		out = append(out, p)
	}
	return out, Translate(rows.Err())
}

// hideSQL is a deletion that rewrites only a mask.
func (e Eraser) hideSQL(d Doomed, partition string, old bool) string {
	sql := "DELETE FROM " + e.topology.Local(d.Table) + e.onCluster() + " IN PARTITION ID '" + partition + "' WHERE " + d.Where
	if old {
		sql += " AND " + d.Arrived + " <= fromUnixTimestamp64Milli(?, 'UTC')"
	}
	return sql
}

// dropSQL rewrites the parts of a partition without what is hidden in them. An
// ALTER … DELETE would not do: it finds no rows that are hidden already.
func (e Eraser) dropSQL(d Doomed, partition string) string {
	return "ALTER TABLE " + e.topology.Local(d.Table) + e.onCluster() + " APPLY DELETED MASK IN PARTITION ID '" + partition + "'"
}

func (e Eraser) onCluster() string {
	if on := e.topology.OnCluster(); on != "" {
		return " " + on
	}
	return ""
}

// Hide makes all the rows unreadable. Somebody waits for it, so the tables are
// done side by side.
func (e Eraser) Hide(ctx context.Context, all ...Doomed) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, d := range all {
		g.Go(func() error {
			places, err := e.places(ctx, d, time.UnixMilli(0))
			if err != nil {
				return err
			}
			for _, p := range places {
				if p.hidden == p.all {
					continue
				}
				if err := e.db.writer.Exec(erasing(ctx), e.hideSQL(d, p.partition, false), d.Args...); err != nil {
					return fmt.Errorf("hide rows of %s: %w", d.Table, Translate(err))
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// Purge removes from the disks what is hidden and what arrived before.
func (e Eraser) Purge(ctx context.Context, before time.Time, all ...Doomed) error {
	for _, d := range all {
		places, err := e.places(ctx, d, before)
		if err != nil {
			return err
		}
		for _, p := range places {
			if p.old > 0 {
				if err := e.db.writer.Exec(erasing(ctx), e.hideSQL(d, p.partition, true), append(d.Args, before.UnixMilli())...); err != nil {
					return fmt.Errorf("hide rows of %s: %w", d.Table, Translate(err))
				}
			}
			if p.old+p.hidden > 0 {
				if err := e.db.writer.Exec(erasing(ctx), e.dropSQL(d, p.partition)); err != nil {
					return fmt.Errorf("drop hidden rows of %s: %w", d.Table, Translate(err))
				}
			}
		}
	}
	return nil
}

// Left counts rows that are still on the disks and must not be, and those that
// stay.
func (e Eraser) Left(ctx context.Context, before time.Time, d Doomed) (gone, stay uint64, err error) {
	places, err := e.places(ctx, d, before)
	for _, p := range places {
		gone += p.hidden + p.old
		stay += p.all - p.hidden - p.old
	}
	return gone, stay, err
}
