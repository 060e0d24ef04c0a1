package evaluation_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/llm/simulated"
	"github.com/assayhq/assay/internal/test/testkit"
)

// court is an installation whose judge asks a model behind a server of its own.
type court struct {
	model *simulated.Server
	// again makes another process of it.
	again func() *testkit.Kit
}

// courtOf is an installation without a worker, and an organization with a judge that
// asks a model which takes a while for each answer. A token of the model costs a
// thousandth of a cent.
func courtOf(t *testing.T, takes time.Duration) (court, *testkit.Kit, *testkit.Client) {
	t.Helper()
	cfg := testkit.Config(t)
	model := simulated.Start(t, simulated.Options{Faults: simulated.Faults{Latency: simulated.Latency{Fixed: takes}}})
	a := court{model, func() *testkit.Kit { return testkit.NewWith(t, cfg) }}
	k := a.again()
	c := k.Org(t)
	_, err := c.UpdateOrganization(t.Context(), map[string]any{"priceOverrides": map[string]any{"judge": map[string]any{"inputPerMillion": 10, "outputPerMillion": 10}}})
	require.NoError(t, err)
	key, err := c.CreateProviderKey(t.Context(), map[string]any{"provider": "openai", "name": "judges", "baseUrl": a.model.URL, "secret": "sk-abcdefghijklmnopqrst"})
	require.NoError(t, err)
	_, err = c.CreateJudgeConfig(t.Context(), map[string]any{"key": "quality", "starter": "helpfulness", "provider": "openai", "model": "judge", "providerKeyId": key.ID})
	require.NoError(t, err)
	return a, k, c
}

// quick is a judge that asks a model within the process.
func quick(t *testing.T, c *testkit.Client) testkit.JudgeConfig {
	t.Helper()
	j, err := c.CreateJudgeConfig(t.Context(), map[string]any{"key": "quality", "starter": "helpfulness", "provider": "simulated", "model": "judge"})
	require.NoError(t, err)
	return j
}

// verdictsOf are all verdicts of a run.
func verdictsOf(t *testing.T, c *testkit.Client, r testkit.Run) []testkit.JudgeResult {
	t.Helper()
	all, err := c.ListJudgeResults(t.Context(), "limit=100&evaluationRunId="+r.RunID)
	require.NoError(t, err)
	return all.Results
}

// answersTo are results of items, every fifth of which is bad. Each says that it cost a
// dollar.
func answersTo(items []api.DatasetItem) (all []map[string]any) {
	for i, item := range items {
		all = append(all, map[string]any{"testCaseId": item.ID, "output": fmt.Sprintf("answer %d [[score:%d]]", i, min(i%5, 1)), "costUsd": 1})
	}
	return all
}

// submitted is a run of a client that has sent results of all items, and said so.
func submitted(t *testing.T, c *testkit.Client, n int, body map[string]any) testkit.Run {
	t.Helper()
	e, items := clientEvaluation(t, c, n, map[string]any{"metrics": []string{"judge:quality"}})
	r := started(t, c, e.ID, body)
	require.NoError(t, c.PutResults(t.Context(), e.ID, r.RunID, answersTo(items), true))
	return r
}

