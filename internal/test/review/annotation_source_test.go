package review_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/test/testkit"
)

//nolint:paralleltest // the steps share an organization, and what one leaves counts in the next
func TestTasksAreFilledFromSources(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its worker's clock moves")
	k.Work(t)
	c, ctx := k.Org(t), t.Context()
	d := c.Dataset(t, testkit.NewDataset{})
	var cases []testkit.Item
	for i := range 12 {
		cases = append(cases, testkit.Item{Input: fmt.Sprint("question ", i), Output: fmt.Sprint("answer ", i), ExpectedOutput: fmt.Sprint("answer ", i-i%3)})
	}
	_, err := c.AddItems(ctx, d.ID, cases)
	require.NoError(t, err)
	e := c.Evaluation(t, d.ID, map[string]any{"metrics": []string{"exact_match"}, "target": map[string]any{"type": "recorded"}})
	run, err := c.StartRun(ctx, e.ID, nil)
	require.NoError(t, err)
	run = c.Ended(t, run)
	require.Equal(t, "completed", run.Status)
	for i := range 3 {
		c.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{
			Trace: testkit.NewTraceID(), Name: "chat", Service: "shop", Start: time.Now().Add(-time.Minute), Duration: time.Second,
			Attributes: map[string]any{"user.id": "u1", "input.value": fmt.Sprint("zebra ", i), "output.value": "stripes", "gen_ai.request.model": "secret-model"},
		}))
	}

	create := func(by *testkit.Client, source map[string]any) (testkit.AnnotationTask, []testkit.AnnotationItem, error) {
		task, err := by.CreateAnnotationTask(ctx, map[string]any{"name": "From a source", "source": source})
		if err != nil {
			return task, nil, err
		}
		items, err := c.ListAnnotationItems(ctx, task.ID, "")
		require.NoError(t, err)
		require.Len(t, items.Items, int(task.TotalItems))
		counts(t, k, c, task.ID)
		return task, items.Items, nil
	}
	for name, one := range map[string]struct {
		source map[string]any
		items  int
	}{
		"a dataset":          {map[string]any{"datasetId": d.ID}, 12},
		"a sample of it":     {map[string]any{"datasetId": d.ID, "sample": 5}, 5},
		"a run":              {map[string]any{"evaluationRunId": run.ID}, 12},
		"what failed in it":  {map[string]any{"evaluationRunId": run.ID, "only": "failed"}, 8},
		"a sample of that":   {map[string]any{"evaluationRunId": run.ID, "only": "failed", "sample": 3}, 3},
		"nothing was unsure": {map[string]any{"evaluationRunId": run.ID, "only": "low_confidence"}, 0},
		"traces of a user":   {map[string]any{"traceFilter": map[string]any{"userId": "u1"}}, 3},
		"short traces":       {map[string]any{"traceFilter": map[string]any{"status": []string{"completed"}, "minDurationMs": 900.5}}, 3},
		"long traces":        {map[string]any{"traceFilter": map[string]any{"minDurationMs": 2000}}, 0},
		"traces that run":    {map[string]any{"traceFilter": map[string]any{"status": []string{"running"}}}, 0},
		"traces of nobody":   {map[string]any{"traceFilter": map[string]any{"userId": "u2"}}, 0},
		"traces that failed": {map[string]any{"traceFilter": map[string]any{}, "only": "failed"}, 0},
		"a sample of traces": {map[string]any{"traceFilter": map[string]any{"userId": "u1"}, "sample": 2}, 2},
	} {
		_, items, err := create(c, one.source)
		require.NoError(t, err, name)
		require.Len(t, items, one.items, name)
		for _, i := range items {
			content, ok := i.Content.(map[string]any)
			require.True(t, ok)
			require.NotEmpty(t, content["input"], name)
			require.NotEmpty(t, content["output"], name)
			require.NotContains(t, fmt.Sprint(content), "secret-model", "nobody sees which model answered")
		}
	}
	task, items, err := create(c, map[string]any{"evaluationRunId": run.ID, "sample": 2})
	require.NoError(t, err)
	require.Equal(t, run.ID, *items[0].EvaluationRunID)
	require.NotNil(t, items[0].TestCaseID)
	source, _ := task.Source.(map[string]any)
	require.Equal(t, run.ID, source["evaluation_run_id"])
	require.InDelta(t, 12, source["candidates"], 0)
	require.InDelta(t, 2.0/12, *items[0].InclusionProbability, 1e-12, "labels can be weighed")
	_, whole, err := create(c, map[string]any{"evaluationRunId": run.ID, "only": "failed"})
	require.NoError(t, err)
	require.InDelta(t, 1, *whole[0].InclusionProbability, 0)
	added, err := c.AddAnnotationItems(ctx, task.ID, map[string]any{"content": "By hand"})
	require.NoError(t, err)
	require.Nil(t, added.Items[0].InclusionProbability, "nobody drew it")

	for name, source := range map[string]map[string]any{
		"nothing": {}, "two sources": {"datasetId": d.ID, "evaluationRunId": run.ID}, "an unknown run": {"evaluationRunId": "4711"}, "an unknown dataset": {"datasetId": "4711"}, "no id": {"datasetId": "x"},
		"what failed in a dataset": {"datasetId": d.ID, "only": "failed"}, "traces that a judge was unsure of": {"traceFilter": map[string]any{}, "only": "low_confidence"},
	} {
		_, _, err := create(c, source)
		require.Equal(t, "invalid_request", annotationReason(t, err), name)
	}
	// What is copied can be read by the one who copies it.
	_, _, err = create(k.Key(t, c, principal.EvalWrite), map[string]any{"datasetId": d.ID})
	require.Equal(t, "insufficient_scope", annotationReason(t, err))
	_, _, err = create(k.Key(t, c, principal.EvalWrite, principal.EvalRead), map[string]any{"traceFilter": map[string]any{}})
	require.Equal(t, "insufficient_scope", annotationReason(t, err))
	_, _, err = create(k.Key(t, c, principal.EvalWrite, principal.TracesRead), map[string]any{"traceFilter": map[string]any{}})
	require.NoError(t, err)
	theirs := k.Org(t).Dataset(t, testkit.NewDataset{})
	_, _, err = create(c, map[string]any{"datasetId": theirs.ID})
	require.Equal(t, "invalid_request", annotationReason(t, err))

	t.Run("the most informative are those that judges leave open", func(t *testing.T) {
		_, all, err := create(c, map[string]any{"evaluationRunId": run.ID})
		require.NoError(t, err)
		ofRun, err := strconv.ParseInt(run.ID, 10, 64)
		require.NoError(t, err)
		var open []string // the item at which judges are furthest apart, then the one of which a judge is not sure
		for i, says := range []struct {
			first, second float64
			detail        string
		}{{1, .9, ""}, {0, 1, ""}, {.8, .8, `{"confidence": 0.3}`}, {.5, .5, ""}} {
			item, err := strconv.ParseInt(*all[i].TestCaseID, 10, 64)
			require.NoError(t, err)
			for n, value := range []float64{says.first, says.second} {
				one := score.Score{
					Subject: score.RunItem(ofRun, item, 0), Metric: fmt.Sprint("judge:", n), Source: score.Source{Kind: score.SourceJudge, ID: strconv.Itoa(n)}, Record: int64(2*i + n + 1), Value: &value, At: k.Clock.Now(),
				}
				if says.detail != "" {
					one.Detail = []byte(says.detail)
				}
				require.NoError(t, k.App.Score.Insert(ctx, c.Org, one))
			}
			if i == 1 || i == 2 {
				open = append(open, *all[i].TestCaseID)
			}
		}
		_, items, err := create(c, map[string]any{"evaluationRunId": run.ID, "only": "most_informative", "sample": 2})
		require.NoError(t, err)
		require.ElementsMatch(t, open, []string{*items[0].TestCaseID, *items[1].TestCaseID})
		require.Nil(t, items[0].InclusionProbability, "chance did not choose it")
		_, items, err = create(c, map[string]any{"evaluationRunId": run.ID, "only": "low_confidence"})
		require.NoError(t, err)
		require.Len(t, items, 1)
		require.Equal(t, open[1], *items[0].TestCaseID)
	})

	t.Run("an annotation names an item of the run", func(t *testing.T) {
		one := people(t, c, 1)[0]
		a, err := one.CreateAnnotation(ctx, map[string]any{"evaluationRunId": run.ID, "testCaseId": *items[0].TestCaseID, "rating": 4})
		require.NoError(t, err)
		for query, want := range map[string]int{
			"": 1, "evaluationRunId=" + run.ID: 1, "evaluationRunId=4711": 0, "testCaseId=" + *items[0].TestCaseID: 1, "testCaseId=x": 0, "traceId=4711": 0, "taskId=1": 0, "annotatorId=x": 0,
			"annotatorId=" + *a.Annotator.ID: 1, "evaluationRunId=" + run.ID + "&testCaseId=" + *items[1].TestCaseID: 0,
		} {
			found, err := c.ListAnnotations(ctx, query)
			require.NoError(t, err)
			require.Len(t, found.Annotations, want, query)
		}
		for name, body := range map[string]map[string]any{
			"no subject": {"rating": 1}, "no answer": {"evaluationRunId": run.ID, "testCaseId": *items[0].TestCaseID}, "no item": {"evaluationRunId": run.ID, "rating": 1},
			"an item of no run": {"evaluationRunId": run.ID, "testCaseId": "4711", "rating": 1}, "an unknown trace": {"traceId": "4711", "rating": 1}, "a rating off the scale": {"evaluationRunId": run.ID, "testCaseId": *items[0].TestCaseID, "rating": 9},
		} {
			_, err := one.CreateAnnotation(ctx, body)
			require.Equal(t, "invalid_request", annotationReason(t, err), name)
		}
	})

	t.Run("annotators do not see what the items of a blind task are from", func(t *testing.T) {
		task, err := c.CreateAnnotationTask(ctx, map[string]any{"name": "Blind", "annotatorsPerItem": 2, "source": map[string]any{"evaluationRunId": run.ID, "sample": 1}})
		require.NoError(t, err)
		require.NotNil(t, task.Source, "who manages tasks does")
		who := people(t, c, 2)
		seen := func(by *testkit.Client) (testkit.AnnotationTask, testkit.AnnotationItem) {
			task, err := by.GetAnnotationTask(ctx, task.ID)
			require.NoError(t, err)
			items, err := by.ListAnnotationItems(ctx, task.ID, "")
			require.NoError(t, err)
			return task, items.Items[0]
		}
		shown, item := seen(who[0])
		require.Nil(t, shown.Source)
		require.Nil(t, item.EvaluationRunID)
		_, whole := seen(c)
		require.Equal(t, run.ID, *whole.EvaluationRunID)
		next, err := who[0].TakeAnnotationItem(ctx, task.ID, nil)
		require.NoError(t, err)
		require.Nil(t, next.Item.EvaluationRunID)
		a, err := who[0].Answer(ctx, task.ID, item.ID, map[string]any{"rating": 3})
		require.NoError(t, err)
		require.Nil(t, a.EvaluationRunID)
		own, err := who[0].GetAnnotation(ctx, a.ID)
		require.NoError(t, err)
		require.Nil(t, own.EvaluationRunID)
		_, item = seen(who[0])
		require.Nil(t, item.Annotations[0].EvaluationRunID)
		all, err := who[0].ListAnnotations(ctx, fmt.Sprint("taskId=", task.ID))
		require.NoError(t, err)
		require.Nil(t, all.Annotations[0].EvaluationRunID)

		_, err = who[1].Answer(ctx, task.ID, item.ID, map[string]any{"rating": 3})
		require.NoError(t, err)
		shown, item = seen(who[0])
		require.NotNil(t, shown.Source, "all items are complete")
		require.Equal(t, run.ID, *item.EvaluationRunID)
		require.Equal(t, run.ID, *item.Annotations[0].EvaluationRunID)
	})
}

