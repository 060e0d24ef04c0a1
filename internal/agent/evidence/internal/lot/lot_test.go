package lot_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/agent/evidence/internal/lot"
	"github.com/assayhq/assay/internal/telemetry/span"
)

func TestATraceThatCannotBeReadDoesNotKeepOthersWaiting(t *testing.T) {
	t.Parallel()
	good, bad := span.TraceID{1}, span.TraceID{2}
	errBad := errors.New("bad")
	read := map[span.TraceID]int{}
	try := func(attempt int, fail func([]span.TraceID) error, ids ...span.TraceID) error {
		clear(read)
		_, err := lot.Read(t.Context(), ids, attempt, func(_ context.Context, ids []span.TraceID) error {
			if err := fail(ids); err != nil {
				return err
			}
			for _, id := range ids {
				read[id]++
			}
			return nil
		})
		return err
	}
	one := func(ids []span.TraceID) error {
		for _, id := range ids {
			if id == bad {
				return errBad
			}
		}
		return nil
	}
	require.NoError(t, try(1, one, good))
	require.ErrorIs(t, try(1, one, good, bad), errBad, "it may be read at the next attempt")
	require.Equal(t, map[span.TraceID]int{good: 1}, read, "the others are read meanwhile")
	require.NoError(t, try(lot.Patience, one, good, bad))
	require.Equal(t, map[span.TraceID]int{good: 1}, read)
	require.ErrorIs(t, try(lot.Patience, one, bad), errBad, "nothing else shows that it is the trace's fault")

	all := func([]span.TraceID) error { return errBad }
	require.ErrorIs(t, try(lot.Patience+1, all, good, bad), errBad, "a store that is away is not a fault of traces")
	require.ErrorContains(t, try(1, func([]span.TraceID) error { panic("odd") }, good), "odd")
}

func TestTracesThatTakeLongAreReadOneByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ids := []span.TraceID{{1}, {2}, {3}, {4}, {5}, {6}}
		var read []span.TraceID
		n, err := lot.Read(t.Context(), ids, 1, func(ctx context.Context, some []span.TraceID) error {
			select {
			case <-time.After(time.Duration(len(some)) * 100 * time.Second): // each is a large one
			case <-ctx.Done():
				return ctx.Err()
			}
			read = append(read, some...)
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, 3, n, "the rest is read later")
		require.Equal(t, ids[:n], read)
	})
}
