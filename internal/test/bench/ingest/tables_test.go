package ingest_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/test/bench"
)

// tables is one database as the bench sees it.
type tables struct {
	db  *clickhouse.DB
	pid int // of the engine
}

// written are the tables that a span is stored in, directly or by a view.
var written = []string{"span_payloads", "spans", "traces", "trace_starts"}

func newTables(t testing.TB, cfg clickhouse.Config) *tables {
	t.Helper()
	db, err := clickhouse.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	pid, err := bench.Listener(addressOf(t, cfg))
	require.NoError(t, err, "the bench needs the engine on this machine, to see what it takes from the processors")
	return &tables{db: db, pid: pid}
}

// exec runs a statement that ends with the name of a table, for every table.
func (s *tables) exec(t testing.TB, statement string) {
	t.Helper()
	for _, table := range written {
		require.NoError(t, s.db.Writer().Exec(t.Context(), statement+" "+table))
	}
}

func (s *tables) truncate(t testing.TB) {
	t.Helper()
	s.exec(t, "TRUNCATE TABLE")
}

// slice is what storing the spans once took.
type slice struct {
	wall                 time.Duration
	gateway, engine, own time.Duration // of processor time
}

// timed empties the tables, does the work and waits for the merges that it
// causes. The clock stops when the work is done, the processors' accounts when
// the merges are.
func (s *tables) timed(ctx context.Context, gateway, spans int, work func(context.Context) error) (m slice, err error) {
	for _, table := range written {
		if err := s.db.Writer().Exec(ctx, "TRUNCATE TABLE "+table); err != nil {
			return m, err
		}
	}
	if err := s.settle(ctx); err != nil {
		return m, err
	}
	pids := [...]int{gateway, s.pid, os.Getpid()}
	accounts := [...]*time.Duration{&m.gateway, &m.engine, &m.own}
	for i, pid := range pids {
		if *accounts[i], err = bench.CPU(pid); err != nil {
			return m, err
		}
	}
	start := time.Now()
	if err := work(ctx); err != nil {
		return m, err
	}
	m.wall = time.Since(start)
	own, err := bench.CPU(os.Getpid())
	if err != nil {
		return m, err
	}
	if err := s.settle(ctx); err != nil {
		return m, err
	}
	for i, pid := range pids {
		used, err := bench.CPU(pid)
		if err != nil {
			return m, err
		}
		*accounts[i] = used - *accounts[i]
	}
	// What this process does while it waits is none of the work.
	end, err := bench.CPU(os.Getpid())
	if err != nil {
		return m, err
	}
	m.own -= end - own
	var stored uint64
	if err := s.db.Writer().QueryRow(ctx, "SELECT count() FROM spans").Scan(&stored); err != nil {
		return m, err
	}
	if int(stored) != spans {
		return m, fmt.Errorf("%d of %d spans can be read", stored, spans)
	}
	return m, nil
}

// settle waits until no merge has run for a moment.
func (s *tables) settle(ctx context.Context) error {
	const quiet, patience = 8, 200
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for n, tries := 0, 0; n < quiet && tries < patience; tries++ {
		var running uint64
		if err := s.db.Writer().QueryRow(ctx, "SELECT count() FROM system.merges WHERE database = currentDatabase()").Scan(&running); err != nil {
			return err
		}
		n++
		if running > 0 {
			n = 0
		}
		<-ticker.C
	}
	return nil
}

// contents is what a table holds, whatever the order of its rows.
type contents struct {
	Rows uint64 `ch:"n"`
	Sum  uint64 `ch:"digest"`
	Rest string `ch:"figures"`
}

// digests are questions whose answer is the same if and only if the rows are.
// When a row arrived, and the version that this gives it, differ between two
// ways of sending it.
var digests = map[string]string{
	"spans": `SELECT count() AS n, sum(sipHash64(tuple(* EXCEPT (ingested_at, version)))) AS digest,
		toString((sum(duration_us), sum(input_tokens), sum(output_tokens), sum(cost_nano_usd), countIf(state = 'ended'), uniqExact(trace_id))) AS figures FROM spans FINAL`,
	"span_payloads": `SELECT count() AS n, sum(sipHash64(tuple(* EXCEPT (ingested_at, version)))) AS digest,
		toString((sum(length(input)), sum(length(output)), sum(length(system)), sum(length(tools)), sum(length(search_text)))) AS figures FROM span_payloads FINAL`,
	"traces": `SELECT count() AS n, sum(sipHash64(tuple(* EXCEPT (first_ingest, last_ingest)))) AS digest,
		toString((min(first_start), max(last_start))) AS figures FROM traces FINAL`,
	"trace_starts": `SELECT count() AS n, sum(sipHash64(tuple(* EXCEPT last_ingest))) AS digest, toString(min(first_start)) AS figures FROM trace_starts FINAL`,
}

// agree proves that both ways leave the same in every table.
func agree(t testing.TB, g *gateway, l *loader, ours, theirs *tables) {
	t.Helper()
	ours.truncate(t)
	theirs.truncate(t)
	require.NoError(t, g.send(t.Context()))
	require.NoError(t, l.load(t.Context()))
	for table, question := range digests {
		var got [2]contents
		for i, side := range []*tables{ours, theirs} {
			require.NoError(t, side.db.Writer().QueryRow(t.Context(), question).ScanStruct(&got[i]), table)
		}
		if table == "spans" {
			require.EqualValues(t, g.spans, got[0].Rows)
		}
		require.Equal(t, got[0], got[1], table)
	}
}