func TestJudgesOfAClient(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)

	t.Run("judge each answer when all are there", func(t *testing.T) {
		t.Parallel()
		ctx, c := t.Context(), k.Org(t)
		j := quick(t, c)
		e, items := clientEvaluation(t, c, 6, map[string]any{"metrics": []string{"exact_match"}, "judgeConfigIds": []string{j.ID}})
		slices.Reverse(items) // the order of results
		require.Empty(t, e.Warnings)
		r := started(t, c, e.ID, nil)
		put := func(final bool, all ...map[string]any) error { return c.PutResults(ctx, e.ID, r.RunID, all, final) }

		err := put(false, map[string]any{"testCaseId": items[0].ID, "output": "x", "scores": map[string]any{"judge:quality": 1}})
		require.Equal(t, []string{"/results/0/scores/judge:quality"}, paths(t, refused(t, err, fault.Validation, "invalid_request")), "nobody speaks for a judge")
		require.NoError(t, put(false,
			map[string]any{"testCaseId": items[0].ID, "output": items[0].ExpectedOutput.(string)},
			map[string]any{"testCaseId": items[1].ID, "output": "other [[score:1]]"},
			map[string]any{"testCaseId": items[2].ID, "output": "other [[score:0]]"},
			map[string]any{"testCaseId": items[3].ID, "error": map[string]any{"message": "It fell over."}},
			map[string]any{"testCaseId": items[4].ID, "skipped": true},
		))
		p, err := c.GetEvaluationRunProgress(ctx, e.ID, r.RunID)
		require.NoError(t, err)
		require.Equal(t, []int64{6, 5, 0, 0, 0}, []int64{p.ItemsTotal, p.ItemsDone, p.Passed, p.Failed, p.Errored}, "nothing is decided before it is judged")
		before := results(t, c, r)
		require.InDelta(t, 1, *before[0].Scores["exact_match"], 0, "what needs nobody else is scored at once")
		require.Nil(t, before[0].Scores["judge:quality"])
		require.Empty(t, verdictsOf(t, c, r))
		require.NoError(t, put(false, map[string]any{"testCaseId": items[0].ID, "output": "answer 0 [[score:1]]"}), "a result is replaced before it is judged")
		require.NoError(t, put(true))

		done := c.Ended(t, r)

		require.Equal(t, "completed", done.Status, "%+v", done.Error)
		require.Equal(t, []int64{4, 2, 2, 1, 1}, []int64{done.Items, done.Passed, done.Failed, done.Errored, done.Skipped})
		require.EqualValues(t, 3, done.Statistics.Metrics["judge:quality"].N)
		require.EqualValues(t, 3, done.Statistics.Metrics["exact_match"].Missing.Rows, "one was not sent, one errored and one was skipped")
		after := results(t, c, done)
		require.Len(t, after, 5, "what the client did not send is missing")
		for i, want := range []float64{1, 1, 0} {
			require.InDelta(t, want, *after[i].Scores["judge:quality"], 0)
			require.InDelta(t, want/2, *after[i].Overall, 1e-12)
		}
		require.Equal(t, []string{"passed", "passed", "failed", "errored", "skipped"}, []string{after[0].Status, after[1].Status, after[2].Status, after[3].Status, after[4].Status})
		require.Nil(t, after[3].Scores["judge:quality"])
		require.Len(t, verdictsOf(t, c, done), 3)
		p, err = c.GetEvaluationRunProgress(ctx, e.ID, r.RunID)
		require.NoError(t, err)
		require.Equal(t, []int64{6, 5, 2, 2, 1}, []int64{p.ItemsTotal, p.ItemsDone, p.Passed, p.Failed, p.Errored})
		refused(t, put(false, map[string]any{"testCaseId": items[5].ID, "output": "late"}), fault.Conflict, "invalid_transition")
	})

	t.Run("judge what there is if no more comes", func(t *testing.T) {
		t.Parallel()
		k := testkit.Own(t, "its worker's clock moves")
		k.Work(t)
		c := k.Org(t)
		quick(t, c)
		e, items := clientEvaluation(t, c, 2, map[string]any{"metrics": []string{"judge:quality"}})
		r := executing(t, c, started(t, c, e.ID, nil))
		require.NoError(t, c.PutResults(t.Context(), e.ID, r.RunID, []map[string]any{{"testCaseId": items[0].ID, "output": "answer [[score:1]]"}}, false))

		k.Clock.Advance(25 * time.Hour)
		wake(t, k, c, r)

		done := c.Ended(t, r)
		require.Equal(t, "failed", done.Status)
		require.Equal(t, "timeout", done.Error.Code)
		require.EqualValues(t, 1, done.Passed)
		require.Len(t, verdictsOf(t, c, done), 1)
	})

	t.Run("stand beside scores that are sent, and what traces say", func(t *testing.T) {
		t.Parallel()
		ctx, c := t.Context(), k.Org(t)
		quick(t, c)
		e, ids := judged(t, c, 4, map[string]any{"metrics": []string{"judge:quality", "cost_usd"}, "target": map[string]any{"type": "client", "traceWaitMs": 60000}}, nil)
		r := started(t, c, e.ID, nil)
		var all []map[string]any
		var traces []string
		for _, id := range ids {
			traces = append(traces, testkit.NewTraceID())
			all = append(all, map[string]any{"testCaseId": id, "output": "answer [[score:1]]", "otelTraceId": traces[len(traces)-1]})
		}
		require.NoError(t, c.PutResults(ctx, e.ID, r.RunID, all, false))
		for _, id := range ids[:2] {
			require.NoError(t, addScores(t, c, r, id, map[string]any{"my_judge": 1}))
		}
		refused(t, addScores(t, c, r, ids[0], map[string]any{"judge:quality": 0}), fault.Validation, "invalid_request")
		require.NoError(t, c.PutResults(ctx, e.ID, r.RunID, nil, true))
		// All is judged, and only the traces are waited for.
		require.Eventually(t, func() bool {
			now, err := c.GetEvaluationRun(ctx, e.ID, r.RunID)
			return err == nil && now.Phase == "aggregating"
		}, 10*time.Minute, 20*time.Millisecond)
		for _, trace := range traces {
			sendSpans(t, c, agent(trace, ""))
		}
		for _, trace := range traces[2:] {
			_, err := c.AddTraceFeedback(ctx, trace, testkit.TraceFeedback{Type: "score", Name: new("my_judge"), Value: 0.5})
			require.NoError(t, err)
		}

		done := c.Ended(t, r)

		require.Equal(t, "completed", done.Status)
		for _, name := range []string{"judge:quality", "cost_usd"} {
			require.EqualValues(t, 4, done.Statistics.Metrics[name].N, name)
		}
		require.Len(t, verdictsOf(t, c, done), 4)
		for i, one := range results(t, c, done) {
			require.InDelta(t, 1, *one.Scores["judge:quality"], 0)
			require.Positive(t, *one.CostUSD)
			if i < 2 {
				require.InDelta(t, 1, *one.Scores["my_judge"], 0)
			}
		}
	})

	t.Run("work like services that score", func(t *testing.T) {
		t.Parallel()
		ctx, c := t.Context(), k.Org(t)
		var calls atomic.Int32
		url := scoring(t, func(w http.ResponseWriter, _ *http.Request, call scoringCall) {
			calls.Add(int32(len(call.Items)))
			agreeing(w, call)
		})
		e, ids := judged(t, c, 5, map[string]any{"target": map[string]any{"type": "client"}}, map[string]any{"source": "code", "endpoint": map[string]any{"url": url}})
		r := started(t, c, e.ID, nil)
		var all []map[string]any
		for _, id := range ids[:4] {
			all = append(all, map[string]any{"testCaseId": id, "output": "answer 0"})
		}
		all[3]["scores"] = map[string]any{"my_judge": 1}
		require.Equal(t, []string{"/results/3/scores/my_judge"}, paths(t, refused(t, c.PutResults(ctx, e.ID, r.RunID, all, true), fault.Validation, "invalid_request")))
		delete(all[3], "scores")
		require.NoError(t, c.PutResults(ctx, e.ID, r.RunID, all, true))

		done := c.Ended(t, r)

		require.Equal(t, "completed", done.Status)
		require.InDelta(t, 0.25, *done.Statistics.Metrics["my_judge"].Value, 1e-12)
		require.EqualValues(t, 4, calls.Load())
	})
}

