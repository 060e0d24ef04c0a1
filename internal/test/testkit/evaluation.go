package testkit

import (
	"context"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
)

type (
	// Evaluation is an evaluation.
	Evaluation = api.Evaluation
	// Run is a run of an evaluation.
	Run = api.Run
	// Progress is how far a run is.
	Progress = api.RunProgress
	// Result is one result of a run.
	Result = api.Result
)

// Evaluation makes an evaluation of a dataset from a partial body.
func (c *Client) Evaluation(t testing.TB, dataset string, seed map[string]any) Evaluation {
	t.Helper()
	body := map[string]any{"name": "evaluation " + random(), "datasetId": dataset, "metrics": []string{"exact_match"}}
	maps.Copy(body, seed)
	e, err := c.CreateEvaluation(t.Context(), body)
	require.NoError(t, err)
	return e
}

// StartRun starts a run; body may be nil.
func (c *Client) StartRun(ctx context.Context, evaluation string, body map[string]any, opts ...Option) (Run, error) {
	if body == nil {
		body = map[string]any{}
	}
	return c.StartEvaluationRun(ctx, evaluation, body, opts...)
}

// PutResults sends results to a run that waits for them.
func (c *Client) PutResults(ctx context.Context, evaluation, run string, results []map[string]any, final bool) error {
	_, err := c.AddEvaluationRunResults(ctx, evaluation, run, map[string]any{"results": results, "final": final})
	return err
}

// Ended waits until a run has ended and has its figures.
func (c *Client) Ended(t testing.TB, r Run) (out Run) {
	t.Helper()
	// The run ends in other processes; the interface is the only place to see it.
	require.Eventually(t, func() bool {
		var err error
		out, err = c.GetEvaluationRun(t.Context(), r.EvaluationID, r.RunID)
		return err == nil && out.Status != "running" && out.Statistics != nil
	}, 10*time.Minute, 50*time.Millisecond)
	return out
}

// CompareRuns compares two runs; query may have more parameters, beginning with
// an ampersand.
func (c *Client) CompareRuns(ctx context.Context, evaluation, baseline, candidate, query string) (api.Comparison, error) {
	return c.CompareEvaluationRuns(ctx, evaluation, "baselineRunId="+baseline+"&candidateRunId="+candidate+query)
}

// Artifacts waits for the artifacts of a run and returns them by name. The
// report is the last to be written.
func (c *Client) Artifacts(t testing.TB, r Run) map[string]api.Artifact {
	t.Helper()
	all := map[string]api.Artifact{}
	// They are written in other processes; the interface is the only place to see them.
	require.Eventually(t, func() bool {
		page, err := c.ListEvaluationArtifacts(t.Context(), r.EvaluationID, "runId="+r.RunID)
		for _, a := range page.Artifacts {
			all[a.Name] = a
		}
		return err == nil && all["report.html"].Name != ""
	}, 10*time.Minute, 50*time.Millisecond)
	return all
}

// Content downloads an artifact.
func (c *Client) Content(t testing.TB, a api.Artifact) *Response {
	t.Helper()
	res, err := c.Send(t.Context(), http.MethodGet, a.DownloadPath, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.Status, "%s", res.Body)
	return res
}
