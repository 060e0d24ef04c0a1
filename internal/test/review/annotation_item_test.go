package review_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/annotation"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestSeveralPeopleAnswerAnItem(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	task := c.AnnotationTask(t, 2, map[string]any{"annotatorsPerItem": 2, "agreementThreshold": 0.8})
	who := people(t, c, 3)
	items, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	calm, torn := items.Items[0].ID, items.Items[1].ID
	answer := func(p *testkit.Client, item int64, rating float64) annotationOrReason {
		_, err := p.Answer(ctx, task.ID, item, map[string]any{"rating": rating, "durationMs": 1500})
		if err != nil {
			return annotationOrReason(annotationReason(t, err))
		}
		counts(t, k, c, task.ID)
		return "submitted"
	}

	require.Equal(t, submitted, answer(who[0], calm, 4))
	require.Equal(t, annotationOrReason("already_answered"), answer(who[0], calm, 5))
	require.Equal(t, submitted, answer(who[1], calm, 4))
	require.Equal(t, annotationOrReason("item_complete"), answer(who[2], calm, 4))
	require.Equal(t, submitted, answer(who[0], torn, 1))
	require.Equal(t, submitted, answer(who[2], torn, 5))

	items, err = c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	require.Equal(t, []string{"annotated", "conflicted"}, []string{items.Items[0].Status, items.Items[1].Status})
	require.InDelta(t, 1, *items.Items[0].Agreement, 1e-9)
	require.InDelta(t, 0, *items.Items[1].Agreement, 1e-9)
	require.EqualValues(t, 1500, *items.Items[1].Annotations[0].DurationMs)
	done, err := c.GetAnnotationTask(ctx, task.ID)
	require.NoError(t, err)
	require.Equal(t, "completed", done.Status, "its last item is complete")
	require.Equal(t, []int64{2, 2}, []int64{done.TotalItems, done.CompletedItems})

	more, err := c.AddAnnotationItems(ctx, task.ID, map[string]any{"content": map[string]any{"question": "Why?"}, "suggestion": map[string]any{"rating": 3}})
	require.NoError(t, err)
	require.EqualValues(t, 1, more.Created)
	done, err = c.GetAnnotationTask(ctx, task.ID)
	require.NoError(t, err)
	require.Equal(t, "active", done.Status, "it has an item that needs people")
	for query, want := range map[string]int{"annotated=true": 2, "annotated=false": 1, "annotated=complete": 2, "annotated=partial": 0, "annotated=all": 3, "": 3, "limit=1": 1} {
		found, err := c.ListAnnotationItems(ctx, task.ID, query)
		require.NoError(t, err)
		require.Len(t, found.Items, want, query)
	}
	_, err = c.ListAnnotationItems(ctx, task.ID, "annotated=maybe")
	require.Equal(t, "invalid_request", annotationReason(t, err))
}

// annotationOrReason is what became of an answer.
type annotationOrReason string

const submitted annotationOrReason = "submitted"

func TestAnAnswerIsRevised(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	task := c.AnnotationTask(t, 1, map[string]any{"annotatorsPerItem": 2, "blind": false})
	who := people(t, c, 2)
	items, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	item := items.Items[0].ID
	a, err := who[0].Answer(ctx, task.ID, item, map[string]any{"rating": 2, "feedback": "Thin.", "durationMs": 100})
	require.NoError(t, err)
	_, err = who[1].UpdateAnnotationItem(ctx, task.ID, map[string]any{"itemId": item, "annotation": map[string]any{"rating": 1}})
	require.Equal(t, "annotation_not_found", annotationReason(t, err), "they have not answered")
	_, err = who[1].UpdateAnnotation(ctx, a.ID, map[string]any{"rating": 1})
	require.ErrorIs(t, err, annotation.ErrNotYours)
	require.ErrorIs(t, who[1].DeleteAnnotation(ctx, a.ID), annotation.ErrNotYours)

	_, err = who[1].Answer(ctx, task.ID, item, map[string]any{"rating": 5})
	require.NoError(t, err)
	_, err = who[0].UpdateAnnotationItem(ctx, task.ID, map[string]any{"itemId": item, "annotation": map[string]any{"rating": 5, "durationMs": 50}})
	require.NoError(t, err)
	got, err := c.GetAnnotation(ctx, a.ID)
	require.NoError(t, err)
	require.InDelta(t, 5, *got.Rating, 0)
	require.Equal(t, "Thin.", *got.Feedback, "what is not sent stays")
	require.EqualValues(t, 150, *got.DurationMs)
	require.Len(t, got.Revisions, 1)
	require.InDelta(t, 2, *got.Revisions[0].Rating, 0)
	items, err = c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	require.Equal(t, "annotated", items.Items[0].Status, "they agree now")
	counts(t, k, c, task.ID)

	_, err = who[0].UpdateAnnotation(ctx, a.ID, map[string]any{"rating": 1, "expectedVersion": 1})
	require.ErrorIs(t, err, annotation.ErrVersionConflict)
	_, err = who[0].UpdateAnnotation(ctx, a.ID, map[string]any{"status": "discarded"})
	require.NoError(t, err)
	counts(t, k, c, task.ID)
	items, err = c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	require.Equal(t, "in_progress", items.Items[0].Status)
	_, err = who[0].UpdateAnnotation(ctx, a.ID, map[string]any{"status": "submitted"})
	require.ErrorIs(t, err, annotation.ErrTransition)
	_, err = who[0].Answer(ctx, task.ID, item, map[string]any{"rating": 3})
	require.NoError(t, err, "they may answer again")
	counts(t, k, c, task.ID)
}

