// Package rls_test measures what row-level security costs a read: the policies
// alone, and the policies with the claim that travels with every statement.
package rls_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/testkit"
)

const (
	goal  = 0.90
	floor = 0.75
	// connections that send at once; each may hold a connection of the pool.
	connections = 4
	// callers are the organizations that send requests; the others are there
	// for their rows.
	callers = 8
)

// The sides, in the order of the measures.
const (
	with    = iota // the product
	open           // the product on tables without policies
	without        // the same statements without claims, on tables without policies
)

func TestBench(t *testing.T) {
	t.Parallel()
	organizations, slice, fewest, most := 150, 150, bench.MinRounds, 30
	switch {
	case bench.Raced:
		organizations, slice, fewest, most = 20, 20, 3, 3
	case bench.Whole():
		organizations, slice, fewest, most = 1000, 500, 41, 41
	}
	secured, unsecured := testkit.Own(t, "a bench measures it"), testkit.Own(t, "a bench measures it")
	requests := fill(t, secured, unsecured, organizations)

	var loads []bench.Load
	for _, e := range []*httpapi.Edge{with: secured.App.Edge, open: unsecured.App.Edge, without: newBare(t, unsecured)} {
		loads = append(loads, bench.Load{Conns: serve(t, e), Requests: requests, Now: time.Now})
	}
	agree(t, loads, requests)
	bench.Quiet(t)

	var sides []bench.Side
	for _, l := range loads {
		_, err := l.Rate(slice) // warm
		require.NoError(t, err)
		sides = append(sides, func() (float64, error) { return l.Rate(slice) })
	}
	rounds, err := bench.Run(fewest, most, func(r bench.Rounds) bool { return r.Ratio(with, without).Low >= floor }, sides...)
	require.NoError(t, err)

	got := rounds.Ratio(with, without)
	_, _ = fmt.Fprintf(os.Stdout, "requests a second, policies and claims ÷ neither: %v; goal %.2f, floor %.2f\n", got, goal, floor)
	_, _ = fmt.Fprintf(os.Stdout, "policies ÷ none, claims on both sides: %v\n", rounds.Ratio(with, open))
	_, _ = fmt.Fprintf(os.Stdout, "rls ratio %.2f\n", got.Median)
	if !bench.Raced {
		require.NoError(t, got.AtLeast(floor))
	}
}

// fill gives both databases equal rows, takes the policies from the second,
// and returns requests for them: half of them a dataset, half a page of items.
func fill(t testing.TB, secured, unsecured *testkit.Kit, organizations int) [][]byte {
	t.Helper()
	ctx := t.Context()
	var clients []*testkit.Client
	for range callers {
		clients = append(clients, secured.Org(t))
	}
	from, to := owner(t, secured), owner(t, unsecured)
	tables := []string{"organizations", "members", "api_keys", "datasets", "dataset_items"}
	for _, table := range tables {
		exec(t, from, "ALTER TABLE "+table+" NO FORCE ROW LEVEL SECURITY, SET (autovacuum_enabled = false)")
	}
	exec(t, from, "INSERT INTO organizations (id, name, created_at, updated_at) SELECT gen_random_uuid(), 'Org ' || n, now(), now() FROM generate_series(1, $1::int) n", organizations-callers)
	exec(t, from, `INSERT INTO datasets (org_id, name, description, purpose, metadata, content_sum, item_count, created_at, updated_at)
		SELECT o.id, 'Questions ' || n, 'What people ask.', 'general', '{"owner":"support"}', '', 100, now(), now() FROM organizations o, generate_series(1, 2) n`)
	// Neighbouring rows belong to different organizations, as they do when all
	// of them write at once.
	exec(t, from, `INSERT INTO dataset_items (org_id, dataset_id, valid_from, digest, content, created_at)
		SELECT d.org_id, d.id, 1, sha256((d.id || '/' || n)::bytea), json_build_object('input', 'How do I return order ' || n || '?', 'expected_output', repeat('Send it back within 30 days. ', 4)), now()
		FROM generate_series(1, 100) n, datasets d`)
	for _, table := range tables {
		var stream bytes.Buffer
		_, err := from.PgConn().CopyTo(ctx, &stream, "COPY "+table+" TO STDOUT (FORMAT binary)")
		require.NoError(t, err)
		exec(t, to, "ALTER TABLE "+table+" NO FORCE ROW LEVEL SECURITY, SET (autovacuum_enabled = false)")
		_, err = to.PgConn().CopyFrom(ctx, &stream, "COPY "+table+" FROM STDIN (FORMAT binary)")
		require.NoError(t, err)
	}
	var g errgroup.Group
	for _, c := range []*pgx.Conn{from, to} {
		g.Go(func() error { _, err := c.Exec(ctx, "VACUUM ANALYZE"); return err })
	}
	require.NoError(t, g.Wait())
	for _, table := range tables {
		sum := "SELECT count(*), sum(hashtext(r::text)) FROM " + table + " r"
		require.Equal(t, row(t, from, sum), row(t, to, sum), table)
		exec(t, from, "ALTER TABLE "+table+" FORCE ROW LEVEL SECURITY")
	}
	for _, table := range column(t, to, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relrowsecurity") {
		exec(t, to, "ALTER TABLE "+table+" DISABLE ROW LEVEL SECURITY")
	}

	var requests [][]byte
	for _, c := range clients {
		for _, id := range column(t, to, "SELECT id::text FROM datasets WHERE org_id = $1", c.Org) {
			requests = append(requests, bench.Get("/api/datasets/"+id, c.Key.Reveal()), bench.Get("/api/datasets/"+id+"/items?limit=50", c.Key.Reveal()))
		}
	}
	require.Len(t, requests, 4*callers)
	return requests
}

// agree proves that all sides give the same answers.
func agree(t testing.TB, loads []bench.Load, requests [][]byte) {
	t.Helper()
	for i, r := range requests {
		var first string
		for side, l := range loads {
			status, body, err := l.Conns[0].Do(r)
			require.NoError(t, err)
			require.Equal(t, 200, status, "side %d: %s", side, body)
			if side == 0 {
				first = string(body)
			}
			require.Equal(t, first, string(body), "request %d, side %d", i, side)
		}
		if i%2 == 1 {
			require.Equal(t, 50, strings.Count(first, `"content_digest"`), "a whole page")
		}
	}
}

func serve(t testing.TB, e *httpapi.Edge) []*bench.Conn {
	t.Helper()
	srv := httptest.NewServer(e)
	t.Cleanup(srv.Close)
	conns := make([]*bench.Conn, connections)
	for i := range conns {
		c, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		conns[i] = bench.NewConn(c)
	}
	return conns
}

func owner(t testing.TB, k *testkit.Kit) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), k.App.Config.Postgres.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	return c
}

func exec(t testing.TB, c *pgx.Conn, sql string, args ...any) {
	t.Helper()
	_, err := c.Exec(t.Context(), sql, args...)
	require.NoError(t, err, sql)
}

func row(t testing.TB, c *pgx.Conn, sql string) [2]int64 {
	t.Helper()
	var out [2]int64
	require.NoError(t, c.QueryRow(t.Context(), sql).Scan(&out[0], &out[1]))
	return out
}

func column(t testing.TB, c *pgx.Conn, sql string, args ...any) []string {
	t.Helper()
	rows, err := c.Query(t.Context(), sql, args...)
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return out
}
