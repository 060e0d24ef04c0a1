// Package runs_test measures what a run costs next to the work in it.
package runs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/bench"
)

// sizes of a bench.
type sizes struct {
	rounds  int
	trivial int // items of a run of which each costs nothing
	slow    int // items that take a while each
	large   int // items of the largest run
	queued  int // items of another organization's run
}

func TestBench(t *testing.T) {
	t.Parallel()
	n := sizes{rounds: 3, trivial: 4_000, slow: 2_000, large: 8_000, queued: 20_000}
	switch {
	case bench.Raced:
		n = sizes{rounds: 1, trivial: 200, slow: 40, large: 400, queued: 400}
	case bench.Whole():
		n = sizes{rounds: 9, trivial: 50_000, slow: 10_000, large: 100_000, queued: 100_000}
	}
	w := newWorld(t, n)
	bench.Report(t,
		func() bench.Figure { return processor(t, w, n) },
		func() bench.Figure { return wall(t, w, n) },
		func() bench.Figure { return transitions(t, w, n) },
		func() bench.Figure { return fairness(t, w, n) },
		func() bench.Figure { return growth(t, w, n) },
	)
}

// processor compares what a run of trivial items takes from the processors with
// what the engines take for it, its merges included. Ours is this process, which
// serves and works and does nothing else meanwhile.
func processor(t testing.TB, w *world, n sizes) bench.Figure {
	t.Helper()
	engines, err := bench.FindEngines()
	require.NoError(t, err)
	cpu := func() (ours, theirs float64) {
		t.Helper()
		own, err := bench.CPU(os.Getpid())
		require.NoError(t, err)
		all, err := engines.CPU()
		require.NoError(t, err)
		return own.Seconds(), all.Seconds()
	}
	w.complete(t, w.trivial) // warms up
	var ours, theirs []float64
	for range n.rounds {
		bench.Quiet(t)
		ownBefore, engineBefore := cpu()
		w.complete(t, w.trivial)
		own, _ := cpu()
		bench.Quiet(t) // the merges are the engines' work for this run
		_, engine := cpu()
		ours, theirs = append(ours, own-ownBefore), append(theirs, engine-engineBefore)
	}
	measured := bench.Columns(ours, theirs)
	items := float64(n.trivial)
	return bench.Figure{
		Name: "processor", Goal: 0.5, Bound: 1, Got: measured.Ratio(0, 1),
		Says: fmt.Sprintf("processor time of our process for each of %d recorded items (%.0f µs) ÷ of the engines (%.0f µs)", n.trivial, 1e6*measured.Median(0)/items, 1e6*measured.Median(1)/items),
	}
}

// transitions counts what the engine has to remember of a run.
func transitions(t testing.TB, w *world, n sizes) bench.Figure {
	t.Helper()
	r := w.run(t, w.trivial, nil)
	moves := w.transitions(t, r.run)
	return bench.Figure{
		Name: "transitions", Goal: 0.03, Bound: 0.10, Got: bench.Once(float64(moves) / float64(n.trivial)),
		Says: fmt.Sprintf("state transitions of the engine for each of %d items (%d)", n.trivial, moves),
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
func wall(t testing.TB, w *world, n sizes) bench.Figure {
	t.Helper()
	const at = 64
	a := newSlowApp(t)
	e := w.ours.Evaluation(t, w.slow.ID, map[string]any{"metrics": []string{"exact_match"}, "target": map[string]any{"type": "http", "url": a.URL}})
	ideal := (time.Duration(n.slow) * unit / at).Seconds()
	var took, ideals []float64
	for range min(n.rounds, 5) {
		a.first.Store(0)
		r := w.run(t, e, map[string]any{"concurrency": at})
		// The last result is stored before the run is added up.
		took, ideals = append(took, r.stored.Sub(time.UnixMicro(a.first.Load())).Seconds()), append(ideals, ideal)
	}
	return bench.Figure{
		Name: "wall", Goal: 1.03, Bound: 1.15, Short: 4, Got: bench.Columns(took, ideals).Ratio(0, 1),
		Says: fmt.Sprintf("%d items of %s at concurrency %d, first call to last result (%.2f s) ÷ ideal (%.2f s)", n.slow, unit, at, bench.Median(took), ideal),
	}
}

// fairness compares a short run during a long one of somebody else with the
// same run alone.
func fairness(t testing.TB, w *world, n sizes) bench.Figure {
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
		p, err := w.theirs.GetEvaluationRunProgress(t.Context(), long.ID, running.RunID)
		return err == nil && p.ItemsDone > 0
	}, 3*time.Minute, 10*time.Millisecond)
	during := make([]float64, 0, 5)
	for range 5 {
		during = append(during, w.run(t, short, nil).took.Seconds())
	}
	_, err = w.theirs.CancelEvaluationRun(t.Context(), long.ID, running.RunID)
	require.NoError(t, err, "the other organization was done before the comparison was")
	w.theirs.Ended(t, running)
	one, other := bench.Median(during), bench.Median(alone)
	return bench.Figure{
		Name: "fairness", Goal: 1.5, Bound: 4, Got: bench.Once(one / other),
		Says: fmt.Sprintf("100 items of %s while another organization runs %d (%.2f s) ÷ alone (%.2f s)", unit, n.queued, one, other),
	}
}

// growth compares the cost of an item in a large run with that in a small one.
func growth(t testing.TB, w *world, n sizes) bench.Figure {
	t.Helper()
	small := make([]float64, 0, 9)
	for range 9 {
		small = append(small, w.run(t, w.tiny, nil).took.Seconds()/1000)
	}
	large := w.run(t, w.large, nil)
	one, other := large.took.Seconds()/float64(n.large), bench.Median(small)
	return bench.Figure{
		Name: "growth", Goal: 1.0, Bound: 1.1, Got: bench.Once(one / other),
		Says: fmt.Sprintf("time of an item in a run of %d (%.0f µs) ÷ in one of 1000 (%.0f µs)", n.large, one*1e6, other*1e6),
	}
}
