package evidence_test

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// copier is the bare side: the records that batches became, in the form in which
// PostgreSQL takes them already. What is left is what storing them costs.
type copier struct {
	world   *world
	conns   []*pgx.Conn
	batches int
}

// captured is a record of the stream, as a row of the table of records.
type captured struct {
	Kind            string    `ch:"kind"`
	ID              int64     `ch:"id"`
	Origin          string    `ch:"origin"`
	Actor           string    `ch:"actor"`
	State           string    `ch:"state"`
	RuntimeID       int64     `ch:"runtime_id"`
	RuntimeKey      string    `ch:"runtime_key"`
	ConnectorID     *int64    `ch:"connector_id"`
	ConnectorKey    *string   `ch:"connector_key"`
	TraceID         string    `ch:"trace_id"`
	RawEventID      *int64    `ch:"raw_event_id"`
	InvocationID    *string   `ch:"invocation_id"`
	SideEffectClass *string   `ch:"side_effect_class"`
	Body            string    `ch:"body"`
	OccurredAt      time.Time `ch:"occurred_at"`
	CreatedAt       time.Time `ch:"created_at"`
	UpdatedAt       time.Time `ch:"updated_at"`
	Version         int64     `ch:"version"`
}

var capturedColumns = []string{
	"org_id", "kind", "id", "origin", "actor", "state", "runtime_id", "runtime_key", "connector_id", "connector_key", "trace_id", "raw_event_id", "invocation_id",
	"side_effect_class", "body", "occurred_at", "created_at", "updated_at", "version",
}

// newCopier reads what has been taken so far.
func newCopier(t testing.TB, w *world, batches int) *copier {
	t.Helper()
	c := &copier{world: w, batches: batches}
	for range connections {
		c.conns = append(c.conns, w.own(t))
	}
	var all []captured
	require.NoError(t, w.ch.Writer().Select(t.Context(), &all, `SELECT toString(kind) AS kind, id, toString(origin) AS origin, toString(actor) AS actor, toString(state) AS state, runtime_id,
			toString(runtime_key) AS runtime_key, nullIf(connector_id, 0) AS connector_id, nullIf(toString(connector_key), '') AS connector_key, toString(trace_id) AS trace_id,
			nullIf(raw_event_id, 0) AS raw_event_id, nullIf(invocation_id, '') AS invocation_id, nullIf(toString(side_effect_class), '') AS side_effect_class, body, occurred_at, created_at, updated_at, version
		FROM evidence FINAL ORDER BY id`))
	require.Len(t, all, 2*batches*batch)
	w.exec(t, "CREATE TABLE bench_captured (LIKE evidence_records)")
	_, err := w.owner.CopyFrom(t.Context(), pgx.Identifier{"bench_captured"}, capturedColumns, pgx.CopyFromSlice(len(all), func(i int) ([]any, error) {
		r := all[i]
		return []any{
			w.client.Org, r.Kind, r.ID, r.Origin, r.Actor, r.State, r.RuntimeID, r.RuntimeKey, r.ConnectorID, r.ConnectorKey, []byte(r.TraceID), r.RawEventID, r.InvocationID,
			r.SideEffectClass, []byte(r.Body), r.OccurredAt, r.CreatedAt, r.UpdatedAt, r.Version,
		}, nil
	}))
	require.NoError(t, err)
	for table, like := range map[string]string{"bench_plain": "", "bench_one": "", "bench_indexed": " INCLUDING INDEXES"} {
		w.exec(t, "CREATE TABLE "+table+" (LIKE evidence_records"+like+")")
		w.exec(t, "ALTER TABLE "+table+" SET (autovacuum_enabled = false)")
	}
	return c
}

// copying copies batches into a table.
type copying struct {
	*copier
	table   string
	streams [][]byte
}

// prepare encodes the records of a kind, or of all kinds, batch by batch, and proves that
// copying them leaves the same rows.
func (c *copier) prepare(t testing.TB, table, kind string) *copying {
	t.Helper()
	p := &copying{copier: c, table: table}
	where, rows := "true", 2*batch
	if kind != "" {
		where, rows = "kind = '"+kind+"'", batch
	}
	for i := range c.batches {
		var stream bytes.Buffer
		_, err := c.world.owner.PgConn().CopyTo(t.Context(), &stream, fmt.Sprintf("COPY (SELECT * FROM bench_captured WHERE %s ORDER BY id LIMIT %d OFFSET %d) TO STDOUT (FORMAT binary)", where, rows, i*rows))
		require.NoError(t, err)
		p.streams = append(p.streams, stream.Bytes())
	}
	_, err := p.rate()
	require.NoError(t, err)
	const sum = "SELECT (count(*) + sum(hashtext(r::text)::numeric))::float8 FROM %s r WHERE %s"
	require.InDelta(t, c.world.number(t, fmt.Sprintf(sum, "bench_captured", where)), c.world.number(t, fmt.Sprintf(sum, table, "true")), 0)
	return p
}

// rate empties the table, copies every batch into it and returns how many events a second.
func (p *copying) rate() (float64, error) {
	ctx := context.Background()
	if _, err := p.world.owner.Exec(ctx, "TRUNCATE "+p.table); err != nil {
		return 0, err
	}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for _, conn := range p.conns {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(p.streams) {
					return nil
				}
				if _, err := conn.PgConn().CopyFrom(ctx, bytes.NewReader(p.streams[i]), "COPY "+p.table+" FROM STDIN (FORMAT binary)"); err != nil {
					return err
				}
			}
		})
	}
	err := g.Wait()
	return float64(p.batches*batch) / time.Since(began).Seconds(), err
}
