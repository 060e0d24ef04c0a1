package testkit

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Evaluation is an evaluation as a client sees it.
type Evaluation struct {
	ID             string             `json:"id,omitzero"`
	Name           string             `json:"name,omitzero"`
	Description    string             `json:"description,omitzero"`
	Status         string             `json:"status,omitzero"`
	Archived       bool               `json:"archived,omitzero"`
	Overall        *float64           `json:"overall,omitzero"`
	Metrics        map[string]float64 `json:"metrics,omitzero"`
	MetricNames    []string           `json:"metric_names,omitzero"`
	Items          int                `json:"items,omitzero"`
	Passed         int                `json:"passed,omitzero"`
	Failed         int                `json:"failed,omitzero"`
	DatasetID      string             `json:"dataset_id,omitzero"`
	DatasetVersion *int               `json:"dataset_version,omitzero"`
	Target         map[string]any     `json:"target,omitzero"`
	JudgeConfigIDs []int64            `json:"judge_config_ids,omitzero"`
	PassRule       map[string]any     `json:"pass_rule,omitzero"`
	Tags           []string           `json:"tags,omitzero"`
	Metadata       map[string]any     `json:"metadata,omitzero"`
	BaselineRunID  string             `json:"baseline_run_id,omitzero"`
	LatestRunID    *string            `json:"latest_run_id,omitzero"`
	Statistics     *Statistics        `json:"statistics,omitzero"`
	CreatedBy      httpapi.Actor      `json:"created_by,omitzero"`
	Version        int64              `json:"version,omitzero"`
	Warnings       []Warning          `json:"warnings,omitzero"`
}

// Warning is one of an evaluation's.
type Warning struct {
	Code    string `json:"code"`
	Subject string `json:"subject"`
	Message string `json:"message"`
}

// Statistics are figures with what is needed to judge them.
type Statistics struct {
	Overall  stat.Estimate            `json:"overall"`
	PassRate stat.Estimate            `json:"pass_rate"`
	Metrics  map[string]stat.Estimate `json:"metrics"`
	Gates    map[string]stat.Estimate `json:"gates"`
	// Corrected are the means of judges with what people make of them.
	Corrected map[string]CorrectedMean `json:"corrected"`
}

