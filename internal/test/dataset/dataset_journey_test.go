package dataset_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestJourney is the life of a dataset as a user sees it.
func TestJourney(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Shared(t)
	us, them := k.Org(t), k.Org(t)

	// A team makes a dataset and imports a thousand questions.
	d, err := us.CreateDataset(ctx, testkit.NewDataset{Name: "Support questions", Tags: []string{"support"}, Metadata: map[string]any{"Owner-Team": "care"}})
	require.NoError(t, err)
	require.Equal(t, "active", d.Status)
	require.Equal(t, "general", d.Purpose)
	require.Equal(t, map[string]any{"Owner-Team": "care"}, d.Metadata, "names inside free-form values are never rewritten")

	questions := make([]testkit.Item, 1000)
	for i := range questions {
		questions[i] = testkit.Item{Input: fmt.Sprintf("Question %d?", i), ExpectedOutput: fmt.Sprintf("Answer %d.", i)}
	}
	first, err := us.AddItems(ctx, d.ID, questions)
	require.NoError(t, err)
	require.EqualValues(t, 1000, first.Created)
	require.Empty(t, first.Skipped)

	// The same import again adds nothing and says so.
	again, err := us.AddItems(ctx, d.ID, questions)
	require.NoError(t, err)
	require.Zero(t, again.Created)
	require.Len(t, again.Skipped, 1000)
	require.Equal(t, first.Items[7].ID, again.Skipped[7].ID)

	// They freeze it, then correct one answer and drop another question.
	v1, err := us.Freeze(ctx, d.ID, "before the correction")
	require.NoError(t, err)
	require.EqualValues(t, 1, v1.DatasetVersion)
	require.EqualValues(t, 1000, v1.ItemCount)

	corrected := first.Items[0].ID
	_, err = us.UpdateDatasetItem(ctx, d.ID, corrected, map[string]any{"expectedOutput": "A better answer."})
	require.NoError(t, err)
	dropped := first.Items[1].ID
	require.NoError(t, us.DeleteDatasetItem(ctx, d.ID, dropped))

	// The frozen version still has both as they were.
	frozen, err := us.GetDatasetItem(ctx, d.ID, corrected, "datasetVersion=1")
	require.NoError(t, err)
	require.Equal(t, "Answer 0.", frozen.ExpectedOutput)
	_, err = us.GetDatasetItem(ctx, d.ID, dropped, "datasetVersion=1")
	require.NoError(t, err)
	current, err := us.GetDatasetItem(ctx, d.ID, corrected, "")
	require.NoError(t, err)
	require.Equal(t, "A better answer.", current.ExpectedOutput)
	_, err = us.GetDatasetItem(ctx, d.ID, dropped, "")
	require.ErrorIs(t, err, dataset.ErrItemNotFound)

	v2, err := us.Freeze(ctx, d.ID, "")
	require.NoError(t, err)
	require.EqualValues(t, 999, v2.ItemCount)
	require.NotEqual(t, v1.Digest, v2.Digest)

	// Putting back what was changed gives the first contents again, and the
	// digest says so.
	_, err = us.UpdateDatasetItem(ctx, d.ID, corrected, map[string]any{"expectedOutput": "Answer 0."})
	require.NoError(t, err)
	_, err = us.AddItems(ctx, d.ID, questions[1:2])
	require.NoError(t, err)
	v3, err := us.Freeze(ctx, d.ID, "")
	require.NoError(t, err)
	require.Equal(t, v1.Digest, v3.Digest)

	// Pages of a version add up to the whole of it, newest first.
	seen := map[string]bool{}
	query := "limit=300&datasetVersion=1&includeTotal=true"
	for {
		page, err := us.ListDatasetItems(ctx, d.ID, query)
		require.NoError(t, err)
		require.EqualValues(t, 1000, *page.Total)
		for _, i := range page.Items {
			require.False(t, seen[i.ID], "an item on two pages")
			seen[i.ID] = true
		}
		if !page.HasMore {
			break
		}
		query = "limit=300&datasetVersion=1&includeTotal=true&cursor=" + api.Value(page.NextCursor)
	}
	require.Len(t, seen, 1000)

	// Another organization sees none of it, whatever it tries.
	for _, path := range []string{"", "/items", "/items/" + corrected, "/versions", "/versions/1"} {
		for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodDelete, http.MethodPost} {
			res, err := them.Call(ctx, method, "/api/datasets/"+d.ID+path, map[string]any{"input": "x", "name": "x", "itemIds": []string{corrected}, "split": "test"}, nil)
			require.Error(t, err)
			require.Contains(t, []int{http.StatusNotFound, http.StatusMethodNotAllowed}, res.Status, "%s %s", method, path)
		}
	}
	list, err := them.ListDatasets(ctx, "includeTotal=true")
	require.NoError(t, err)
	require.Empty(t, list.Datasets)
	require.Zero(t, api.Value(list.Total))

	// In the end the dataset is deleted, once.
	require.NoError(t, us.DeleteDataset(ctx, d.ID))
	require.ErrorIs(t, us.DeleteDataset(ctx, d.ID), dataset.ErrNotFound)
	_, err = us.ListDatasetItems(ctx, d.ID, "datasetVersion=1")
	require.ErrorIs(t, err, dataset.ErrNotFound)
}
