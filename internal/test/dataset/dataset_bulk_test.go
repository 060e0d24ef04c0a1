package dataset_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestManyItemsAtOnce(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us, them := k.Org(t), k.Org(t)
	// filled is a dataset with items of which the first is in a frozen version.
	filled := func(t *testing.T, c *testkit.Client) (testkit.Dataset, []string) {
		t.Helper()
		d := c.Dataset(t, testkit.NewDataset{})
		var ids []string
		for _, input := range []string{"frozen", "b", "c"} {
			added, err := c.AddItems(t.Context(), d.ID, []testkit.Item{{Input: input, Labels: map[string]any{"topic": "old", "lang": "en"}}})
			require.NoError(t, err)
			ids = append(ids, added.Items[0].ID)
			if input == "frozen" {
				_, err := c.Freeze(t.Context(), d.ID, "")
				require.NoError(t, err)
			}
		}
		return d, ids
	}

	t.Run("labels are merged, and frozen versions keep theirs", func(t *testing.T) {
		t.Parallel()
		d, ids := filled(t, us)
		named := append(slices.Clone(ids), "4711", ids[0])
		patch := map[string]any{"itemIds": named, "labels": map[string]any{"topic": "returns", "lang": nil, "hard": true}, "split": "test", "weight": 2}

		got, err := us.UpdateDatasetItems(t.Context(), d.ID, patch)

		require.NoError(t, err)
		require.Equal(t, api.UpdatedDatasetItems{Updated: 3, Missing: []string{"4711"}}, got)
		for _, id := range ids {
			item, err := us.GetDatasetItem(t.Context(), d.ID, id, "")
			require.NoError(t, err)
			require.Equal(t, map[string]any{"topic": "returns", "hard": true}, item.Labels)
			require.Equal(t, []any{"test", 2.0, 2}, []any{*item.Split, item.Weight, int(item.Version)})
		}
		frozen, err := us.GetDatasetItem(t.Context(), d.ID, ids[0], "datasetVersion=1")
		require.NoError(t, err)
		require.Equal(t, map[string]any{"topic": "old", "lang": "en"}, frozen.Labels)

		again, err := us.UpdateDatasetItems(t.Context(), d.ID, patch)
		require.NoError(t, err)
		require.Equal(t, api.UpdatedDatasetItems{Unchanged: 3, Missing: []string{"4711"}}, again)
		cleared, err := us.UpdateDatasetItems(t.Context(), d.ID, map[string]any{"itemIds": ids[:1], "labels": nil})
		require.NoError(t, err)
		require.EqualValues(t, 1, cleared.Updated)
	})

	t.Run("the digest is that of a dataset that was filled like this", func(t *testing.T) {
		t.Parallel()
		d, ids := filled(t, us)
		_, err := us.UpdateDatasetItems(t.Context(), d.ID, map[string]any{"itemIds": ids, "split": "dev"})
		require.NoError(t, err)
		_, err = us.DeleteDatasetItems(t.Context(), d.ID, map[string]any{"itemIds": ids[1:2]})
		require.NoError(t, err)
		v, err := us.Freeze(t.Context(), d.ID, "")
		require.NoError(t, err)

		other := us.Dataset(t, testkit.NewDataset{})
		dev, labels := "dev", map[string]any{"topic": "old", "lang": "en"}
		_, err = us.AddItems(t.Context(), other.ID, []testkit.Item{{Input: "frozen", Labels: labels, Split: &dev}, {Input: "c", Labels: labels, Split: &dev}})
		require.NoError(t, err)
		same, err := us.Freeze(t.Context(), other.ID, "")
		require.NoError(t, err)
		require.Equal(t, same.Digest, v.Digest)
		require.EqualValues(t, 2, v.ItemCount)
	})

	t.Run("items are deleted once, and frozen versions keep them", func(t *testing.T) {
		t.Parallel()
		d, ids := filled(t, us)
		named := []string{ids[0], ids[1], "4711"}

		got, err := us.DeleteDatasetItems(t.Context(), d.ID, map[string]any{"itemIds": named})
		require.NoError(t, err)
		require.Equal(t, api.DeletedDatasetItems{Deleted: 2, Missing: []string{"4711"}}, got)
		again, err := us.DeleteDatasetItems(t.Context(), d.ID, map[string]any{"itemIds": named})
		require.NoError(t, err)
		require.Equal(t, api.DeletedDatasetItems{Missing: named}, again)

		now, err := us.GetDataset(t.Context(), d.ID)
		require.NoError(t, err)
		require.EqualValues(t, 1, now.ItemCount)
		_, err = us.GetDatasetItem(t.Context(), d.ID, ids[0], "datasetVersion=1")
		require.NoError(t, err)
	})

	t.Run("all change or none", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{Schema: map[string]any{"properties": map[string]any{"labels": map[string]any{"required": []string{"topic"}}}}})
		added, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "a", Labels: map[string]any{"topic": "x"}}, {Input: "a", Labels: map[string]any{"topic": "y"}}})
		require.NoError(t, err)
		ids := []string{added.Items[0].ID, added.Items[1].ID}
		for reason, wrong := range map[string]any{
			"schema_mismatch": map[string]any{"topic": nil, "hard": true},
			"already_exists":  map[string]any{"topic": "z"}, // the items would be alike
			"invalid_request": []string{"z"},
		} {
			_, err := us.UpdateDatasetItems(t.Context(), d.ID, map[string]any{"itemIds": append([]string{"4711"}, ids...), "labels": wrong})
			f, ok := fault.From(err)
			require.True(t, ok, "%v", err)
			require.Equal(t, reason, f.Reason)
			if reason == "schema_mismatch" {
				require.Contains(t, fmt.Sprint(f.Details["fields"]), "/itemIds/1")
				require.Contains(t, fmt.Sprint(f.Details["fields"]), "item "+ids[0]+" at /labels")
			}
			for i, want := range []string{"x", "y"} {
				item, err := us.GetDatasetItem(t.Context(), d.ID, ids[i], "")
				require.NoError(t, err)
				require.Equal(t, map[string]any{"topic": want}, item.Labels)
			}
		}
	})

	t.Run("items of others are missing", func(t *testing.T) {
		t.Parallel()
		d, _ := filled(t, us)
		theirs, ids := filled(t, them)
		got, err := us.DeleteDatasetItems(t.Context(), d.ID, map[string]any{"itemIds": ids})
		require.NoError(t, err)
		require.Equal(t, api.DeletedDatasetItems{Missing: ids}, got)
		_, err = us.DeleteDatasetItems(t.Context(), theirs.ID, map[string]any{"itemIds": ids})
		require.Error(t, err)
		now, err := them.GetDataset(t.Context(), theirs.ID)
		require.NoError(t, err)
		require.EqualValues(t, 3, now.ItemCount)
	})

	t.Run("too much at once is refused", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		var ids []string
		for _, name := range []string{"a", "b", "c"} {
			added, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: name + strings.Repeat("x", 3<<20)}})
			require.NoError(t, err)
			ids = append(ids, added.Items[0].ID)
		}
		_, err := us.UpdateDatasetItems(t.Context(), d.ID, map[string]any{"itemIds": append(ids, ids...), "split": "test"})
		require.NoError(t, err, "the item that fills a page belongs to it")
		added, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "d"}})
		require.NoError(t, err)
		_, err = us.UpdateDatasetItems(t.Context(), d.ID, map[string]any{"itemIds": append(ids, added.Items[0].ID), "split": "dev"})
		require.ErrorContains(t, err, "Name fewer of them")
	})
}

func TestUnknownFieldsOfItemsAreNamed(t *testing.T) {
	t.Parallel()
	us := testkit.Shared(t).Org(t)
	d := us.Dataset(t, testkit.NewDataset{})
	var got testkit.Import
	_, err := us.Call(t.Context(), http.MethodPost, "/api/datasets/"+d.ID+"/items", map[string]any{"items": []any{map[string]any{"input": "a", "expected": "b"}}}, &got)
	require.NoError(t, err)
	require.Equal(t, []string{"/items/0/expected"}, got.IgnoredFields)
	known, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "c"}})
	require.NoError(t, err)
	require.Equal(t, []string{}, known.IgnoredFields)
}
