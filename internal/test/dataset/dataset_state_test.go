package dataset_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)

	for _, from := range []string{"active", "archived"} {
		for _, to := range []string{"active", "archived"} {
			t.Run(from+" to "+to+" is allowed", func(t *testing.T) {
				t.Parallel()
				d := us.Dataset(t, testkit.NewDataset{})
				_, err := us.UpdateDataset(t.Context(), d.ID, map[string]any{"status": from})
				require.NoError(t, err)

				after, err := us.UpdateDataset(t.Context(), d.ID, map[string]any{"status": to})

				require.NoError(t, err)
				require.Equal(t, to, after.Status)
			})
		}
	}

	t.Run("a status that does not exist is not valid", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})

		_, err := us.UpdateDataset(t.Context(), d.ID, map[string]any{"status": "deleted"})

		require.Equal(t, []field{{"/status", "enum"}}, fields(t, err))
	})

	t.Run("staying writes nothing", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})

		after, err := us.UpdateDataset(t.Context(), d.ID, map[string]any{"status": "active"})

		require.NoError(t, err)
		require.Equal(t, d, after)
	})
}

func TestAnArchivedDatasetRefusesWritesOfItems(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	us := testkit.Shared(t).Org(t)
	d := us.Dataset(t, testkit.NewDataset{})
	added, err := us.AddItems(ctx, d.ID, questions(2))
	require.NoError(t, err)
	item := added.Items[0].ID
	_, err = us.UpdateDataset(ctx, d.ID, map[string]any{"status": "archived"})
	require.NoError(t, err)

	_, adding := us.AddItems(ctx, d.ID, questions(3))
	_, changing := us.UpdateDatasetItem(ctx, d.ID, item, map[string]any{"input": "Other?"})
	deleting := us.DeleteDatasetItem(ctx, d.ID, item)
	_, freezing := us.Freeze(ctx, d.ID, "")

	for _, err := range []error{adding, changing, deleting, freezing} {
		require.ErrorIs(t, err, dataset.ErrArchived)
		require.Equal(t, "archived", details(t, err)["currentState"])
		require.Equal(t, []any{"active"}, details(t, err)["allowedTransitions"])
	}
	page, err := us.ListDatasetItems(ctx, d.ID, "")
	require.NoError(t, err)
	require.Len(t, page.Items, 2, "it stays readable")

	_, err = us.UpdateDataset(ctx, d.ID, map[string]any{"status": "active"})
	require.NoError(t, err)
	require.NoError(t, us.DeleteDatasetItem(ctx, d.ID, item), "restored, it can be written again")
}

func TestAGoldenDatasetIsNotWrittenDirectly(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	us := testkit.Shared(t).Org(t)
	d := us.Dataset(t, testkit.NewDataset{Purpose: new("golden")})

	_, adding := us.AddItems(ctx, d.ID, questions(1))
	_, changing := us.UpdateDatasetItem(ctx, d.ID, "1", map[string]any{"input": "Other?"})
	deleting := us.DeleteDatasetItem(ctx, d.ID, "1")

	for _, err := range []error{adding, changing, deleting} {
		require.ErrorIs(t, err, dataset.ErrGolden)
	}
	_, err := us.Freeze(ctx, d.ID, "")
	require.NoError(t, err, "freezing writes no item")
	_, err = us.UpdateDataset(ctx, d.ID, map[string]any{"name": "Renamed"})
	require.NoError(t, err)
}
