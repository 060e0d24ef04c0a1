package review_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/review/annotation"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestTasksChangeStatusByTheTable(t *testing.T) {
	t.Parallel()
	c, ctx := testkit.Shared(t).Org(t), t.Context()
	moves := map[string][]string{
		"draft": {"active", "archived"}, "active": {"paused", "completed", "archived"}, "paused": {"active", "archived"}, "completed": {"active", "archived"}, "archived": {},
	}
	way := map[string][]string{"draft": {}, "active": {"active"}, "paused": {"active", "paused"}, "completed": {"active", "completed"}, "archived": {"archived"}}
	for from, allowed := range moves {
		for to := range moves {
			task := c.AnnotationTask(t, 0, map[string]any{"status": "draft"})
			for _, step := range way[from] {
				_, err := c.UpdateAnnotationTask(ctx, task.ID, map[string]any{"status": step})
				require.NoError(t, err)
			}
			got, err := c.UpdateAnnotationTask(ctx, task.ID, map[string]any{"status": to})
			if from == to || contains(allowed, to) {
				require.NoError(t, err, "%s to %s", from, to)
				require.Equal(t, to, got.Status)
				continue
			}
			require.ErrorIs(t, err, annotation.ErrTaskTransition, "%s to %s", from, to)
			f, _ := fault.From(err)
			require.Equal(t, from, f.Details["currentState"])
			require.ElementsMatch(t, allowed, f.Details["allowedTransitions"])
		}
	}
}

func contains(all []string, one string) bool {
	for _, a := range all {
		if a == one {
			return true
		}
	}
	return false
}

func TestTasksWithoutAnIDInThePath(t *testing.T) {
	t.Parallel()
	c, ctx := testkit.Shared(t).Org(t), t.Context()
	a, b := c.AnnotationTask(t, 1, map[string]any{}), c.AnnotationTask(t, 1, map[string]any{})
	const path = "/api/annotations/tasks"
	call := func(method, query string, body any) error {
		_, err := c.Call(ctx, method, path+query, body, nil)
		return err
	}

	require.NoError(t, call(http.MethodPut, "", map[string]any{"id": a.ID, "name": "By the body"}))
	require.NoError(t, call(http.MethodPut, fmt.Sprint("?id=", b.ID), map[string]any{"name": "By the query"}))
	require.NoError(t, call(http.MethodPut, fmt.Sprint("?id=", b.ID), map[string]any{"id": strconv.FormatInt(b.ID, 10), "name": "By both"}))
	for query, body := range map[string]map[string]any{"": {"name": "No id"}, fmt.Sprint("?id=", a.ID): {"id": b.ID, "name": "Two ids"}} {
		require.Equal(t, "invalid_request", annotationReason(t, call(http.MethodPut, query, body)))
	}
	all, err := c.ListAnnotationTasks(ctx, "")
	require.NoError(t, err)
	require.Equal(t, []string{"By both", "By the body"}, []string{all.Tasks[0].Name, all.Tasks[1].Name})

	// Nothing but the exact id of a task deletes one.
	for _, query := range []string{"", "?id=", "?id=*", "?id=%25", "?id=0", "?id=01", "?id=-1", fmt.Sprintf("?id=%d,%d", a.ID, b.ID), "?all=true"} {
		res, err := c.Send(ctx, http.MethodDelete, path+query, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusBadRequest, res.Status, query)
	}
	require.Equal(t, "annotation_task_not_found", annotationReason(t, call(http.MethodDelete, "?id=4711", nil)))
	all, err = c.ListAnnotationTasks(ctx, "")
	require.NoError(t, err)
	require.Len(t, all.Tasks, 2)
	require.NoError(t, call(http.MethodDelete, fmt.Sprint("?id=", a.ID), nil))
	require.ErrorIs(t, call(http.MethodDelete, fmt.Sprint("?id=", a.ID), nil), annotation.ErrTaskNotFound)
	require.NoError(t, call(http.MethodDelete, fmt.Sprint("/", b.ID), nil))
}

