package trace

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Stores are where traces are kept.
type Stores struct {
	Postgres   *postgres.DB
	ClickHouse *clickhouse.DB
	Inserter   *clickhouse.Inserter
	Blobs      *blob.Store
}

type store struct {
	db     *postgres.DB
	ch     *clickhouse.DB
	writer *writer
	group  *clickhouse.Group[*block]
}

// Blocks of this size are written at once: they make parts that need little
// merging, and a reader waits for no more than one of them.
const (
	enoughRows  = 20_000
	enoughBytes = 16 << 20
	maxBlock    = 48 << 20
)

func newStore(p Stores, cfg Config, now func() time.Time) store {
	w := &writer{insert: p.Inserter, blobs: p.Blobs, timeout: cfg.InsertTimeout, now: now}
	return store{
		db: p.Postgres, ch: p.ClickHouse, writer: w,
		group: clickhouse.NewGroup(clickhouse.GroupConfig{
			Lanes: max(2, runtime.GOMAXPROCS(0)/2), Interval: cfg.GroupInterval,
			EnoughRows: enoughRows, EnoughBytes: enoughBytes, MaxBytes: maxBlock,
			WriteTimeout: cfg.InsertTimeout + deferTimeout,
		}, newBlock, w.write),
	}
}

// drainQuietly inserts what is deferred; while ClickHouse is away that is no
// news.
func (s store) drainQuietly(ctx context.Context) {
	n, err := s.writer.drain(ctx)
	if n > 0 {
		slog.InfoContext(ctx, "deferred telemetry is stored", "blocks", n)
	}
	if err != nil && ctx.Err() == nil {
		slog.DebugContext(ctx, "deferred telemetry waits", "error", err)
	}
}
