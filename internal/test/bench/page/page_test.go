// Package page_test measures what a page deep in a long list costs beside the
// first one.
package page_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/testkit"
)

const (
	goal    = 3.0
	ceiling = 10.0
	items   = 50_000
	deep    = 10_000
	// batch is the largest import.
	batch = 1000
)

// The sides, in the order of the measures.
const (
	skipped  = iota // offset 10,000
	first           // offset 0
	followed        // the same page as skipped, by its cursor
)

func TestBench(t *testing.T) {
	t.Parallel()
	slice, fewest, most := 10, bench.MinRounds, 30
	switch {
	case bench.Raced:
		slice, fewest, most = 1, 3, 3
	case bench.Whole():
		slice, fewest, most = 50, 41, 41
	}
	k := testkit.Own(t, "a bench measures it")
	c := k.Org(t)
	owner, err := pgx.Connect(t.Context(), k.App.Config.Postgres.OwnerURL.Reveal())
	require.NoError(t, err)
	defer func() { _ = owner.Close(context.WithoutCancel(t.Context())) }()
	// Whether PostgreSQL has looked at the rows is the bench's choice.
	_, err = owner.Exec(t.Context(), "ALTER TABLE dataset_items SET (autovacuum_enabled = false)")
	require.NoError(t, err)
	id := list(t, c)
	fresh := quickest(t, c, id)
	_, err = owner.Exec(t.Context(), "VACUUM ANALYZE dataset_items")
	require.NoError(t, err)
	known := quickest(t, c, id)
	cursor := agree(t, c, id)
	bench.Quiet(t)

	var sides []bench.Side
	for _, query := range []string{skipped: fmt.Sprintf("limit=50&offset=%d", deep), first: "limit=50", followed: "limit=50&cursor=" + cursor} {
		sides = append(sides, func() (float64, error) {
			start := time.Now()
			for range slice {
				page, err := c.ListDatasetItems(t.Context(), id, query)
				if err != nil || len(page.Items) != 50 {
					return 0, fmt.Errorf("%d items: %w", len(page.Items), err)
				}
			}
			return time.Since(start).Seconds() / float64(slice), nil
		})
	}
	rounds, err := bench.Run(fewest, most, func(r bench.Rounds) bool { return r.Ratio(skipped, first).High <= ceiling }, sides...)
	require.NoError(t, err)

	got, byCursor := rounds.Ratio(skipped, first), rounds.Ratio(followed, first)
	_, _ = fmt.Fprintf(os.Stdout, "time of a page at offset %d ÷ at 0: %v; goal %.0f, ceiling %.0f\n", deep, got, goal, ceiling)
	_, _ = fmt.Fprintf(os.Stdout, "the same page by cursor ÷ the first page: %v\n", byCursor)
	_, _ = fmt.Fprintf(os.Stdout, "the first page right after the import, before PostgreSQL has statistics ÷ with them: %.0f (best of 3 each)\n", fresh/known)
	_, _ = fmt.Fprintf(os.Stdout, "page ratio %.2f\n", got.Median)
	if !bench.Raced {
		require.NoError(t, got.AtMost(ceiling))
		require.NoError(t, byCursor.AtMost(ceiling))
	}
}

// quickest is the shortest time of the first page, in seconds.
func quickest(t testing.TB, c *testkit.Client, id string) float64 {
	t.Helper()
	best := math.Inf(1)
	for range 3 {
		start := time.Now()
		_, err := c.ListDatasetItems(t.Context(), id, "limit=50")
		require.NoError(t, err)
		best = min(best, time.Since(start).Seconds())
	}
	return best
}

// list makes a dataset with many items, by imports.
func list(t testing.TB, c *testkit.Client) string {
	t.Helper()
	id := c.Dataset(t, testkit.NewDataset{}).ID
	var g errgroup.Group
	g.SetLimit(2) // one is read while the other waits for the dataset
	for from := 0; from < items; from += batch {
		g.Go(func() error {
			part := make([]testkit.Item, batch)
			for i := range part {
				part[i].Input = fmt.Sprintf("How do I return order %d?", from+i)
				part[i].ExpectedOutput = "Send it back within 30 days; the label is in the parcel."
			}
			_, err := c.AddItems(t.Context(), id, part)
			return err
		})
	}
	require.NoError(t, g.Wait())
	return id
}

// agree proves that the offset and the cursors lead to the same page, and
// returns the cursor.
func agree(t testing.TB, c *testkit.Client, id string) string {
	t.Helper()
	before, err := c.ListDatasetItems(t.Context(), id, fmt.Sprintf("limit=1000&offset=%d", deep-1000))
	require.NoError(t, err)
	byOffset, err := c.ListDatasetItems(t.Context(), id, fmt.Sprintf("limit=50&offset=%d", deep))
	require.NoError(t, err)
	byCursor, err := c.ListDatasetItems(t.Context(), id, "limit=50&cursor="+api.Value(before.NextCursor))
	require.NoError(t, err)
	require.Len(t, byOffset.Items, 50)
	require.Equal(t, byOffset.Items, byCursor.Items)

	at := ""
	for range deep / 1000 {
		page, err := c.ListDatasetItems(t.Context(), id, "limit=1000&cursor="+at)
		require.NoError(t, err)
		at = api.Value(page.NextCursor)
	}
	require.Equal(t, api.Value(before.NextCursor), at, "as many items are followed as are skipped")
	return at
}
