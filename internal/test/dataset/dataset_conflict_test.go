package dataset_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestVersionConflict(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	path := func(d testkit.Dataset) string { return "/api/datasets/" + d.ID }

	t.Run("a change counts the version up and shows it as ETag", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		require.EqualValues(t, 1, d.Version)

		var after testkit.Dataset
		res, err := us.Call(t.Context(), http.MethodPatch, path(d), map[string]any{"name": "Second"}, &after, testkit.Header("If-Match", `"v1"`))

		require.NoError(t, err)
		require.EqualValues(t, 2, after.Version)
		require.Equal(t, `"v2"`, res.Header.Get("ETag"))
		res, err = us.Call(t.Context(), http.MethodGet, path(d), nil, nil)
		require.NoError(t, err)
		require.Equal(t, `"v2"`, res.Header.Get("ETag"))
	})

	t.Run("a change of another version is refused and changes nothing", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		_, err := us.UpdateDataset(t.Context(), d.ID, map[string]any{"name": "Second"})
		require.NoError(t, err)

		_, byHeader := us.UpdateDataset(t.Context(), d.ID, map[string]any{"name": "Third"}, testkit.Header("If-Match", `"v1"`))
		_, byBody := us.UpdateDataset(t.Context(), d.ID, map[string]any{"name": "Third", "expectedVersion": 1})

		for _, err := range []error{byHeader, byBody} {
			require.ErrorIs(t, err, dataset.ErrVersionConflict)
			require.EqualValues(t, 2, details(t, err)["currentVersion"])
		}
		after, err := us.GetDataset(t.Context(), d.ID)
		require.NoError(t, err)
		require.Equal(t, "Second", after.Name)
	})

	t.Run("header and body that disagree are not valid", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})

		_, err := us.UpdateDataset(t.Context(), d.ID, map[string]any{"name": "x", "expectedVersion": 2}, testkit.Header("If-Match", `"v1"`))

		require.Equal(t, []field{{"/expectedVersion", "ambiguous_field"}}, fields(t, err))
	})

	t.Run("of fifty changes of one version exactly one happens", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		var won atomic.Int32
		var g errgroup.Group
		for i := range 50 {
			g.Go(func() error {
				_, err := us.UpdateDataset(t.Context(), d.ID, map[string]any{"name": fmt.Sprintf("Name %d", i)}, testkit.Header("If-Match", `"v1"`))
				switch {
				case err == nil:
					won.Add(1)
					return nil
				case dataset.ErrVersionConflict.Is(err):
					return nil
				}
				return err
			})
		}
		require.NoError(t, g.Wait())
		require.EqualValues(t, 1, won.Load())
		after, err := us.GetDataset(t.Context(), d.ID)
		require.NoError(t, err)
		require.EqualValues(t, 2, after.Version)
	})

	t.Run("changes that ask for no version all happen", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		var g errgroup.Group
		for i := range 20 {
			g.Go(func() error {
				_, err := us.UpdateDataset(t.Context(), d.ID, map[string]any{"name": fmt.Sprintf("Name %d", i)})
				return err
			})
		}
		require.NoError(t, g.Wait())
		after, err := us.GetDataset(t.Context(), d.ID)
		require.NoError(t, err)
		require.EqualValues(t, 21, after.Version)
	})
}

func TestVersionConflictOfAnItem(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its cases run side by side while the clock moves")
	us := k.Org(t)
	d := us.Dataset(t, testkit.NewDataset{})
	item := func(t *testing.T, input string) string {
		t.Helper()
		out, err := us.AddItems(t.Context(), d.ID, []testkit.Item{{Input: input}})
		require.NoError(t, err)
		return out.Items[0].ID
	}

	t.Run("a change counts the version up and shows it as ETag", func(t *testing.T) {
		t.Parallel()
		id := item(t, "counted")
		before, err := us.GetDatasetItem(t.Context(), d.ID, id, "")
		require.NoError(t, err)
		require.EqualValues(t, 1, before.Version)
		require.Equal(t, before.CreatedAt, before.UpdatedAt)
		k.Clock.Advance(time.Second)

		var after api.DatasetItem
		res, err := us.Call(t.Context(), http.MethodPatch, "/api/datasets/"+d.ID+"/items/"+id, map[string]any{"expectedOutput": "one"}, &after, testkit.Header("If-Match", `"v1"`))

		require.NoError(t, err)
		require.EqualValues(t, 2, after.Version)
		require.Greater(t, after.UpdatedAt, before.UpdatedAt)
		require.Equal(t, before.CreatedAt, after.CreatedAt)
		require.Equal(t, `"v2"`, res.Header.Get("ETag"))
		res, err = us.Call(t.Context(), http.MethodGet, "/api/datasets/"+d.ID+"/items/"+id, nil, nil)
		require.NoError(t, err)
		require.Equal(t, `"v2"`, res.Header.Get("ETag"))
	})

	t.Run("a change of another version is refused and changes nothing", func(t *testing.T) {
		t.Parallel()
		id := item(t, "refused")
		second, err := us.UpdateDatasetItem(t.Context(), d.ID, id, map[string]any{"expectedOutput": "second"})
		require.NoError(t, err)

		_, byHeader := us.UpdateDatasetItem(t.Context(), d.ID, id, map[string]any{"expectedOutput": "third"}, testkit.Header("If-Match", `"v1"`))
		_, byBody := us.UpdateDatasetItem(t.Context(), d.ID, id, map[string]any{"expectedOutput": "third", "expectedVersion": 1})

		for _, err := range []error{byHeader, byBody} {
			require.ErrorIs(t, err, dataset.ErrItemVersionConflict)
			require.EqualValues(t, 2, details(t, err)["currentVersion"])
		}
		after, err := us.GetDatasetItem(t.Context(), d.ID, id, "")
		require.NoError(t, err)
		require.Equal(t, second, after)
	})

	t.Run("a frozen version keeps the item's version, and the count goes on", func(t *testing.T) {
		t.Parallel()
		of := us.Dataset(t, testkit.NewDataset{})
		added, err := us.AddItems(t.Context(), of.ID, []testkit.Item{{Input: "frozen"}})
		require.NoError(t, err)
		id := added.Items[0].ID
		_, err = us.UpdateDatasetItem(t.Context(), of.ID, id, map[string]any{"expectedOutput": "second"})
		require.NoError(t, err)
		_, err = us.Freeze(t.Context(), of.ID, "")
		require.NoError(t, err)
		current, err := us.UpdateDatasetItem(t.Context(), of.ID, id, map[string]any{"expectedOutput": "third"}, testkit.Header("If-Match", `"v2"`))
		require.NoError(t, err)
		frozen, err := us.GetDatasetItem(t.Context(), of.ID, id, "datasetVersion=1")
		require.NoError(t, err)
		require.Equal(t, []int64{2, 3}, []int64{frozen.Version, current.Version})
	})
}
