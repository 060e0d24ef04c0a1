package testkit

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
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
type Ingested = api.EvidenceIngestResult

// PostEvidence reports a record of a kind, whose fields are those of the kind.
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
	_, err = c.Call(ctx, http.MethodGet, asking(evidence+"/"+kind, query), nil, &out)
	return out.Records, out.NextCursor, err
}

// Connector registers a connector whose tools have these classes, and approves it as the
// client's person.
func (c *Client) Connector(t testing.TB, key string, classes map[string]string) Evidence {
	t.Helper()
	var tools []any
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		tools = append(tools, map[string]any{"name": name, "side_effect_class": classes[name], "reversibility": "compensable"})
	}
	made, err := c.PostEvidence(t.Context(), "connectors", map[string]any{"connectorKey": key, "type": "mcp_server"})
	require.NoError(t, err)
	_, err = c.UpdateEvidence(t.Context(), "connectors", made.ID(), map[string]any{"state": "under_review", "trustLevel": "reviewed", "tools": tools})
	require.NoError(t, err)
	made, err = c.UpdateEvidence(t.Context(), "connectors", made.ID(), map[string]any{"state": "approved", "override": map[string]any{"justification": "known for years"}})
	require.NoError(t, err)
	return made
}

// Evaluate asks whether an action may be taken.
func (c *Client) Evaluate(ctx context.Context, body any, opts ...Option) (out Evidence, err error) {
	_, err = c.Call(ctx, http.MethodPost, evidence+"/policy/evaluate", body, &out, opts...)
	return out, err
}

// DecideApproval changes an approval.
func (c *Client) DecideApproval(ctx context.Context, id int64, body any, opts ...Option) (out Evidence, err error) {
	_, err = c.Call(ctx, http.MethodPatch, fmt.Sprintf("%s/approvals/%d", evidence, id), body, &out, opts...)
	return out, err
}

// Number is a field that is a number.
func (e Evidence) Number(name string) int64 {
	n, _ := e[name].(float64)
	return int64(n)
}
