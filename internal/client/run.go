package client

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The statuses of runs; the first is StatusRunning.
const (
	StatusCompleted = "completed"
	StatusFailed    = "failed"
	StatusCancelled = "cancelled"
)

// Run is one run of an evaluation.
type Run struct {
	ID             string      `json:"run_id"`
	EvaluationID   string      `json:"evaluation_id"`
	Status         string      `json:"status"`
	Phase          string      `json:"phase"`
	StartedAt      time.Time   `json:"started_at"`
	CompletedAt    time.Time   `json:"completed_at"`
	Items          int         `json:"items"`
	Passed         int         `json:"passed"`
	Failed         int         `json:"failed"`
	Errored        int         `json:"errored"`
	Skipped        int         `json:"skipped"`
	DatasetVersion *int        `json:"dataset_version"`
	BaselineRunID  string      `json:"baseline_run_id"`
	Seed           *int64      `json:"seed"`
	Repetitions    int         `json:"repetitions"`
	CostUSD        *float64    `json:"cost_usd"`
	Statistics     *Statistics `json:"statistics"`
	Error          *RunError   `json:"error"`

	// Raw is the run as the server wrote it.
	Raw jsontext.Value `json:"-"`
}

// RunError is why a run failed.
type RunError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Statistics are the figures of a run with what is needed to judge them.
type Statistics struct {
	Overall    Estimate            `json:"overall"`
	PassRate   Estimate            `json:"pass_rate"`
	Metrics    map[string]Estimate `json:"metrics"`
	Gates      map[string]Estimate `json:"gates"` // with intervals to decide by
	Resolution *Resolution         `json:"resolution"`
}

// Estimate is a number with how sure it is.
type Estimate struct {
	Value    *float64  `json:"value"`
	SE       *float64  `json:"se"`
	CI       *Interval `json:"ci"`
	N        int       `json:"n"` // scores, of which an item has one for each repetition
	Items    int       `json:"items"`
	Status   string    `json:"status"`
	Method   string    `json:"method"`
	Missing  *Missing  `json:"missing"`
	Warnings []string  `json:"warnings"`
}

// Size is how many items the estimate is from.
func (e Estimate) Size() int {
	if e.Items > 0 {
		return e.Items
	}
	return e.N
}

// Interval is a range of plausible values; an end that is missing is open.
type Interval struct {
	Lower *float64 `json:"lower"`
	Upper *float64 `json:"upper"`
	Level float64  `json:"level"`
	Kind  string   `json:"kind"`
}

// Missing tells of scores that are not there.
type Missing struct {
	Rows  int     `json:"rows"`
	Share float64 `json:"share"`
}

// Resolution says how small a difference the items can show, in a sentence.
type Resolution struct {
	MDE80    float64 `json:"mde80"`
	Sentence string  `json:"sentence"`
}

