package dataset_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestImport(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)

	t.Run("twins within one import are kept once and both named", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})

		out, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "a"}, {Input: "b"}, {Input: "a"}, {Input: "a"}})

		require.NoError(t, err)
		require.EqualValues(t, 2, out.Created)
		require.Equal(t, []int64{0, 1}, []int64{out.Items[0].Index, out.Items[1].Index})
		require.Equal(t, []int64{2, 3}, []int64{out.Skipped[0].Index, out.Skipped[1].Index})
		require.Equal(t, out.Items[0].ID, out.Skipped[0].ID)
		require.Equal(t, out.Items[0].ID, out.Skipped[1].ID)
		after, err := us.GetDataset(t.Context(), d.ID)
		require.NoError(t, err)
		require.EqualValues(t, 2, after.ItemCount)
	})

	t.Run("content is the same however its JSON is written", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		body := `{"items": [{"input": {"b": 1, "a": [1.0, "\u00e9"]}}, {"input": {"a":[1,"é"],"b":1e0}}]}`

		res, err := us.Send(t.Context(), http.MethodPost, "/api/datasets/"+d.ID+"/items", strings.NewReader(body))

		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, res.Status)
		require.Contains(t, string(res.Body), `"created":1`)
		page, err := us.ListDatasetItems(t.Context(), d.ID, "")
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
	})

	t.Run("split and weight belong to the content", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		dev, heavy := "dev", 2.0
		out, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "a"}, {Input: "a", Split: &dev}, {Input: "a", Weight: &heavy}})
		require.NoError(t, err)
		require.EqualValues(t, 3, out.Created)
	})

	t.Run("a thousand are taken at once and no more", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		_, err := us.AddItems(t.Context(), d.ID, questions(1001))
		require.Equal(t, []field{{"/items", "length"}}, fields(t, err))
		_, err = us.AddItems(t.Context(), d.ID, questions(1000))
		require.NoError(t, err)
	})

	t.Run("an item without an input is named", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		_, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "a"}, {ExpectedOutput: "b"}})
		require.Equal(t, []field{{"/items/1/input", "required"}}, fields(t, err))
	})

	t.Run("a null character is kept in content and refused in a name", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		out, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "a\x00b"}})
		require.NoError(t, err)
		item, err := us.GetDatasetItem(t.Context(), d.ID, out.Items[0].ID, "")
		require.NoError(t, err)
		require.Equal(t, "a\x00b", item.Input)

		_, naming := us.UpdateDataset(t.Context(), d.ID, map[string]any{"name": "a\x00b"})
		_, sourcing := us.Call(t.Context(), http.MethodPost, "/api/datasets/"+d.ID+"/items",
			map[string]any{"input": "c", "source": map[string]any{"type": "trace", "id": "a\x00b"}}, nil)
		for _, err := range []error{naming, sourcing} {
			f, ok := fault.From(err)
			require.True(t, ok)
			require.Equal(t, fault.Validation, f.Kind, "%v", err)
		}
	})

	t.Run("a change to the content of another item is refused", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		out, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "a"}, {Input: "b"}})
		require.NoError(t, err)
		change := func() error {
			_, err := us.UpdateDatasetItem(t.Context(), d.ID, out.Items[1].ID, map[string]any{"input": "a"})
			return err
		}

		require.ErrorIs(t, change(), dataset.ErrDuplicate)
		_, err = us.Freeze(t.Context(), d.ID, "")
		require.NoError(t, err)
		require.ErrorIs(t, change(), dataset.ErrDuplicate, "also when a version has to be kept")

		item, err := us.GetDatasetItem(t.Context(), d.ID, out.Items[1].ID, "")
		require.NoError(t, err)
		require.Equal(t, "b", item.Input)
	})
}
