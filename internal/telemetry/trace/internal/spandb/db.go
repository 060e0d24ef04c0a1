package spandb

import (
	"context"
	"log/slog"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// DB reads and writes spans.
type DB struct {
	ch     *clickhouse.DB
	writer *writer
	lanes  lanes
	cuts   *clickhouse.Together[traceRows]
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
	return DB{ch: ch, writer: live, lanes: newLanes(cfg, live.write, w().write), cuts: &clickhouse.Together[traceRows]{Do: live.cutTraces, Most: cutMost, Timeout: cutTimeout}}
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

// DeferredSince is when the oldest telemetry was deferred that cannot be read
// yet, as the last drain of this process found it; zero if all can be read.
func (s DB) DeferredSince() time.Time { return s.writer.backlog.Since() }

// Add stores the rows of a request and waits until they are stored.
func (s DB) Add(ctx context.Context, org principal.OrgID, r *Rows) (deferred bool, err error) {
	return s.lanes.add(ctx, org, r)
}

// CutOrganization removes an organization from the blocks that wait in object
// storage and returns how many blocks had rows of it.
func (s DB) CutOrganization(ctx context.Context, org principal.OrgID) (blocks int, err error) {
	return s.writer.cut(ctx, []doomed{{Org: org}})
}

// CutTrace removes what arrived of a trace before a time from the blocks that
// wait, and reports whether one had some. All traces that are deleted at the same
// time are looked for together.
func (s DB) CutTrace(ctx context.Context, org principal.OrgID, trace span.TraceID, before time.Time) (had bool, err error) {
	one := traceRows{doomed: doomed{Org: org, Trace: trace, Before: before}, had: new(bool)}
	err = s.cuts.Add(ctx, one)
	return *one.had, err
}
