package evaluation

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// watched streams a run that looks like this until the stream ends, and returns
// what was sent and how long it took.
func watched(ctx context.Context, t *testing.T, look func(elapsed time.Duration) progressBody) (string, time.Duration) {
	t.Helper()
	w := httptest.NewRecorder()
	f := &feed{w: w, control: http.NewResponseController(w)}
	start := time.Now()
	err := f.watch(ctx, look(0), func(context.Context) (progressBody, error) { return look(time.Since(start)), nil })
	require.NoError(t, err)
	require.True(t, w.Flushed)
	return w.Body.String(), time.Since(start)
}

func TestAStreamOfEvents(t *testing.T) {
	t.Parallel()

	t.Run("says what is new, and shows that it is alive", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			text, took := watched(t.Context(), t, func(at time.Duration) progressBody {
				eta := 100 - at.Seconds()
				p := progressBody{Status: StatusRunning, ETASeconds: &eta, ItemsDone: int(at / (30 * time.Second))}
				if at >= 90*time.Second {
					p.Status, p.ended = StatusCompleted, true
				}
				return p
			})
			require.Equal(t, 90*time.Second, took)
			require.Equal(t, 4, strings.Count(text, "event: progress\n"), "time that passes is no news")
			require.Equal(t, 1, strings.Count(text, "event: done\n"))
			require.InDelta(t, 9, strings.Count(text, ": here\n"), 1)
			require.True(t, strings.HasPrefix(text, "retry: "))
		})
	})

	t.Run("ends in order before the request may take no longer", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			text, took := watched(ctx, t, func(time.Duration) progressBody { return progressBody{Status: StatusRunning} })
			require.Equal(t, 27*time.Second, took)
			require.NotContains(t, text, "event: done")
			require.NoError(t, ctx.Err())
		})
	})

	t.Run("ends when the caller leaves", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(5500*time.Millisecond, cancel)
			_, took := watched(ctx, t, func(time.Duration) progressBody { return progressBody{Status: StatusRunning} })
			require.Equal(t, 5500*time.Millisecond, took)
		})
	})
}