func TestTheListOfTasksIsFiltered(t *testing.T) {
	t.Parallel()
	c, ctx := testkit.Shared(t).Org(t), t.Context()
	a := c.AnnotationTask(t, 0, map[string]any{"name": "Rate answers"})
	c.AnnotationTask(t, 0, map[string]any{"name": "Label topics", "status": "draft"})
	for query, want := range map[string]int{
		"": 2, fmt.Sprint("id=", a.ID): 1, "id=4711": 0, "id=abc": 0, "search=RATE": 1, "search=x": 0, "status=draft": 1, "status=paused": 0, "status=draft&search=rate": 0,
	} {
		all, err := c.ListAnnotationTasks(ctx, query)
		require.NoError(t, err, query)
		require.Len(t, all.Tasks, want, query)
	}
	_, err := c.ListAnnotationTasks(ctx, "status=charming")
	require.Equal(t, "invalid_request", annotationReason(t, err))
}

func TestLabelSchemas(t *testing.T) {
	t.Parallel()
	c, ctx := testkit.Shared(t).Org(t), t.Context()
	field := func(more map[string]any) map[string]any {
		f := map[string]any{"key": "topic", "type": "choice", "options": []string{"billing", "other"}}
		for k, v := range more {
			if v == nil {
				delete(f, k)
			} else {
				f[k] = v
			}
		}
		return f
	}
	for name, fields := range map[string][]map[string]any{
		"a choice without options": {field(map[string]any{"options": nil})}, "options of a number": {field(map[string]any{"type": "number"})}, "an option twice": {field(map[string]any{"options": []string{"a", "a"}})},
		"a key twice": {field(nil), field(nil)}, "bounds of a text": {field(map[string]any{"type": "text", "options": nil, "min": 1})}, "an empty range": {field(map[string]any{"type": "number", "options": nil, "min": 2, "max": 2})},
		"an unknown type": {field(map[string]any{"type": "charm"})}, "no key": {field(map[string]any{"key": nil})},
	} {
		_, err := c.CreateAnnotationTask(ctx, map[string]any{"name": name, "labelSchema": map[string]any{"fields": fields}})
		require.Equal(t, "invalid_request", annotationReason(t, err), name)
	}

	task := c.AnnotationTask(t, 20, map[string]any{"type": "classification", "labelSchema": map[string]any{"fields": []map[string]any{
		field(map[string]any{"required": true}),
		{"key": "flags", "type": "choices", "options": []string{"rude", "wrong"}},
		{"key": "words", "type": "integer", "min": 0, "max": 10},
		{"key": "safe", "type": "boolean"},
		{"key": "why", "type": "text"},
	}}})
	one := people(t, c, 1)[0]
	items, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	for place, value := range map[string]map[string]any{
		"/annotation/labels/topic": {"labels": map[string]any{"topic": "charm"}}, "/annotation/labels/flags": {"label": "other", "labels": map[string]any{"flags": []string{"charm"}}},
		"/annotation/labels/words": {"label": "other", "labels": map[string]any{"words": 1.5}}, "/annotation/labels/safe": {"label": "other", "labels": map[string]any{"safe": "yes"}},
		"/annotation/labels/why": {"label": "other", "labels": map[string]any{"why": 1}}, "/annotation/labels/x": {"label": "other", "labels": map[string]any{"x": 1}},
		"/annotation/label": {"label": "charm"}, "/annotation/rating": {"label": "other", "rating": 6},
	} {
		_, err := one.Answer(ctx, task.ID, items.Items[0].ID, value)
		require.Equal(t, "invalid_request", annotationReason(t, err), place)
		f, _ := fault.From(err)
		require.Contains(t, fmt.Sprint(f.Details["fields"]), "path:"+place+"]", place)
	}
	for i, value := range []map[string]any{
		{"label": "billing"}, {"labels": map[string]any{"topic": "other", "flags": []string{"rude", "wrong"}, "words": 3, "safe": true, "why": "So."}}, {"label": "other", "confidence": 0.5, "durationMs": 1200},
	} {
		a, err := one.Answer(ctx, task.ID, items.Items[i].ID, value)
		require.NoError(t, err)
		require.Equal(t, "submitted", a.Status)
	}
	_, err = c.UpdateAnnotationTask(ctx, task.ID, map[string]any{"labelSchema": nil})
	require.ErrorIs(t, err, annotation.ErrAnswered, "earlier answers would mean something else")
}