// Progress is how far a run is.
type Progress struct {
	RunID      string    `json:"run_id"`
	Status     string    `json:"status"`
	Phase      string    `json:"phase"`
	ItemsTotal int       `json:"items_total"`
	ItemsDone  int       `json:"items_done"`
	Passed     int       `json:"passed"`
	Failed     int       `json:"failed"`
	Errored    int       `json:"errored"`
	Percent    float64   `json:"percent"`
	CostUSD    *float64  `json:"cost_usd"`
	Estimate   *Estimate `json:"estimate"`
	StartedAt  time.Time `json:"started_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	ETASeconds *float64  `json:"eta_seconds"`
	Recent     []Note    `json:"recent"`
}

// Note is something that happened in a run.
type Note struct {
	At      time.Time `json:"at"`
	Level   string    `json:"level"` // info, warning or error
	Message string    `json:"message"`
}

// Start is what a run is asked for. Zero values leave it to the evaluation.
type Start struct {
	DatasetVersion int      `json:"datasetVersion,omitzero"`
	BaselineRunID  string   `json:"baselineRunId,omitzero"`
	Baseline       string   `json:"baseline,omitzero"` // Latest or Previous, which the server resolves
	SampleSize     int      `json:"sampleSize,omitzero"`
	Seed           *int64   `json:"seed,omitzero"`
	Repetitions    int      `json:"repetitions,omitzero"`
	Concurrency    int      `json:"concurrency,omitzero"`
	BudgetUSD      *float64 `json:"budgetUsd,omitzero"`
}

func runPath(evaluation, run string) string {
	return "/api/evaluations/" + url.PathEscape(evaluation) + "/runs/" + url.PathEscape(run)
}

// RunURL is where a run is read.
func (c *Client) RunURL(evaluation, run string) string { return c.base + runPath(evaluation, run) }

// StartRun starts a run. Doing it again with the same idempotency key, which
// must not be empty, starts nothing and returns the same run.
func (c *Client) StartRun(ctx context.Context, evaluation string, s Start, idempotencyKey string) (Run, error) {
	return c.postRun(ctx, "/api/evaluations/"+url.PathEscape(evaluation)+"/runs", s, idempotencyKey)
}

// CancelRun cancels a run; its results so far stay readable.
func (c *Client) CancelRun(ctx context.Context, evaluation, run string) (Run, error) {
	return c.postRun(ctx, runPath(evaluation, run)+"/cancel", struct{}{}, "")
}

func (c *Client) postRun(ctx context.Context, path string, body any, idempotencyKey string) (Run, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return Run{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(text))
	if err != nil {
		return Run{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	if idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", idempotencyKey)
	}
	var raw jsontext.Value
	if _, err := c.do(req, &raw); err != nil {
		return Run{}, err
	}
	return c.readRun(raw)
}

// Run returns a run.
func (c *Client) Run(ctx context.Context, evaluation, run string) (Run, error) {
	var raw jsontext.Value
	if _, err := c.get(ctx, runPath(evaluation, run), nil, &raw); err != nil {
		return Run{}, err
	}
	return c.readRun(raw)
}

func (c *Client) readRun(raw jsontext.Value) (Run, error) {
	var r Run
	if err := json.Unmarshal(raw, &r); err != nil || r.ID == "" || r.Status == "" {
		return Run{}, fmt.Errorf("%s: %w", c.base, errFormat)
	}
	r.Raw = raw
	return r, nil
}

// Progress returns how far a run is.
func (c *Client) Progress(ctx context.Context, evaluation, run string) (Progress, Answer, error) {
	var p Progress
	a, err := c.get(ctx, runPath(evaluation, run)+"/progress", nil, &p)
	if err == nil && p.Status == "" {
		err = fmt.Errorf("%s: %w", c.base, errFormat)
	}
	return p, a, err
}

// The words that name a run instead of its id.
const (
	Latest   = "latest"   // the newest run, however it stands
	Previous = "previous" // the newest completed run before another one
)

// IsRun reports whether a text can name a run: an id, latest or previous.
func IsRun(text string) bool {
	return text == Latest || text == Previous || number.MatchString(text)
}

// LatestRun returns the newest run of an evaluation. It is not always a
// completed one: a newest run that failed is not hidden by an older success.
func (c *Client) LatestRun(ctx context.Context, e Evaluation) (Run, error) {
	runs, err := c.runs(ctx, e.ID, "", 1, 0)
	if err != nil {
		return Run{}, err
	}
	if len(runs) == 0 {
		return Run{}, fmt.Errorf("%q has no runs yet: start one with `assay run %s`", plain(e.Name), e.ID)
	}
	return runs[0], nil
}

// PreviousRun returns the newest completed run that began before another one.
func (c *Client) PreviousRun(ctx context.Context, e Evaluation, before Run) (Run, error) {
	const page = 100
	for offset := 0; ; offset += page {
		runs, err := c.runs(ctx, e.ID, StatusCompleted, page, offset)
		if err != nil {
			return Run{}, err
		}
		for _, r := range runs {
			if r.ID != before.ID && !r.StartedAt.After(before.StartedAt) {
				return r, nil
			}
		}
		if len(runs) < page {
			return Run{}, fmt.Errorf("%q has no completed run before run %s", plain(e.Name), before.ID)
		}
	}
}

// runs returns a page of the runs of an evaluation, newest first.
func (c *Client) runs(ctx context.Context, evaluation, status string, limit, offset int) ([]Run, error) {
	var body struct {
		Runs []jsontext.Value `json:"runs"`
	}
	q := url.Values{"limit": {strconv.Itoa(limit)}, "offset": {strconv.Itoa(offset)}}
	if status != "" {
		q.Set("status", status)
	}
	if _, err := c.get(ctx, "/api/evaluations/"+url.PathEscape(evaluation)+"/runs", q, &body); err != nil {
		return nil, err
	}
	if body.Runs == nil {
		return nil, fmt.Errorf("%s: %w", c.base, errFormat)
	}
	all := make([]Run, len(body.Runs))
	for i, raw := range body.Runs {
		var err error
		if all[i], err = c.readRun(raw); err != nil {
			return nil, err
		}
	}
	return all, nil
}
