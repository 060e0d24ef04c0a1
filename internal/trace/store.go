package trace

import (
	"context"
	"log/slog"
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
	lanes  lanes
}

func newStore(p Stores, cfg Config, now func() time.Time) store {
	w := func() *writer {
		return &writer{insert: p.Inserter, blobs: p.Blobs, timeout: cfg.InsertTimeout, now: now}
	}
	live := w()
	return store{db: p.Postgres, ch: p.ClickHouse, writer: live, lanes: newLanes(cfg, live.write, w().write)}
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
