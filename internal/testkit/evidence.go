package testkit

import (
	"context"
	"fmt"
	"net/http"
)

const evidence = "/api/agent-evidence"

// Evidence is a record of evidence as the interface shows it: which fields it has
// depends on its kind.
type Evidence map[string]any

// ID of the record.
func (e Evidence) ID() int64 {
	id, _ := e["id"].(float64)
	return int64(id)
}

// Ingested is what became of the events of an envelope.
type Ingested struct {
	Received       int            `json:"received"`
	Accepted       int            `json:"accepted"`
	Duplicates     int            `json:"duplicates"`
	Unmapped       int            `json:"unmapped"`
	Rejected       int            `json:"rejected"`
	DryRun         bool           `json:"dry_run"`
	RecordsCreated map[string]int `json:"records_created"`
	Results        []EventResult  `json:"results"`
}

// EventResult is what became of an event.
type EventResult struct {
	Index      int    `json:"index"`
	ID         string `json:"id"`
	Status     string `json:"status"`
	RawEventID *int64 `json:"raw_event_id"`
	Records    []struct {
		Resource string `json:"resource"`
		ID       int64  `json:"id"`
	} `json:"records"`
	Errors []struct {
		Path string `json:"path"`
		Code string `json:"code"`
	} `json:"errors"`
	Warnings []string `json:"warnings"`
}

// PostEvidence reports a record of a kind.
func (c *Client) PostEvidence(ctx context.Context, kind string, body any, opts ...Option) (out Evidence, err error) {
	_, err = c.Call(ctx, http.MethodPost, evidence+"/"+kind, body, &out, opts...)
	return out, err
}

// GetEvidence reads a record.
func (c *Client) GetEvidence(ctx context.Context, kind string, id int64) (out Evidence, err error) {
	_, err = c.Call(ctx, http.MethodGet, fmt.Sprintf("%s/%s/%d", evidence, kind, id), nil, &out)
	return out, err
}

// UpdateEvidence changes a record.
func (c *Client) UpdateEvidence(ctx context.Context, kind string, id int64, body any, opts ...Option) (out Evidence, err error) {
	_, err = c.Call(ctx, http.MethodPatch, fmt.Sprintf("%s/%s/%d", evidence, kind, id), body, &out, opts...)
	return out, err
}

// ListEvidence lists records of a kind.
func (c *Client) ListEvidence(ctx context.Context, kind, query string) (records []Evidence, next *string, err error) {
	var out struct {
		Records    []Evidence `json:"records"`
		NextCursor *string    `json:"next_cursor"`
	}
	_, err = c.Call(ctx, http.MethodGet, evidence+"/"+kind+query, nil, &out)
	return out.Records, out.NextCursor, err
}

// Ingest sends an envelope.
func (c *Client) Ingest(ctx context.Context, body any, opts ...Option) (out Ingested, err error) {
	_, err = c.Call(ctx, http.MethodPost, evidence+"/ingest", body, &out, opts...)
	return out, err
}
