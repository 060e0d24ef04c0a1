package spandb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/span"
)

// traceTables are all tables with rows of traces, each with the column that says
// when a row arrived. Of traces the oldest arrival counts: a row that holds
// something deleted goes, and is made again from the spans that stay.
var traceTables = []struct{ name, arrived string }{
	{"trace_starts", "last_ingest"},
	{"traces", "first_ingest"},
	{"spans", "ingested_at"},
	{"span_payloads", "ingested_at"},
	{"span_events", "ingested_at"},
}

// Eraser removes rows of one trace.
type Eraser struct {
	ch     *clickhouse.DB
	eraser clickhouse.Eraser
	org    principal.OrgID
	trace  span.TraceID
}

// Eraser returns what removes a trace.
func (s DB) Eraser(org principal.OrgID, trace span.TraceID) Eraser {
	return Eraser{ch: s.ch, eraser: s.ch.Eraser(), org: org, trace: trace}
}

// rows are those of the trace, in every table.
func (e Eraser) rows() (all []clickhouse.Doomed) {
	for _, t := range traceTables {
		all = append(all, clickhouse.Doomed{Table: t.name, Arrived: t.arrived, Where: "org_id = ? AND trace_id = unhex(?)", Args: []any{uuid.UUID(e.org), e.trace.String()}})
	}
	return all
}

// Hide makes everything that is stored of the trace unreadable.
func (e Eraser) Hide(ctx context.Context) error { return e.eraser.Hide(ctx, e.rows()...) }

// Purge removes from the disks what is hidden and what arrived before.
func (e Eraser) Purge(ctx context.Context, before time.Time) error {
	return e.eraser.Purge(ctx, before, e.rows()...)
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

// Left counts rows that are still on the disks and must not be, and the spans
// that stay.
func (e Eraser) Left(ctx context.Context, before time.Time) (gone, stay uint64, err error) {
	for _, rows := range e.rows() {
		g, s, err := e.eraser.Left(ctx, before, rows)
		if err != nil {
			return 0, 0, err
		}
		gone += g
		if rows.Table == "spans" {
			stay = s
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
