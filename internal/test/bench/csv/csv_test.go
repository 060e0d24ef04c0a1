// Package csv_test measures what the import of a long CSV file costs next to a bare
// COPY of the rows that it makes.
package csv_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client"
	"github.com/assayhq/assay/internal/command/client/itemfile"
	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/testkit"
)

var columns = []string{"org_id", "dataset_id", "valid_from", "digest", "content", "weight", "created_at"}

// file is a CSV file of so many lines, which is written while it is read.
func file(lines int) io.Reader {
	r, w := io.Pipe()
	go func() {
		out := make([]byte, 0, 64<<10)
		out = append(out, "question,expected,topic,n\n"...)
		for i := range lines {
			out = fmt.Appendf(out, "How do I return order %d?,\"Send it back within 30 days; the label is in the parcel.\",returns,%d\n", i, i)
			if len(out) > 60<<10 || i == lines-1 {
				if _, err := w.Write(out); err != nil {
					return
				}
				out = out[:0]
			}
		}
		_ = w.Close()
	}()
	return r
}

// content is what the n-th line becomes in the store.
func content(n int) string {
	return fmt.Sprintf(`{"input":"How do I return order %d?","expected_output":"Send it back within 30 days; the label is in the parcel.","labels":{"n":"%d","topic":"returns"}}`, n, n)
}

func TestBench(t *testing.T) {
	t.Parallel()
	lines, rounds := 20_000, 3
	if bench.Whole() {
		lines = 1_000_000
	}
	if bench.Raced {
		lines = 3_000
	}
	k := testkit.Own(t, "a bench measures it")
	c := k.Org(t)
	owner, err := pgx.Connect(t.Context(), k.App.Config.Postgres.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = owner.Close(context.WithoutCancel(t.Context())) })
	_, err = owner.Exec(t.Context(), "ALTER TABLE dataset_items NO FORCE ROW LEVEL SECURITY, SET (autovacuum_enabled = false)")
	require.NoError(t, err)
	mapping, err := itemfile.ParseMapping([]string{"topic=labels.topic", "n=labels.n"})
	require.NoError(t, err)
	user, err := client.New(k.URL, c.Key.Reveal(), nil)
	require.NoError(t, err)

	empty := func() string { return c.Dataset(t, testkit.NewDataset{}).ID }
	var memory []float64 // of the process, after each request
	imports := func(id string) error {
		from, err := itemfile.NewReader(file(lines), itemfile.CSV, mapping)
		if err != nil {
			return err
		}
		memory = memory[:0]
		done, err := user.ImportItems(t.Context(), id, from, false, func(client.Imported) {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			memory = append(memory, float64(m.HeapInuse))
		})
		if err == nil && done.Created != lines {
			err = fmt.Errorf("%d of %d items are new, refused: %v", done.Created, lines, done.Refused)
		}
		return err
	}
	copies := func(id string) error {
		dataset, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return err
		}
		n := 0
		_, err = owner.CopyFrom(t.Context(), pgx.Identifier{"dataset_items"}, columns, pgx.CopyFromFunc(func() ([]any, error) {
			if n == lines {
				return nil, nil
			}
			text := content(n)
			digest := sha256.Sum256([]byte(text))
			n++
			return []any{c.Org, dataset, 1, digest[:], text, 1.0, time.Now()}, nil
		}))
		return err
	}
	timed := func(fill func(string) error) bench.Side {
		return func() (float64, error) {
			id := empty()
			start := time.Now()
			err := fill(id)
			took := time.Since(start).Seconds()
			if _, wrong := owner.Exec(t.Context(), "DELETE FROM dataset_items WHERE dataset_id = $1", id); err == nil {
				err = wrong
			}
			return took, err
		}
	}

	// Both ways leave the same contents.
	one, other := empty(), empty()
	require.NoError(t, imports(one))
	require.NoError(t, copies(other))
	const differ = `SELECT count(*) FROM (SELECT content::jsonb, split, weight FROM dataset_items WHERE dataset_id = $1
		EXCEPT ALL SELECT content::jsonb, split, weight FROM dataset_items WHERE dataset_id = $2) d`
	var wrong int
	require.NoError(t, owner.QueryRow(t.Context(), differ, one, other).Scan(&wrong))
	require.Zero(t, wrong)
	_, err = owner.Exec(t.Context(), "DELETE FROM dataset_items")
	require.NoError(t, err)

	bench.Report(t, func() bench.Figure {
		measured, err := bench.Run(rounds, rounds, func(bench.Rounds) bool { return true }, timed(imports), timed(copies))
		require.NoError(t, err)
		return bench.Figure{
			Name: "csv", Goal: 2.5, Bound: 5, Got: measured.Ratio(0, 1),
			Says: fmt.Sprintf("time of an import of a CSV file of %d lines over HTTP ÷ COPY of its rows", lines),
		}
	}, func() bench.Figure {
		quarter := max(1, len(memory)/4)
		return bench.Figure{
			Name: "csv_memory", Goal: 1.5, Bound: 2.5, Got: bench.Once(highest(memory[len(memory)-quarter:]) / highest(memory[:quarter])),
			Says: "memory of client and server in the last quarter of the file ÷ in the first",
		}
	})
}

func highest(all []float64) (most float64) {
	for _, v := range all {
		most = max(most, v)
	}
	return most
}