func TestDraftsAreOnesOwn(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	task := c.AnnotationTask(t, 1, map[string]any{"blind": false})
	who := people(t, c, 2)
	items, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	draft, err := who[0].CreateAnnotation(ctx, map[string]any{"taskId": task.ID, "itemId": items.Items[0].ID, "feedback": "Perhaps.", "status": "draft"})
	require.NoError(t, err)
	_, err = who[1].GetAnnotation(ctx, draft.ID)
	require.ErrorIs(t, err, annotation.ErrNotFound)
	_, err = who[0].UpdateAnnotation(ctx, draft.ID, map[string]any{"status": "submitted"})
	require.Equal(t, "invalid_request", annotationReason(t, err), "the task asks for a rating")
	_, err = who[0].UpdateAnnotation(ctx, draft.ID, map[string]any{"status": "submitted", "rating": 4})
	require.NoError(t, err)
	_, err = who[1].GetAnnotation(ctx, draft.ID)
	require.NoError(t, err)
	counts(t, k, c, task.ID)
	require.NoError(t, who[0].DeleteAnnotation(ctx, draft.ID))
	require.ErrorIs(t, who[0].DeleteAnnotation(ctx, draft.ID), annotation.ErrNotFound)
	counts(t, k, c, task.ID)
}

func TestAnItemIsSkipped(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	task := c.AnnotationTask(t, 1, map[string]any{"annotatorsPerItem": 2})
	who := people(t, c, 2)
	items, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	skip := map[string]any{"itemId": items.Items[0].ID, "status": "skipped", "reason": "Not my language"}
	_, err = who[0].UpdateAnnotationItem(ctx, task.ID, map[string]any{"itemId": items.Items[0].ID, "status": "skipped"})
	require.Equal(t, "invalid_request", annotationReason(t, err), "a skip has a reason")
	got, err := who[0].UpdateAnnotationItem(ctx, task.ID, skip)
	require.NoError(t, err)
	require.Equal(t, "pending", got.Status, "another person may answer it")
	require.Equal(t, "Not my language", got.Skips[0].Reason)
	next, err := who[0].TakeAnnotationItem(ctx, task.ID, nil)
	require.NoError(t, err)
	require.Nil(t, next.Item, "they skipped it")
	require.Equal(t, "others", *next.Reason)
	counts(t, k, c, task.ID)
	got, err = who[1].UpdateAnnotationItem(ctx, task.ID, skip)
	require.NoError(t, err)
	require.Equal(t, "skipped", got.Status)
	counts(t, k, c, task.ID)
	_, err = who[1].UpdateAnnotationItem(ctx, task.ID, map[string]any{"itemId": items.Items[0].ID, "status": "pending"})
	require.ErrorIs(t, err, annotation.ErrAnswerOnly)
	got, err = c.UpdateAnnotationItem(ctx, task.ID, map[string]any{"itemId": items.Items[0].ID, "status": "pending"})
	require.NoError(t, err)
	require.Equal(t, "pending", got.Status)
	counts(t, k, c, task.ID)
	next, err = who[0].TakeAnnotationItem(ctx, task.ID, nil)
	require.NoError(t, err)
	require.NotNil(t, next.Item, "it is in the queue again")
}

