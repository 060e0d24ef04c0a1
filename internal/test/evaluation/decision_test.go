package evaluation_test

import (
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/test/testkit"
)

// subject is an evaluation whose answers a test gives.
type subject struct {
	*testkit.Client
	testkit.Evaluation
	items []string // their ids
}

func newSubject(t *testing.T, k *testkit.Kit, n int) subject {
	t.Helper()
	c := k.Org(t)
	d := c.Dataset(t, testkit.NewDataset{})
	items := make([]testkit.Item, n)
	for i := range items {
		items[i] = testkit.Item{Input: fmt.Sprintf("question %d", i), ExpectedOutput: "yes"}
	}
	added, err := c.AddItems(t.Context(), d.ID, items)
	require.NoError(t, err)
	e := c.Evaluation(t, d.ID, map[string]any{"target": map[string]any{"type": "client"}, "metrics": []string{"exact_match", "latency_ms"}})
	ids := make([]string, n)
	for i, item := range added.Items {
		ids[i] = item.ID
	}
	return subject{c, e, ids}
}

// The answers that a run can give; anything else is wrong.
const (
	decisionRight = "yes"
	wrong         = "no"
	crashed       = "crashed"
	unsent        = "unsent"
)

// began starts a run and sends answers to it.
func (s subject) began(t *testing.T, final bool, answer func(item int) string) testkit.Run {
	t.Helper()
	return s.beganWith(t, nil, final, answer)
}

// beganWith starts a run with a body and sends answers to it.
func (s subject) beganWith(t *testing.T, body map[string]any, final bool, answer func(item int) string) testkit.Run {
	t.Helper()
	r, err := s.StartRun(t.Context(), s.ID, body)
	require.NoError(t, err)
	// A worker moves the run; the interface is the only place to see it.
	require.Eventually(t, func() bool {
		now, err := s.GetEvaluationRun(t.Context(), s.ID, r.RunID)
		return err == nil && now.Phase == "executing"
	}, 10*time.Minute, 20*time.Millisecond)
	var sent []map[string]any
	for i, item := range s.items {
		switch a := answer(i); a {
		case unsent:
		case crashed:
			sent = append(sent, map[string]any{"testCaseId": item, "error": map[string]any{"code": "crashed", "message": "It crashed."}})
		default:
			sent = append(sent, map[string]any{"testCaseId": item, "output": a, "durationMs": 100 + i%10})
		}
	}
	require.NoError(t, s.PutResults(t.Context(), s.ID, r.RunID, sent, final))
	return r
}

// ran is a run with its answers, to its end.
func (s subject) ran(t *testing.T, answer func(item int) string) testkit.Run {
	t.Helper()
	return s.Ended(t, s.began(t, true, answer))
}

// failing answers a share of the items wrongly, by their number.
func failing(percent int) func(int) string { return hiding(percent, wrong) }

// hiding deals with a share of the items in some way.
func hiding(percent int, how string) func(int) string {
	return func(item int) string {
		if item%100 < percent {
			return how
		}
		return decisionRight
	}
}

func (s subject) decide(t *testing.T, r testkit.Run, asked map[string]any) (testkit.Decision, error) {
	t.Helper()
	return s.DecideEvaluationRun(t.Context(), s.ID, r.RunID, asked)
}

func (s subject) decided(t *testing.T, r testkit.Run, asked map[string]any) testkit.Decision {
	t.Helper()
	d, err := s.decide(t, r, asked)
	require.NoError(t, err)
	return d
}

func thresholds(texts ...string) map[string]any { return map[string]any{"requirements": texts} }

func against(baseline string, texts ...string) map[string]any {
	return map[string]any{"requirements": texts, "margin": 0.02, "baseline": baseline}
}

func TestDecisionsAreKept(t *testing.T) {
	t.Parallel()
	s := newSubject(t, testkit.Working(t), 200)
	r := s.ran(t, failing(10))

	for _, c := range []struct{ require, verdict, reason string }{
		{"pass_rate>=0.8", "PASS", "shown"},
		{"exact_match<=0.95", "PASS", "shown"},
		{"pass_rate>=0.99", "FAIL", "refuted"},
		{"pass_rate>=0.9", "INCONCLUSIVE", "inside"},
		{"p95(latency_ms)<=109", "PASS", "shown"},
		{"p95(latency_ms)<=105", "FAIL", "refuted"},
		{"p99.9(latency_ms)<=200", "INCONCLUSIVE", "inside"},
		{"overall:better", "INCONCLUSIVE", "no_baseline"},
	} {
		d := s.decided(t, r, thresholds(c.require))
		require.Equal(t, c.verdict, d.Verdict, c.require)
		require.Equal(t, c.reason, d.Rulings[0].Reason, c.require)
		now, err := s.GetEvaluationRun(t.Context(), s.ID, r.RunID)
		require.NoError(t, err)
		if verdict := api.Value(now.Verdict); verdict != "FAIL" { // which stays
			require.Equal(t, c.verdict, verdict, "the run has the verdict of the newest decision")
		}
	}

	var list testkit.DecisionList
	_, err := s.Call(t.Context(), http.MethodGet, "/api/evaluations/"+s.ID+"/runs/"+r.RunID+"/decisions?limit=2&includeTotal=true", nil, &list)
	require.NoError(t, err)
	require.Len(t, list.Decisions, 2)
	require.EqualValues(t, 8, *list.Total)
	require.Equal(t, "overall:better", list.Decisions[0].Rulings[0].Requirement, "the newest is first")
	one := s.decided(t, r, thresholds("pass_rate>=0.8", "exact_match>=0.99"))
	require.Equal(t, "FAIL", one.Verdict)
	require.InDelta(t, 0.95, one.Rulings[0].Estimate.CI.Level, 1e-12)
	require.InDelta(t, 0.975, one.Rulings[0].Together.Level, 1e-12, "one of two fails by chance more often than each does")
	require.InDelta(t, 0.025, one.Rulings[0].Alpha, 1e-12)
	require.Equal(t, "lower", one.Rulings[0].Side)
}

