package judging_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/testkit"
)

// changing are judges of one provider whose model can change behind its name.
func changing(t *testing.T) (*testkit.Client, *simulated.Server, testkit.JudgeConfig) {
	t.Helper()
	k, s := testkit.Working(t), simulated.Start(t, simulated.Options{})
	c, j := judged(t, k, s)
	return c, s, j
}

// judged is an organization with a judge.
func judged(t *testing.T, k *testkit.Kit, s *simulated.Server) (*testkit.Client, testkit.JudgeConfig) {
	t.Helper()
	c := k.Org(t)
	key, err := c.CreateProviderKey(t.Context(), map[string]any{"provider": "custom", "name": "changing", "secret": "secret-of-the-model", "baseUrl": s.URL})
	require.NoError(t, err)
	j, err := c.CreateJudgeConfig(t.Context(), map[string]any{"key": "quality", "starter": "helpfulness", "provider": "custom", "model": "judge", "providerKeyId": key.ID, "labelSampling": "random"})
	require.NoError(t, err)
	return c, j
}

// answers are items with outputs, of which every fifth is bad.
func answers(t *testing.T, c *testkit.Client, n int) testkit.Dataset {
	t.Helper()
	d := c.Dataset(t, testkit.NewDataset{})
	items := make([]testkit.Item, n)
	for i := range items {
		good := min(i%5, 1)
		items[i] = testkit.Item{Input: fmt.Sprint("question ", i), Output: fmt.Sprintf("answer %d [[score:%d]]", i, good), Labels: map[string]any{"quality": good}}
	}
	_, err := c.AddItems(t.Context(), d.ID, items)
	require.NoError(t, err)
	return d
}

// reason is why something was refused.
func reason(t *testing.T, err error) string {
	t.Helper()
	f, ok := fault.From(err)
	require.True(t, ok, "%v", err)
	return f.Reason
}

// until reads a watch until it is as it should be.
func until(t *testing.T, c *testkit.Client, id string, ok func(testkit.JudgeWatch) bool) (w testkit.JudgeWatch) {
	t.Helper()
	// Checks happen in other processes; the interface is the only place to see them.
	require.Eventually(t, func() bool {
		var err error
		w, err = c.GetJudgeWatch(t.Context(), id)
		return err == nil && ok(w)
	}, 10*time.Minute, 100*time.Millisecond)
	return w
}

func TestAJudgeThatChangesIsNoticed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c, model, j := changing(t)
	d := answers(t, c, 200)
	w, err := c.CreateJudgeWatch(ctx, j.ID, map[string]any{"datasetId": d.ID})
	require.NoError(t, err)
	require.Equal(t, "preparing", w.Status)
	w = until(t, c, w.ID, func(w testkit.JudgeWatch) bool { return w.Status != "preparing" })
	require.Equal(t, "watching", w.Status, w.Problem)
	require.EqualValues(t, 200, w.Anchors)
	require.Less(t, *w.FlipLimit, 0.02, "it never contradicted itself in 200 anchors")
	require.Greater(t, *w.FlipLimit, 0.01, "which does not show that it never will")

	check := func(n int) testkit.JudgeCheck {
		t.Helper()
		_, err := c.Call(ctx, http.MethodPost, "/api/llm-judge/watches/"+w.ID+"/check", nil, nil)
		require.NoError(t, err)
		w = until(t, c, w.ID, func(w testkit.JudgeWatch) bool { return int(w.Checks) == n })
		all, err := c.ListJudgeWatchChecks(ctx, w.ID, "")
		require.NoError(t, err)
		require.Len(t, all.Checks, n)
		return all.Checks[0]
	}
	e := c.Evaluation(t, d.ID, map[string]any{"metrics": []string{"judge:quality"}, "target": map[string]any{"type": "recorded"}})
	run := func() testkit.Run {
		t.Helper()
		r, err := c.StartRun(ctx, e.ID, nil)
		require.NoError(t, err)
		r = c.Ended(t, r)
		require.Equal(t, "completed", r.Status, r.Error)
		return r
	}
	gate := map[string]any{"requirements": []string{"judge:quality>=0.5", "pass_rate>=0.5"}}
	early, before := run(), run()
	quiet := check(1)
	require.Equal(t, "quiet", quiet.Verdict, quiet.Problem)
	require.EqualValues(t, 200, quiet.Anchors)
	require.Empty(t, quiet.Flips)
	require.Zero(t, *quiet.Correctness.Difference.Value)
	decided, err := c.DecideEvaluationRun(ctx, e.ID, before.ID, gate)
	require.NoError(t, err)
	require.Equal(t, "PASS", decided.Verdict)
	compared, err := c.CompareRuns(ctx, e.ID, early.ID, before.ID, "")
	require.NoError(t, err)
	require.Equal(t, "system", compared.Metrics[0].Judge.Attribution, "the judge was seen to be the same since")

	require.NoError(t, model.SetScript(simulated.Script{Models: map[string]simulated.Behaviour{"judge": {Do: simulated.DoJudge, Wrong: 0.2}}}))
	after := run()
	drifted := check(2)
	require.Equal(t, "drifted", drifted.Verdict)
	require.Len(t, drifted.Flips, int(drifted.PassToFail)+int(drifted.FailToPass))
	require.Greater(t, int(drifted.PassToFail), 10)
	require.Equal(t, "drifted", w.Status)
	require.NotNil(t, w.Problem)

	decided, err = c.DecideEvaluationRun(ctx, e.ID, after.ID, gate)
	require.NoError(t, err)
	require.Equal(t, "INCONCLUSIVE", decided.Verdict, "gates that use the judge are suspended")
	for _, r := range decided.Rulings {
		require.Equal(t, "stale", r.Reason, r.Requirement)
		require.Contains(t, r.Reasons[len(r.Reasons)-1], "judge:quality has drifted")
	}
	decided, err = c.DecideEvaluationRun(ctx, e.ID, before.ID, gate)
	require.NoError(t, err)
	require.Equal(t, "PASS", decided.Verdict, "the judge was still the same when it judged this run")
	compared, err = c.CompareRuns(ctx, e.ID, before.ID, after.ID, "")
	require.NoError(t, err)
	require.Equal(t, "judge_or_system", compared.Metrics[0].Judge.Attribution)
	require.False(t, compared.Comparable)

	_, err = c.CreateJudgeWatch(ctx, j.ID, map[string]any{"datasetId": d.ID})
	require.Equal(t, "judge_drifted", reason(t, err))
	again, err := c.CreateJudgeWatch(ctx, j.ID, map[string]any{"datasetId": d.ID, "newVersion": true})
	require.NoError(t, err)
	require.EqualValues(t, 2, again.ConfigVersion)
	again = until(t, c, again.ID, func(w testkit.JudgeWatch) bool { return w.Status != "preparing" })
	require.Equal(t, "watching", again.Status, again.Problem)
	decided, err = c.DecideEvaluationRun(ctx, e.ID, run().ID, gate)
	require.NoError(t, err)
	require.Equal(t, "PASS", decided.Verdict, "the judge that is accepted as it is decides again, corrected by labels")
}