func TestAPersonWhoAnswersAnItemNoLongerSkipsIt(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	task := c.AnnotationTask(t, 1, map[string]any{"annotatorsPerItem": 2})
	who := people(t, c, 3)
	items, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	skip := map[string]any{"itemId": items.Items[0].ID, "status": "skipped", "reason": "Not my language"}
	_, err = who[0].UpdateAnnotationItem(ctx, task.ID, skip)
	require.NoError(t, err)
	_, err = who[0].Answer(ctx, task.ID, items.Items[0].ID, map[string]any{"rating": 4})
	require.NoError(t, err)
	counts(t, k, c, task.ID)
	got, err := who[1].UpdateAnnotationItem(ctx, task.ID, skip)
	require.NoError(t, err)
	require.Equal(t, "in_progress", got.Status, "only one person skips it")
	counts(t, k, c, task.ID)
	_, err = who[2].Answer(ctx, task.ID, items.Items[0].ID, map[string]any{"rating": 4})
	require.NoError(t, err)
}

func TestContentChangesUntilSomebodyAnswers(t *testing.T) {
	t.Parallel()
	c, ctx := testkit.Shared(t).Org(t), t.Context()
	task := c.AnnotationTask(t, 1, map[string]any{"annotatorsPerItem": 2})
	items, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	one := people(t, c, 1)[0]
	edit := map[string]any{"itemId": items.Items[0].ID, "content": "Better"}
	_, err = one.UpdateAnnotationItem(ctx, task.ID, edit)
	require.ErrorIs(t, err, annotation.ErrAnswerOnly)
	got, err := c.UpdateAnnotationItem(ctx, task.ID, edit)
	require.NoError(t, err)
	require.Equal(t, "Better", got.Content)
	_, err = one.Answer(ctx, task.ID, items.Items[0].ID, map[string]any{"rating": 1})
	require.NoError(t, err)
	_, err = c.UpdateAnnotationItem(ctx, task.ID, edit)
	require.ErrorIs(t, err, annotation.ErrItemAnswered)
	_, err = one.AddAnnotationItems(ctx, task.ID, map[string]any{"content": "Mine"})
	require.ErrorIs(t, err, annotation.ErrAnswerOnly)
}

func TestTasksAreAnsweredByTheirAssigneesWhileActive(t *testing.T) {
	t.Parallel()
	c, ctx := testkit.Shared(t).Org(t), t.Context()
	who := people(t, c, 2)
	me, err := who[0].GetMe(ctx)
	require.NoError(t, err)
	task := c.AnnotationTask(t, 1, map[string]any{"assigneeIds": []string{*me.UserID}})
	items, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	_, err = who[1].Answer(ctx, task.ID, items.Items[0].ID, map[string]any{"rating": 1})
	require.ErrorIs(t, err, annotation.ErrNotAssignee)
	_, err = who[1].TakeAnnotationItem(ctx, task.ID, nil)
	require.ErrorIs(t, err, annotation.ErrNotAssignee)
	_, err = c.UpdateAnnotationTask(ctx, task.ID, map[string]any{"status": "paused"})
	require.NoError(t, err)
	_, err = who[0].Answer(ctx, task.ID, items.Items[0].ID, map[string]any{"rating": 1})
	require.ErrorIs(t, err, annotation.ErrNotActive)
	_, err = who[0].TakeAnnotationItem(ctx, task.ID, nil)
	require.ErrorIs(t, err, annotation.ErrNotActive)
	_, err = c.CreateAnnotationTask(ctx, map[string]any{"name": "For nobody", "assigneeIds": []string{uuid.NewString()}})
	require.Equal(t, "invalid_request", annotationReason(t, err))
}

func TestTheSamePersonAnswersAnItemOnceHoweverManyKeysTheyHave(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	one := people(t, c, 1)[0]
	task := c.AnnotationTask(t, 1, map[string]any{"annotatorsPerItem": 5})
	items, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	keys := []*testkit.Client{one}
	for i := range 4 {
		key, err := one.CreateMyKey(ctx, testkit.NewKey{Name: fmt.Sprint("key ", i), Scopes: []string{"eval:read", "eval:write"}})
		require.NoError(t, err)
		keys = append(keys, one.With(key.Key))
	}
	var wait sync.WaitGroup
	var lock sync.Mutex
	got := map[string]int{}
	for _, key := range keys {
		wait.Go(func() {
			_, err := key.Answer(context.WithoutCancel(ctx), task.ID, items.Items[0].ID, map[string]any{"rating": 3})
			lock.Lock()
			defer lock.Unlock()
			if err == nil {
				got["submitted"]++
			} else {
				got[annotationReason(t, err)]++
			}
		})
	}
	wait.Wait()
	require.Equal(t, map[string]int{"submitted": 1, "already_answered": 4}, got)
	counts(t, k, c, task.ID)
}

