package client

import (
	"context"
	"fmt"
	"net/url"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/client/api"
)

// Result is what became of one item of a run. What went in, came out and was
// expected is as the server wrote it.
type Result struct {
	api.Result
	Input    jsontext.Value `json:"input"`
	Output   jsontext.Value `json:"output"`
	Expected jsontext.Value `json:"expected_output"`
}

// Results is one page of the results of a run.
type Results struct {
	Results []Result `json:"results"`
	HasMore bool     `json:"has_more"`
	Total   *int64   `json:"total"`
	// Raw is the page as the server wrote it.
	Raw jsontext.Value `json:"-"`
}

// Results returns one page of the results of a run that a query asks for.
func (c *Client) Results(ctx context.Context, evaluation, run string, q url.Values) (Results, error) {
	var raw jsontext.Value
	var out Results
	_, err := c.get(ctx, runPath(evaluation, run)+"/results", q, &raw)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil || out.Results == nil {
		return out, fmt.Errorf("%s: %w", c.base, errFormat)
	}
	out.Raw = raw
	return out, nil
}

func runPath(evaluation, run string) string {
	return "/api/evaluations/" + url.PathEscape(evaluation) + "/runs/" + url.PathEscape(run)
}
