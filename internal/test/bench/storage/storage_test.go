// Package storage_test measures how many bytes spans and what agents said take
// on disk.
package storage_test

import (
	"fmt"
	"math/bits"
	"os"
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

// What is wanted, and above what a change is refused. Both compare columns with
// columns: a plain table has no text index, and what was sent holds no text
// made for search. What the two cost is printed beside.
const (
	spanGoal    = 0.50
	spanCeiling = 0.65

	payloadGoal    = 1.0 / 25
	payloadCeiling = 1.0 / 15
)

func TestBench(t *testing.T) {
	t.Parallel()
	narrow, agent := 50, 30 // requests
	switch {
	case bench.Raced:
		narrow, agent = 5, 3
	case bench.Whole():
		narrow, agent = 300, 300
	}
	cfg := testkit.Config(t)
	cfg.Trace.GroupInterval = 100 * time.Millisecond
	cfg.Plan.SpansHour, cfg.Plan.BytesHour = 1<<40, 1<<50
	k := testkit.NewWith(t, cfg)
	ch, err := clickhouse.Open(cfg.ClickHouse)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	d := disk{t: t, ch: ch}

	options := traffic.Options{Seed: 1, From: time.Now().Add(-time.Hour), Over: time.Hour}
	senders := callers(t, k)
	spans, _ := send(t, k, senders, traffic.Narrow(options), narrow, 1000)
	ours, plain := d.spans(spans)

	spans, raw := send(t, k, senders, traffic.Agent(options), agent, 60)
	p := d.payloads()
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format+"\n", args...) }
	n := float64(narrow * 1000)
	columns, kept := ours.all-ours.index, p.all-p.search-p.index
	say("%.0f narrow spans: %.1f bytes each, %.1f in a plain table compressed with LZ4; goal %.2f, ceiling %.2f", n, columns/n, plain.all/n, spanGoal, spanCeiling)
	say("the indexes take %.1f bytes beside; with them %.2f", ours.index/n, ours.all/plain.all)
	say("%d agent spans with %.1f MB of JSON: %.2f MB on disk, 1/%.1f; goal 1/%.0f, ceiling 1/%.0f",
		spans, raw/1e6, kept/1e6, raw/kept, 1/payloadGoal, 1/payloadCeiling)
	say("the text for search takes %.2f MB beside and its index %.2f MB; with them 1/%.1f", p.search/1e6, p.index/1e6, raw/p.all)
	for _, line := range p.columns {
		say("%s", line)
	}
	say("bytes-per-span ratio %.3f", columns/plain.all)
	say("agent-payload ratio %.4f", kept/raw)
	if !bench.Raced {
		require.Less(t, columns/plain.all, spanCeiling)
		require.Less(t, kept/raw, payloadCeiling)
	}
}

// callers are organizations that send, the first the most.
func callers(t testing.TB, k *testkit.Kit) []principal.Caller {
	t.Helper()
	all := make([]principal.Caller, 8)
	for i := range all {
		var err error
		all[i], err = k.App.Tenancy.Authenticate(t.Context(), k.Org(t).Key.Reveal())
		require.NoError(t, err)
	}
	return all
}

// send stores requests: half of the first organization, a quarter of the
// second and so on.
func send(t testing.TB, k *testkit.Kit, from []principal.Caller, s *traffic.Source, requests, size int) (spans int, raw float64) {
	t.Helper()
	var g errgroup.Group
	g.SetLimit(16)
	for i := range requests {
		r := s.Next(size)
		who := min(bits.TrailingZeros(uint(i+1)), len(from)-1)
		g.Go(func() error {
			got, err := k.App.Trace.IngestTraces(t.Context(), from[who], r.Body)
			if err == nil && got.Accepted != r.Spans {
				err = fmt.Errorf("%d of %d spans are taken: %s", got.Accepted, r.Spans, got.Reason)
			}
			return err
		})
		spans, raw = spans+r.Spans, raw+float64(r.Payload)
	}
	require.NoError(t, g.Wait())
	return spans, raw
}

