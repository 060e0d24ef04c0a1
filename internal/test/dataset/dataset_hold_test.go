package dataset_test

import (
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestHold(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Shared(t)
	us, them := k.Org(t), k.Org(t)
	db := database(t, k)
	in := func(c *testkit.Client, fn func(postgres.Tx) error) error { return postgres.InTx(ctx, db, c.Org, fn) }
	hold := func(c *testkit.Client, id, holder string) error {
		return in(c, func(tx postgres.Tx) error { return k.App.Dataset.HoldTx(ctx, tx, number(t, id), holder) })
	}
	release := func(c *testkit.Client, id, holder string) error {
		return in(c, func(tx postgres.Tx) error { return k.App.Dataset.ReleaseTx(ctx, tx, number(t, id), holder) })
	}

	t.Run("a held dataset cannot be deleted until the last hold ends", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		require.NoError(t, hold(us, d.ID, "run/1"))
		require.NoError(t, hold(us, d.ID, "run/1"), "holding twice is holding once")
		require.NoError(t, hold(us, d.ID, "run/2"))

		require.ErrorIs(t, us.DeleteDataset(ctx, d.ID), dataset.ErrInUse)
		require.NoError(t, release(us, d.ID, "run/1"))
		require.NoError(t, release(us, d.ID, "run/1"), "ending twice does nothing")
		require.ErrorIs(t, us.DeleteDataset(ctx, d.ID), dataset.ErrInUse)
		require.NoError(t, release(us, d.ID, "run/2"))
		require.NoError(t, us.DeleteDataset(ctx, d.ID))
	})

	t.Run("what is not there cannot be held", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		require.ErrorIs(t, hold(them, d.ID, "run/1"), dataset.ErrNotFound)
		require.NoError(t, us.DeleteDataset(ctx, d.ID))
		require.ErrorIs(t, hold(us, d.ID, "run/1"), dataset.ErrNotFound)
	})

	t.Run("a hold that is not committed yet makes a deletion wait, and then refuses it", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		deleted := make(chan error, 1)
		err := in(us, func(tx postgres.Tx) error {
			if err := k.App.Dataset.HoldTx(ctx, tx, number(t, d.ID), "run/1"); err != nil {
				return err
			}
			go func() { deleted <- us.DeleteDataset(ctx, d.ID) }()
			waiting(t, k, us)
			return nil
		})
		require.NoError(t, err)

		require.ErrorIs(t, <-deleted, dataset.ErrInUse)
		_, err = us.GetDataset(ctx, d.ID)
		require.NoError(t, err)
	})

	t.Run("of two deletions one finds nothing", func(t *testing.T) {
		t.Parallel()
		d := us.Dataset(t, testkit.NewDataset{})
		deleted := make(chan error, 1)
		err := in(us, func(tx postgres.Tx) error {
			if err := k.App.Dataset.DeleteTx(ctx, tx, number(t, d.ID)); err != nil {
				return err
			}
			go func() { deleted <- us.DeleteDataset(ctx, d.ID) }()
			waiting(t, k, us)
			return nil
		})
		require.NoError(t, err)
		require.ErrorIs(t, <-deleted, dataset.ErrNotFound)
	})

	t.Run("of a hold and a deletion in a race at most one succeeds", func(t *testing.T) {
		t.Parallel()
		for range 5 {
			d := us.Dataset(t, testkit.NewDataset{})
			var held, deleted atomic.Int32
			var g errgroup.Group
			g.SetLimit(50)
			for i := range 50 {
				g.Go(func() error {
					if i%2 == 0 {
						if err := hold(us, d.ID, "run/"+strconv.Itoa(i)); err == nil {
							held.Add(1)
						}
						return nil
					}
					if err := us.DeleteDataset(ctx, d.ID); err == nil {
						deleted.Add(1)
					}
					return nil
				})
			}
			require.NoError(t, g.Wait())

			require.LessOrEqual(t, deleted.Load(), int32(1))
			if deleted.Load() == 1 {
				require.Zero(t, held.Load(), "the dataset was deleted under its holders")
			}
		}
	})
}
