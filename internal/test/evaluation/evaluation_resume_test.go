package evaluation_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/test/testkit"
)

// fickle is an application that answers some requests and then is down, until it is
// mended.
type fickle struct {
	mu       sync.Mutex
	answers  int // before it is down
	mended   bool
	answered map[string]int // requests that it answered, by item
}

func (f *fickle) serve(t testing.TB) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		a := read(t, r)
		if f.answers == 0 && !f.mended {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		f.answers = max(0, f.answers-1)
		f.answered[a.TestCaseID]++
		_, _ = fmt.Fprint(w, `{"output":"answer 0","usage":{"cost_usd":0.01}}`)
	}
}

func TestARunGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c, them := k.Org(t), k.Org(t)
	app := &fickle{answers: 40, answered: map[string]int{}}
	d := filled(t, c, cases(90))
	e := c.Evaluation(t, d.ID, map[string]any{"target": application(t, app.serve(t))})
	broken := ran(t, c, e.ID, map[string]any{"concurrency": 4, "sampleSize": 80, "metadata": map[string]any{"branch": "main"}})
	require.Equal(t, "failed", broken.Status)
	require.Equal(t, "target_unreachable", broken.Error.Code)
	require.Len(t, app.answered, 40)
	_, err := c.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "an item that came later"}})
	require.NoError(t, err)
	app.mended = true

	// 40 items are left: what the first run has paid is not paid again, and does not
	// count.
	whole := ran(t, c, e.ID, map[string]any{"resumeRunId": broken.RunID, "budgetUsd": 0.45})

	require.Equal(t, "completed", whole.Status, "%+v", whole.Error)
	require.Equal(t, broken.RunID, api.Value(whole.ResumesRunID))
	require.Equal(t, []any{broken.Seed, broken.DatasetVersion, api.Value(broken.ConfigDigest)}, []any{whole.Seed, whole.DatasetVersion, api.Value(whole.ConfigDigest)})
	require.Equal(t, []int64{80, 0}, []int64{whole.Items, whole.Errored}, "items that errored are tried again")
	require.InDelta(t, 0.8, whole.CostUSD, 1e-9, "the cost of all answers")
	require.Len(t, app.answered, 80)
	for item, n := range app.answered {
		require.Equal(t, 1, n, "item %s is asked until it answers, and not again", item)
	}
	before, after := results(t, c, broken), results(t, c, whole)
	kept := map[string]testkit.Result{}
	for _, r := range after {
		kept[r.TestCaseID] = r
	}
	for _, r := range before {
		if r.Status != "errored" {
			require.Equal(t, r, kept[r.TestCaseID])
		}
	}
	again, err := c.GetEvaluationRun(t.Context(), e.ID, broken.RunID)
	require.NoError(t, err)
	require.Equal(t, broken, again, "the run that stopped stays as it ended")

	t.Run("what cannot go on is refused", func(t *testing.T) {
		t.Parallel()
		start := func(evaluation string, body map[string]any) error {
			_, err := c.StartRun(t.Context(), evaluation, body)
			return err
		}
		refused(t, start(e.ID, map[string]any{"resumeRunId": whole.RunID}), fault.Conflict, "run_not_resumable")
		other := c.Evaluation(t, d.ID, nil)
		details := refused(t, start(other.ID, map[string]any{"resumeRunId": broken.RunID}), fault.Validation, "invalid_request")
		require.Equal(t, []string{"/resumeRunId"}, paths(t, details))
		details = refused(t, start(e.ID, map[string]any{"resumeRunId": broken.RunID, "seed": 1}), fault.Validation, "invalid_request")
		require.Equal(t, []string{"/resumeRunId"}, paths(t, details))
		theirs := them.Evaluation(t, them.Dataset(t, testkit.NewDataset{}).ID, nil)
		_, err := them.StartRun(t.Context(), theirs.ID, map[string]any{"resumeRunId": broken.RunID})
		refused(t, err, fault.Validation, "invalid_request")
	})
}

// TestAResumedRunAsksAgainForScores has a service refuse three answers, score three, and
// then accept no call at all, until it is mended.
func TestAResumedRunAsksAgainForScores(t *testing.T) {
	t.Parallel()
	c := testkit.Working(t).Org(t)
	var mu sync.Mutex
	mended, calls := false, 0
	asked, scored := map[string]int{}, map[string]int{}
	target := application(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[read(t, r).TestCaseID]++
		_, _ = fmt.Fprint(w, `{"output":"answer 0","usage":{"cost_usd":0.01}}`)
	})
	url := scoring(t, func(w http.ResponseWriter, _ *http.Request, call scoringCall) {
		mu.Lock()
		defer mu.Unlock()
		calls++
		switch one := call.Items[0]; {
		case one.Output != "answer 0":
			t.Errorf("the output is %q", one.Output)
		case !mended && calls <= 3:
			w.WriteHeader(http.StatusBadRequest)
		case !mended && calls > 6:
			w.WriteHeader(http.StatusForbidden)
		default:
			scored[one.TestCaseID]++
			agreeing(w, call)
		}
	})
	e, _ := judged(t, c, 10, map[string]any{"target": target}, map[string]any{"source": "code", "endpoint": map[string]any{"url": url, "batchSize": 1}})
	broken := ran(t, c, e.ID, map[string]any{"concurrency": 1})
	require.Equal(t, "scorer_unreachable", broken.Error.Code)
	require.Len(t, results(t, c, broken), 7)
	mu.Lock()
	require.Len(t, scored, 3)
	mended = true
	mu.Unlock()

	// Three items are left. The seven answers that are kept cost this run nothing.
	whole := ran(t, c, e.ID, map[string]any{"resumeRunId": broken.RunID, "budgetUsd": 0.035})

	require.Equal(t, "completed", whole.Status, "%+v", whole.Error)
	require.EqualValues(t, 10, whole.Statistics.Metrics["my_judge"].N, "every answer has its score")
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, 7+4+3, calls, "four scores are missing, and three answers")
	for _, counted := range []map[string]int{asked, scored} {
		require.Len(t, counted, 10)
		for item, n := range counted {
			require.Equal(t, 1, n, "item %s is answered and scored once", item)
		}
	}
	require.InDelta(t, 0.1, whole.CostUSD, 1e-9, "the cost of all answers")
	for _, r := range results(t, c, whole) {
		require.NotEqual(t, "errored", r.Status)
		require.InDelta(t, 0.01, *r.CostUSD, 1e-12)
	}
}