func TestAnswersNeedAPerson(t *testing.T) {
	t.Parallel()
	c, ctx := testkit.Shared(t).Org(t), t.Context()
	task := c.AnnotationTask(t, 1, map[string]any{})
	items, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	one := people(t, c, 1)[0]
	a, err := one.Answer(ctx, task.ID, items.Items[0].ID, map[string]any{"rating": 3})
	require.NoError(t, err)
	at := fmt.Sprint("/api/annotations/", a.ID)
	tasks := fmt.Sprintf("/api/annotations/tasks/%d", task.ID)
	for _, call := range []struct {
		method, path string
		body         any
	}{
		{http.MethodPost, "/api/annotations", map[string]any{"taskId": task.ID, "itemId": items.Items[0].ID, "rating": 1}},
		{http.MethodPost, tasks + "/items", map[string]any{"itemId": items.Items[0].ID, "annotation": map[string]any{"rating": 1}}},
		{http.MethodPost, tasks + "/items", map[string]any{"content": "x", "annotation": map[string]any{"rating": 1}}},
		{http.MethodPut, tasks + "/items", map[string]any{"itemId": items.Items[0].ID, "annotation": map[string]any{"rating": 1}}},
		{http.MethodPut, tasks + "/items", map[string]any{"itemId": items.Items[0].ID, "status": "skipped", "reason": "x"}},
		{http.MethodPost, tasks + "/next", nil},
		{http.MethodPatch, at, map[string]any{"rating": 1}},
		{http.MethodDelete, at, nil},
	} {
		_, err := c.Call(ctx, call.method, call.path, call.body, nil)
		require.Equal(t, "not_a_person", annotationReason(t, err), "%s %s by a service key", call.method, call.path)
		_, err = c.Call(ctx, call.method, call.path, call.body, nil, testkit.OnBehalfOf(c.Owner.String()))
		require.Equal(t, "not_a_person", annotationReason(t, err), "%s %s on behalf of a member", call.method, call.path)
	}
}

func TestDeletedTasksKeepWhatPeopleSubmitted(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	task, decided := c.AnnotationTask(t, 1, map[string]any{}), c.AnnotationTask(t, 1, map[string]any{})
	one := people(t, c, 1)[0]
	var item int64
	for _, task := range []testkit.AnnotationTask{task, decided} {
		items, err := c.ListAnnotationItems(ctx, task.ID, "")
		require.NoError(t, err)
		item = items.Items[0].ID
		_, err = one.Answer(ctx, task.ID, item, map[string]any{"rating": 3})
		require.NoError(t, err)
	}
	pg, err := postgres.Open(ctx, k.App.Config.Postgres)
	require.NoError(t, err)
	t.Cleanup(pg.Close)
	mark := func(adjudication int64) error {
		return postgres.InTx(ctx, pg, c.Org, func(tx postgres.Tx) error {
			return k.App.Annotation.MarkAdjudicatedTx(ctx, tx, item, adjudication, annotation.Verdict{})
		})
	}
	require.NoError(t, mark(12))
	require.NoError(t, mark(12), "noting it twice is noting it once")
	require.ErrorIs(t, mark(13), annotation.ErrItemTransition)
	got, err := k.App.Annotation.Item(ctx, c.Org, item)
	require.NoError(t, err)
	require.Equal(t, annotation.ItemAdjudicated, got.Item.Status)
	require.Len(t, got.Answers, 1)
	counts(t, k, c, decided.ID)

	_, err = c.Call(ctx, http.MethodDelete, fmt.Sprint("/api/annotations/tasks/", decided.ID), nil, nil)
	require.ErrorIs(t, err, annotation.ErrInUse)
	_, err = c.Call(ctx, http.MethodDelete, fmt.Sprint("/api/annotations/tasks/", task.ID), nil, nil)
	require.NoError(t, err)
	_, err = c.ListAnnotationItems(ctx, task.ID, "")
	require.ErrorIs(t, err, annotation.ErrTaskNotFound)
	kept, err := c.ListAnnotations(ctx, fmt.Sprint("taskId=", task.ID))
	require.NoError(t, err)
	require.Len(t, kept.Annotations, 1)
	_, err = one.UpdateAnnotation(ctx, kept.Annotations[0].ID, map[string]any{"rating": 1})
	require.ErrorIs(t, err, annotation.ErrTaskDeleted)
	_, err = one.UpdateAnnotationItem(ctx, task.ID, map[string]any{"itemId": *kept.Annotations[0].ItemID, "annotation": map[string]any{"rating": 1}})
	require.ErrorIs(t, err, annotation.ErrTaskNotFound)
	require.NoError(t, one.DeleteAnnotation(ctx, kept.Annotations[0].ID), "people delete what they said")
	_, err = one.GetAnnotation(ctx, kept.Annotations[0].ID)
	require.ErrorIs(t, err, annotation.ErrNotFound)
}

func TestEqualAnswersAgreeHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	c := testkit.Shared(t).Org(t)
	topic := map[string]any{"key": "topic", "type": "choice", "options": []string{"billing", "delivery"}, "required": true}
	tags := map[string]any{"key": "tags", "type": "choices", "options": []string{"a", "b"}, "required": true}
	stars := map[string]any{"key": "rating", "type": "integer", "min": 1, "max": 5}
	for name, one := range map[string]struct {
		kind          string
		field         map[string]any
		first, second map[string]any
		status        string
	}{
		"label and labels":       {"classification", topic, map[string]any{"label": "billing"}, map[string]any{"labels": map[string]any{"topic": "billing"}}, "annotated"},
		"another label":          {"classification", topic, map[string]any{"label": "billing"}, map[string]any{"labels": map[string]any{"topic": "delivery"}}, "conflicted"},
		"the rating as a label":  {"rating", stars, map[string]any{"rating": 1}, map[string]any{"rating": 1, "labels": map[string]any{"rating": 1}}, "annotated"},
		"choices in any order":   {"multi_label", tags, map[string]any{"labels": map[string]any{"tags": []string{"a", "b"}}}, map[string]any{"labels": map[string]any{"tags": []string{"b", "a"}}}, "annotated"},
		"the order of a ranking": {"ranking", tags, map[string]any{"labels": map[string]any{"tags": []string{"a", "b"}}}, map[string]any{"labels": map[string]any{"tags": []string{"b", "a"}}}, "conflicted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			task := c.AnnotationTask(t, 1, map[string]any{"type": one.kind, "annotatorsPerItem": 2, "labelSchema": map[string]any{"fields": []any{one.field}}})
			who := people(t, c, 2)
			items, err := c.ListAnnotationItems(ctx, task.ID, "")
			require.NoError(t, err)
			_, err = who[0].Answer(ctx, task.ID, items.Items[0].ID, one.first)
			require.NoError(t, err)
			_, err = who[1].Answer(ctx, task.ID, items.Items[0].ID, one.second)
			require.NoError(t, err)
			items, err = c.ListAnnotationItems(ctx, task.ID, "")
			require.NoError(t, err)
			require.Equal(t, one.status, items.Items[0].Status)
		})
	}
}

func TestAnswersAndPagesHaveALimit(t *testing.T) {
	t.Parallel()
	c, ctx := testkit.Shared(t).Org(t), t.Context()
	const items = 36
	task := c.AnnotationTask(t, items, map[string]any{"type": "correction"})
	one := people(t, c, 1)[0]
	list, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	long := strings.Repeat("x", 250<<10)
	for _, body := range []map[string]any{
		{"correctedOutput": long + long},
		{"correctedOutput": long, "labels": map[string]any{"why": long}},
		{"correctedOutput": "x", "labels": map[string]any{"why": long, "how": long}},
	} {
		_, err := one.Answer(ctx, task.ID, list.Items[0].ID, body)
		require.Equal(t, "invalid_request", annotationReason(t, err))
		body["taskId"], body["itemId"], body["status"] = task.ID, list.Items[0].ID, "draft"
		_, err = one.CreateAnnotation(ctx, body)
		require.Equal(t, "invalid_request", annotationReason(t, err), "a draft neither")
	}
	for _, i := range list.Items {
		_, err := one.Answer(ctx, task.ID, i.ID, map[string]any{"correctedOutput": long})
		require.NoError(t, err)
	}
	for _, path := range []string{"/api/annotations?limit=1000", fmt.Sprintf("/api/annotations/tasks/%d/items?limit=1000", task.ID)} {
		seen, pages := map[int64]bool{}, 0
		for at := path; at != ""; pages++ {
			var page struct {
				Annotations []testkit.Annotation     `json:"annotations"`
				Items       []testkit.AnnotationItem `json:"items"`
				NextCursor  *string                  `json:"next_cursor"`
			}
			_, err := c.Call(ctx, http.MethodGet, at, nil, &page)
			require.NoError(t, err)
			for _, a := range page.Annotations {
				seen[a.ID] = true
			}
			for _, i := range page.Items {
				seen[i.ID] = true
			}
			at = ""
			if page.NextCursor != nil {
				at = path + "&cursor=" + *page.NextCursor
			}
		}
		require.Equal(t, 2, pages, "%s: 9 MB do not fit on one page", path)
		require.Len(t, seen, items, path)
	}
}
