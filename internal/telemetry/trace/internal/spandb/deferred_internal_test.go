package spandb

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/deferred"
	"github.com/assayhq/assay/internal/telemetry/trace/internal/sealed"
)

// drained is a writer on tables and a folder of its own.
type drained struct {
	*writer

	t  *testing.T
	ch *clickhouse.DB
	r  *rand.Rand
}

// newFolder is one that has no tables.
func newFolder(t *testing.T) drained {
	t.Helper()
	blobs, err := blob.Open(t.Context(), blob.Config{URL: "file://" + t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = blobs.Close() })
	return drained{writer: &writer{blobs: blobs, now: time.Now}, t: t}
}

func newDrained(t *testing.T) drained {
	t.Helper()
	cfg := clickhousetest.New(t)
	ch, err := clickhouse.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	insert, err := clickhouse.NewInserter(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = insert.Close() })
	d := newFolder(t)
	d.insert, d.timeout, d.ch, d.writer.ch, d.r = insert, 10*time.Second, ch, ch, rand.New(rand.NewPCG(3, 3))
	return d
}

// block is so many spans of one day.
func (d drained) block(spans int) *Block {
	b := NewBlock()
	now := time.Now().UnixMicro()
	for range spans {
		r := randomRow(d.r)
		r.Start, r.End = now, now+1000
		b.AppendSpan(r, Stamp{Org: principal.NewOrgID(), Ingested: now, Retention: 30})
	}
	return b
}

func (d drained) put(parts []sealed.Part, token string) string {
	d.t.Helper()
	key := deferred.Key(d.now(), token)
	require.NoError(d.t, d.blobs.Put(d.t.Context(), key, sealed.Seal(parts)))
	return key
}

func (d drained) waiting() (keys []string) { return d.under(deferred.Prefix) }

func (d drained) under(prefix string) (keys []string) {
	d.t.Helper()
	objects, err := d.blobs.List(d.t.Context(), prefix, "", 1000)
	require.NoError(d.t, err)
	for _, o := range objects {
		keys = append(keys, o.Key)
	}
	return keys
}

func (d drained) count(what string) int {
	d.t.Helper()
	var n uint64
	require.NoError(d.t, d.ch.Writer().QueryRow(d.t.Context(), "SELECT count() FROM "+what).Scan(&n))
	return int(n)
}

func TestDrain(t *testing.T) {
	t.Parallel()

	t.Run("every block is stored and none is left", func(t *testing.T) {
		t.Parallel()
		d := newDrained(t)
		for range 2*drainPage + 3 {
			d.put(d.block(2).parts(), clickhouse.Token())
		}
		n, err := d.drain(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2*drainPage+3, n)
		require.Empty(t, d.waiting())
		require.Equal(t, 2*n, d.count("spans"))
	})

	t.Run("a block whose token the server knows is stored all the same", func(t *testing.T) {
		t.Parallel()
		d := newDrained(t)
		known := clickhouse.Token()
		// This is what a server remembers that was killed after it had noted the
		// token and before it had the rows.
		require.NoError(t, d.insertParts(t.Context(), d.block(1).parts(), known, known))
		lost := d.block(5)
		d.put(lost.parts(), known)
		n, err := d.drain(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, 6, d.count("spans"))
		require.Equal(t, 6, d.count("trace_starts"))
		require.Equal(t, 6, d.count("traces"))
	})

	t.Run("a block that was stored already is readable once", func(t *testing.T) {
		t.Parallel()
		d := newDrained(t)
		known := clickhouse.Token()
		b := d.block(5)
		require.NoError(t, d.insertParts(t.Context(), b.parts(), known, known))
		d.put(b.parts(), known)
		_, err := d.drain(t.Context())
		require.NoError(t, err)
		for _, table := range []string{"spans", "trace_starts", "traces"} {
			require.Equal(t, 5, d.count(table+" FINAL"), table)
		}
	})

	t.Run("a block that ClickHouse refuses holds up no other", func(t *testing.T) {
		t.Parallel()
		d := newDrained(t)
		refused := []sealed.Part{{Table: "spans", Input: proto.Input{{Name: "no_such_column", Data: proto.ColUInt8{1}}}}}
		bad := d.put(refused, clickhouse.Token())
		damaged := deferred.Key(d.now(), clickhouse.Token())
		require.NoError(t, d.blobs.Put(t.Context(), damaged, []byte("no block")))
		for range 10 {
			d.put(d.block(1).parts(), clickhouse.Token())
		}
		n, err := d.drain(t.Context())
		require.NoError(t, err)
		require.Equal(t, 10, n)
		require.Equal(t, []string{bad}, d.waiting())
		kept := d.under(quarantinePrefix)
		require.Len(t, kept, 1)
		require.Contains(t, kept[0], strings.TrimPrefix(damaged, deferred.Prefix))
	})

	t.Run("when ClickHouse refuses everything it is left in peace", func(t *testing.T) {
		t.Parallel()
		d := newDrained(t)
		for range 3 * drainRefusals {
			d.put([]sealed.Part{{Table: "no_such_table", Input: d.block(1).parts()[0].Input}}, clickhouse.Token())
		}
		n, err := d.drain(t.Context())
		require.Error(t, err)
		require.Zero(t, n)
		require.Len(t, d.waiting(), 3*drainRefusals)
	})

	t.Run("a block that the server is still storing is not sent again", func(t *testing.T) {
		t.Parallel()
		d := newDrained(t)
		// Every insert into spans takes as long as its rows ask for.
		for _, sql := range []string{
			"CREATE TABLE slept (zero UInt8) ENGINE = Null",
			"CREATE MATERIALIZED VIEW sleeping TO slept AS SELECT sleepEachRow(0.1) AS zero FROM spans",
			"CREATE MATERIALIZED VIEW sleeping_on TO slept AS SELECT sleepEachRow(0.1) AS zero FROM spans",
			"CREATE MATERIALIZED VIEW sleeping_long TO slept AS SELECT sleepEachRow(0.1) AS zero FROM spans",
		} {
			require.NoError(t, d.ch.Writer().Exec(t.Context(), sql))
		}
		ended := func(name string) {
			require.Eventually(t, func() bool { busy, err := d.ch.Underway(t.Context(), name); return err == nil && !busy }, 3*time.Minute, 10*time.Millisecond)
		}
		parts, name := d.block(25).parts(), clickhouse.Token()
		d.timeout = 300 * time.Millisecond
		first := make(chan error, 1)
		go func() { first <- d.insertParts(context.WithoutCancel(t.Context()), parts, name, name) }()
		require.Eventually(t, func() bool { busy, err := d.ch.Underway(t.Context(), name); return err == nil && busy }, 3*time.Minute, 5*time.Millisecond)

		require.ErrorIs(t, d.insertParts(t.Context(), parts, name, clickhouse.Token()), clickhouse.ErrUnderway, "the server refuses it, whoever asks")
		d.put(parts, name)
		n, err := d.drain(t.Context())
		require.NoError(t, err)
		require.Zero(t, n)
		require.Len(t, d.waiting(), 1)
		require.NoError(t, <-first)
		ended(name) // the server answers before it forgets
		n, err = d.drain(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, 25, d.count("spans FINAL"))

		// One that takes longer than it may is ended, deferred, and stored later.
		later, err := d.write(t.Context(), d.block(25), clickhouse.Token())
		require.NoError(t, err)
		require.True(t, later)
		ended(deferred.Token(d.waiting()[0]))
		n, err = d.drain(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, 50, d.count("spans FINAL"))
	})
}
