package trace

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/principal"
)

func TestInflight(t *testing.T) {
	t.Parallel()
	ours, theirs, third := principal.NewOrgID(), principal.NewOrgID(), principal.NewOrgID()

	t.Run("an organization has half, and what is given back is free", func(t *testing.T) {
		t.Parallel()
		f := newInflight(100)
		for range 50 {
			require.NoError(t, f.take(ours, 1))
		}
		require.ErrorIs(t, f.take(ours, 1), ErrShare)
		for range 50 {
			require.NoError(t, f.take(theirs, 1))
		}
		require.ErrorIs(t, f.take(third, 1), ErrFull)
		f.give(ours, 10)
		for range 10 {
			require.NoError(t, f.take(third, 1))
		}
		require.ErrorIs(t, f.take(third, 1), ErrFull)
	})

	t.Run("memory is looked for once while requests are refused", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			f := newInflight(2)
			collecting := func() bool {
				f.mu.Lock()
				defer f.mu.Unlock()
				return f.collecting
			}
			require.NoError(t, f.take(ours, 1))
			for range 10 {
				require.ErrorIs(t, f.take(ours, 1), ErrShare)
				require.True(t, collecting())
			}
			time.Sleep(time.Second)
			synctest.Wait()
			require.False(t, collecting())
		})
	})
}
