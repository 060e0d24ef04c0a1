package spandb

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"

	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/deferred"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/sealed"
)

// A block that is damaged, or that ClickHouse refuses while it takes others, goes
// to quarantine, where it holds up nothing. It is tried again now and then,
// because what it is refused for may be mended, and it is deleted in the end: it
// holds rows of several organizations.
const (
	quarantinePrefix = "quarantine/"

	// QuarantineFor is how long a block stays in quarantine.
	QuarantineFor = 7 * 24 * time.Hour
)

// quarantineKey is the name of a deferred block from a time on.
func quarantineKey(at time.Time, key string) string {
	return fmt.Sprintf("%s%020d-%s", quarantinePrefix, at.UnixMicro(), strings.TrimPrefix(key, deferred.Prefix))
}

// quarantined is when a block came to quarantine. A name that does not tell is
// as old as can be.
func quarantined(key string) time.Time {
	digits, _, _ := strings.Cut(strings.TrimPrefix(key, quarantinePrefix), "-")
	micros, _ := strconv.ParseInt(digits, 10, 64)
	return time.UnixMicro(micros)
}

// quarantine moves a block. If the process ends in between the block is there
// twice, and a block that is inserted twice is there once.
func (w *writer) quarantine(ctx context.Context, key string, text []byte, why error) error {
	to := quarantineKey(w.now(), key)
	if err := w.blobs.Put(ctx, to, text); err != nil {
		return fmt.Errorf("quarantine deferred block: %w", err)
	}
	if err := w.blobs.Delete(ctx, key); err != nil {
		return fmt.Errorf("quarantine deferred block: %w", err)
	}
	w.refusals.Forget(key)
	slog.ErrorContext(ctx, "a deferred block of telemetry cannot be stored and is in quarantine", "key", to, "until", w.now().Add(QuarantineFor).UTC(), "error", why)
	return nil
}

// reviewQuarantine tries the blocks in quarantine again, from time to time, and
// deletes those whose time is over.
func (w *writer) reviewQuarantine(ctx context.Context, d *drainage) error {
	if !w.refusals.Due(w.now()) {
		return nil
	}
	return w.walk(ctx, quarantinePrefix, func(o blob.Object) error {
		if w.now().Sub(quarantined(o.Key)) > QuarantineFor {
			slog.ErrorContext(ctx, "a block of telemetry in quarantine is deleted: nobody could store it", "key", o.Key)
			return w.blobs.Delete(ctx, o.Key)
		}
		text, err := w.blobs.Get(ctx, o.Key)
		if err != nil {
			return nil //nolint:nilerr // another process was quicker, or the next review succeeds
		}
		parts, err := sealed.Open(text)
		if err != nil {
			return nil //nolint:nilerr // it stays damaged
		}
		inserting, cancel := context.WithTimeout(ctx, DrainTimeout)
		defer cancel()
		if err := w.insertParts(inserting, parts, deferred.Token(o.Key), clickhouse.Token()); err != nil {
			if ch.IsException(err) {
				return nil // it stays refused
			}
			return err
		}
		if err := w.blobs.Delete(ctx, o.Key); err != nil {
			return fmt.Errorf("delete inserted block: %w", err)
		}
		d.inserted.Add(1)
		return nil
	})
}
