package simulated_test

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/llm"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
)

func TestRules(t *testing.T) {
	t.Parallel()

	t.Run("a share is hit, the same calls in any order", func(t *testing.T) {
		t.Parallel()
		o := rules(simulated.Rule{Fault: simulated.FaultRateLimit, Share: 0.2}, simulated.Rule{Fault: simulated.FaultError, Share: 0.5})
		o.Seed = 3
		const n = 2000
		run := func(backwards bool) map[int][2]llm.Kind {
			k, out := newKit(t, o), map[int][2]llm.Kind{}
			for i := range n {
				if backwards {
					i = n - 1 - i
				}
				_, first := k.ask(t.Context(), "openai", "echo", strconv.Itoa(i))
				_, second := k.ask(t.Context(), "openai", "echo", strconv.Itoa(i))
				out[i] = [2]llm.Kind{kindOf(first), kindOf(second)}
			}
			return out
		}
		got := run(false)
		require.Equal(t, got, run(true))
		count := map[llm.Kind]int{}
		for _, kinds := range got {
			count[kinds[0]]++
		}
		near := func(share float64, kind llm.Kind) {
			require.InDelta(t, share, float64(count[kind])/n, 4*math.Sqrt(share*(1-share)/n), kind)
		}
		near(0.2, llm.RateLimited)
		near(0.8*0.5, llm.Unavailable)
		near(0.8*0.5, "")
	})
	t.Run("the first calls of a prompt", func(t *testing.T) {
		t.Parallel()
		k := newKit(t, rules(simulated.Rule{Fault: simulated.FaultOverloaded, First: 2}))
		for _, text := range []string{"a", "b"} {
			var kinds []llm.Kind
			for range 3 {
				_, err := k.ask(t.Context(), "anthropic", "echo", text)
				kinds = append(kinds, kindOf(err))
			}
			require.Equal(t, []llm.Kind{llm.Unavailable, llm.Unavailable, ""}, kinds)
		}
	})
	t.Run("one model, or what the prompt contains", func(t *testing.T) {
		t.Parallel()
		k := newKit(t, rules(simulated.Rule{Fault: simulated.FaultRefusal, Model: "shy"}, simulated.Rule{Fault: simulated.FaultNonsense, Contains: "[[odd]]"}))
		for _, c := range []struct {
			model, text string
			kind        llm.Kind
		}{{"shy", "x", llm.Refused}, {"echo", "x", ""}, {"echo", "an [[odd]] thing", llm.Malformed}} {
			_, err := k.ask(t.Context(), "openai", c.model, c.text)
			require.Equal(t, c.kind, kindOf(err))
		}
	})
	t.Run("a window that returns", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			k := newKit(t, rules(simulated.Rule{Fault: simulated.FaultRateLimit, Every: 10 * time.Second, For: 3 * time.Second}))
			var hit strings.Builder
			for range 25 {
				_, err := k.ask(t.Context(), "openai", "echo", "x")
				hit.WriteString(map[bool]string{true: "x", false: "."}[err != nil])
				time.Sleep(time.Second)
			}
			require.Equal(t, "xxx.......xxx.......xxx..", hit.String())
		})
	})
	t.Run("can be changed", func(t *testing.T) {
		t.Parallel()
		k := newKit(t, simulated.Options{})
		_, err := k.ask(t.Context(), "openai", "echo", "x")
		require.NoError(t, err)
		require.NoError(t, k.SetFaults(simulated.Faults{Rules: []simulated.Rule{{Fault: simulated.FaultError}}}))
		_, err = k.ask(t.Context(), "openai", "echo", "x")
		require.Equal(t, llm.Unavailable, kindOf(err))
	})
}

func TestFaultsThatCannotBeFollowed(t *testing.T) {
	t.Parallel()
	for _, f := range []simulated.Faults{
		{Rules: []simulated.Rule{{Fault: "fire"}}},
		{Rules: []simulated.Rule{{Fault: simulated.FaultError, Share: 2}}},
		{Rules: []simulated.Rule{{Fault: simulated.FaultError, Share: math.NaN()}}},
		{Rules: []simulated.Rule{{Fault: simulated.FaultError, Every: time.Second}}},
		{Rules: []simulated.Rule{{Fault: simulated.FaultError, Every: time.Second, For: time.Minute}}},
		{Rules: []simulated.Rule{{Fault: simulated.FaultError, Status: 200}}},
		{Rules: []simulated.Rule{{Fault: simulated.FaultError, First: -1}}},
		{Latency: simulated.Latency{Fixed: -1}},
		{Latency: simulated.Latency{Sigma: 1}},
	} {
		require.Error(t, f.Validate(), "%+v", f)
		_, err := simulated.New(simulated.Options{Faults: f})
		require.Error(t, err)
	}
}

func TestLatency(t *testing.T) {
	t.Parallel()
	took := func(t *testing.T, l simulated.Latency, n int) []time.Duration {
		var out []time.Duration
		k := newKit(t, simulated.Options{Seed: 5, Faults: simulated.Faults{Latency: l}})
		for i := range n {
			began := time.Now()
			_, err := k.ask(t.Context(), "openai", "echo", strconv.Itoa(i))
			require.NoError(t, err)
			out = append(out, time.Since(began))
		}
		slices.Sort(out)
		return out
	}
	synctest.Test(t, func(t *testing.T) {
		fixed := took(t, simulated.Latency{Fixed: 50 * time.Millisecond}, 3)
		require.Equal(t, []time.Duration{50 * time.Millisecond, 50 * time.Millisecond, 50 * time.Millisecond}, fixed)

		const n = 2000
		spread := took(t, simulated.Latency{Fixed: time.Second, Median: 800 * time.Millisecond, Sigma: 0.5}, n)
		for share, z := range map[float64]float64{0.1: -1.2816, 0.5: 0, 0.9: 1.2816} {
			want := 1 + 0.8*math.Exp(0.5*z)
			require.InEpsilon(t, want, spread[int(share*n)].Seconds(), 0.06, share)
		}
		capped := took(t, simulated.Latency{Median: time.Second, Sigma: 2, Max: 3 * time.Second}, 200)
		require.Equal(t, 3*time.Second, capped[199])

		require.Equal(t, spread, took(t, simulated.Latency{Fixed: time.Second, Median: 800 * time.Millisecond, Sigma: 0.5}, n), "the same each time")
	})
}

func TestInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, simulated.Options{Faults: simulated.Faults{Latency: simulated.Latency{Fixed: time.Second}}})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i := range 7 {
			wg.Go(func() { _, _ = k.ask(ctx, "openai", "echo", strconv.Itoa(i)) })
		}
		synctest.Wait()
		require.Equal(t, int64(7), k.Calls().InFlight)
		cancel()
		wg.Wait()
		calls := k.Calls()
		require.Equal(t, int64(0), calls.InFlight)
		require.Equal(t, int64(7), calls.MaxInFlight)
		require.Equal(t, int64(7), calls.Paid, "who leaves pays")
		_, err := k.ask(t.Context(), "openai", "echo", "x")
		require.NoError(t, err)
		require.Equal(t, int64(7), k.Calls().MaxInFlight)
		k.Forget()
		require.Equal(t, int64(0), k.Calls().MaxInFlight)
	})
}
