package spandb

import (
	"context"
	"errors"
	"fmt"
	"time"

	chgo "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// traceTable is a table with rows of traces; arrived is the column that tells
// when the row, or the newest of what it was made from, was taken in.
type traceTable struct{ name, arrived string }

// traceTables are all tables with rows of traces. Of traces the oldest arrival
// counts: a row that holds something deleted goes, and is made again from the
// spans that stay.
var traceTables = []traceTable{
	{"trace_starts", "last_ingest"},
	{"traces", "first_ingest"},
	{"spans", "ingested_at"},
	{"span_payloads", "ingested_at"},
	{"span_events", "ingested_at"},
}

// Eraser removes rows of one trace. On a cluster the statements go to the
// tables that store.
type Eraser struct {
	ch       *clickhouse.DB
	topology clickhouse.Topology
	org      principal.OrgID
	trace    span.TraceID
}

// Eraser returns what removes a trace.
func (s DB) Eraser(org principal.OrgID, trace span.TraceID) Eraser {
	return Eraser{ch: s.ch, topology: clickhouse.Topology{Cluster: s.ch.Cluster()}, org: org, trace: trace}
}

// erasing shows rows that are hidden already, and waits for every replica.
func erasing(ctx context.Context) context.Context {
	return chgo.Context(ctx, chgo.WithSettings(chgo.Settings{
		"apply_deleted_mask": 0, "lightweight_deletes_sync": 2, "mutations_sync": 2,
	}))
}

// place is a partition that holds rows of the trace.
type place struct {
	partition string
	// hidden rows cannot be read any more but are still on the disk; old rows
	// can be read and arrived before the deletion.
	hidden, old, all uint64
}

func (e Eraser) placesSQL(t traceTable) string {
	return "SELECT _partition_id, countIf(_row_exists = 0), countIf(_row_exists = 1 AND " + t.arrived + " <= fromUnixTimestamp64Milli(?, 'UTC')), count() FROM " +
		t.name + " WHERE org_id = ? AND trace_id = unhex(?) GROUP BY _partition_id ORDER BY _partition_id"
}

// places finds where rows of the trace are.
func (e Eraser) places(ctx context.Context, t traceTable, before time.Time) ([]place, error) {
	rows, err := e.ch.Writer().Query(erasing(ctx), e.placesSQL(t), before.UnixMilli(), uuid.UUID(e.org), e.trace.String())
	if err != nil {
		return nil, fmt.Errorf("find rows of %s: %w", t.name, clickhouse.Translate(err))
	}
	defer func() { _ = rows.Close() }()
	var out []place
	for rows.Next() {
		var p place
		if err := rows.Scan(&p.partition, &p.hidden, &p.old, &p.all); err != nil {
			return nil, fmt.Errorf("find rows of %s: %w", t.name, clickhouse.Translate(err))
		}
		out = append(out, p)
	}
	return out, clickhouse.Translate(rows.Err())
}

// hideSQL is a deletion that rewrites only a mask: quick, and enough for every
// reader.
func (e Eraser) hideSQL(t traceTable, partition string, old bool) string {
	sql := "DELETE FROM " + e.topology.Local(t.name) + e.onCluster() + " IN PARTITION ID '" + partition + "' WHERE org_id = ? AND trace_id = unhex(?)"
	if old {
		sql += " AND " + t.arrived + " <= fromUnixTimestamp64Milli(?, 'UTC')"
	}
	return sql
}

// dropSQL rewrites the parts of a partition without what is hidden in them. An
// ALTER … DELETE would not do: it finds no rows that are hidden already.
func (e Eraser) dropSQL(t traceTable, partition string) string {
	return "ALTER TABLE " + e.topology.Local(t.name) + e.onCluster() + " APPLY DELETED MASK IN PARTITION ID '" + partition + "'"
}

func (e Eraser) onCluster() string {
	if on := e.topology.OnCluster(); on != "" {
		return " " + on
	}
	return ""
}

// Hide makes everything that is stored of the trace unreadable. Somebody waits
// for it, so the tables are done side by side.
func (e Eraser) Hide(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, t := range traceTables {
		g.Go(func() error {
			places, err := e.places(ctx, t, time.UnixMilli(0))
			if err != nil {
				return err
			}
			for _, p := range places {
				if p.hidden == p.all {
					continue
				}
				if err := e.ch.Writer().Exec(erasing(ctx), e.hideSQL(t, p.partition, false), uuid.UUID(e.org), e.trace.String()); err != nil {
					return fmt.Errorf("hide rows of %s: %w", t.name, clickhouse.Translate(err))
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// Purge removes from the disk what is hidden and what arrived before.
func (e Eraser) Purge(ctx context.Context, before time.Time) error {
	for _, t := range traceTables {
		places, err := e.places(ctx, t, before)
		if err != nil {
			return err
		}
		for _, p := range places {
			if p.old > 0 {
				if err := e.ch.Writer().Exec(erasing(ctx), e.hideSQL(t, p.partition, true), uuid.UUID(e.org), e.trace.String(), before.UnixMilli()); err != nil {
					return fmt.Errorf("hide rows of %s: %w", t.name, clickhouse.Translate(err))
				}
			}
			if p.old+p.hidden > 0 {
				if err := e.ch.Writer().Exec(erasing(ctx), e.dropSQL(t, p.partition)); err != nil {
					return fmt.Errorf("drop hidden rows of %s: %w", t.name, clickhouse.Translate(err))
				}
			}
		}
	}
	return nil
}

// Restate writes the spans that stay once more, each over itself: lists read
// what was derived from a trace's spans when they arrived, and some of that went
// with the deletion.
func (e Eraser) Restate(ctx context.Context) error {
	err := e.ch.Writer().Exec(ctx, "INSERT INTO spans SELECT * FROM spans WHERE org_id = ? AND trace_id = unhex(?)", uuid.UUID(e.org), e.trace.String())
	if err != nil {
		return fmt.Errorf("restate spans: %w", clickhouse.Translate(err))
	}
	return nil
}

// Left counts rows that are still on the disk and must not be, and the spans
// that stay.
func (e Eraser) Left(ctx context.Context, before time.Time) (gone, stay uint64, err error) {
	for _, t := range traceTables {
		places, err := e.places(ctx, t, before)
		if err != nil {
			return 0, 0, err
		}
		for _, p := range places {
			gone += p.hidden + p.old
			if t.name == "spans" {
				stay += p.all - p.hidden - p.old
			}
		}
	}
	return gone, stay, nil
}

// deferredBefore reports whether blocks wait that were deferred before a time.
// One that is damaged will never be inserted and does not count.
func (w *writer) deferredBefore(ctx context.Context, at time.Time) (bool, error) {
	end, after := deferredKey(at, ""), ""
	for {
		objects, err := w.blobs.List(ctx, deferredPrefix, after, drainPage)
		if err != nil {
			return false, fmt.Errorf("list deferred blocks: %w", err)
		}
		for _, o := range objects {
			if after = o.Key; after >= end {
				return false, nil
			}
			text, err := w.blobs.Get(ctx, o.Key)
			if errors.Is(err, blob.ErrNotFound) {
				continue // inserted in the meantime
			}
			if err != nil {
				return false, fmt.Errorf("read deferred block: %w", err)
			}
			if _, err := openParts(text); err == nil {
				return true, nil
			}
		}
		if len(objects) < drainPage {
			return false, nil
		}
	}
}
