package spandb

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/telemetry/span"
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
	ch    *clickhouse.DB
	org   principal.OrgID
	trace span.TraceID
}

// Eraser returns what removes a trace.
func (s DB) Eraser(org principal.OrgID, trace span.TraceID) Eraser {
	return Eraser{ch: s.ch, org: org, trace: trace}
}

// rows are those of the trace in every table that arrived before a time, or all
// of them.
func (e Eraser) rows(before time.Time) (all []clickhouse.Doomed) {
	for _, t := range traceTables {
		all = append(all, clickhouse.Doomed{
			Table: t.name, Where: "org_id = ? AND trace_id = unhex(?)", Args: []any{uuid.UUID(e.org), e.trace.String()},
			Arrived: t.arrived, Before: before,
		})
	}
	return all
}

// Hide makes unreadable what is stored of the trace and arrived before a time, or
// all of it if the time is zero.
func (e Eraser) Hide(ctx context.Context, before time.Time) error {
	return e.ch.Eraser().Hide(ctx, e.rows(before)...)
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

// Left counts rows that are still on the disks and must not be.
func (e Eraser) Left(ctx context.Context, before time.Time) (gone uint64, err error) {
	for _, rows := range e.rows(before) {
		n, err := e.ch.Eraser().Left(ctx, rows)
		if err != nil {
			return 0, err
		}
		gone += n
	}
	return gone, nil
}
