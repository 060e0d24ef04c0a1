package evaluation_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestEvaluation(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	t.Run("what is made can be read", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		d := filled(t, c, cases(3))
		made, err := c.CreateEvaluation(ctx, map[string]any{
			"name": "Support answers", "description": "All of them.", "datasetId": d.ID, "datasetVersion": 7,
			"metrics": []string{"exact_match", "contains"}, "metricParams": map[string]any{"contains": map[string]any{"values": []string{"a"}}},
			"target": map[string]any{"type": "model", "provider": "simulated", "model": "echo", "params": map[string]any{"temperature": 0.5}},
			"passRule": map[string]any{
				"metricThresholds": map[string]any{"exact_match": 1}, "mode": "all", "weights": map[string]any{"exact_match": 2}, "minOverall": 0.25,
			},
			"tags": []string{"support"}, "metadata": map[string]any{"Team": "care"},
		})
		require.NoError(t, err)
		require.Equal(t, "pending", made.Status)
		require.Empty(t, made.Warnings)
		require.EqualValues(t, 1, made.Version)
		require.Equal(t, []string{"exact_match", "contains"}, made.MetricNames)
		require.EqualValues(t, 7, *made.DatasetVersion)
		require.Equal(t, api.Target{
			Type: "model", Provider: new("simulated"), Model: new("echo"), Params: map[string]any{"temperature": 0.5},
		}, made.Target, "what is not set is null")
		require.Equal(t, api.PassRule{
			MetricThresholds: map[string]float64{"exact_match": 1}, Mode: new("all"), Weights: map[string]float64{"exact_match": 2}, MinOverall: new(0.25),
		}, made.PassRule)
		require.Equal(t, map[string]any{"Team": "care"}, made.Metadata)
		require.Nil(t, made.LatestRunID)

		found, err := c.GetEvaluation(ctx, made.ID)
		require.NoError(t, err)
		require.EqualValues(t, 3, found.Items, "before any run, those of the dataset")
		require.Equal(t, made, found)
		require.Equal(t, "service_key", found.CreatedBy.Type)
		require.NotEmpty(t, *found.CreatedBy.ID)
	})

	t.Run("what cannot work is refused, with its place", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		for name, one := range map[string]struct {
			body map[string]any
			path string
		}{
			"no metric":            {map[string]any{"metrics": []string{}}, "/metrics"},
			"a metric twice":       {map[string]any{"metrics": []string{"contains", "contains"}}, "/metrics/1"},
			"unknown parameter":    {map[string]any{"metricParams": map[string]any{"exact_match": map[string]any{"colour": "red"}}}, "/metricParams/exact_match/colour"},
			"parameters no object": {map[string]any{"metricParams": map[string]any{"exact_match": 1}}, "/metricParams/exact_match"},
			"a tag twice":          {map[string]any{"tags": []string{"a", "b", "a"}}, "/tags"},
			"no url":               {map[string]any{"target": map[string]any{"type": "http"}}, "/target/url"},
			"a private url":        {map[string]any{"target": map[string]any{"type": "http", "url": "http://10.0.0.1/"}}, "/target/url"},
			"no model":             {map[string]any{"target": map[string]any{"type": "model", "provider": "simulated"}}, "/target/model"},
			"neither key nor inside": {
				map[string]any{"target": map[string]any{"type": "model", "model": "echo"}}, "/target/providerKeyId",
			},
			"a provider that needs a key": {map[string]any{"target": map[string]any{"type": "model", "model": "gpt-5", "provider": "openai"}}, "/target/provider"},
			"params of nothing": {
				map[string]any{"target": map[string]any{"type": "model", "model": "echo", "provider": "simulated", "params": map[string]any{"heat": 1}}}, "/target/params",
			},
			"a mode that is none": {map[string]any{"passRule": map[string]any{"mode": "most"}}, "/passRule/mode"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				body := map[string]any{"name": "x", "datasetId": "1", "metrics": []string{"exact_match"}}
				for k, v := range one.body {
					body[k] = v
				}

				_, err := c.CreateEvaluation(t.Context(), body)

				require.Equal(t, []string{one.path}, paths(t, refused(t, err, fault.Validation, "invalid_request")))
			})
		}
	})

	t.Run("names that stand for nothing yet are warned of, and refused if that is asked for", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		body := map[string]any{"name": "early", "datasetId": "not there yet", "metrics": []string{"exact_match", "charm", "faithfulness"}}

		e, err := c.CreateEvaluation(ctx, body)
		require.NoError(t, err)
		var codes []string
		for _, w := range e.Warnings {
			codes = append(codes, w.Code+" "+w.Subject)
			require.NotEmpty(t, w.Message)
		}
		require.Equal(t, []string{"metric_unresolved charm", "metric_unresolved faithfulness", "dataset_unresolved not there yet"}, codes)

		_, err = c.Call(ctx, http.MethodPost, "/api/evaluations?strict=true", body, nil)
		require.Equal(t, []string{"/metrics", "/metrics", "/datasetId"}, paths(t, refused(t, err, fault.Validation, "unknown_reference")))
		_, err = c.Call(ctx, http.MethodPatch, "/api/evaluations/"+e.ID+"?strict=true", map[string]any{"name": "x"}, nil)
		refused(t, err, fault.Validation, "unknown_reference")
		page, err := c.ListEvaluations(ctx, "")
		require.NoError(t, err)
		require.EqualValues(t, 1, page.Total)
	})

	t.Run("a change changes what it names, and counts", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		d := filled(t, c, cases(1))
		e := c.Evaluation(t, d.ID, map[string]any{"description": "old", "tags": []string{"a"}, "datasetVersion": 3, "metadata": map[string]any{"a": 1}})

		after, err := c.UpdateEvaluation(ctx, e.ID, map[string]any{
			"name": "new", "description": nil, "datasetVersion": nil, "tags": nil, "metadata": nil, "metrics": []string{"similarity"},
			"target": map[string]any{"type": "client"}, "passRule": map[string]any{"minOverall": 0.9},
		})
		require.NoError(t, err)
		want := e
		want.Name, want.Description, want.DatasetVersion, want.Tags, want.Metadata, want.Version = "new", nil, nil, []string{}, map[string]any{}, 2
		want.MetricNames, want.Target, want.PassRule, want.UpdatedAt = []string{"similarity"}, after.Target, after.PassRule, after.UpdatedAt
		require.Equal(t, want, after)
		require.Equal(t, "client", after.Target.Type)
		require.Equal(t, api.PassRule{MetricThresholds: map[string]float64{}, Weights: map[string]float64{}, MinOverall: new(0.9)}, after.PassRule)

		same, err := c.UpdateEvaluation(ctx, e.ID, map[string]any{"name": "new"})
		require.NoError(t, err)
		require.EqualValues(t, 2, same.Version, "a change that changes nothing does not count")
		_, err = c.UpdateEvaluation(ctx, e.ID, map[string]any{"name": "lost"}, testkit.Header("If-Match", `"v1"`))
		require.ErrorIs(t, err, evaluation.ErrVersionConflict)
		_, err = c.UpdateEvaluation(ctx, e.ID, map[string]any{"name": "lost", "expectedVersion": 1})
		require.EqualValues(t, 2, refused(t, err, fault.Conflict, "version_conflict")["currentVersion"])
		_, err = c.UpdateEvaluation(ctx, e.ID, map[string]any{"name": "newer"}, testkit.Header("If-Match", `"v2"`))
		require.NoError(t, err)
		_, err = c.UpdateEvaluation(ctx, "4711000", map[string]any{"name": "x"})
		require.ErrorIs(t, err, evaluation.ErrNotFound)
	})

	t.Run("an archived one stays readable, takes no run, and can be restored", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c := k.Org(t)
		d := filled(t, c, cases(1))
		e := c.Evaluation(t, d.ID, nil)

		archived, err := c.UpdateEvaluation(ctx, e.ID, map[string]any{"archived": true})
		require.NoError(t, err)
		require.Equal(t, "archived", archived.Status)
		again, err := c.UpdateEvaluation(ctx, e.ID, map[string]any{"archived": true})
		require.NoError(t, err)
		require.Equal(t, archived.Version, again.Version, "archiving twice is archiving once")
		found, err := c.GetEvaluation(ctx, e.ID)
		require.NoError(t, err)
		require.Equal(t, "archived", found.Status)
		_, err = c.StartRun(ctx, e.ID, nil)
		require.ErrorIs(t, err, evaluation.ErrArchived)

		restored, err := c.UpdateEvaluation(ctx, e.ID, map[string]any{"archived": false})
		require.NoError(t, err)
		require.Equal(t, "pending", restored.Status)
		_, err = c.StartRun(ctx, e.ID, nil)
		require.NoError(t, err)
	})

	t.Run("they are listed newest first, filtered and paged", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		c, other := k.Org(t), k.Org(t)
		other.Evaluation(t, "1", nil)
		d := filled(t, c, cases(1))
		var made []testkit.Evaluation
		for i := range 5 {
			made = append(made, c.Evaluation(t, d.ID, map[string]any{"name": fmt.Sprintf("Number %d", i), "tags": []string{fmt.Sprint("t", i%2)}}))
		}
		_, err := c.UpdateEvaluation(ctx, made[0].ID, map[string]any{"datasetId": "elsewhere"})
		require.NoError(t, err)
		_, err = c.UpdateEvaluation(ctx, made[1].ID, map[string]any{"archived": true})
		require.NoError(t, err)
		run := started(t, c, made[2].ID, nil)
		cancelled := started(t, c, made[3].ID, nil)
		_, err = c.CancelEvaluationRun(ctx, made[3].ID, cancelled.RunID)
		require.NoError(t, err)

		for query, want := range map[string][]int{
			"":                       {4, 3, 2, 1, 0},
			"limit=2":                {4, 3},
			"limit=2&offset=3":       {1, 0},
			"search=NUMBER 2":        {2},
			"search=%":               nil,
			"tag=t1":                 {3, 1},
			"tag=t":                  nil,
			"datasetId=elsewhere":    {0},
			"datasetId=" + d.ID:      {4, 3, 2, 1},
			"status=pending":         {4, 0},
			"status=running":         {2},
			"status=cancelled":       {3},
			"status=archived":        {1},
			"status=completed":       nil,
			"status=pending&tag=t0":  {4, 0},
			"status=running&tag=t1":  nil,
			"search=number&limit=1":  {4},
			"status=failed&search=x": nil,

			"status=running&status=archived":              {2, 1},
			"status=pending&status=cancelled&tag=t1":      {3},
			"status=pending&status=cancelled&limit=2":     {4, 3},
			"status=pending&status=completed&search=none": nil,
		} {
			got, err := c.ListEvaluations(ctx, escape(query))
			require.NoError(t, err, query)
			var names, wanted []string
			for _, e := range got.Evaluations {
				names = append(names, e.Name)
			}
			for _, i := range want {
				wanted = append(wanted, made[i].Name)
			}
			require.Equal(t, wanted, names, query)
		}
		for query, want := range map[string]int{"limit=2": 5, "limit=1&status=pending&status=running": 3, "limit=1&tag=t1": 2, "limit=1&offset=9": 5, "tag=none": 0} {
			page, err := c.ListEvaluations(ctx, query)
			require.NoError(t, err)
			require.EqualValues(t, want, page.Total, query)
		}
		found, err := c.GetEvaluation(ctx, made[2].ID)
		require.NoError(t, err)
		require.Equal(t, run.RunID, *found.LatestRunID)
	})
}

