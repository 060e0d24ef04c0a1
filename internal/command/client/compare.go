package client

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/client/api"
)

// Comparison is how a candidate run differs from a baseline run.
type Comparison struct {
	api.Comparison
	// Raw is the comparison as the server wrote it.
	Raw jsontext.Value `json:"-"`
}

// Compared is one figure of both runs. Delta is candidate minus baseline.
type Compared = api.ComparedFigure

// ScoreBy returns the figure of an item that a regression is a difference of:
// overall or pass_rate.
func ScoreBy(by string, s api.ItemScores) *float64 {
	if by == "pass_rate" {
		return &s.PassRate
	}
	return s.Overall
}

// Compare compares two runs of an evaluation that have ended. A margin of zero
// is that of the candidate's request, if it has one.
func (c *Client) Compare(ctx context.Context, evaluation, baseline, candidate string, margin float64) (Comparison, error) {
	q := url.Values{"baselineRunId": {baseline}, "candidateRunId": {candidate}}
	if margin > 0 {
		q.Set("margin", strconv.FormatFloat(margin, 'f', -1, 64))
	}
	k := c.call()
	out, err := k.CompareEvaluationRuns(ctx, evaluation, q)
	if err == nil && out.CandidateRunID == "" {
		err = fmt.Errorf("%s: %w", c.base, errFormat)
	}
	if err != nil {
		return Comparison{}, err
	}
	return Comparison{Comparison: out, Raw: k.raw}, nil
}

// Figures are the pass rate, overall and the metrics.
func (c Comparison) Figures() []Compared {
	return append([]Compared{c.PassRate, c.Overall}, c.Metrics...)
}
