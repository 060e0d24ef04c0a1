// Package runs_test measures what a run costs beside the work in it.
package runs_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/bench"
)

// sizes of a bench.
type sizes struct {
	rounds  int
	trivial int // items of a run of which each costs nothing
	slow    int // items that take a while each
	large   int // items of the largest run
	queued  int // items of another organization's run

	wall float64 // the guard of that figure: a short run is full of beginnings
}

func TestBench(t *testing.T) {
	t.Parallel()
	n := sizes{rounds: 4, trivial: 10_000, slow: 2_000, large: 20_000, queued: 20_000, wall: 1.5}
	switch {
	case bench.Raced:
		n = sizes{rounds: 2, trivial: 200, slow: 40, large: 400, queued: 400, wall: 2}
	case bench.Whole():
		n = sizes{rounds: 1 + 9, trivial: 50_000, slow: 10_000, large: 100_000, queued: 100_000, wall: 1.15}
	}
	w := newWorld(t, n)
	load := bench.LoadAverage()
	var lines []string
	var judged []error
	for _, measure := range []func(testing.TB, *world, sizes) figure{throughput, transitions, wall, fairness, growth} {
		f := measure(t, w, n)
		_, _ = fmt.Fprintln(os.Stdout, f)
		lines = append(lines, fmt.Sprintf("%s ratio %.3f", f.name, f.got))
		judged = append(judged, f.judge())
	}
	_, _ = fmt.Fprintf(os.Stdout, "load average %s to %s; most memory of the whole process %d MB\n%s\n", load, bench.LoadAverage(), peak(t)>>20, strings.Join(lines, "\n"))
	if !bench.Raced {
		require.NoError(t, errors.Join(judged...))
	}
}

// figure is a ratio with what is wanted of it, and with the guard at which the
// bench fails. A floor is a least value, unless less is better.
type figure struct {
	name, says  string
	got         float64
	goal, floor float64
	guard       float64
	atLeast     bool
}

func (f figure) String() string {
	word := "ceiling"
	if f.atLeast {
		word = "floor"
	}
	text := fmt.Sprintf("%s: %.3f; goal %.2f, %s %.2f", f.says, f.got, f.goal, word, f.floor)
	if f.beyond(f.floor) {
		text += ", not reached"
	}
	return text
}

func (f figure) beyond(bound float64) bool {
	return f.atLeast && f.got < bound || !f.atLeast && f.got > bound
}

func (f figure) judge() error {
	if f.beyond(f.guard) {
		return fmt.Errorf("%s is %.3f, beyond its guard of %.2f", f.name, f.got, f.guard)
	}
	return nil
}

// throughput compares a run with activities that do nothing but store the same
// results.
func throughput(t testing.TB, w *world, n sizes) figure {
	t.Helper()
	b := w.newBare(t, n.trivial)
	measured, err := bench.Run(n.rounds, n.rounds, func(bench.Rounds) bool { return true },
		func() (float64, error) { return float64(n.trivial) / w.run(t, w.trivial, nil).took.Seconds(), nil },
		func() (float64, error) { return float64(n.trivial) / b.run(t).Seconds(), nil },
	)
	require.NoError(t, err)
	measured = measured[1:] // the first warms up
	r := measured.Ratio(0, 1)
	return figure{
		name: "runs", goal: 0.9, floor: 0.7, atLeast: true, got: r.Median,
		guard: 0.2, // the floor was never reached; what is must not be lost
		says:  fmt.Sprintf("items a second of a run (%.0f) ÷ of bare activities that store the same (%.0f), %v", measured.Median(0), measured.Median(1), r),
	}
}

// transitions counts what the engine has to remember of a run.
func transitions(t testing.TB, w *world, n sizes) figure {
	t.Helper()
	r := w.run(t, w.trivial, nil)
	moves := w.transitions(t, r.run)
	return figure{
		name: "transitions", goal: 0.03, floor: 0.10, guard: 0.10, got: float64(moves) / float64(n.trivial),
		says: fmt.Sprintf("state transitions of the engine for each of %d items (%d)", n.trivial, moves),
	}
}