func TestAWatchGoesOnAfterItsWorkerAndPaysForNothingTwice(t *testing.T) {
	t.Parallel()
	k, model := testkit.Own(t, "its worker goes away"), simulated.Start(t, simulated.Options{})
	require.NoError(t, model.SetFaults(simulated.Faults{Latency: simulated.Latency{Fixed: 500 * time.Millisecond}}))
	c, j := judged(t, k, model)
	d := answers(t, c, 40)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	gone := k.WorkUntil(ctx)
	w, err := c.CreateJudgeWatch(t.Context(), j.ID, map[string]any{"datasetId": d.ID})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return model.Calls().Paid > 10 }, 10*time.Minute, time.Millisecond)
	stop()
	require.NoError(t, <-gone)
	before := model.Calls()
	require.Zero(t, before.InFlight, "what is under way is waited for")
	require.Less(t, before.Paid, int64(200), "nothing more is begun")

	k.Work(t)
	w = until(t, c, w.ID, func(w testkit.JudgeWatch) bool { return w.Status != "preparing" })

	require.Equal(t, "watching", w.Status, w.Problem)
	calls := model.Calls()
	require.Greater(t, calls.Paid, before.Paid)
	require.EqualValues(t, 200, calls.Paid, "each of 40 anchors was asked about five times, and none more often")
}

func TestAWatchThatCannotAsk(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c, model, j := changing(t)
	d := answers(t, c, 20)
	w, err := c.CreateJudgeWatch(ctx, j.ID, map[string]any{"datasetId": d.ID})
	require.NoError(t, err)
	w = until(t, c, w.ID, func(w testkit.JudgeWatch) bool { return w.Status != "preparing" })
	require.Equal(t, "watching", w.Status)

	asked := model.Calls().Total
	require.Equal(t, 100, int(asked), "each of 20 anchors was asked about five times, and none more often")
	_, err = c.UpdateJudgeConfig(ctx, j.ID, map[string]any{"spendCapUsd": 0})
	require.NoError(t, err)
	_, err = c.Call(ctx, http.MethodPost, "/api/llm-judge/watches/"+w.ID+"/check", nil, nil)
	require.NoError(t, err)
	w = until(t, c, w.ID, func(w testkit.JudgeWatch) bool { return w.Checks == 1 })
	all, err := c.ListJudgeWatchChecks(ctx, w.ID, "")
	require.NoError(t, err)
	require.Equal(t, "failed", all.Checks[0].Verdict, "a judge that cannot be asked was not seen to be the same")
	require.Contains(t, *all.Checks[0].Problem, "cap")
	require.Equal(t, "watching", w.Status)

	_, err = c.UpdateJudgeConfig(ctx, j.ID, map[string]any{"repeats": 3, "spendCapUsd": nil})
	require.NoError(t, err)
	_, err = c.Call(ctx, http.MethodPost, "/api/llm-judge/watches/"+w.ID+"/check", nil, nil)
	require.NoError(t, err)
	w = until(t, c, w.ID, func(w testkit.JudgeWatch) bool { return w.Status != "watching" })
	require.Equal(t, "stopped", w.Status, "its version is used no longer")
	_, err = c.Call(ctx, http.MethodPost, "/api/llm-judge/watches/"+w.ID+"/check", nil, nil)
	require.Equal(t, "judge_watch_ended", reason(t, err))
}
