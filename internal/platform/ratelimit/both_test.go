package ratelimit_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/ratelimit"
)

// limiters are all kinds, each with two keys of its own and a third for both.
func limiters(t *testing.T) map[string]ratelimit.Limiter {
	t.Helper()
	memory := ratelimit.NewMemory(time.Hour, ratelimit.Options{})
	shared := replica(t, dial(t), time.Hour)
	return map[string]ratelimit.Limiter{"memory": memory, "redis": shared, "soft": ratelimit.NewSoft(shared, memory, patient)}
}

// TestARefusalSpendsNothing asks of a key and of what it shares with another key
// in one step: whoever refuses, neither has counted anything.
func TestARefusalSpendsNothing(t *testing.T) {
	t.Parallel()
	for name, l := range limiters(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := dial(t)
			one, two, both := newKey(t, client, time.Hour), newKey(t, client, time.Hour), newKey(t, client, time.Hour)
			take := func(key string, n int) []ratelimit.Decision {
				all, err := l.TakeAll(t.Context(), ratelimit.Want{Key: key, Limit: 5, Cost: n}, ratelimit.Want{Key: both, Limit: 8, Cost: n})
				require.NoError(t, err)
				return all
			}
			left := func(key string, limit int) int {
				d, err := l.Take(t.Context(), key, limit, 0)
				require.NoError(t, err)
				return d.Remaining
			}
			for i := range 5 {
				all := take(one, 1)
				require.True(t, all[0].Allowed && all[1].Allowed)
				require.Equal(t, []int{4 - i, 7 - i}, []int{all[0].Remaining, all[1].Remaining})
			}

			refused := take(one, 1)
			require.False(t, refused[0].Allowed)
			require.True(t, refused[1].Allowed)
			require.Equal(t, 3, left(both, 8), "the refusal of one key is not counted by what both share")
			tight := ratelimit.Tightest(refused)
			require.False(t, tight.Allowed)
			require.Equal(t, 5, tight.Limit)

			require.True(t, take(two, 3)[1].Allowed)
			refused = take(two, 1)
			require.True(t, refused[0].Allowed)
			require.False(t, refused[1].Allowed)
			require.Positive(t, refused[1].RetryAfter)
			require.Equal(t, 2, left(two, 5), "the refusal of what both share is not counted by the key")
			require.Equal(t, 8, ratelimit.Tightest(refused).Limit)

			_, err := l.TakeAll(t.Context(), ratelimit.Want{Key: one, Limit: 5, Cost: -1})
			require.ErrorIs(t, err, ratelimit.ErrCost)
		})
	}
}

// TestTogetherKeysAdmitWhatTheyShare has ten keys ask at the same time, in both
// orders, for more than they have together.
func TestTogetherKeysAdmitWhatTheyShare(t *testing.T) {
	t.Parallel()
	for name, l := range limiters(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := dial(t)
			both := newKey(t, client, time.Hour)
			var admitted atomic.Int64
			var wg sync.WaitGroup
			for range 10 {
				key := newKey(t, client, time.Hour)
				wg.Go(func() {
					for i := range 20 {
						wants := []ratelimit.Want{{Key: key, Limit: 15, Cost: 1}, {Key: both, Limit: 42, Cost: 1}}
						if i%2 == 0 {
							wants[0], wants[1] = wants[1], wants[0]
						}
						all, err := l.TakeAll(t.Context(), wants...)
						if err == nil && all[0].Allowed && all[1].Allowed {
							admitted.Add(1)
						}
					}
				})
			}
			wg.Wait()
			require.EqualValues(t, 42, admitted.Load())
		})
	}
}
