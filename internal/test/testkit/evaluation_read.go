package testkit

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Comparison is how two runs differ, as a client sees it.
type Comparison struct {
	BaselineRunID  string     `json:"baseline_run_id"`
	CandidateRunID string     `json:"candidate_run_id"`
	Confidence     float64    `json:"confidence"`
	Margin         *float64   `json:"margin"`
	Comparable     bool       `json:"comparable"`
	Reasons        []string   `json:"incomparable_reasons"`
	Overall        Compared   `json:"overall"`
	PassRate       Compared   `json:"pass_rate"`
	Metrics        []Compared `json:"metrics"`
	Items          struct {
		Improved      int `json:"improved"`
		Regressed     int `json:"regressed"`
		Unchanged     int `json:"unchanged"`
		Changed       int `json:"changed"`
		OnlyBaseline  int `json:"only_baseline"`
		OnlyCandidate int `json:"only_candidate"`
	} `json:"items"`
	Regressions []struct {
		TestCaseID string     `json:"test_case_id"`
		Delta      float64    `json:"delta"`
		By         string     `json:"by"`
		Baseline   ItemScores `json:"baseline"`
		Candidate  ItemScores `json:"candidate"`
	} `json:"regressions"`
}

// Compared is how two runs differ in one figure.
type Compared struct {
	Name       string          `json:"name"`
	Baseline   *float64        `json:"baseline"`
	Candidate  *float64        `json:"candidate"`
	Delta      *float64        `json:"delta"`
	CILow      *float64        `json:"ci_low"`
	CIHigh     *float64        `json:"ci_high"`
	Verdict    string          `json:"verdict"`
	Statistics stat.Comparison `json:"statistics"`
	Judge      *struct {
		Estimator   string        `json:"estimator"`
		Labels      int           `json:"labels"`
		Raw         stat.Estimate `json:"raw"`
		Attribution string        `json:"attribution"`
	} `json:"judge"`
}

// ItemScores are an item's scores in one run.
type ItemScores struct {
	Overall  *float64            `json:"overall"`
	PassRate float64             `json:"pass_rate"`
	Scores   map[string]*float64 `json:"scores"`
}

// Artifact is a file that a run left behind.
type Artifact struct {
	ID           string         `json:"id"`
	ArtifactID   string         `json:"artifact_id"`
	EvaluationID string         `json:"evaluation_id"`
	RunID        string         `json:"run_id"`
	Kind         string         `json:"kind"`
	Name         string         `json:"name"`
	ContentType  string         `json:"content_type"`
	SizeBytes    int64          `json:"size_bytes"`
	SHA256       string         `json:"sha256"`
	Content      map[string]any `json:"content"`
	DownloadPath string         `json:"download_path"`
	CreatedAt    time.Time      `json:"created_at"`
}

// CompareRuns compares two runs; query may have more parameters, beginning with
// an ampersand.
func (c *Client) CompareRuns(ctx context.Context, evaluation, baseline, candidate, query string) (out Comparison, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/evaluations/"+evaluation+"/runs/compare?baselineRunId="+baseline+"&candidateRunId="+candidate+query, nil, &out)
	return out, err
}

// ListArtifacts reads a page of an evaluation's artifacts.
func (c *Client) ListArtifacts(ctx context.Context, evaluation, query string) (out []Artifact, total int, err error) {
	var page struct {
		Artifacts []Artifact `json:"artifacts"`
		Total     int        `json:"total"`
	}
	_, err = c.Call(ctx, http.MethodGet, "/api/evaluations/"+evaluation+"/artifacts?includeTotal=true&"+query, nil, &page)
	return page.Artifacts, page.Total, err
}

// GetArtifact reads an artifact.
func (c *Client) GetArtifact(ctx context.Context, evaluation, id string) (out Artifact, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/evaluations/"+evaluation+"/artifacts/"+id, nil, &out)
	return out, err
}

// Artifacts waits for the artifacts of a run and returns them by name. The
// report is the last to be written.
func (c *Client) Artifacts(t testing.TB, r Run) map[string]Artifact {
	t.Helper()
	all := map[string]Artifact{}
	// They are written in other processes; the interface is the only place to see them.
	require.Eventually(t, func() bool {
		page, _, err := c.ListArtifacts(t.Context(), r.EvaluationID, "runId="+r.RunID)
		for _, a := range page {
			all[a.Name] = a
		}
		return err == nil && all["report.html"].Name != ""
	}, 10*time.Minute, 50*time.Millisecond)
	return all
}

// Content downloads an artifact.
func (c *Client) Content(t testing.TB, a Artifact) *Response {
	t.Helper()
	res, err := c.Send(t.Context(), http.MethodGet, a.DownloadPath, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.Status, "%s", res.Body)
	return res
}
