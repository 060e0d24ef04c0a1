package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// reportPatience is how long the report of a run that has just ended is waited
// for. It is written after the figures.
const reportPatience = 30 * time.Second

// Report returns the report of a run that has ended, a web page that needs
// nothing else.
func (c *Client) Report(ctx context.Context, evaluation string, r Run) ([]byte, error) {
	return c.artifact(ctx, evaluation, r, reportFile)
}

// Slices are the pass rates of a run by what its items have in common.
type Slices struct {
	By     string `json:"by"`
	Hidden int    `json:"hidden"` // slices with too few results
	Note   string `json:"note"`   // why there are no slices
	Slices []struct {
		Name     string   `json:"name"`
		Rate     Estimate `json:"rate"`
		Shrunken *float64 `json:"shrunken"` // the rate drawn towards that of all slices
	} `json:"slices"`
}

// Slices returns the pass rates of a run that has ended by the labels of its items,
// and as the server wrote them.
func (c *Client) Slices(ctx context.Context, evaluation string, r Run) (all []Slices, raw jsontext.Value, err error) {
	raw, err = c.artifact(ctx, evaluation, r, "slices.json")
	if err == nil && json.Unmarshal(raw, &all) != nil {
		err = fmt.Errorf("%s: %w", c.base, errFormat)
	}
	return all, raw, err
}

// reportFile is the file that a run writes last.
const reportFile = "report.html"

// artifact returns a file of a run that has ended.
func (c *Client) artifact(ctx context.Context, evaluation string, r Run, name string) ([]byte, error) {
	if r.Status == StatusRunning {
		return nil, mistake("run %s is still in progress: its report is written when it ends; `assay runs attach %s %s` waits for that", r.ID, evaluation, r.ID)
	}
	limited, cancel := context.WithTimeout(ctx, reportPatience)
	defer cancel()
	for {
		list, err := c.call().ListEvaluationArtifacts(ctx, evaluation, url.Values{"runId": {r.ID}})
		if err != nil {
			return nil, err
		}
		written := false
		for _, a := range list.Artifacts {
			if a.Name == name {
				return c.download(ctx, a.DownloadPath)
			}
			written = written || a.Name == reportFile
		}
		if written {
			return nil, fmt.Errorf("run %s has no %s: it was measured by a version of Assay that did not write it, or before it began; start another run", r.ID, name)
		}
		if sleep(limited, interval) != nil {
			return nil, fmt.Errorf("run %s has no report: it may have ended before it measured anything", r.ID)
		}
	}
}

// download returns the bytes at a path of the server.
func (c *Client) download(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.unanswered(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, c.unanswered(err)
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("the response is larger than %d MiB", maxAnswer>>20)
	case res.StatusCode != http.StatusOK:
		return nil, c.refusal(res, answer(res.Header), body)
	}
	return body, nil
}
