package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// reportPatience is how long the report of a run that has just ended is waited
// for. It is written after the figures.
const reportPatience = 30 * time.Second

// Report returns the report of a run that has ended, a web page that needs
// nothing else.
func (c *Client) Report(ctx context.Context, evaluation string, r Run) ([]byte, error) {
	if r.Status == StatusRunning {
		return nil, mistake("run %s is still in progress: its report is written when it ends; `assay runs attach %s %s` waits for that", r.ID, evaluation, r.ID)
	}
	limited, cancel := context.WithTimeout(ctx, reportPatience)
	defer cancel()
	for {
		list, err := c.call().ListEvaluationArtifacts(ctx, evaluation, url.Values{"runId": {r.ID}, "kind": {"report"}})
		if err != nil {
			return nil, err
		}
		if len(list.Artifacts) > 0 {
			return c.download(ctx, list.Artifacts[0].DownloadPath)
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