// disk asks ClickHouse what tables take.
type disk struct {
	t  testing.TB
	ch *clickhouse.DB
}

func (d disk) exec(statement string) {
	d.t.Helper()
	require.NoError(d.t, d.ch.Writer().Exec(d.t.Context(), statement), statement)
}

func (d disk) number(query string) float64 {
	d.t.Helper()
	var n uint64
	require.NoError(d.t, d.ch.Writer().QueryRow(d.t.Context(), query).Scan(&n), query)
	return float64(n)
}

func (d disk) text(query string) (all []string) {
	d.t.Helper()
	rows, err := d.ch.Writer().Query(d.t.Context(), query)
	require.NoError(d.t, err, query)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s string
		require.NoError(d.t, rows.Scan(&s))
		all = append(all, s)
	}
	require.NoError(d.t, rows.Err())
	return all
}

// size is what a table keeps on disk.
type size struct {
	all   float64 // columns, keys and indexes
	index float64 // the indexes alone
}

func (d disk) size(table string) size {
	const of = " FROM system.parts WHERE active AND database = currentDatabase() AND table = '"
	return size{
		all:   d.number("SELECT sum(bytes_on_disk)" + of + table + "'"),
		index: d.number("SELECT sum(secondary_indices_compressed_bytes + secondary_indices_marks_bytes)" + of + table + "'"),
	}
}

// spans compares the table of spans, merged, with a plain one that has the same
// columns, order and rows.
func (d disk) spans(want int) (ours, plain size) {
	d.t.Helper()
	columns := d.text("SELECT name || ' ' || type FROM system.columns WHERE database = currentDatabase() AND table = 'spans' ORDER BY position")
	keys := d.text("SELECT 'PARTITION BY ' || partition_key || ' ORDER BY (' || sorting_key || ')' FROM system.tables WHERE database = currentDatabase() AND name = 'spans'")
	d.exec("CREATE TABLE plain (" + strings.Join(columns, ", ") + ") ENGINE = MergeTree " + keys[0])
	d.exec("INSERT INTO plain SELECT * FROM spans FINAL")
	for _, table := range []string{"spans", "plain"} {
		d.exec("OPTIMIZE TABLE " + table + " FINAL")
		require.InDelta(d.t, want, d.number("SELECT count() FROM "+table), 0)
	}
	codecs := d.text("SELECT DISTINCT default_compression_codec FROM system.parts WHERE active AND database = currentDatabase() AND table = 'plain'")
	require.Equal(d.t, []string{"LZ4"}, codecs, "the table to compare with is not what it should be")
	require.Equal(d.t, d.text(sumOf("spans")), d.text(sumOf("plain")), "the tables hold different rows")
	return d.size("spans"), d.size("plain")
}

func sumOf(table string) string {
	return "SELECT toString((count(), sum(sipHash64(tuple(*))))) FROM " + table
}

// payloads is what the table of payloads takes.
type payloads struct {
	size
	search  float64
	columns []string
}

func (d disk) payloads() (p payloads) {
	d.t.Helper()
	d.exec("OPTIMIZE TABLE span_payloads FINAL")
	p.size = d.size("span_payloads")
	p.search = d.number(ofColumn + " AND column = 'search_text'")
	p.columns = d.text(`SELECT format('  {}: {} of {}', rightPad(column, 12), formatReadableSize(sum(column_data_compressed_bytes)), formatReadableSize(sum(column_data_uncompressed_bytes)))
		FROM system.parts_columns WHERE active AND database = currentDatabase() AND table = 'span_payloads' AND column_data_uncompressed_bytes > 1000000
		GROUP BY column ORDER BY sum(column_data_compressed_bytes) DESC`)
	return p
}

const ofColumn = "SELECT sum(column_bytes_on_disk) FROM system.parts_columns WHERE active AND database = currentDatabase() AND table = 'span_payloads'"