// stopTime is how long a worker that is to stop waits for what it has under way.
const stopTime = 20 * time.Second

// TestAWorkerThatGoesAwayPaysNoVerdictTwice stops a worker while it has the results of a
// client judged. The next one asks about the rest.
func TestAWorkerThatGoesAwayPaysNoVerdictTwice(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	const items = 90
	a, k, c := courtOf(t, 20*time.Millisecond)
	first := a.again()
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	gone := first.WorkUntil(working)
	r := submitted(t, c, items, map[string]any{"concurrency": 2})
	require.Eventually(t, func() bool { return a.model.Calls().Paid > items/2 }, 10*time.Minute, time.Millisecond)
	stop()
	stopped := time.Now()
	k.Work(t)
	require.NoError(t, <-gone)
	waited := time.Since(stopped) < stopTime

	done := c.Ended(t, r)

	require.Equal(t, "completed", done.Status, "%+v", done.Error)
	require.Equal(t, []int{items, items - items/5}, []int{int(done.Items), int(done.Passed)})
	calls := a.model.Calls()
	if waited { // on a machine without time for it, a worker that is to stop gives up
		require.Zero(t, calls.Prompts.ExtraPaid, "what is under way when a worker is to stop is waited for and kept")
	}
	require.EqualValues(t, items, calls.Prompts.Distinct)
	require.Len(t, verdictsOf(t, c, done), items)
	paid := 0.0
	for _, v := range verdictsOf(t, c, done) {
		paid += *v.CostUSD
	}
	require.InDelta(t, items+paid, done.CostUSD, 1e-9, "the client's dollars, and the judge's cents")
	var counted, passed int
	var cost int64
	err := k.Owner(t, c.Org).QueryRow(ctx, "SELECT sum(done), sum(passed), sum(cost_nano_usd) FROM evaluation_run_chunks WHERE run_id = $1", r.RunID).Scan(&counted, &passed, &cost)
	require.NoError(t, err)
	require.Equal(t, []int{items, int(done.Passed)}, []int{counted, passed}, "the counters equal the results")
	require.InDelta(t, paid, float64(cost)/1e9, 1e-9, "the run pays for verdicts only")
}

