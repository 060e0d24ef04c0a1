package provider

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Processes take, spend, settle and are killed in any order. What is spent and
// held together stays within the cap but for the calls that were being made, and
// once it is reached nobody is given more.
func TestLedger(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		const workers, call = 8, 1_000
		limit := int64(1 + r.IntN(200_000))
		var l ledger
		now := time.Unix(0, 0)
		left, used, lost := [workers]int64{}, [workers]int64{}, int64(0)
		calls := 0
		for range 5_000 {
			n := r.IntN(workers)
			name := strconv.Itoa(n)
			if left[n] <= 0 {
				l.settle(now, name, used[n])
				left[n], used[n] = l.take(now, name, limit), 0
				require.False(t, left[n] > 0 && l.spent >= limit, "seed %d", seed)
			}
			if left[n] > 0 {
				cost := int64(r.IntN(call) + 1)
				left[n], used[n] = left[n]-cost, used[n]+cost
				calls++
			}
			if r.IntN(500) == 0 { // killed; another starts in its place
				lost += used[n]
				left[n], used[n] = 0, 0
				now = now.Add(holdFor + time.Second)
				// The living renew theirs in time.
				for m := range workers {
					l.settle(now, strconv.Itoa(m), used[m])
					left[m], used[m] = l.take(now, strconv.Itoa(m), limit), 0
				}
			}
		}
		truth := l.spent + lost
		for n := range workers {
			truth += used[n]
		}
		require.LessOrEqual(t, truth-lost, limit+workers*call, "seed %d", seed)
		require.GreaterOrEqual(t, truth, min(limit, 200_000), "seed %d: nobody is refused while something is left", seed)
		require.Positive(t, calls)
	}
}

func TestAllowancesComeBack(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	var l ledger
	got := l.take(now, "killed", 6_400)
	require.EqualValues(t, 100, got)
	l.settle(now.Add(holdFor-1), "other", 0)
	require.Len(t, l.holds, 1, "it may live")
	l.settle(now.Add(holdFor), "other", 10)
	require.Empty(t, l.holds)
	require.EqualValues(t, 10, l.spent)
	require.EqualValues(t, (6_400-10)/share, l.take(now, "other", 6_400))
	require.EqualValues(t, maxAllowance, (&ledger{}).take(now, "rich", 1<<60))
	require.EqualValues(t, 1, (&ledger{}).take(now, "poor", 1))
	require.Zero(t, (&ledger{spent: 5}).take(now, "late", 5))
}
