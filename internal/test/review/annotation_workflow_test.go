package review_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestADeletedTaskIsRemovedForGood(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its worker starts later")
	c, ctx := k.Org(t), t.Context()
	who := people(t, c, 3)
	kept := c.AnnotationTask(t, 3, map[string]any{"type": "classification"})
	task := c.AnnotationTask(t, 600, map[string]any{"type": "classification", "annotatorsPerItem": 3}) // more than one batch
	next, err := who[0].TakeAnnotationItem(ctx, task.ID, nil)
	require.NoError(t, err)
	item := next.Item.ID
	submitted, err := who[0].Answer(ctx, task.ID, item, map[string]any{"label": "good"})
	require.NoError(t, err)
	_, err = who[0].UpdateAnnotation(ctx, submitted.ID, map[string]any{"label": "better"})
	require.NoError(t, err)
	_, err = who[1].CreateAnnotation(ctx, map[string]any{"taskId": task.ID, "itemId": item, "label": "perhaps", "status": "draft"})
	require.NoError(t, err)
	_, err = who[2].UpdateAnnotationItem(ctx, task.ID, map[string]any{"itemId": item, "status": "skipped", "reason": "No idea"})
	require.NoError(t, err)
	_, err = who[1].TakeAnnotationItem(ctx, task.ID, nil)
	require.NoError(t, err)

	conn := k.Owner(t, c.Org)
	left := func() (n int) {
		require.NoError(t, conn.QueryRow(ctx, `
			SELECT (SELECT count(*) FROM annotation_tasks WHERE id = $1) + (SELECT count(*) FROM annotation_items WHERE task_id = $1)
			     + (SELECT count(*) FROM annotation_places WHERE task_id = $1) + (SELECT count(*) FROM annotation_leases WHERE task_id = $1)
			     + (SELECT count(*) FROM annotation_skips WHERE item_id = $2) + (SELECT count(*) FROM annotations WHERE task_id = $1)
			     + (SELECT count(*) FROM outbox WHERE topic = 'annotation_task.deleted')`, task.ID, item).Scan(&n))
		return n
	}
	before := left()
	require.Greater(t, before, 603)
	_, err = c.Send(ctx, "DELETE", fmt.Sprint("/api/annotations/tasks/", task.ID), nil)
	require.NoError(t, err)

	k.Work(t)
	require.Eventually(t, func() bool { return left() == 1 }, 10*time.Minute, 50*time.Millisecond, "what was submitted is left, and nothing else")
	got, err := who[0].GetAnnotation(ctx, submitted.ID)
	require.NoError(t, err)
	require.Equal(t, "better", *got.Label)
	require.Len(t, got.Revisions, 1)
	items, err := c.ListAnnotationItems(ctx, kept.ID, "")
	require.NoError(t, err)
	require.Len(t, items.Items, 3, "its neighbour is untouched")
}
