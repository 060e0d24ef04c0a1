package read_test

import (
	"encoding/hex"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/test/bench"
	"github.com/assayhq/assay/internal/test/bench/traffic"
	"github.com/assayhq/assay/internal/test/testkit"
)

// days is how many days of data there are: all but today's are merged into one
// part each, as they are in an installation that runs.
const days = 28

// world is an application with data.
type world struct {
	kit  *testkit.Kit
	ch   *clickhouse.DB
	orgs []*org
}

// org is one organization; the first has the most data.
type org struct {
	client *testkit.Client
	caller principal.Caller
	conn   *bench.Conn
	traces [][16]byte // some of them
}

// size says how much data a world has.
type size struct {
	spans  int // narrow ones of all organizations together
	agents int // requests with conversations, of the first organization
}

// Organizations: each has half of what the one before it has, so that the first
// has half of everything. The two after them have as much as each other, and of
// one a part of today's spans is sent twice.
const (
	organizations = 6
	clean         = organizations
	doubled       = organizations + 1
)

// newWorld stores the data day by day.
func newWorld(t testing.TB, n size) *world {
	t.Helper()
	cfg := testkit.Config(t)
	cfg.Trace.GroupInterval = 100 * time.Millisecond
	cfg.Plan.SpansHour, cfg.Plan.BytesHour = 1<<40, 1<<50
	w := &world{kit: testkit.NewWith(t, cfg)}
	var err error
	w.ch, err = clickhouse.Open(cfg.ClickHouse)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.ch.Close() })
	for range organizations + 2 {
		w.orgs = append(w.orgs, w.newOrg(t))
	}
	today := time.Now().UTC().Truncate(24 * time.Hour)
	for d := 1 - days; d < 0; d++ {
		w.fill(t, n, today.AddDate(0, 0, d), 24*time.Hour)
	}
	for i := range n.agents {
		s := traffic.Agent(traffic.Options{Seed: uint64(i + 1), From: today.AddDate(0, 0, -1-i%(days-1)), Over: 24 * time.Hour, Traces: 4})
		w.send(t, w.orgs[0], s.Next(60))
	}
	w.each(t, "OPTIMIZE TABLE %s FINAL")
	w.each(t, "SYSTEM STOP MERGES %s")
	w.fill(t, n, today, time.Since(today))
	return w
}

func (w *world) newOrg(t testing.TB) *org {
	t.Helper()
	o := &org{client: w.kit.Org(t)}
	var err error
	o.caller, err = w.kit.App.Tenancy.Authenticate(t.Context(), o.client.Key.Reveal())
	require.NoError(t, err)
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.kit.URL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	o.conn = bench.NewConn(c)
	return o
}

// each runs a statement for every table.
func (w *world) each(t testing.TB, statement string) {
	t.Helper()
	for _, table := range []string{"spans", "span_payloads", "traces", "trace_starts"} {
		require.NoError(t, w.ch.Writer().Exec(t.Context(), strings.ReplaceAll(statement, "%s", table)))
	}
}

// fill stores one day of every organization, and of today a part twice.
func (w *world) fill(t testing.TB, n size, day time.Time, over time.Duration) {
	t.Helper()
	var g errgroup.Group
	g.SetLimit(16)
	store := func(o *org, r traffic.Request) {
		g.Go(func() error { _, err := w.kit.App.Trace.IngestTraces(t.Context(), o.caller, r.Body); return err })
	}
	var again []traffic.Request
	for i, o := range w.orgs {
		spans, batch := max(20, n.spans/days>>(i+1)), 2000
		if i >= organizations {
			spans, batch = max(20, n.spans/days/10), 20
		}
		s := traffic.Narrow(traffic.Options{Seed: uint64(day.Unix())<<8 + uint64(i), From: day, Over: over, Traces: spans / 10})
		for k := 0; k*batch < spans; k++ {
			r := s.Next(min(spans-k*batch, batch))
			o.traces = append(o.traces, r.Traces[0])
			store(o, r)
			if i == doubled && k%20 == 0 {
				again = append(again, r)
			}
		}
	}
	require.NoError(t, g.Wait())
	if over < 24*time.Hour {
		for _, r := range again {
			store(w.orgs[doubled], r)
		}
		require.NoError(t, g.Wait())
	}
}

func (w *world) send(t testing.TB, o *org, r traffic.Request) {
	t.Helper()
	got, err := w.kit.App.Trace.IngestTraces(t.Context(), o.caller, r.Body)
	require.NoError(t, err)
	require.Equal(t, r.Spans, got.Accepted)
}

// get asks the application as a client does.
func (o *org) get(path string) error {
	status, body, err := o.conn.Do(bench.Get(path, o.client.Key.Reveal()))
	if err == nil && status != 200 {
		err = fmt.Errorf("status %d: %.200s", status, body)
	}
	return err
}

func hexOf(id [16]byte) string { return hex.EncodeToString(id[:]) }
