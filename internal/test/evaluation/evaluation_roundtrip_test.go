package evaluation_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/test/testkit"
)

// A client that reads an evaluation, edits it and sends it back must not change
// what it did not touch.
func TestAnEvaluationCanBeSentBackAsItWasRead(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	d := filled(t, c, cases(3))
	whole := c.Evaluation(t, d.ID, map[string]any{
		"description": "All of them.", "datasetVersion": 7, "metrics": []string{"exact_match", "contains"},
		"metricParams": map[string]any{"contains": map[string]any{"values": []any{"b", "a"}}},
		"target": map[string]any{
			"type": "model", "provider": "simulated", "model": "echo", "timeoutMs": 5000, "concurrency": 4, "prompt": "{{input}}", "system": "Be brief.",
			"params": map[string]any{"temperature": 0.5, "stop": []any{"z", "a"}},
		},
		"passRule": map[string]any{
			"metricThresholds": map[string]any{"exact_match": 1}, "mode": "all", "weights": map[string]any{"exact_match": 2, "contains": 1}, "minOverall": 0.25,
		},
		"judgeConfigIds": []any{"12", 7}, "tags": []string{"support", "b"}, "metadata": map[string]any{"Team": "care", "nested": map[string]any{"z": 1.50, "a": []any{nil}}},
	})
	archived := c.Evaluation(t, "elsewhere", nil)
	_, err := c.UpdateEvaluation(t.Context(), archived.ID, map[string]any{"archived": true})
	require.NoError(t, err)
	completed := c.Evaluation(t, d.ID, nil)
	ran(t, c, completed.ID, nil)
	application := c.Evaluation(t, d.ID, map[string]any{"target": map[string]any{"type": "http", "url": "https://example.com/answer"}})
	for name, id := range map[string]string{
		"with everything": whole.ID, "with nothing": c.Evaluation(t, d.ID, nil).ID, "archived": archived.ID, "with a completed run": completed.ID,
		"of an application": application.ID,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			path := "/api/evaluations/" + id
			before, err := c.Call(ctx, http.MethodGet, path, nil, nil)
			require.NoError(t, err)

			after, err := c.Send(ctx, http.MethodPatch, path, bytes.NewReader(before.Body), testkit.Header("If-Match", before.Header.Get("ETag")))

			require.NoError(t, err)
			require.Equal(t, http.StatusOK, after.Status, "%s", after.Body)
			require.JSONEq(t, string(before.Body), string(after.Body))
			require.Equal(t, before.Header.Get("ETag"), after.Header.Get("ETag"))
			ignored := strings.Split(after.Header.Get("X-Ignored-Fields"), ", ")
			require.Contains(t, ignored, "/metrics", "the scores are not the names")
			require.False(t, slices.Contains(ignored, "/metric_names"))

			// Another encoder orders names in its own way.
			var body map[string]any
			require.NoError(t, json.Unmarshal(before.Body, &body))
			again, err := c.Call(ctx, http.MethodPatch, path, body, nil)
			require.NoError(t, err)
			require.JSONEq(t, string(before.Body), string(again.Body))
		})
	}

	t.Run("and makes a copy", func(t *testing.T) {
		t.Parallel()
		before, err := c.Call(t.Context(), http.MethodGet, "/api/evaluations/"+whole.ID, nil, nil)
		require.NoError(t, err)
		made, err := c.Send(t.Context(), http.MethodPost, "/api/evaluations", bytes.NewReader(before.Body))
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, made.Status, "%s", made.Body)
		var from, to map[string]any
		require.NoError(t, json.Unmarshal(before.Body, &from))
		require.NoError(t, json.Unmarshal(made.Body, &to))
		for _, own := range []string{"id", "created_at", "updated_at"} {
			delete(from, own)
			delete(to, own)
		}
		require.Equal(t, from, to)
	})
}

