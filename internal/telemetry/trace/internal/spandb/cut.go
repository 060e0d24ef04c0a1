package spandb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/deferred"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/sealed"
)

// doomed are rows that are to go from blocks that wait in object storage: those of
// an organization, or of one of its traces.
type doomed struct {
	Org principal.OrgID
	// Trace is one trace of the organization; zero means all of them.
	Trace span.TraceID
	// Before keeps what arrived later; zero keeps nothing.
	Before time.Time
}

// cut rewrites every block that waits without the rows, and returns how many
// blocks had some. A process that has read a block before it is cut may insert
// the rows all the same, within DrainTimeout.
//
// Nobody can tell whose rows a damaged block holds. It stays, unless a whole
// organization goes: then it goes too.
func (w *writer) cut(ctx context.Context, all []doomed) (blocks int, err error) {
	for _, prefix := range []string{deferred.Prefix, quarantinePrefix} {
		err := w.walk(ctx, prefix, func(o blob.Object) error {
			had, err := w.cutOne(ctx, o.Key, all)
			if had {
				blocks++
			}
			return err
		})
		if err != nil {
			return blocks, err
		}
	}
	return blocks, nil
}

// traceRows are those of one trace; had becomes true if a block has some.
type traceRows struct {
	doomed
	had *bool
}

const (
	cutMost    = 1000
	cutTimeout = 10 * time.Minute
)

// cutTraces cuts out several traces in one walk over the blocks.
func (w *writer) cutTraces(ctx context.Context, all []traceRows) error {
	rows := make([]doomed, len(all))
	for i, one := range all {
		rows[i] = one.doomed
	}
	blocks, err := w.cut(ctx, rows)
	for _, one := range all {
		*one.had = blocks > 0
	}
	return err
}

// cutOne rewrites a block, or deletes it if nothing stays. It reports whether it
// had any of the rows.
func (w *writer) cutOne(ctx context.Context, key string, all []doomed) (had bool, err error) {
	text, err := w.blobs.Get(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil // inserted in the meantime
	}
	if err != nil {
		return false, fmt.Errorf("read deferred block: %w", err)
	}
	parts, err := sealed.Open(text)
	if err != nil {
		return w.cutDamaged(ctx, key, all)
	}
	var left []sealed.Part
	for _, p := range parts {
		keep, gone, err := without(p, all)
		if err != nil {
			return false, fmt.Errorf("look into deferred block %s: %w", key, err)
		}
		had = had || gone > 0
		if gone < len(keep) {
			if p, err = p.Pick(keep); err != nil {
				return false, fmt.Errorf("rewrite deferred block %s: %w", key, err)
			}
			left = append(left, p)
		}
	}
	switch {
	case !had:
		return false, nil
	case len(left) == 0:
		return true, w.blobs.Delete(ctx, key)
	default:
		return true, w.blobs.Put(ctx, key, sealed.Seal(left))
	}
}

// cutDamaged deletes a block that nobody can read if a whole organization goes.
func (w *writer) cutDamaged(ctx context.Context, key string, all []doomed) (had bool, err error) {
	for _, r := range all {
		if r.Trace == (span.TraceID{}) {
			slog.ErrorContext(ctx, "a damaged block of telemetry is deleted: it may hold rows of an organization that is erased", "key", key, "org_id", r.Org.String())
			return true, w.blobs.Delete(ctx, key)
		}
	}
	return false, nil
}

// without says which rows of a table stay, and how many go.
func without(p sealed.Part, all []doomed) (keep []bool, gone int, err error) {
	keep = make([]bool, p.Input[0].Data.Rows())
	for i := range keep {
		keep[i] = true
	}
	orgs, traces, arrived := p.Bytes("org_id", 16*len(keep)), p.Bytes("trace_id", 16*len(keep)), p.Bytes("ingested_at", 8*len(keep))
	if orgs == nil || traces == nil || arrived == nil {
		return nil, 0, fmt.Errorf("table %s lacks org_id, trace_id or ingested_at", p.Table)
	}
	for _, r := range all {
		var org fixed
		org.appendUUID(r.Org)
		for i := range keep {
			if !keep[i] || !bytes.Equal(orgs[16*i:16*i+16], org.buf) {
				continue
			}
			if r.Trace != (span.TraceID{}) && !bytes.Equal(traces[16*i:16*i+16], r.Trace[:]) {
				continue
			}
			if !r.Before.IsZero() && int64(binary.LittleEndian.Uint64(arrived[8*i:])) > r.Before.UnixMilli() {
				continue
			}
			keep[i] = false
			gone++
		}
	}
	return keep, gone, nil
}