// unit is how long the application of a slow item takes.
const unit = 50 * time.Millisecond

// slowApp is an application that takes a while, and remembers when it was first
// asked and when it last answered.
type slowApp struct {
	*httptest.Server
	first, last atomic.Int64
	calls       atomic.Int64
}

func newSlowApp(t testing.TB) *slowApp {
	t.Helper()
	a := &slowApp{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		a.first.CompareAndSwap(0, time.Now().UnixMicro())
		time.Sleep(unit)
		a.calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"output": "yes"}`))
		a.last.Store(time.Now().UnixMicro())
	}))
	t.Cleanup(a.Close)
	return a
}

// wall compares a run of slow items with the time that they take if nothing
// ever waits.
func wall(t testing.TB, w *world, n sizes) figure {
	t.Helper()
	const at = 64
	a := newSlowApp(t)
	e := w.ours.Evaluation(t, w.slow.ID, map[string]any{"metrics": []string{"exact_match"}, "target": map[string]any{"type": "http", "url": a.URL}})
	r := w.run(t, e, map[string]any{"concurrency": at})
	// The last result is stored before the run is added up.
	took := r.stored.Sub(time.UnixMicro(a.first.Load()))
	ideal := time.Duration(n.slow) * unit / at
	return figure{
		name: "wall", goal: 1.03, floor: 1.15, guard: n.wall, got: took.Seconds() / ideal.Seconds(),
		says: fmt.Sprintf("%d items of %s at concurrency %d, first call to last result (%.2f s) ÷ ideal (%.2f s)", n.slow, unit, at, took.Seconds(), ideal.Seconds()),
	}
}

// fairness compares a short run beside a long one of somebody else with the
// same run alone.
func fairness(t testing.TB, w *world, n sizes) figure {
	t.Helper()
	a := newSlowApp(t)
	target := map[string]any{"type": "http", "url": a.URL}
	short := w.ours.Evaluation(t, w.hundred.ID, map[string]any{"metrics": []string{"exact_match"}, "target": target})
	alone := make([]float64, 0, 5)
	for range 5 {
		alone = append(alone, w.run(t, short, nil).took.Seconds())
	}
	long := w.theirs.Evaluation(t, w.queued.ID, map[string]any{"metrics": []string{"exact_match"}, "target": target})
	running, err := w.theirs.StartRun(t.Context(), long.ID, map[string]any{"concurrency": 128})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		p, err := w.theirs.RunProgress(t.Context(), long.ID, running.RunID)
		return err == nil && p.ItemsDone > 0
	}, time.Minute, 10*time.Millisecond)
	beside := make([]float64, 0, 5)
	for range 5 {
		beside = append(beside, w.run(t, short, nil).took.Seconds())
	}
	_, err = w.theirs.CancelRun(t.Context(), long.ID, running.RunID)
	require.NoError(t, err, "the other organization was done before the comparison was")
	w.theirs.Ended(t, running)
	one, other := bench.Median(beside), bench.Median(alone)
	return figure{
		name: "fairness", goal: 1.5, floor: 4, guard: 4, got: one / other,
		says: fmt.Sprintf("100 items of %s while another organization runs %d (%.2f s) ÷ alone (%.2f s)", unit, n.queued, one, other),
	}
}

// growth compares the cost of an item in a large run with that in a small one.
func growth(t testing.TB, w *world, n sizes) figure {
	t.Helper()
	small := make([]float64, 0, 9)
	for range 9 {
		small = append(small, w.run(t, w.tiny, nil).took.Seconds()/1000)
	}
	large := w.run(t, w.large, nil)
	one, other := large.took.Seconds()/float64(n.large), bench.Median(small)
	return figure{
		name: "growth", goal: 1.0, floor: 1.1, guard: 1.1, got: one / other,
		says: fmt.Sprintf("time of an item in a run of %d (%.0f µs) ÷ in one of 1000 (%.0f µs)", n.large, one*1e6, other*1e6),
	}
}