func TestUpdateEvaluation(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	t.Run("a list under either name is the metrics", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		e := c.Evaluation(t, "later", nil)
		for _, patch := range []map[string]any{
			{"metrics": []string{"contains"}},
			{"metricNames": []string{"similarity"}},
			{"metric_names": []string{"json_valid"}},
			{"metrics": []string{"contains"}, "metricNames": []string{"contains"}},
		} {
			after, err := c.UpdateEvaluation(ctx, e.ID, patch)
			require.NoError(t, err)
			for _, names := range patch {
				require.Equal(t, names, after.MetricNames)
			}
		}
		_, err := c.UpdateEvaluation(ctx, e.ID, map[string]any{"metrics": []string{"contains"}, "metricNames": []string{"similarity"}})
		require.Equal(t, []string{"/metricNames"}, paths(t, refused(t, err, fault.Validation, "invalid_request")))
		_, err = c.CreateEvaluation(ctx, map[string]any{"name": "x", "datasetId": "1", "metrics": map[string]any{"contains": 1}})
		require.Equal(t, []string{"/metricNames"}, paths(t, refused(t, err, fault.Validation, "invalid_request")))
	})

	t.Run("what an evaluation always has cannot be null", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		e := c.Evaluation(t, "later", nil)
		for _, field := range []string{"name", "datasetId", "metrics", "metricNames", "archived"} {
			_, err := c.UpdateEvaluation(t.Context(), e.ID, map[string]any{field: nil})
			require.Equal(t, []string{"/" + field}, paths(t, refused(t, err, fault.Validation, "invalid_request")), field)
		}
	})

	t.Run("what can be cleared is cleared by null", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		bare := c.Evaluation(t, "later", map[string]any{"name": "same", "metrics": []string{"contains"}})
		e := c.Evaluation(t, "later", map[string]any{
			"name": "same", "description": "Text.", "datasetVersion": 3, "metricParams": map[string]any{"contains": map[string]any{"values": []string{"a"}}}, "metrics": []string{"contains"},
			"target": map[string]any{"type": "http", "url": "https://app.example.com/answer"}, "judgeConfigIds": []int{1}, "passRule": map[string]any{"minOverall": 1}, "tags": []string{"a"},
			"metadata": map[string]any{"a": 1},
		})
		after, err := c.UpdateEvaluation(t.Context(), e.ID, map[string]any{
			"description": nil, "datasetVersion": nil, "metricParams": nil, "target": nil, "judgeConfigIds": nil, "passRule": nil, "tags": nil, "metadata": nil,
		})
		require.NoError(t, err)
		bare.ID, bare.Version, bare.CreatedAt, bare.UpdatedAt = e.ID, 2, e.CreatedAt, after.UpdatedAt
		require.Equal(t, bare, after)
	})

	t.Run("judges are numbers, and named in warnings while they do not exist", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		d := filled(t, c, cases(1))
		e := c.Evaluation(t, d.ID, map[string]any{"judgeConfigIds": []any{"12", 7}})
		require.Equal(t, []int64{12, 7}, e.JudgeConfigIDs)
		require.Equal(t, []string{"judge_config_unresolved 12", "judge_config_unresolved 7"}, warned(e))
		e, err := c.UpdateEvaluation(ctx, e.ID, map[string]any{"judgeConfigIds": []any{3}})
		require.NoError(t, err)
		require.Equal(t, []string{"judge_config_unresolved 3"}, warned(e))
		_, err = c.Call(ctx, http.MethodPatch, "/api/evaluations/"+e.ID+"?strict=true", map[string]any{"name": "strict"}, nil)
		require.Equal(t, []string{"/judgeConfigIds"}, paths(t, refused(t, err, fault.Validation, "unknown_reference")))
		e, err = c.UpdateEvaluation(ctx, e.ID, map[string]any{"judgeConfigIds": []any{}})
		require.NoError(t, err)
		require.Empty(t, warned(e))
	})

	t.Run("a dataset is named by a text or its number", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		d := filled(t, c, cases(2))
		e := c.Evaluation(t, d.ID, map[string]any{"datasetId": number(t, d.ID)})
		require.Equal(t, d.ID, e.DatasetID)
		require.EqualValues(t, 2, e.Items)
		for _, bad := range []any{"", 0, 1.5, true, strings.Repeat("x", 201)} {
			_, err := c.UpdateEvaluation(t.Context(), e.ID, map[string]any{"datasetId": bad})
			require.Equal(t, []string{"/datasetId"}, paths(t, refused(t, err, fault.Validation, "invalid_request")), "%v", bad)
		}
	})
}

// warned are the codes and subjects of an evaluation's warnings.
func warned(e testkit.Evaluation) (out []string) {
	for _, w := range e.Warnings {
		out = append(out, w.Code+" "+w.Subject)
	}
	return out
}

func TestAListHasSummaries(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	e := c.Evaluation(t, filled(t, c, cases(2)).ID, map[string]any{"tags": []string{"a"}})
	r := ran(t, c, e.ID, nil)
	var page struct {
		Evaluations []map[string]any `json:"evaluations"`
	}
	_, err := c.Call(t.Context(), http.MethodGet, "/api/evaluations", nil, &page)
	require.NoError(t, err)
	require.Len(t, page.Evaluations, 1)
	got := page.Evaluations[0]
	require.NotEmpty(t, got["created_at"])
	require.NotEmpty(t, got["updated_at"])
	delete(got, "created_at")
	delete(got, "updated_at")
	require.Equal(t, map[string]any{
		"id": e.ID, "name": e.Name, "status": "completed", "archived": false, "overall": *r.Overall, "dataset_id": e.DatasetID, "dataset_version": nil,
		"tags": []any{"a"}, "latest_run_id": r.RunID, "version": 1.0,
	}, got)
}