func TestAReplayDoesNotGatherItsSourceAgain(t *testing.T) {
	t.Parallel()
	c, ctx := testkit.Shared(t).Org(t), t.Context()
	d := c.Dataset(t, testkit.NewDataset{})
	_, err := c.AddItems(ctx, d.ID, []testkit.Item{{Input: "Why?", Output: "So."}})
	require.NoError(t, err)
	body := map[string]any{"name": "Some", "source": map[string]any{"datasetId": d.ID}}
	task, err := c.CreateAnnotationTask(ctx, body, testkit.Idempotent("some"))
	require.NoError(t, err)
	require.NoError(t, c.DeleteDataset(ctx, d.ID))
	again, err := c.CreateAnnotationTask(ctx, body, testkit.Idempotent("some"))
	require.NoError(t, err, "the request was answered before the dataset was deleted")
	require.Equal(t, task.ID, again.ID)
}

func TestASourceHasALimit(t *testing.T) {
	t.Parallel()
	c, ctx := testkit.Shared(t).Org(t), t.Context()
	d := c.Dataset(t, testkit.NewDataset{})
	for n := range 4 {
		cases := make([]testkit.Item, 42)
		for i := range cases {
			cases[i] = testkit.Item{Input: fmt.Sprint(n, "-", i, strings.Repeat("x", 200<<10)), Output: "y"}
		}
		_, err := c.AddItems(ctx, d.ID, cases)
		require.NoError(t, err)
	}
	_, err := c.AddItems(ctx, d.ID, []testkit.Item{{Input: strings.Repeat("x", 300<<10), Output: "y"}})
	require.NoError(t, err)
	_, err = c.CreateAnnotationTask(ctx, map[string]any{"name": "Too much", "source": map[string]any{"datasetId": d.ID}})
	require.Equal(t, "invalid_request", annotationReason(t, err), "the items have more than 32 MiB together")
	body := map[string]any{"name": "Some", "source": map[string]any{"datasetId": d.ID, "sample": 20}}
	task, err := c.CreateAnnotationTask(ctx, body)
	require.NoError(t, err)
	require.LessOrEqual(t, 19, int(task.TotalItems))
}

func TestEventsSayWhichItemsAreComplete(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c, ctx := k.Org(t), t.Context()
	task := c.AnnotationTask(t, 2, map[string]any{"annotatorsPerItem": 2, "type": "classification"})
	items, err := c.ListAnnotationItems(ctx, task.ID, "")
	require.NoError(t, err)
	for i, one := range people(t, c, 2) {
		_, err := one.Answer(ctx, task.ID, items.Items[0].ID, map[string]any{"label": "same"})
		require.NoError(t, err)
		_, err = one.Answer(ctx, task.ID, items.Items[1].ID, map[string]any{"label": fmt.Sprint("other ", i)})
		require.NoError(t, err)
	}
	log, err := c.ListAuditLogs(ctx, "resourceType=annotation_item")
	require.NoError(t, err)
	got := map[string]string{}
	for _, e := range log.AuditLogs {
		got[e.ResourceID] = e.Action
	}
	subject := func(item int64) string { return fmt.Sprintf("%d/%d", task.ID, item) }
	require.Equal(t, map[string]string{subject(items.Items[0].ID): "annotation.item.annotated", subject(items.Items[1].ID): "annotation.item.conflicted"}, got)
}
