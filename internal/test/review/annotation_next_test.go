package review_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

func TestNextHandsOutEachSlotOnce(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), context.WithoutCancel(t.Context())
	const items, overlap, crowd = 12, 2, 6
	task := c.AnnotationTask(t, items, map[string]any{"annotatorsPerItem": overlap})
	who := people(t, c, crowd)

	// Everybody takes and answers until nothing is left for them, all at once.
	var wait sync.WaitGroup
	var lock sync.Mutex
	answered := map[int64]map[int]int{}
	for p, one := range who {
		wait.Go(func() {
			for {
				next, err := one.TakeAnnotationItem(ctx, task.ID, nil)
				if err != nil || next.Item == nil {
					lock.Lock()
					defer lock.Unlock()
					require.NoError(t, err)
					return
				}
				again, err := one.TakeAnnotationItem(ctx, task.ID, nil)
				lock.Lock()
				require.NoError(t, err)
				require.Equal(t, next.Item.ID, again.Item.ID, "who asks again gets the item that they hold")
				lock.Unlock()
				_, err = one.Answer(ctx, task.ID, next.Item.ID, map[string]any{"rating": 3})
				lock.Lock()
				require.NoError(t, err, "a slot that was handed out is theirs")
				if answered[next.Item.ID] == nil {
					answered[next.Item.ID] = map[int]int{}
				}
				answered[next.Item.ID][p]++
				lock.Unlock()
			}
		})
	}
	wait.Wait()
	require.Len(t, answered, items, "no item was passed by")
	for item, by := range answered {
		require.Len(t, by, overlap, "item %d", item)
		for p, n := range by {
			require.Equal(t, 1, n, "item %d by person %d", item, p)
		}
	}
	counts(t, k, c, task.ID)
	done, err := c.GetAnnotationTask(ctx, task.ID)
	require.NoError(t, err)
	require.Equal(t, "completed", done.Status)
	next, err := who[0].TakeAnnotationItem(ctx, task.ID, nil)
	require.NoError(t, err)
	require.Nil(t, next.Item)
	require.Equal(t, "completed", *next.Reason)
}

//nolint:paralleltest // it moves the clock
func TestALeaseExpires(t *testing.T) {
	k := testkit.Moving(t)
	c, ctx := k.Org(t), t.Context()
	task := c.AnnotationTask(t, 1, map[string]any{})
	who := people(t, c, 3)
	first, err := who[0].TakeAnnotationItem(ctx, task.ID, nil)
	require.NoError(t, err)
	require.Equal(t, "in_progress", first.Item.Status)
	require.NotNil(t, first.Item.LockExpiresAt)
	none, err := who[1].TakeAnnotationItem(ctx, task.ID, nil)
	require.NoError(t, err)
	require.Nil(t, none.Item, "another person holds the only slot")
	require.Equal(t, "others", *none.Reason)
	_, err = who[1].Answer(ctx, task.ID, first.Item.ID, map[string]any{"rating": 1})
	require.Equal(t, "item_held", annotationReason(t, err))

	k.Clock.Advance(16 * time.Minute)
	second, err := who[1].TakeAnnotationItem(ctx, task.ID, nil)
	require.NoError(t, err)
	require.Equal(t, first.Item.ID, second.Item.ID)
	counts(t, k, c, task.ID)
	_, err = who[0].Answer(ctx, task.ID, first.Item.ID, map[string]any{"rating": 1})
	require.Equal(t, "item_held", annotationReason(t, err), "they were too late")
	k.Clock.Advance(16 * time.Minute)
	_, err = who[2].Answer(ctx, task.ID, first.Item.ID, map[string]any{"rating": 1})
	require.NoError(t, err, "nobody holds it any more")
	counts(t, k, c, task.ID)
}

//nolint:paralleltest // it moves the clock
func TestNextHandsBackAnItemWithADraft(t *testing.T) {
	k := testkit.Moving(t)
	c, ctx := k.Org(t), t.Context()
	task := c.AnnotationTask(t, 1, map[string]any{})
	one := people(t, c, 1)[0]
	first, err := one.TakeAnnotationItem(ctx, task.ID, nil)
	require.NoError(t, err)
	draft, err := one.CreateAnnotation(ctx, map[string]any{"taskId": task.ID, "itemId": first.Item.ID, "feedback": "Perhaps.", "status": "draft"})
	require.NoError(t, err)
	k.Clock.Advance(16 * time.Minute)
	again, err := one.TakeAnnotationItem(ctx, task.ID, nil)
	require.NoError(t, err)
	require.NotNil(t, again.Item, "they have not answered it")
	require.Equal(t, first.Item.ID, again.Item.ID)
	require.Equal(t, draft.ID, again.Item.Annotations[0].ID)

	_, err = one.UpdateAnnotationItem(ctx, task.ID, map[string]any{"itemId": first.Item.ID, "status": "skipped", "reason": "Too hard"})
	require.NoError(t, err, "a draft is not an answer")
	kept, err := one.GetAnnotation(ctx, draft.ID)
	require.NoError(t, err)
	require.Equal(t, "discarded", kept.Status)
	counts(t, k, c, task.ID)
	_, err = c.UpdateAnnotationItem(ctx, task.ID, map[string]any{"itemId": first.Item.ID, "status": "pending"})
	require.NoError(t, err)
	again, err = one.TakeAnnotationItem(ctx, task.ID, nil)
	require.NoError(t, err)
	require.NotNil(t, again.Item, "it is in the queue again")
	_, err = one.Answer(ctx, task.ID, first.Item.ID, map[string]any{"rating": 3})
	require.NoError(t, err)
	counts(t, k, c, task.ID)
}

func TestNextOfAnotherOrganization(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us, them := k.Org(t), k.Org(t)
	task := them.AnnotationTask(t, 1, map[string]any{})
	one := people(t, us, 1)[0]
	for _, id := range []int64{task.ID, 4711} {
		_, err := one.TakeAnnotationItem(t.Context(), id, nil)
		require.Equal(t, "annotation_task_not_found", annotationReason(t, err), strconv.FormatInt(id, 10))
	}
}
