package evaluation_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/testkit"
)

// cases are n items with recorded outputs; every fourth is wrong.
func cases(n int) []testkit.Item {
	items := make([]testkit.Item, n)
	for i := range items {
		answer := fmt.Sprintf("answer %d", i)
		items[i] = testkit.Item{Input: fmt.Sprintf("question %d", i), ExpectedOutput: answer, Output: answer}
		if i%4 == 3 {
			items[i].Output = "something else"
		}
	}
	return items
}

// filled is a dataset with items.
func filled(t *testing.T, c *testkit.Client, items []testkit.Item) testkit.Dataset {
	t.Helper()
	d := c.Dataset(t, testkit.NewDataset{})
	for len(items) > 0 {
		n := min(1000, len(items))
		_, err := c.AddItems(t.Context(), d.ID, items[:n])
		require.NoError(t, err)
		items = items[n:]
	}
	return d
}

func TestARunMeasuresRecordedAnswers(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	c := k.Org(t)
	d := filled(t, c, cases(40))
	e := c.Evaluation(t, d.ID, map[string]any{"metrics": []string{"exact_match", "similarity"}})
	require.Equal(t, "pending", e.Status)
	require.Empty(t, e.Warnings)

	r, err := c.StartRun(t.Context(), e.ID, nil)
	require.NoError(t, err)
	require.Equal(t, "running", r.Status)

	done := c.Ended(t, r)
	require.Equal(t, "completed", done.Status, "%+v", done.Error)
	require.EqualValues(t, 40, done.Items)
	require.EqualValues(t, 30, done.Passed)
	require.EqualValues(t, 10, done.Failed)
	require.InDelta(t, 0.75, done.Metrics["exact_match"], 1e-9)
	require.NotNil(t, done.Statistics.Overall.CI)
	require.EqualValues(t, 40, done.Statistics.PassRate.N)

	p, err := c.GetEvaluationRunProgress(t.Context(), e.ID, r.RunID)
	require.NoError(t, err)
	require.EqualValues(t, 40, p.ItemsDone)
	require.InDelta(t, 100, p.Percent, 0)

	page, err := c.ListEvaluationRunResults(t.Context(), e.ID, r.RunID, "includeTotal=true&status=failed&limit=3")
	require.NoError(t, err)
	require.EqualValues(t, 10, api.Value(page.Total))
	require.Len(t, page.Results, 3)
	require.Equal(t, "something else", page.Results[0].Output)
	require.NotEmpty(t, page.Results[0].Input)
	require.InDelta(t, 0, *page.Results[0].Scores["exact_match"], 0)
}
