package spandb

import (
	"context"
	"log/slog"
	"time"

	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/principal"
)

// DB reads and writes spans.
type DB struct {
	ch     *clickhouse.DB
	writer *writer
	lanes  lanes
}

// Config says how spans are written.
type Config struct {
	// InsertTimeout is how long a write to ClickHouse may take before its data
	// goes to object storage.
	InsertTimeout time.Duration
	// GroupInterval is the least time between two small writes.
	GroupInterval time.Duration
}

// New makes the database.
func New(ch *clickhouse.DB, insert *clickhouse.Inserter, blobs *blob.Store, cfg Config, now func() time.Time) DB {
	w := func() *writer {
		return &writer{ch: ch, insert: insert, blobs: blobs, timeout: cfg.InsertTimeout, now: now}
	}
	live := w()
	return DB{ch: ch, writer: live, lanes: newLanes(cfg, live.write, w().write)}
}

// Drain inserts what is deferred now and returns how many blocks that were.
func (s DB) Drain(ctx context.Context) (int, error) { return s.writer.drain(ctx) }

// DrainQuietly inserts what is deferred; that ClickHouse is away is not news.
func (s DB) DrainQuietly(ctx context.Context) {
	n, err := s.Drain(ctx)
	if n > 0 {
		slog.InfoContext(ctx, "deferred telemetry is stored", "blocks", n)
	}
	if err != nil && ctx.Err() == nil {
		slog.DebugContext(ctx, "deferred telemetry waits", "error", err)
	}
}

// Add stores the rows of a request and waits until they are stored.
func (s DB) Add(ctx context.Context, org principal.OrgID, r *Rows) (deferred bool, err error) {
	return s.lanes.add(ctx, org, r)
}

// DeferredBefore reports whether blocks wait that were deferred before a time.
func (s DB) DeferredBefore(ctx context.Context, at time.Time) (bool, error) {
	return s.writer.deferredBefore(ctx, at)
}
