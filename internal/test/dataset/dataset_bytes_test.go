package dataset_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/test/testkit"
)

// large are n items of about three megabytes.
func large(n int) []testkit.Item {
	items := make([]testkit.Item, n)
	for i := range items {
		items[i] = testkit.Item{Input: fmt.Sprint(i, strings.Repeat("a", 3<<20))}
	}
	return items
}

func TestPagesEndWhenTheyHaveEnoughBytes(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	d := us.Dataset(t, testkit.NewDataset{})
	out, err := us.AddItems(t.Context(), d.ID, large(7))
	require.NoError(t, err)
	_, err = us.Freeze(t.Context(), d.ID, "")
	require.NoError(t, err)
	conn := k.Owner(t, us.Org)
	walk := func(t *testing.T, query string) (pages []int, all []string) {
		t.Helper()
		for cursor := ""; ; {
			page, err := us.ListDatasetItems(t.Context(), d.ID, query+cursor)
			require.NoError(t, err)
			pages, all = append(pages, len(page.Items)), append(all, ids(page)...)
			if !page.HasMore {
				return pages, all
			}
			cursor = "&cursor=" + api.Value(page.NextCursor)
		}
	}
	var newest []string
	for i := range out.Items {
		newest = append(newest, out.Items[len(out.Items)-1-i].ID)
	}

	for _, step := range []string{"items of now", "items from before their bytes were counted"} {
		for _, query := range []string{"limit=1000", "limit=1000&datasetVersion=1"} {
			pages, all := walk(t, query)
			require.Equal(t, []int{3, 3, 1}, pages, "%s: %s", step, query)
			require.Equal(t, newest, all, "%s: %s", step, query)
		}
		pages, all := walk(t, "limit=2")
		require.Equal(t, []int{2, 2, 2, 1}, pages, step)
		require.Equal(t, newest, all, step)
		_, err := conn.Exec(t.Context(), "UPDATE dataset_items SET bytes = NULL")
		require.NoError(t, err)
	}
}

func TestAnItemHasAtMostFourMegabytes(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	d := us.Dataset(t, testkit.NewDataset{})
	tooLarge := testkit.Item{Input: strings.Repeat("a", dataset.MaxItemBytes)}

	_, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "b"}, tooLarge})

	f, ok := fault.From(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, []any{fault.Validation, "item_too_large"}, []any{f.Kind, f.Reason})
	require.Equal(t, []field{{"/items/1", "length"}}, fields(t, err))
	out, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "b"}, {Input: strings.Repeat("a", dataset.MaxItemBytes-len(`{"input":""}`))}})
	require.NoError(t, err, "none was kept before, and what is just not too large is taken")
	require.EqualValues(t, 2, out.Created)

	t.Run("one from before stays readable, and does not grow", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		out, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: "old"}})
		require.NoError(t, err)
		_, err = k.Owner(t, us.Org).Exec(t.Context(), "UPDATE dataset_items SET content = json_build_object('input', repeat('a', $1)) WHERE id = $2", 2*dataset.MaxItemBytes, number(t, out.Items[0].ID))
		require.NoError(t, err)

		item, err := us.GetDatasetItem(t.Context(), d.ID, out.Items[0].ID, "")

		require.NoError(t, err)
		require.Len(t, item.Input, 2*dataset.MaxItemBytes)
		_, err = us.UpdateDatasetItem(t.Context(), d.ID, out.Items[0].ID, map[string]any{"expectedOutput": "b"})
		require.Equal(t, []field{{"", "length"}}, fields(t, err))
		_, err = us.UpdateDatasetItem(t.Context(), d.ID, out.Items[0].ID, map[string]any{"input": "new"})
		require.NoError(t, err)
	})
}

// TestItemsAreCheckedBeforeTheTransaction lets the schema change between the check
// and the transaction: the transaction sees it, and the check is made again.
func TestItemsAreCheckedBeforeTheTransaction(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "it knows the id that comes next")
	us := k.Org(t)
	d := us.Dataset(t, testkit.NewDataset{})
	id := number(t, d.ID)
	db := database(t, k)
	item := dataset.Item{Content: dataset.Content{Input: []byte(`"a"`)}, Weight: 1}
	prepare := func() (dataset.Prepared, error) {
		return k.App.Dataset.PrepareItems(t.Context(), us.Org, id, []dataset.Item{item})
	}
	add := func(p dataset.Prepared) (added []dataset.Added, err error) {
		err = postgres.InTx(t.Context(), db, us.Org, func(tx postgres.Tx) error {
			added, err = k.App.Dataset.AddItemsTx(t.Context(), tx, p)
			return err
		})
		return added, err
	}
	demand := func(input string) {
		_, err := us.UpdateDataset(t.Context(), d.ID, map[string]any{"schema": map[string]any{"properties": map[string]any{"input": map[string]any{"const": input}}}})
		require.NoError(t, err)
	}

	p, err := prepare()
	require.NoError(t, err)
	demand("b")
	_, err = add(p)
	require.ErrorIs(t, err, dataset.ErrMoved)
	tries := 0
	_, err = dataset.Retry(prepare, func(p dataset.Prepared) ([]dataset.Added, error) {
		if tries++; tries == 1 {
			demand("c")
		}
		return add(p)
	})
	require.Equal(t, 2, tries)
	f, ok := fault.From(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "schema_mismatch", f.Reason)

	missing, err := k.App.Dataset.PrepareItems(t.Context(), us.Org, id+1, []dataset.Item{item})
	require.NoError(t, err)
	_, err = add(missing)
	require.ErrorIs(t, err, dataset.ErrNotFound)
	later := us.Dataset(t, testkit.NewDataset{})
	require.Equal(t, id+1, number(t, later.ID))
	_, err = add(missing)
	require.ErrorIs(t, err, dataset.ErrMoved, "a dataset that was made meanwhile gets its items too")
}
