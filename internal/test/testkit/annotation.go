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
	// AnnotationTask is a task of annotators.
	AnnotationTask = api.AnnotationTask
	// AnnotationItem is an item of a task.
	AnnotationItem = api.AnnotationItem
	// Annotation is an answer of an annotator.
	Annotation = api.Annotation
	// AnnotatorQuality is how an annotator works.
	AnnotatorQuality = api.AnnotationQuality
)

// AnnotationTask makes a task with so many items.
func (c *Client) AnnotationTask(t testing.TB, items int, body map[string]any) AnnotationTask {
	t.Helper()
	if body["name"] == nil {
		body["name"] = "Labels " + random()
	}
	task, err := c.CreateAnnotationTask(t.Context(), body)
	require.NoError(t, err)
	var list []map[string]any
	for i := range items {
		list = append(list, map[string]any{"content": fmt.Sprint("item ", i)})
	}
	if items > 0 {
		_, err = c.AddAnnotationItems(t.Context(), task.ID, map[string]any{"items": list})
		require.NoError(t, err)
	}
	task, err = c.GetAnnotationTask(t.Context(), task.ID)
	require.NoError(t, err)
	return task
}

// Answer submits an answer to an item.
func (c *Client) Answer(ctx context.Context, task, item int64, value map[string]any, opts ...Option) (Annotation, error) {
	out, err := c.AddAnnotationItems(ctx, task, map[string]any{"itemId": item, "annotation": value}, opts...)
	return api.Value(out.Annotation), err
}

// AnnotationReport reads the page of a task.
func (c *Client) AnnotationReport(ctx context.Context, task int64) (*Response, error) {
	return c.Call(ctx, http.MethodGet, fmt.Sprintf("/api/annotations/tasks/%d/report", task), nil, nil)
}
