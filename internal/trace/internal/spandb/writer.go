package spandb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/failpoint"
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
}

const (
	// awayFor is how long one failure speaks for the next blocks. It is short:
	// the next block after it asks again.
	awayFor = time.Second
	// DeferTimeout bounds the write to object storage; with the insert before
	// it, it ends before senders give up.
	DeferTimeout = 3 * time.Second
)

// write stores a block under its token. It is acknowledged only if it returns
// nil. A block that is damaged goes nowhere.
func (w *writer) write(ctx context.Context, b *Block, token string) (deferred bool, err error) {
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
	if err := w.blobs.Put(ctx, deferredKey(w.now(), token), sealParts(b.parts())); err != nil {
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
func (w *writer) insertParts(ctx context.Context, parts []tablePart, name, token string) error {
	for i, p := range parts {
		if i > 0 {
			failpoint.Hit(BetweenTables)
		}
		if err := w.insert.InsertAgain(ctx, p.table, name+"-"+p.table, token+"-"+p.table, p.Input); err != nil {
			return err
		}
	}
	return nil
}
