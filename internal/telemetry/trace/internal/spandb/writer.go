package spandb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/deferred"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/sealed"
)

// ErrNowhere is what a sender sees while telemetry can be kept nowhere. It
// sends again, so nothing is lost.
var ErrNowhere = fault.New(fault.Unavailable, "telemetry_unavailable", "Neither ClickHouse nor object storage takes telemetry right now. Send it again in a moment.").
	With("retryAfterSeconds", 2)

// writer stores blocks: in ClickHouse, or in object storage while ClickHouse
// is away.
type writer struct {
	ch      *clickhouse.DB
	insert  *clickhouse.Inserter
	blobs   *blob.Store
	timeout time.Duration
	now     func() time.Time
	// away is until when, in milliseconds since 1970, blocks go to object
	// storage without asking ClickHouse.
	away atomic.Int64

	refusals deferred.Refusals
	backlog  deferred.Backlog
}

const (
	// awayFor is how long one failure speaks for the next blocks. It is short:
	// the next block after it asks again.
	awayFor = time.Second
	// DeferTimeout bounds the write to object storage; with the insert before
	// it, it ends before senders give up.
	DeferTimeout = 3 * time.Second
)

// ErrHeld is what a sender sees whose telemetry a process held for too long, as
// one does that was suspended. The key may have ended meanwhile.
var ErrHeld = fault.New(fault.Unavailable, "telemetry_held", "The telemetry was not stored in time. Send it again.").
	With("retryAfterSeconds", 1)

// longest is how long a row that was taken in may wait until its block is
// written: for the block before its own and for its own. Old rows wait for the
// live ones of their request, then for ImportTime and for their own block.
// Whoever erases relies on it.
func (w *writer) longest() time.Duration { return 3*(w.timeout+DeferTimeout) + ImportTime }

// write stores a block under its token. It is acknowledged only if it returns
// nil. Later says that the block waits in object storage. A block that is damaged goes
// nowhere.
func (w *writer) write(ctx context.Context, b *Block, token string) (later bool, err error) {
	if w.now().Sub(b.oldest()) > w.longest() {
		return false, ErrHeld
	}
	if err := b.check(); err != nil {
		slog.ErrorContext(ctx, "a block is refused", "rows", b.Rows(), "error", err)
		return false, err
	}
	var failed error
	if w.now().UnixMilli() >= w.away.Load() {
		inserting, cancel := context.WithTimeout(ctx, w.timeout)
		failpoint.Hit(BeforeInsert)
		failed = w.insertParts(inserting, b.parts(), token, token)
		late := inserting.Err() != nil
		cancel()
		if failed == nil {
			failpoint.Hit(AfterInsert)
			w.refusals.Stored("", w.now())
			return false, nil
		}
		if late {
			go w.cancel(context.WithoutCancel(ctx), token)
		}
		w.away.Store(w.now().Add(awayFor).UnixMilli())
		slog.WarnContext(ctx, "telemetry is deferred", "rows", b.Rows(), "error", failed)
	}
	ctx, cancel := context.WithTimeout(ctx, DeferTimeout)
	defer cancel()
	failpoint.Hit(BeforeDefer)
	if err := w.blobs.Put(ctx, deferred.Key(w.now(), token), sealed.Seal(b.parts())); err != nil {
		return false, fmt.Errorf("%w: %w", ErrNowhere, errors.Join(failed, err))
	}
	failpoint.Hit(AfterDefer)
	return true, nil
}

// cancelTime bounds how long ending an insert is tried.
const cancelTime = 2 * time.Second

// cancel ends an insert that took too long: its block is stored later, so what
// the server still does for it is of no use.
func (w *writer) cancel(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, cancelTime)
	defer cancel()
	if err := w.ch.Cancel(ctx, name); err != nil {
		slog.DebugContext(ctx, "an insert goes on", "error", err)
	}
}

// insertParts inserts every table's rows under the block's name; each has a
// token of its own, so that doing it again completes what was begun.
func (w *writer) insertParts(ctx context.Context, parts []sealed.Part, name, token string) error {
	for i, p := range parts {
		if i > 0 {
			failpoint.Hit(BetweenTables)
		}
		if err := w.insert.InsertAgain(ctx, p.Table, name+"-"+p.Table, token+"-"+p.Table, p.Input); err != nil {
			return err
		}
	}
	return nil
}
