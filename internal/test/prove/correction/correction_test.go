package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/test/testkit"
)

var (
	reps   = flag.Int("reps", 4, "repetitions")
	items  = flag.Int("items", 1000, "items of each")
	labels = flag.Int("labels", 100, "items that people label")
	plot   = flag.String("plot", "", "file for a plot of the repetitions")
)

// What is true of the answers, and of the judge.
const (
	quality  = 0.8
	accuracy = 0.92
	judged   = quality*accuracy + (1-quality)*(1-accuracy)
)

// TestCorrectedFigures repeats the simulation, two at a time.
func TestCorrectedFigures(t *testing.T) {
	t.Parallel()
	cfg := testkit.Config(t)
	k := testkit.NewWith(t, cfg)
	k.Work(t)
	c := k.Org(t)
	_, err := c.CreateJudgeConfig(t.Context(), map[string]any{
		"key": "quality", "starter": "helpfulness", "provider": "simulated", "model": fmt.Sprint("judge@", accuracy), "labelSampling": "random",
	})
	require.NoError(t, err)
	found := make([]figures, *reps)
	var g errgroup.Group
	g.SetLimit(2)
	for i := range found {
		g.Go(func() (err error) {
			found[i], err = simulate(t, c, uint64(i))
			return err
		})
	}
	require.NoError(t, g.Wait())

	covered, bias, narrower := 0, 0.0, 0.0
	for i, f := range found {
		t.Logf("%d: judge %.4f corrected %.4f in %.4f to %.4f, width %.4f, of labels alone %.4f", i, f.judge, f.corrected, f.lower, f.upper, f.upper-f.lower, f.alone)
		if f.lower <= quality && quality <= f.upper {
			covered++
		}
		bias += (f.judge - quality) / float64(len(found))
		narrower += (1 - (f.upper-f.lower)/f.alone) / float64(len(found))
	}
	share := float64(covered) / float64(len(found))
	fmt.Printf("correction covered %d of %d (%.3f) items %d labels %d bias %.3f narrower %.2f\n", covered, len(found), share, *items, *labels, bias, narrower)
	if *plot != "" {
		require.NoError(t, os.WriteFile(*plot, draw(found), 0o600))
	}
	// Few repetitions may miss more often by chance.
	require.GreaterOrEqual(t, share, 0.93-4*math.Sqrt(0.05*0.95/float64(len(found))))
	require.InDelta(t, judged-quality, bias, 0.01, "the judge's own mean is wrong by the known bias")
	require.GreaterOrEqual(t, narrower, 0.25)
}

// figures are those of one repetition.
type figures struct{ judge, corrected, lower, upper, alone float64 }

// simulate makes a dataset of answers, has them judged, and reads the run.
func simulate(t *testing.T, c *testkit.Client, seed uint64) (f figures, err error) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(seed, 20261117))
	d, err := c.CreateDataset(ctx, testkit.NewDataset{Name: fmt.Sprint("repetition ", seed)})
	if err != nil {
		return f, err
	}
	all := make([]testkit.Item, *items)
	for i := range all {
		good := 0
		if r.Float64() < quality {
			good = 1
		}
		all[i] = testkit.Item{Input: fmt.Sprintf("question %d of %d", i, seed), Output: fmt.Sprintf("answer [[score:%d]]", good)}
		if i < *labels { // the order of the items is random
			all[i].Labels = map[string]any{"quality": good}
		}
	}
	for len(all) > 0 {
		n := min(1000, len(all))
		if _, err := c.AddItems(ctx, d.ID, all[:n]); err != nil {
			return f, err
		}
		all = all[n:]
	}
	e, err := c.CreateEvaluation(ctx, map[string]any{"name": "simulation", "datasetId": d.ID, "metrics": []string{"judge:quality"}, "target": map[string]any{"type": "recorded"}})
	if err != nil {
		return f, err
	}
	run, err := c.StartRun(ctx, e.ID, nil)
	if err != nil {
		return f, err
	}
	run = c.Ended(t, run)
	got, ok := run.Statistics.Corrected["judge:quality"]
	if !ok || got.Estimator != "ppi" || got.Headline.CI == nil || got.Human.CI == nil {
		return f, fmt.Errorf("run %s is %s and has no corrected figure: %+v", run.ID, run.Status, got)
	}
	return figures{
		judge: *got.Judge.Value, corrected: *got.Headline.Value, lower: *got.Headline.CI.Lower, upper: *got.Headline.CI.Upper, alone: *got.Human.CI.Upper - *got.Human.CI.Lower,
	}, nil
}
