package evaluation_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/test/testkit"
)

// application serves a target and returns its description.
func application(t testing.TB, h http.HandlerFunc) map[string]any {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return map[string]any{"type": "http", "url": srv.URL}
}

// executing waits until a run has begun.
func executing(t testing.TB, c *testkit.Client, r testkit.Run) testkit.Run {
	t.Helper()
	// A worker moves the run; the interface is the only place to see it.
	require.Eventually(t, func() bool {
		now, err := c.GetEvaluationRun(t.Context(), r.EvaluationID, r.RunID)
		r = now
		return err == nil && now.Phase == "executing"
	}, 10*time.Minute, 20*time.Millisecond)
	return r
}

// started starts a run.
func started(t testing.TB, c *testkit.Client, evaluation string, body map[string]any) testkit.Run {
	t.Helper()
	r, err := c.StartRun(t.Context(), evaluation, body)
	require.NoError(t, err)
	return r
}

// ran starts a run and waits until it has ended.
func ran(t testing.TB, c *testkit.Client, evaluation string, body map[string]any) testkit.Run {
	t.Helper()
	return c.Ended(t, started(t, c, evaluation, body))
}

// results are all results of a run.
func results(t testing.TB, c *testkit.Client, r testkit.Run) []testkit.Result {
	t.Helper()
	page, err := c.ListEvaluationRunResults(t.Context(), r.EvaluationID, r.RunID, "includeTotal=true&limit=100")
	require.NoError(t, err)
	require.False(t, page.HasMore)
	return page.Results
}

// refused checks the kind and the reason of a refusal, and returns its details.
func refused(t testing.TB, err error, kind fault.Kind, reason string) map[string]any {
	t.Helper()
	f, ok := fault.From(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, kind, f.Kind, "%v", f)
	require.Equal(t, reason, f.Reason)
	return f.Details
}

// paths are the places of a refusal's violations.
func paths(t testing.TB, details map[string]any) (out []string) {
	t.Helper()
	list, _ := details["fields"].([]any)
	for _, f := range list {
		m, ok := f.(map[string]any)
		require.True(t, ok)
		path, _ := m["path"].(string)
		out = append(out, path)
	}
	return out
}

// wake lets a run that waits for its client look again.
func wake(t testing.TB, k *testkit.Kit, c *testkit.Client, r testkit.Run) {
	t.Helper()
	engine, err := temporal.Open(k.App.Config.Temporal, nil)
	require.NoError(t, err)
	t.Cleanup(engine.Close)
	require.NoError(t, engine.Signal(t.Context(), workflowOf(t, c, r), "final"))
}

// workflowOf is the id of a run's workflow.
func workflowOf(t testing.TB, c *testkit.Client, r testkit.Run) string {
	t.Helper()
	id, err := strconv.ParseInt(r.RunID, 10, 64)
	require.NoError(t, err)
	return evaluation.Ticket{Org: c.Org, Run: id}.WorkflowID()
}

// number is the number of an id.
func number(t testing.TB, id string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(id, 10, 64)
	require.NoError(t, err)
	return n
}

// escape makes a query of a readable one.
func escape(query string) string {
	return strings.NewReplacer(" ", "%20", "search=%", "search=%25").Replace(query)
}

// width is that of an estimate's interval.
func width(e api.Estimate) float64 { return *e.CI.Upper - *e.CI.Lower }

// hang answers a request never; it returns when the caller has gone, which is
// noticed once its request is read.
func hang(t testing.TB, r *http.Request) {
	t.Helper()
	read(t, r)
	<-r.Context().Done()
}