func TestMetricsAreListed(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	out, err := k.Org(t).ListEvaluationMetrics(t.Context())

	require.NoError(t, err)
	better := map[string]string{}
	for _, m := range out.Metrics {
		better[m.Name] = m.Better
	}
	require.Equal(t, "higher", better["exact_match"])
	require.Equal(t, "lower", better["latency_ms"])
}

func TestListsOfEvaluations(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Shared(t)
	c := k.Org(t)
	var ids []string
	for range 5 {
		ids = append(ids, c.Evaluation(t, "1", nil).ID)
	}
	var next string
	var total int
	list := func(query string) (got []string, page int, err error) {
		var out struct {
			Evaluations []testkit.Evaluation `json:"evaluations"`
			Page        int                  `json:"page"`
			Next        string               `json:"next_cursor"`
			Total       int                  `json:"total"`
		}
		_, err = c.Call(ctx, http.MethodGet, "/api/evaluations?"+query, nil, &out)
		next, total = out.Next, out.Total
		for _, e := range out.Evaluations {
			got = append(got, e.ID)
		}
		return got, out.Page, err
	}
	for _, query := range []string{"limit=2&page=2", "limit=2&offset=2"} {
		got, page, err := list(query)
		require.NoError(t, err)
		require.Equal(t, []string{ids[2], ids[1]}, got, query)
		require.Equal(t, 2, page, query)
	}
	for _, query := range []string{"page=2&offset=2", "page=2&cursor=x"} {
		_, _, err := list(query)
		require.Equal(t, []string{"page"}, paths(t, refused(t, err, fault.Validation, "invalid_request")), query)
	}
	_, _, err := list("limit=1000&page=102")
	require.Equal(t, []string{"page"}, paths(t, refused(t, err, fault.Validation, "use_cursor")))
	_, _, err = list("limit=1000&page=101")
	require.NoError(t, err)
	got, _, err := list("createdAfter=2000-01-01T00:00:00Z&createdBefore=2000-01-02T00:00:00Z")
	require.NoError(t, err)
	require.Empty(t, got)
	got, _, err = list("createdAfter=2000-01-01T00:00:00Z")
	require.NoError(t, err)
	require.Len(t, got, 5)

	var followed []string
	for i, query := 1, "limit=2"; query != ""; i++ {
		got, page, err := list(query)
		require.NoError(t, err)
		require.Equal(t, i, page, "a cursor leads to the next page")
		require.Equal(t, 5, total, "every page has the number of all")
		followed, query = append(followed, got...), ""
		if next != "" {
			query = "limit=2&cursor=" + next
		}
	}
	slices.Reverse(ids)
	require.Equal(t, ids, followed)
}

func TestNullTakesAPlanBackToItsDefaults(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c := k.Org(t)
	plain := c.Evaluation(t, "1", nil)
	e := c.Evaluation(t, "1", map[string]any{"target": map[string]any{"type": "client"}, "passRule": map[string]any{"minOverall": 0.9}})
	got, err := c.UpdateEvaluation(t.Context(), e.ID, map[string]any{"target": nil, "passRule": nil})
	require.NoError(t, err)
	require.Equal(t, plain.Target, got.Target)
	require.Equal(t, plain.PassRule, got.PassRule)
}
