// Package judge_test measures what a verdict costs next to the call that it rests on.
package judge_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/bench"
)

// sizes of a bench.
type sizes struct {
	fewest, most int // rounds
	items        int // of a run
}

// concurrency is how many items are judged at once, and how many calls the bare
// client makes at once.
const concurrency = 16

func TestBench(t *testing.T) {
	t.Parallel()
	n := sizes{fewest: 3, most: 3, items: 4_000}
	switch {
	case bench.Raced:
		n = sizes{fewest: 1, most: 1, items: 100}
	case bench.Whole():
		n = sizes{fewest: bench.MinRounds, most: 15, items: 20_000}
	}
	w := newWorld(t, n.items)
	bench.Report(t, func() bench.Figure { return judged(t, w, n) })
}

// judged compares how many items a second a run judges with how many calls a second
// a client makes that keeps nothing: it writes the same requests, sends them, reads
// the answers and forgets them. Provider, client, application and engines share the
// processors, and the provider takes no time to think, so that the ratio is the
// share of the work that the model's call is.
func judged(t testing.TB, w *world, n sizes) bench.Figure {
	t.Helper()
	w.learn(t)
	// What a run leaves behind is not the work of the bare client. A run that follows
	// another has it beside its own, which is what a busy server has.
	bare := func() (float64, error) {
		bench.Quiet(t)
		return w.bare()
	}
	narrow := func(r bench.Rounds) bool {
		ratio := r.Ratio(0, 1)
		return !bench.Whole() || ratio.High-ratio.Low < 0.1*ratio.Median
	}
	rounds, err := bench.Run(n.fewest, n.most, narrow, func() (float64, error) { return w.run(t), nil }, bare)
	require.NoError(t, err)
	return bench.Figure{
		Name: "judge", Goal: 0.85, Bound: 0.6, Short: 0.2, Least: true, Got: rounds.Ratio(0, 1),
		Says: fmt.Sprintf("%d items judged at concurrency %d, first call to last stored verdict (%.0f items/s) ÷ bare calls (%.0f calls/s)", n.items, concurrency, rounds.Median(0), rounds.Median(1)),
	}
}
