package ratelimit_test

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/ratelimit"
)

func BenchmarkMemoryTake(b *testing.B) {
	for _, limit := range []int{100, 1_000, ratelimit.ExactLimit, 1_000_000} {
		b.Run(strconv.Itoa(limit), func(b *testing.B) {
			m := ratelimit.NewMemory(time.Millisecond, ratelimit.Options{})
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				_, _ = m.Take(ctx, "org/key", limit, 1)
			}
		})
	}
	b.Run("parallel", func(b *testing.B) {
		m := ratelimit.NewMemory(time.Hour, ratelimit.Options{})
		keys := make([]string, 1024)
		for i := range keys {
			keys[i] = fmt.Sprintf("org/%d", i)
		}
		ctx := b.Context()
		b.ReportAllocs()
		b.RunParallel(func(p *testing.PB) {
			for i := 0; p.Next(); i++ {
				_, _ = m.Take(ctx, keys[i%len(keys)], 100, 1)
			}
		})
	})
}

func BenchmarkMemoryKey(b *testing.B) {
	for _, used := range []int{1, 100, 1_000} {
		b.Run(strconv.Itoa(used), func(b *testing.B) {
			const keys = 10_000
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				m := ratelimit.NewMemory(time.Hour, ratelimit.Options{MaxEntries: 1 << 30})
				for k := range keys {
					key := fmt.Sprintf("0199c2d4-0000-7000-8000-000000000000/key/%012d", k)
					for range used {
						_, _ = m.Take(b.Context(), key, 1_000, 1)
					}
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(m)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/keys, "B/key")
		})
	}
}

func BenchmarkRedisTake(b *testing.B) {
	for _, limit := range []int{100, 1_000, ratelimit.ExactLimit, 1_000_000} {
		b.Run(strconv.Itoa(limit), func(b *testing.B) {
			client := dial(b)
			key, r := newKey(b, client, time.Second), replica(b, client, time.Second)
			for b.Loop() {
				_, err := r.Take(b.Context(), key, limit, 1)
				require.NoError(b, err)
			}
		})
	}
}

func TestMemoryTakeAllocatesNothing(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	m := ratelimit.NewMemory(time.Hour, ratelimit.Options{})
	for range 64 {
		_, _ = m.Take(t.Context(), "org/key", 50, 1)
	}
	require.Zero(t, testing.AllocsPerRun(1000, func() { _, _ = m.Take(t.Context(), "org/key", 50, 1) }))
}
