package bench

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSettle(t *testing.T) {
	t.Parallel()
	// busyFor is the account of engines that take a whole processor for a time,
	// and 5 % of one from then on.
	busyFor := func(d time.Duration) func() (time.Duration, error) {
		began := time.Now()
		return func() (time.Duration, error) {
			ran := time.Since(began)
			return min(ran, d) + max(0, ran-d)/20, nil
		}
	}

	t.Run("waits for engines that have work left", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			share, err := settle(busyFor(10*time.Second), time.Minute)
			require.NoError(t, err)
			require.InDelta(t, 0.05, share, 0.001)
			require.Equal(t, 10*time.Second+quietInRow*quietWindow, time.Since(began))
		})
	})

	t.Run("gives up on engines that do not come to rest, and tells", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			share, err := settle(busyFor(time.Hour), 20*time.Second)
			require.NoError(t, err)
			require.Greater(t, share, quietShare)
			require.Equal(t, 20*time.Second, time.Since(began))
		})
	})
}
