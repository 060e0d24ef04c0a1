package review_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/review/annotation"
	"github.com/assayhq/assay/internal/test/testkit"
)

const secret = "planted-secret-label"

// TestBlindTasksRevealNothing calls every operation that reads, and every operation of
// the area, as others than the person who has answered an item of a blind task, and
// looks for what they answered. When the item is complete, the same calls find it.
//
//nolint:paralleltest // it moves the clock
func TestBlindTasksRevealNothing(t *testing.T) {
	k := testkit.Moving(t)
	c, ctx := k.Org(t), t.Context()
	task := c.AnnotationTask(t, 1, map[string]any{"type": "classification", "annotatorsPerItem": 2})
	who := people(t, c, 2)
	_, boss := c.Person(t, principal.Admin)
	items, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	item := items.Items[0].ID
	// The answer goes through a draft and a revision, so that those exist too.
	a, err := who[0].CreateAnnotation(ctx, map[string]any{"taskId": task.ID, "itemId": item, "label": secret + "-draft", "status": "draft"})
	require.NoError(t, err)
	_, err = who[0].UpdateAnnotation(ctx, a.ID, map[string]any{
		"status": "submitted", "label": secret, "labels": map[string]any{"why": secret}, "feedback": secret, "correctedOutput": secret,
	}, testkit.Idempotent("answer"))
	require.NoError(t, err)
	_, err = who[0].UpdateAnnotation(ctx, a.ID, map[string]any{"confidence": 0.5})
	require.NoError(t, err)

	tasks := fmt.Sprintf("/api/annotations/tasks/%d", task.ID)
	readers := map[string]func(method, path string, body any) string{}
	as := func(name string, c *testkit.Client, opts ...testkit.Option) {
		readers[name] = func(method, path string, body any) string {
			text := ""
			if body != nil {
				encoded, err := json.Marshal(body)
				require.NoError(t, err)
				text = string(encoded)
			}
			res, err := c.Send(ctx, method, path, strings.NewReader(text), opts...)
			require.NoError(t, err)
			return string(res.Body) + fmt.Sprint(res.Header)
		}
	}
	as("another annotator", who[1])
	as("an administrator", boss)
	as("a service key", c)
	me, err := who[0].GetMe(ctx)
	require.NoError(t, err)
	as("a key that says that it is the person", c, testkit.OnBehalfOf(*me.UserID))

	var paths []string
	for _, op := range k.App.Edge.Ops() {
		if op.Method != http.MethodGet || op.ContentType == "text/event-stream" || op.Scope == principal.Public {
			continue
		}
		path := strings.NewReplacer("/api/annotations/tasks/{id}", tasks, "/api/annotations/{id}", fmt.Sprint("/api/annotations/", a.ID)).Replace(op.Path)
		if !strings.Contains(path, "{") {
			paths = append(paths, path)
		}
	}
	paths = append(paths, fmt.Sprint("/api/annotations?annotatorId=", *me.UserID), fmt.Sprint("/api/annotations?taskId=", task.ID), tasks+"/items?annotated=true", tasks+"/export?format=csv", tasks+"/export?format=label-studio",
		fmt.Sprint("/api/audit-logs?resourceId=", a.ID), "/api/audit-logs?resourceType=annotation")
	require.GreaterOrEqual(t, len(paths), 15)
	shown := func() (found []string) {
		for name, call := range readers {
			for _, path := range paths {
				if strings.Contains(call(http.MethodGet, path, nil), secret) {
					found = append(found, name+": "+path)
				}
			}
		}
		return found
	}
	require.Empty(t, shown())
	// What they write is answered without the secret as well.
	for name, call := range readers {
		for _, w := range []struct {
			method, path string
			body         any
		}{
			{http.MethodPatch, fmt.Sprint("/api/annotations/", a.ID), map[string]any{"confidence": 0.1}},
			{http.MethodPatch, fmt.Sprint("/api/annotations/", a.ID), nil},
			{http.MethodDelete, fmt.Sprint("/api/annotations/", a.ID), nil},
			{http.MethodPut, tasks + "/items", map[string]any{"itemId": item, "annotation": map[string]any{"label": "x"}}},
			{http.MethodPut, tasks + "/items", map[string]any{"itemId": item, "status": "pending"}},
			{http.MethodPut, tasks + "/items", map[string]any{"itemId": item, "content": "x"}},
			{http.MethodPut, tasks, map[string]any{"blind": false}},
			{http.MethodPut, tasks, map[string]any{"annotatorsPerItem": 1}},
			{http.MethodPost, tasks + "/next", nil},
		} {
			require.NotContains(t, call(w.method, w.path, w.body), secret, "%s: %s %s", name, w.method, w.path)
		}
	}
	require.Empty(t, shown(), "nor did writing make it readable")
	require.NotContains(t, outbox(t, k, c), secret, "nor do events and messages have it")

	k.Clock.Advance(16 * time.Minute) // the administrator may hold the item
	_, err = who[1].Answer(ctx, task.ID, item, map[string]any{"label": "other"})
	require.NoError(t, err)
	found := shown()
	require.NotEmpty(t, found, "the item is complete")
	for name := range readers {
		require.Contains(t, found, name+": "+fmt.Sprint("/api/annotations/", a.ID))
	}
	// Now that both can see both answers, neither changes.
	for i, one := range who {
		_, err := one.UpdateAnnotationItem(ctx, task.ID, map[string]any{"itemId": item, "annotation": map[string]any{"label": "changed"}})
		require.Equal(t, "answers_open", annotationReason(t, err), "person %d", i)
	}
	require.Equal(t, "answers_open", annotationReason(t, who[0].DeleteAnnotation(ctx, a.ID)))
	require.NotContains(t, outbox(t, k, c), secret)
}

