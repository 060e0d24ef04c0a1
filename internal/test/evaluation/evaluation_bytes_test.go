package evaluation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestLargeItemsAreReadInPages runs over items that do not fit into a page: the
// worker, the list of results and the artifacts each take some at a time.
func TestLargeItemsAreReadInPages(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Working(t)
	c := k.Org(t)
	d := c.Dataset(t, testkit.NewDataset{})
	const n = 7
	var items []testkit.Item
	for i := range n {
		items = append(items, testkit.Item{Input: fmt.Sprint(i, strings.Repeat("a", 3<<20)), Output: "yes", ExpectedOutput: "yes"})
	}
	_, err := c.AddItems(ctx, d.ID, items)
	require.NoError(t, err)
	e := c.Evaluation(t, d.ID, map[string]any{"target": map[string]any{"type": "recorded"}, "metrics": []string{"exact_match"}})

	done := ran(t, c, e.ID, map[string]any{"repetitions": 2})

	require.Equal(t, "completed", done.Status, "%+v", done.Error)
	require.EqualValues(t, 2*n, done.Passed)
	var pages []int
	seen := map[string]int{}
	for cursor := ""; ; {
		page, err := c.ListEvaluationRunResults(ctx, e.ID, done.RunID, "includeTotal=true&limit=1000"+cursor)
		require.NoError(t, err)
		pages = append(pages, len(page.Results))
		for _, one := range page.Results {
			seen[one.TestCaseID]++
		}
		if !page.HasMore {
			break
		}
		cursor = "&cursor=" + api.Value(page.NextCursor)
	}
	require.Equal(t, []int{6, 6, 2}, pages, "both results of each item that fits")
	require.Len(t, seen, n)
	require.Equal(t, 2*n, strings.Count(string(c.Content(t, c.Artifacts(t, done)["results.jsonl"]).Body), "\n"))
}

func TestAPromptThatIsTooLongEndsItsItem(t *testing.T) {
	t.Parallel()
	c := testkit.Working(t).Org(t)
	d := c.Dataset(t, testkit.NewDataset{})
	_, err := c.AddItems(t.Context(), d.ID, []testkit.Item{{Input: strings.Repeat("a", 1000)}, {Input: "b"}})
	require.NoError(t, err)
	e := c.Evaluation(t, d.ID, map[string]any{
		"target":  map[string]any{"type": "model", "provider": "simulated", "model": "echo", "prompt": strings.Repeat("{{input}}", 11_000)},
		"metrics": []string{"latency_ms"},
	})

	done := ran(t, c, e.ID, nil)

	require.Equal(t, "completed", done.Status, "%+v", done.Error)
	got := results(t, c, done)
	require.Equal(t, "prompt_too_large", api.Value(got[0].Error.Code))
	require.Contains(t, got[0].Error.Message, "Shorten the item")
	require.Nil(t, got[1].Error)
}

// The two take turns: a process decodes one large body at a time, and refuses whoever waits
// for long.
func TestResultsOfAClientAreBounded(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)

	t.Run("an output has at most four megabytes", func(t *testing.T) { //nolint:paralleltest // they take turns
		c := k.Org(t)
		r, ids := waiting(t, c, 2, nil)
		err := c.PutResults(t.Context(), r.EvaluationID, r.RunID, []map[string]any{{"testCaseId": ids[0], "output": "x"}, {"testCaseId": ids[1], "output": strings.Repeat("a", 4<<20)}}, false)
		require.Equal(t, []string{"/results/1/output"}, paths(t, refused(t, err, fault.Validation, "invalid_request")))
		require.Empty(t, results(t, c, r))
	})

	t.Run("a request has one allowance for all its scores", func(t *testing.T) { //nolint:paralleltest // they take turns
		ctx := t.Context()
		c := k.Org(t)
		d := c.Dataset(t, testkit.NewDataset{})
		added, err := c.AddItems(ctx, d.ID, cases(7))
		require.NoError(t, err)
		// One long word is charged as many short ones are, and takes no time.
		e := c.Evaluation(t, d.ID, map[string]any{
			"target":       map[string]any{"type": "client"},
			"metrics":      []string{"similarity", "json_valid", "json_schema"},
			"metricParams": map[string]any{"similarity": map[string]any{"method": "token_f1"}, "json_schema": map[string]any{"schema": map[string]any{"type": "string"}}},
		})
		r := executing(t, c, started(t, c, e.ID, nil))
		var all []map[string]any
		for _, item := range added.Items {
			all = append(all, map[string]any{"testCaseId": item.ID, "output": strings.Repeat("a", 4<<20-100)})
		}

		err = c.PutResults(ctx, r.EvaluationID, r.RunID, all, false)

		refused(t, err, fault.Validation, "too_costly")
		require.Empty(t, results(t, c, r), "none is stored")
		require.NoError(t, c.PutResults(ctx, r.EvaluationID, r.RunID, all[:1], false), "fewer are taken")
	})
}