// Run is a run as a client sees it.
type Run struct {
	ID             string             `json:"id"`
	RunID          string             `json:"run_id"`
	EvaluationID   string             `json:"evaluation_id"`
	Status         string             `json:"status"`
	Phase          string             `json:"phase"`
	StartedAt      time.Time          `json:"started_at"`
	CompletedAt    *time.Time         `json:"completed_at"`
	Overall        *float64           `json:"overall"`
	Metrics        map[string]float64 `json:"metrics"`
	Items          int                `json:"items"`
	Passed         int                `json:"passed"`
	Failed         int                `json:"failed"`
	Errored        int                `json:"errored"`
	Skipped        int                `json:"skipped"`
	DatasetVersion *int               `json:"dataset_version"`
	BaselineRunID  string             `json:"baseline_run_id"`
	ResumesRunID   string             `json:"resumes_run_id"`
	Seed           *int64             `json:"seed"`
	Repetitions    int                `json:"repetitions"`
	ConfigDigest   string             `json:"config_digest"`
	CostUSD        float64            `json:"cost_usd"`
	Calls          int64              `json:"calls"`
	Usage          TokenUsage         `json:"usage"`
	CreatedBy      httpapi.Actor      `json:"created_by"`
	Statistics     *Statistics        `json:"statistics"`
	Verdict        string             `json:"verdict"`
	Error          *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// Progress is how far a run is.
type Progress struct {
	Status     string         `json:"status"`
	Phase      string         `json:"phase"`
	ItemsTotal int            `json:"items_total"`
	ItemsDone  int            `json:"items_done"`
	Passed     int            `json:"passed"`
	Failed     int            `json:"failed"`
	Errored    int            `json:"errored"`
	Percent    float64        `json:"percent"`
	Estimate   *stat.Estimate `json:"estimate"`
	Recent     []struct {
		Level   string `json:"level"`
		Message string `json:"message"`
	} `json:"recent"`
}

// Result is one result of a run.
type Result struct {
	TestCaseID     string              `json:"test_case_id"`
	Epoch          int                 `json:"epoch"`
	Status         string              `json:"status"`
	Input          any                 `json:"input"`
	ExpectedOutput any                 `json:"expected_output"`
	Output         any                 `json:"output"`
	Scores         map[string]*float64 `json:"scores"`
	Overall        *float64            `json:"overall"`
	DurationMS     *float64            `json:"duration_ms"`
	CostUSD        *float64            `json:"cost_usd"`
	Calls          int                 `json:"calls"`
	OTelTraceID    string              `json:"otel_trace_id"`
	Explanations   []struct {
		Metric string `json:"metric"`
		Text   string `json:"text"`
		Reason string `json:"reason"`
	} `json:"explanations"`
	Attempts []struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"attempts"`
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// ResultPage is a page of results.
type ResultPage struct {
	Results    []Result `json:"results"`
	HasMore    bool     `json:"has_more"`
	NextCursor string   `json:"next_cursor"`
	Total      int      `json:"total"`
}

// Evaluation makes an evaluation of a dataset from a partial body.
func (c *Client) Evaluation(t testing.TB, dataset string, seed map[string]any) Evaluation {
	t.Helper()
	body := map[string]any{"name": "evaluation " + random(), "datasetId": dataset, "metrics": []string{"exact_match"}}
	for k, v := range seed {
		body[k] = v
	}
	e, err := c.CreateEvaluation(t.Context(), body)
	require.NoError(t, err)
	return e
}

// CreateEvaluation makes an evaluation.
func (c *Client) CreateEvaluation(ctx context.Context, body map[string]any, opts ...Option) (out Evaluation, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/evaluations", body, &out, opts...)
	return out, err
}

// GetEvaluation reads an evaluation.
func (c *Client) GetEvaluation(ctx context.Context, id string) (out Evaluation, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/evaluations/"+id, nil, &out)
	return out, err
}

// UpdateEvaluation changes an evaluation.
func (c *Client) UpdateEvaluation(ctx context.Context, id string, patch map[string]any, opts ...Option) (out Evaluation, err error) {
	_, err = c.Call(ctx, http.MethodPatch, "/api/evaluations/"+id, patch, &out, opts...)
	return out, err
}

// ArchiveEvaluation archives an evaluation.
func (c *Client) ArchiveEvaluation(ctx context.Context, id string) (Evaluation, error) {
	return c.UpdateEvaluation(ctx, id, map[string]any{"archived": true})
}

// DeleteEvaluation deletes an evaluation.
func (c *Client) DeleteEvaluation(ctx context.Context, id string) error {
	_, err := c.Call(ctx, http.MethodDelete, "/api/evaluations/"+id, nil, nil)
	return err
}

// ListEvaluations reads a page of evaluations.
func (c *Client) ListEvaluations(ctx context.Context, query string) (out []Evaluation, total int, err error) {
	var page struct {
		Evaluations []Evaluation `json:"evaluations"`
		Total       int          `json:"total"`
	}
	_, err = c.Call(ctx, http.MethodGet, "/api/evaluations?"+query, nil, &page)
	return page.Evaluations, page.Total, err
}

// StartRun starts a run; body may be nil.
func (c *Client) StartRun(ctx context.Context, evaluation string, body map[string]any, opts ...Option) (out Run, err error) {
	if body == nil {
		body = map[string]any{}
	}
	_, err = c.Call(ctx, http.MethodPost, "/api/evaluations/"+evaluation+"/runs", body, &out, opts...)
	return out, err
}

// GetRun reads a run.
func (c *Client) GetRun(ctx context.Context, evaluation, run string) (out Run, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/evaluations/"+evaluation+"/runs/"+run, nil, &out)
	return out, err
}

// Runs reads a page of an evaluation's runs.
func (c *Client) Runs(ctx context.Context, evaluation, query string) ([]Run, error) {
	var page struct {
		Runs []Run `json:"runs"`
	}
	_, err := c.Call(ctx, http.MethodGet, "/api/evaluations/"+evaluation+"/runs?"+query, nil, &page)
	return page.Runs, err
}

// CancelRun cancels a run.
func (c *Client) CancelRun(ctx context.Context, evaluation, run string) (out Run, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/evaluations/"+evaluation+"/runs/"+run+"/cancel", nil, &out)
	return out, err
}

// RunProgress reads how far a run is.
func (c *Client) RunProgress(ctx context.Context, evaluation, run string) (out Progress, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/evaluations/"+evaluation+"/runs/"+run+"/progress", nil, &out)
	return out, err
}

// Results reads a page of a run's results.
func (c *Client) Results(ctx context.Context, evaluation, run, query string) (out ResultPage, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/evaluations/"+evaluation+"/runs/"+run+"/results?includeTotal=true&"+query, nil, &out)
	return out, err
}

// PutResults sends results to a run that waits for them.
func (c *Client) PutResults(ctx context.Context, evaluation, run string, results []map[string]any, final bool) error {
	_, err := c.Call(ctx, http.MethodPost, "/api/evaluations/"+evaluation+"/runs/"+run+"/results", map[string]any{"results": results, "final": final}, nil)
	return err
}

// Ended waits until a run has ended and has its figures.
func (c *Client) Ended(t testing.TB, r Run) (out Run) {
	t.Helper()
	// The run ends in other processes; the interface is the only place to see it.
	require.Eventually(t, func() bool {
		var err error
		out, err = c.GetRun(t.Context(), r.EvaluationID, r.RunID)
		return err == nil && out.Status != "running" && out.Statistics != nil
	}, 10*time.Minute, 50*time.Millisecond)
	return out
}
