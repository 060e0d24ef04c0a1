package evaluation

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/semaphore"

	"github.com/assayhq/assay/internal/evaluation/result"
)

func TestTheEstimateSoFarIsOfTheFirstUnits(t *testing.T) {
	t.Parallel()
	full := func(chunk int) result.Count {
		return result.Count{Chunk: chunk, Size: 10, Done: 10, Passed: 7, Failed: 3}
	}
	plain := Run{Request: Request{Repetitions: 1}}
	n := func(r Run, chunks ...result.Count) int {
		e, err := soFar(r, chunks)
		require.NoError(t, err)
		if e == nil {
			return 0
		}
		return e.N
	}
	require.Equal(t, 20, n(plain, full(0), full(1)))
	half := full(1)
	half.Done = 5
	require.Equal(t, 10, n(plain, full(0), half, full(2)), "what comes after a gap is no fair sample")
	require.Equal(t, 10, n(plain, full(0), full(2)), "a chunk without a row has stored nothing yet")
	require.Zero(t, n(plain, full(1)))
	clustered := plain
	clustered.Request.ClusterKey = "user"
	require.Zero(t, n(clustered, full(0)), "items of one cluster say less than as many items")
	repeated := plain
	repeated.Request.Repetitions = 2
	require.Zero(t, n(repeated, full(0)))
}

func TestStatisticsOfLargeRunsWaitForEachOther(t *testing.T) {
	t.Parallel()
	s := &Service{reading: semaphore.NewWeighted(maxRead)}
	large, huge := Run{Resolved: &Resolved{Units: maxRead / 2}}, Run{Resolved: &Resolved{Units: 10 * maxRead}}
	done, err := s.mayRead(t.Context(), large, large)
	require.NoError(t, err)
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.mayRead(impatient, large)
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.mayRead(t.Context(), Run{})
	require.NoError(t, err, "a run that never began needs nothing")
	done()
	done, err = s.mayRead(t.Context(), huge)
	require.NoError(t, err, "alone, any fits")
	done()
}