// What a candidate does not answer is not left out: it would win by failing.
func TestWhoFailsDoesNotPass(t *testing.T) {
	t.Parallel()
	s := newSubject(t, testkit.Working(t), 400)
	// A tenth is hard, and the candidates are as good as the baseline elsewhere.
	baseline := s.ran(t, failing(10))
	require.Equal(t, "PASS", s.decided(t, baseline, thresholds("pass_rate>=0.8")).Verdict)
	for name, answer := range map[string]func(int) string{
		"crashes on a tenth": func(i int) string {
			if i%100 >= 10 && i%100 < 20 {
				return crashed
			}
			return failing(10)(i)
		},
		"leaves a fifth of the items out": hiding(20, unsent),
	} {
		r := s.ran(t, answer)
		d := s.decided(t, r, against("passed", "overall:non_inferior"))
		require.Equal(t, "FAIL", d.Verdict, name)
		require.Equal(t, baseline.RunID, *d.BaselineRunID, name)
		require.Equal(t, "fail", d.Rulings[0].Estimate.Missing.Policy, name)
	}
	same := s.ran(t, failing(10))
	require.Equal(t, "PASS", s.decided(t, same, against("passed", "overall:non_inferior")).Verdict)
	hidden := s.ran(t, hiding(10, unsent))
	require.Equal(t, "PASS", s.decided(t, hidden, against("passed", "overall:non_inferior")).Verdict, "what is hidden counts as wrong, which it was")
}

func TestAFailedBuildIsNoBaseline(t *testing.T) {
	t.Parallel()
	s := newSubject(t, testkit.Working(t), 200)
	good := s.ran(t, failing(5))
	_, err := s.StartRun(t.Context(), s.ID, map[string]any{"baseline": "passed"})
	requireInvalid(t, err, "/baseline")
	require.Equal(t, "PASS", s.decided(t, good, thresholds("pass_rate>=0.8")).Verdict)

	bad := s.ran(t, failing(30))
	require.Equal(t, "FAIL", s.decided(t, bad, against("passed", "overall:non_inferior")).Verdict)
	still := s.ran(t, failing(30))
	d := s.decided(t, still, against("passed", "overall:non_inferior"))
	require.Equal(t, good.RunID, *d.BaselineRunID)
	require.Equal(t, "FAIL", d.Verdict)
	require.Equal(t, "PASS", s.decided(t, still, against("previous", "overall:non_inferior")).Verdict, "as if nothing had happened")
	later := s.ran(t, failing(30))
	d = s.decided(t, later, against("passed", "overall:non_inferior"))
	require.Equal(t, good.RunID, *d.BaselineRunID, "an easier question does not make a run that failed a baseline")
	require.Equal(t, "FAIL", d.Verdict)
	d = s.decided(t, bad, map[string]any{"requirements": []string{"overall:non_inferior"}, "margin": 0.02})
	require.Equal(t, good.RunID, *d.BaselineRunID, "without a word it is the last that passed before the run itself")
}

func TestDriftIsShown(t *testing.T) {
	t.Parallel()
	s := newSubject(t, testkit.Working(t), 200)
	first := s.ran(t, failing(1))
	require.Equal(t, "PASS", s.decided(t, first, thresholds("pass_rate>=0.8")).Verdict)
	_, err := s.UpdateEvaluation(t.Context(), s.ID, map[string]any{"baselineRunId": "4711000"})
	requireInvalid(t, err, "/baselineRunId")
	pinned, err := s.UpdateEvaluation(t.Context(), s.ID, map[string]any{"baselineRunId": first.RunID})
	require.NoError(t, err)
	require.Equal(t, first.RunID, api.Value(pinned.BaselineRunID))
	second := s.ran(t, failing(3))
	itself := s.decided(t, first, against("pinned", "overall:non_inferior"))
	require.Equal(t, "no_baseline", itself.Rulings[0].Reason, "a run is no baseline of its own")
	d := s.decided(t, second, map[string]any{"requirements": []string{"overall:non_inferior"}, "margin": 0.1, "baseline": "pinned"})
	require.Equal(t, first.RunID, *d.BaselineRunID)
	require.Empty(t, d.Drift, "it is the baseline itself")
	third := s.ran(t, failing(5))
	d = s.decided(t, third, map[string]any{"requirements": []string{"overall:non_inferior"}, "margin": 0.1, "baseline": "passed"})
	require.Equal(t, second.RunID, *d.BaselineRunID)
	require.Len(t, d.Drift, 1)
	require.Equal(t, first.RunID, d.Drift[0].PinnedRunID)
	require.InDelta(t, -0.04, *d.Drift[0].Difference.Value, 1e-12)
}

