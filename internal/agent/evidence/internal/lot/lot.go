// Package lot reads many traces such that none of them keeps the others waiting.
package lot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/assayhq/assay/internal/telemetry/span"
)

const (
	// lotTime is how long reading some traces may take. If it takes longer, they are read
	// one by one for readTime, and the rest later: whoever reads does not read for long, and
	// makes progress.
	lotTime  = 2 * time.Minute
	readTime = 4 * time.Minute
	// Longest is how long Read can take.
	Longest = 2*lotTime + readTime
	// Patience is how often a trace is tried that cannot be read while others can.
	Patience = 5
	// maxBad is how many traces may be left out: if there are more, the fault is not theirs.
	maxBad = 5
)

// Read reads traces together, or one by one if that fails, and returns how many of them are
// done. One that cannot be read while others can is left out after some attempts.
func Read(ctx context.Context, ids []span.TraceID, attempt int, read func(context.Context, []span.TraceID) error) (n int, err error) {
	err = guarded(ctx, ids, read)
	if err == nil || len(ids) < 2 || ctx.Err() != nil {
		return len(ids), err
	}
	enough, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	bad, failed := map[span.TraceID]error{}, []error(nil)
	for n < len(ids) && len(bad) <= maxBad && (n == 0 || enough.Err() == nil) {
		if err := guarded(ctx, ids[n:n+1], read); err != nil {
			bad[ids[n]], failed = err, append(failed, err)
		}
		n++
	}
	if len(bad) > 0 && attempt < Patience || len(bad) > maxBad || len(bad) == n || ctx.Err() != nil {
		return 0, errors.Join(append(failed, ctx.Err())...)
	}
	for id, err := range bad {
		slog.WarnContext(ctx, "no evidence is made of a trace", "trace_id", id.String(), "error", err)
	}
	return n, nil
}

// guarded reads traces for a while, and takes a panic for an error.
func guarded(ctx context.Context, ids []span.TraceID, read func(context.Context, []span.TraceID) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, lotTime)
	defer cancel()
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("panic while traces are read: %v", why)
		}
	}()
	return read(ctx, ids)
}