func TestASkippedItemOfABlindTaskOpensNoAnswers(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	task := c.AnnotationTask(t, 1, map[string]any{"annotatorsPerItem": 2})
	who := people(t, c, 3)
	items, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	item := items.Items[0].ID
	a, err := who[0].Answer(ctx, task.ID, item, map[string]any{"rating": 1})
	require.NoError(t, err)
	for _, one := range who[1:] {
		_, err := one.UpdateAnnotationItem(ctx, task.ID, map[string]any{"itemId": item, "status": "skipped", "reason": "Not my language"})
		require.NoError(t, err)
	}
	items, err = who[1].ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	require.Equal(t, "skipped", items.Items[0].Status)
	require.Empty(t, items.Items[0].Annotations, "people may answer the item after all")
	_, err = who[1].GetAnnotation(ctx, a.ID)
	require.ErrorIs(t, err, annotation.ErrNotFound)
	_, err = who[0].UpdateAnnotation(ctx, a.ID, map[string]any{"rating": 2})
	require.NoError(t, err, "nobody has read it")

	_, err = c.UpdateAnnotationItem(ctx, task.ID, map[string]any{"itemId": item, "status": "pending"})
	require.NoError(t, err)
	_, err = who[1].Answer(ctx, task.ID, item, map[string]any{"rating": 2})
	require.NoError(t, err)
	_, err = who[2].GetAnnotation(ctx, a.ID)
	require.NoError(t, err, "two people have answered")
	counts(t, k, c, task.ID)
}

func TestAnAnswerThatWasTakenBackIsClosedWithItsItem(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	task := c.AnnotationTask(t, 1, map[string]any{})
	who := people(t, c, 3)
	items, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	a, err := who[0].Answer(ctx, task.ID, items.Items[0].ID, map[string]any{"rating": 1})
	require.NoError(t, err)
	_, err = who[1].GetAnnotation(ctx, a.ID)
	require.NoError(t, err)
	_, err = who[0].UpdateAnnotation(ctx, a.ID, map[string]any{"status": "discarded"})
	require.NoError(t, err)
	hidden := func() {
		_, err := who[1].GetAnnotation(ctx, a.ID)
		require.ErrorIs(t, err, annotation.ErrNotFound)
		all, err := who[1].ListAnnotations(ctx, fmt.Sprint("taskId=", task.ID))
		require.NoError(t, err)
		for _, one := range all.Annotations {
			require.NotEqual(t, a.ID, one.ID)
		}
	}
	hidden()
	_, err = who[0].GetAnnotation(ctx, a.ID)
	require.NoError(t, err, "it is their own")
	_, err = who[2].Answer(ctx, task.ID, items.Items[0].ID, map[string]any{"rating": 5})
	require.NoError(t, err)
	hidden()
	counts(t, k, c, task.ID)
}
