package testkit

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
)

type (
	// AdjudicationItem is an item of the queue.
	AdjudicationItem = api.AdjudicationItem
	// GroundTruth is what is right about an answer.
	GroundTruth = api.GroundTruth
	// Lineage is where an item of a dataset comes from.
	Lineage = api.DatasetItemLineage
)

func adjudication(id int64, action string) string {
	return fmt.Sprintf("/api/adjudication/items/%d%s", id, action)
}

// OpenItem opens an adjudication item.
func (c *Client) OpenItem(ctx context.Context, body map[string]any, opts ...Option) (out AdjudicationItem, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/adjudication/items", body, &out, opts...)
	return out, err
}

// AdjudicationItem reads an item.
func (c *Client) AdjudicationItem(ctx context.Context, id int64) (out AdjudicationItem, err error) {
	_, err = c.Call(ctx, http.MethodGet, adjudication(id, ""), nil, &out)
	return out, err
}

// AdjudicationItems lists the queue.
func (c *Client) AdjudicationItems(ctx context.Context, query string) ([]AdjudicationItem, error) {
	var out api.AdjudicationItemList
	_, err := c.Call(ctx, http.MethodGet, "/api/adjudication/items"+query, nil, &out)
	return out.Items, err
}

// PatchItem changes an adjudication item.
func (c *Client) PatchItem(ctx context.Context, id int64, patch map[string]any, opts ...Option) (out AdjudicationItem, err error) {
	_, err = c.Call(ctx, http.MethodPatch, adjudication(id, ""), patch, &out, opts...)
	return out, err
}

// AssignItem assigns an adjudication item; nil releases it.
func (c *Client) AssignItem(ctx context.Context, id int64, user any, opts ...Option) (out AdjudicationItem, err error) {
	_, err = c.Call(ctx, http.MethodPost, adjudication(id, "/assign"), map[string]any{"assigneeId": user}, &out, opts...)
	return out, err
}

// DecideItem decides an adjudication item.
func (c *Client) DecideItem(ctx context.Context, id int64, body map[string]any, opts ...Option) (out AdjudicationItem, err error) {
	_, err = c.Call(ctx, http.MethodPost, adjudication(id, "/decision"), body, &out, opts...)
	return out, err
}

// StateTruth creates ground truth.
func (c *Client) StateTruth(ctx context.Context, id int64, body map[string]any, opts ...Option) (out GroundTruth, err error) {
	_, err = c.Call(ctx, http.MethodPost, adjudication(id, "/ground-truth"), body, &out, opts...)
	return out, err
}

// GroundTruth reads ground truth.
func (c *Client) GroundTruth(ctx context.Context, id int64) (out GroundTruth, err error) {
	_, err = c.Call(ctx, http.MethodGet, fmt.Sprintf("/api/adjudication/ground-truths/%d", id), nil, &out)
	return out, err
}

// Calibrate adds ground truth to a calibration dataset.
func (c *Client) Calibrate(ctx context.Context, id int64, body map[string]any, opts ...Option) (out AdjudicationItem, err error) {
	_, err = c.Call(ctx, http.MethodPost, adjudication(id, "/add-to-calibration"), body, &out, opts...)
	return out, err
}

// Promote adds ground truth to a golden dataset.
func (c *Client) Promote(ctx context.Context, id int64, body map[string]any, opts ...Option) (out AdjudicationItem, err error) {
	_, err = c.Call(ctx, http.MethodPost, adjudication(id, "/promote-to-golden"), body, &out, opts...)
	return out, err
}

// QueueSummary reads how the queue stands.
func (c *Client) QueueSummary(ctx context.Context) (out api.AdjudicationQueueSummary, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/adjudication/queue-summary", nil, &out)
	return out, err
}

// Lineage reads where an item of a dataset comes from.
func (c *Client) Lineage(ctx context.Context, dataset, item string) (out Lineage, err error) {
	_, err = c.Call(ctx, http.MethodGet, "/api/datasets/"+dataset+"/items/"+item+"/lineage", nil, &out)
	return out, err
}

// AnsweredTrace sends a trace with an input and an output, and returns its id.
func (c *Client) AnsweredTrace(t testing.TB, input, output any) string {
	t.Helper()
	made, err := c.CreateTrace(t.Context(), map[string]any{"name": "answer", "input": input, "output": output})
	require.NoError(t, err)
	return made.ID
}