// A run may have been stopped when it looked best.
func TestAStoppedRunDecidesNothing(t *testing.T) {
	t.Parallel()
	s := newSubject(t, testkit.Working(t), 40)
	whole := s.ran(t, failing(10))
	running := s.began(t, false, hiding(50, unsent))
	_, err := s.decide(t, running, thresholds("pass_rate>=0.5"))
	f, ok := fault.From(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "run_not_ended", f.Reason)
	_, err = s.CancelEvaluationRun(t.Context(), s.ID, running.RunID)
	require.NoError(t, err)
	stopped := s.Ended(t, running)
	require.Nil(t, stopped.Statistics.Overall.CI, "a client chose the order")
	require.Empty(t, stopped.Statistics.Gates)

	d := s.decided(t, stopped, thresholds("pass_rate>=0.5"))
	require.Equal(t, "INCONCLUSIVE", d.Verdict)
	require.Equal(t, "not_checked", d.Rulings[0].Reason)
	require.Contains(t, *d.Problem, "is cancelled, not completed")
	c, err := s.CompareRuns(t.Context(), s.ID, whole.RunID, stopped.RunID, "")
	require.NoError(t, err)
	require.False(t, c.Comparable)
	_, err = s.UpdateEvaluation(t.Context(), s.ID, map[string]any{"baselineRunId": stopped.RunID})
	requireInvalid(t, err, "/baselineRunId")
}

func TestWhatCannotBeAskedIsRefused(t *testing.T) {
	t.Parallel()
	s := newSubject(t, testkit.Working(t), 5)
	r := s.ran(t, failing(0))
	for path, asked := range map[string]map[string]any{
		"/requirements/1": thresholds("pass_rate>=0.5", "pass_rate is fine"),
		"/baseline":       {"requirements": []string{"overall:better"}, "baseline": "passed", "baselineRunId": r.RunID},
		"/baselineRunId":  {"requirements": []string{"overall:better"}, "baselineRunId": r.RunID},
	} {
		_, err := s.decide(t, r, asked)
		requireInvalid(t, err, path)
	}
	for path, asked := range map[string]map[string]any{
		"/margin":        {"requirements": []string{"overall:non_inferior"}},
		"/baselineRunId": {"requirements": []string{"pass_rate>=0.5"}, "baselineRunId": "4711000"},
	} {
		_, err := s.decide(t, r, asked)
		requireInvalid(t, err, path)
	}
}

func TestPlanAndSeries(t *testing.T) {
	t.Parallel()
	s := newSubject(t, testkit.Working(t), 100)
	plan := func() (p testkit.ItemPlan) {
		_, err := s.Call(t.Context(), http.MethodGet, "/api/evaluations/"+s.ID+"/plan?difference=0.05", nil, &p)
		require.NoError(t, err)
		return p
	}
	blind := plan()
	require.True(t, blind.SdAssumed)
	require.Nil(t, blind.RunID)
	require.EqualValues(t, 785, blind.ItemsForThreshold, "half a point of spread, at its worst")
	first := s.ran(t, failing(10))
	require.False(t, plan().SdAssumed)
	require.True(t, plan().PairedSdAssumed)
	second := s.ran(t, func(i int) string { return failing(10)((i + 5) % 100) })
	known := plan()
	require.False(t, known.PairedSdAssumed)
	require.Equal(t, first.RunID, *known.BaselineRunID)
	require.Less(t, known.ItemsForThreshold, blind.ItemsForThreshold)

	third := s.ran(t, failing(20))
	var series testkit.RunSeries
	_, err := s.Call(t.Context(), http.MethodGet, "/api/evaluations/"+s.ID+"/series", nil, &series)
	require.NoError(t, err)
	require.Len(t, series.Runs, 3)
	require.Equal(t, []string{first.RunID, second.RunID, third.RunID}, []string{series.Runs[0].RunID, series.Runs[1].RunID, series.Runs[2].RunID})
	require.InDelta(t, 0.1/math.Sqrt(3), *series.OverallSd.Value, 1e-9)
	require.EqualValues(t, 3, series.OverallSd.N)
}

func requireInvalid(t *testing.T, err error, path string) {
	t.Helper()
	f, ok := fault.From(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, fault.Validation, f.Kind, "%v", f)
	require.Contains(t, fmt.Sprint(f.Details["fields"]), path)
}