// TestWhileResultsAreJudged looks at a run whose judge is slow, and cancels it.
func TestWhileResultsAreJudged(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, k, c := courtOf(t, 2*time.Second)
	k.Work(t)
	const items = 60
	r := submitted(t, c, items, map[string]any{"concurrency": 4})
	var p testkit.Progress
	// A worker judges; the interface is the only place to see how far it is.
	require.Eventually(t, func() bool {
		var err error
		p, err = c.GetEvaluationRunProgress(ctx, r.EvaluationID, r.RunID)
		require.NoError(t, err)
		return p.Phase == "scoring" && p.ItemsDone > 4
	}, 10*time.Minute, 20*time.Millisecond)
	require.EqualValues(t, items, p.ItemsTotal)
	require.Less(t, int(p.ItemsDone), items)
	require.EqualValues(t, p.ItemsDone, int(p.Passed)+int(p.Failed), "what is done is decided")
	require.InDelta(t, 100*float64(p.ItemsDone)/items, p.Percent, 1e-9)
	require.Zero(t, p.Errored)
	details := refused(t, c.PutResults(ctx, r.EvaluationID, r.RunID, []map[string]any{{"testCaseId": results(t, c, r)[0].TestCaseID, "output": "late"}}, false), fault.Conflict, "invalid_transition")
	require.Equal(t, "scoring", details["phase"])

	_, err := c.CancelEvaluationRun(ctx, r.EvaluationID, r.RunID)
	require.NoError(t, err)

	done := c.Ended(t, r)
	require.Equal(t, "cancelled", done.Status)
	calls := a.model.Calls()
	require.Zero(t, calls.InFlight)
	require.Less(t, calls.Total, int64(items), "nothing more is asked")
	require.Len(t, verdictsOf(t, c, done), int(calls.Paid), "what was under way is paid for, and kept")
	all := results(t, c, done)
	require.Len(t, all, items, "and so is every answer")
	scored := 0
	for _, one := range all {
		if one.Scores["judge:quality"] != nil {
			scored++
		}
	}
	require.EqualValues(t, calls.Paid, scored)
}

func TestWhatJudgingAClientMayCost(t *testing.T) {
	t.Parallel()
	// costs is what a verdict costs.
	costs := func(t *testing.T, c *testkit.Client) float64 {
		t.Helper()
		enough := c.Ended(t, submitted(t, c, 10, nil))
		require.Equal(t, "completed", enough.Status)
		require.Greater(t, enough.CostUSD, 10.0)
		return (enough.CostUSD - 10) / 10
	}

	t.Run("is the run's budget, which pays for no answer", func(t *testing.T) {
		t.Parallel()
		_, k, c := courtOf(t, time.Millisecond)
		k.Work(t)
		one := costs(t, c)

		done := c.Ended(t, submitted(t, c, 60, map[string]any{"budgetUsd": 20 * one, "concurrency": 2}))

		require.Equal(t, "failed", done.Status)
		require.Equal(t, "budget_exceeded", done.Error.Code)
		n := len(verdictsOf(t, c, done))
		require.InDelta(t, 21, n, 2, "a few were under way")
		require.InDelta(t, 60+float64(n)*one, done.CostUSD, one)
		require.Len(t, results(t, c, done), 60, "answers are kept")
	})

	t.Run("is a spend cap, after which the rest is judged and nothing is paid twice", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		a, k, c := courtOf(t, time.Millisecond)
		k.Work(t)
		_, err := c.UpdateOrganization(ctx, map[string]any{"modelSpendCapUsd": 30 * costs(t, c)})
		require.NoError(t, err)
		before := a.model.Calls().Paid

		broken := c.Ended(t, submitted(t, c, 60, map[string]any{"concurrency": 2}))

		require.Equal(t, "failed", broken.Status)
		require.Equal(t, "spend_cap_reached", broken.Error.Code)
		require.Len(t, results(t, c, broken), 60)
		n := int(broken.Statistics.Metrics["judge:quality"].N)
		require.InDelta(t, 20, n, 3)
		require.EqualValues(t, n, a.model.Calls().Paid-before)

		_, err = c.UpdateOrganization(ctx, map[string]any{"modelSpendCapUsd": 100})
		require.NoError(t, err)
		again := started(t, c, broken.EvaluationID, map[string]any{"resumeRunId": broken.RunID, "budgetUsd": 1})
		require.NoError(t, c.PutResults(ctx, broken.EvaluationID, again.RunID, nil, true), "all answers are there")
		whole := c.Ended(t, again)
		require.Equal(t, "completed", whole.Status, "%+v", whole.Error)
		require.EqualValues(t, 60, whole.Statistics.Metrics["judge:quality"].N, "verdicts are kept with their answers")
		require.Len(t, verdictsOf(t, c, whole), 60)
		require.EqualValues(t, 60, a.model.Calls().Paid-before)
	})

	t.Run("is nothing without a judge, and such a run is not resumed", func(t *testing.T) {
		t.Parallel()
		c := testkit.Working(t).Org(t)
		r, _ := waiting(t, c, 1, nil)
		_, err := c.CancelEvaluationRun(t.Context(), r.EvaluationID, r.RunID)
		require.NoError(t, err)
		c.Ended(t, r)
		_, err = c.StartRun(t.Context(), r.EvaluationID, map[string]any{"resumeRunId": r.RunID})
		refused(t, err, fault.Conflict, "run_not_resumable")
	})
}
