package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/client/api"
)

// The statuses of runs; the first is StatusRunning.
const (
	StatusCompleted = "completed"
	StatusFailed    = "failed"
	StatusCancelled = "cancelled"
)

// Run is one run of an evaluation.
type Run struct {
	api.Run
	// Raw is the run as the server wrote it, empty for a run of a list.
	Raw jsontext.Value `json:"-"`
}

// Baseline is the id of the run that it is compared with, empty if there is none.
func (r Run) Baseline() string { return api.Value(r.BaselineRunID) }

type (
	// Statistics are what a run's results amount to.
	Statistics = api.Statistics
	// Estimate is a figure with its interval.
	Estimate = api.Estimate
	// Interval is where the true value of a figure is.
	Interval = api.Interval
	// Missing says which scores are missing, and why.
	Missing = api.MissingScores
	// Progress is how far a run is.
	Progress = api.RunProgress
	// Note is a remark on a run.
	Note = api.RunNote
	// Start is what a run is started with.
	Start = api.StartRun
)

// RunURL is where a run is read.
func (c *Client) RunURL(evaluation, run string) string {
	return c.base + runPath(evaluation, run)
}

// StartRun starts a run. Doing it again with the same idempotency key, which
// must not be empty, starts nothing and returns the same run.
func (c *Client) StartRun(ctx context.Context, evaluation string, s Start, idempotencyKey string) (Run, error) {
	k := c.call()
	r, err := k.StartEvaluationRun(ctx, evaluation, s, func(r *http.Request) { r.Header.Set("Idempotency-Key", idempotencyKey) })
	return c.check(r, k.raw, err)
}

// CancelRun cancels a run; its results so far stay readable.
func (c *Client) CancelRun(ctx context.Context, evaluation, run string) (Run, error) {
	k := c.call()
	r, err := k.CancelEvaluationRun(ctx, evaluation, run)
	return c.check(r, k.raw, err)
}

// Run returns a run.
func (c *Client) Run(ctx context.Context, evaluation, run string) (Run, error) {
	k := c.call()
	r, err := k.GetEvaluationRun(ctx, evaluation, run)
	return c.check(r, k.raw, err)
}

// check refuses JSON that is not a run.
func (c *Client) check(r api.Run, raw jsontext.Value, err error) (Run, error) {
	if err == nil && (r.ID == "" || r.Status == "") {
		err = fmt.Errorf("%s: %w", c.base, errFormat)
	}
	if err != nil {
		return Run{}, err
	}
	return Run{Run: r, Raw: raw}, nil
}

// Progress returns how far a run is.
func (c *Client) Progress(ctx context.Context, evaluation, run string) (Progress, Answer, error) {
	k := c.call()
	p, err := k.GetEvaluationRunProgress(ctx, evaluation, run)
	if err == nil && p.Status == "" {
		err = fmt.Errorf("%s: %w", c.base, errFormat)
	}
	return p, k.answer, err
}

// The words that name a run instead of its id.
const (
	Latest   = "latest"   // the newest run, however it stands
	Previous = "previous" // the newest completed run before another one
	Passed   = "passed"   // the newest run before another one that passed its gate
	Pinned   = "pinned"   // the run that the evaluation is pinned to
)

var measured = regexp.MustCompile(`^(branch|release|tag):.+$`)

// IsBaseline reports whether a text can name a run to compare with.
func IsBaseline(text string) bool {
	return text == Passed || text == Pinned || measured.MatchString(text) || IsRun(text)
}

// IsID reports whether a text is an id.
func IsID(text string) bool { return number.MatchString(text) }

// IsRun reports whether a text can name a run: an id, latest or previous.
func IsRun(text string) bool {
	return text == Latest || text == Previous || number.MatchString(text)
}

// LatestRun returns the newest run of an evaluation. It is not always a
// completed one: a newest run that failed is not hidden by an older success.
func (c *Client) LatestRun(ctx context.Context, e Evaluation) (Run, error) {
	runs, _, err := c.runs(ctx, e.ID, url.Values{"limit": {"1"}})
	if err != nil {
		return Run{}, err
	}
	if len(runs) == 0 {
		return Run{}, mistake("%q has no runs yet: start one with `assay run %s`", plain(e.Name), e.ID)
	}
	return runs[0], nil
}

// PreviousRun returns the newest completed run that began before another one.
func (c *Client) PreviousRun(ctx context.Context, e Evaluation, before Run) (Run, error) {
	q := url.Values{"limit": {"100"}, "status": {StatusCompleted}}
	for {
		runs, next, err := c.runs(ctx, e.ID, q)
		if err != nil {
			return Run{}, err
		}
		for _, r := range runs {
			if r.ID != before.ID && !r.StartedAt.After(before.StartedAt) {
				return r, nil
			}
		}
		if next == "" {
			return Run{}, mistake("%q has no completed run before run %s", plain(e.Name), before.ID)
		}
		q.Set("cursor", next)
	}
}

// runs returns a page of the runs of an evaluation, newest first, and the cursor
// of the next one, which is empty if there is none.
func (c *Client) runs(ctx context.Context, evaluation string, q url.Values) (all []Run, next string, err error) {
	list, err := c.call().ListEvaluationRuns(ctx, evaluation, q)
	if err == nil && list.Runs == nil {
		err = fmt.Errorf("%s: %w", c.base, errFormat)
	}
	if err != nil {
		return nil, "", err
	}
	all = make([]Run, len(list.Runs))
	for i, r := range list.Runs {
		if all[i], err = c.check(r, nil, nil); err != nil {
			return nil, "", err
		}
	}
	if list.NextCursor != nil {
		next = *list.NextCursor
	}
	return all, next, nil
}
