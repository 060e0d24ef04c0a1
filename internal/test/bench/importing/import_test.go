// Package importing_test measures what an import of 1,000 items costs next to a
// bare COPY of the rows that it makes.
package importing_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/testkit"
)

const items = 1000

var columns = []string{"org_id", "dataset_id", "valid_from", "digest", "content", "split", "weight", "source_type", "source_id", "created_at"}

const rowsOf = "SELECT digest, content::text, split, weight, source_type, source_id FROM dataset_items WHERE dataset_id = $1 ORDER BY id"

// stored is what is compared and copied of an item.
type stored struct {
	Digest               []byte
	Content              string
	Split                *string
	Weight               float64
	SourceType, SourceID *string
}

func TestBench(t *testing.T) {
	t.Parallel()
	rounds := bench.MinRounds
	switch {
	case bench.Raced:
		rounds = 3
	case bench.Whole():
		rounds = 41
	}
	k := testkit.Own(t, "a bench measures it")
	c := k.Org(t)
	owner, err := pgx.Connect(t.Context(), k.App.Config.Postgres.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = owner.Close(context.WithoutCancel(t.Context())) })
	_, err = owner.Exec(t.Context(), "ALTER TABLE dataset_items NO FORCE ROW LEVEL SECURITY, SET (autovacuum_enabled = false)")
	require.NoError(t, err)

	list := make([]testkit.Item, items)
	for i := range list {
		list[i].Input = fmt.Sprintf("How do I return order %d?", i)
		list[i].ExpectedOutput = "Send it back within 30 days; the label is in the parcel."
		list[i].Labels = map[string]any{"topic": "returns", "n": i}
	}
	var rows []stored
	empty := func() int64 {
		id, err := strconv.ParseInt(c.Dataset(t, testkit.NewDataset{}).ID, 10, 64)
		require.NoError(t, err)
		return id
	}
	imports := func(id int64) error {
		out, err := c.AddItems(t.Context(), strconv.FormatInt(id, 10), list)
		if err == nil && out.Created != items {
			err = fmt.Errorf("%d of %d items are new", out.Created, items)
		}
		return err
	}
	copies := func(id int64) error {
		_, err := owner.CopyFrom(t.Context(), pgx.Identifier{"dataset_items"}, columns, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
			r := rows[i]
			return []any{c.Org, id, 1, r.Digest, r.Content, r.Split, r.Weight, r.SourceType, r.SourceID, time.Now()}, nil
		}))
		return err
	}
	timed := func(fill func(int64) error) bench.Side {
		return func() (float64, error) {
			id := empty()
			start := time.Now()
			err := fill(id)
			return time.Since(start).Seconds(), err
		}
	}

	// Both ways leave the same rows.
	one, other := empty(), empty()
	require.NoError(t, imports(one))
	rows = read(t, owner, one)
	require.Len(t, rows, items)
	require.NoError(t, copies(other))
	require.Equal(t, rows, read(t, owner, other))

	bench.Report(t, func() bench.Figure {
		measured, err := bench.Run(rounds, rounds, func(bench.Rounds) bool { return true }, timed(imports), timed(copies))
		require.NoError(t, err)
		return bench.Figure{
			Name: "import", Goal: 2, Bound: 4, Got: measured.Ratio(0, 1),
			Says: fmt.Sprintf("time of an import of %d items over HTTP ÷ COPY of their rows", items),
		}
	})
}

func read(t testing.TB, c *pgx.Conn, id int64) []stored {
	t.Helper()
	rows, err := c.Query(t.Context(), rowsOf, id)
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[stored])
	require.NoError(t, err)
	return out
}
