// Package read_test measures what reading traces costs: beside the bare
// statements, as data grows, with rows that are not merged yet, and with an
// index beside without.
package read_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	chgo "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/test/bench"
)

func TestBench(t *testing.T) {
	t.Parallel()
	once, rounds, text := size{spans: 3_000, agents: 8}, 7, 64<<20
	switch {
	case bench.Raced:
		once, rounds, text = size{spans: 2_000, agents: 2}, 2, 8<<20
	case bench.Whole():
		once, rounds, text = size{spans: 100_000, agents: 150}, 31, 1<<30
	}
	small := newWorld(t, once)
	large := newWorld(t, size{spans: 10 * once.spans, agents: once.agents})
	_, _ = fmt.Fprintf(os.Stdout, "%d and %d spans of %d days\n", once.spans, 10*once.spans, days)
	bench.Report(t,
		func() bench.Figure { return getTrace(t, large, rounds) },
		func() bench.Figure { return getTraceGrowing(t, small, large, rounds) },
		func() bench.Figure { return rowFilter(t, large, rounds) },
		func() bench.Figure { return listDuplicates(t, large, rounds) },
		func() bench.Figure { return analytics(t, large, rounds) },
		func() bench.Figure { return search(t, large, text, min(rounds, 9)) },
	)
}

// requests is how many of a kind make one measure.
const requests = 11

// pairs measures sides in alternation; the first round warms up.
func pairs(t testing.TB, rounds int, sides ...func(i int) error) bench.Rounds {
	t.Helper()
	var all []bench.Side
	for _, side := range sides {
		n := 0
		all = append(all, func() (float64, error) {
			n++
			return median(requests, func(i int) error { return side(n*requests + i) })
		})
	}
	measured, err := bench.Run(rounds+1, rounds+1, func(bench.Rounds) bool { return true }, all...)
	require.NoError(t, err)
	return measured[1:]
}

func middle(measures []float64) float64 { return bench.Median(measures) }

// some are a few of an organization's traces, from all its days.
func (o *org) some(n int) (paths []string) {
	for i := range n {
		paths = append(paths, "/api/traces/"+hexOf(o.traces[i*len(o.traces)/n]))
	}
	return paths
}

// getTrace compares a whole request with its bare statements.
func getTrace(t testing.TB, w *world, rounds int) bench.Figure {
	t.Helper()
	o := w.orgs[0]
	paths := o.some(8)
	var asked [][]string
	for _, p := range paths {
		asked = append(asked, w.statements(t, func() error { return o.get(p) }))
	}
	measured := pairs(t, rounds,
		func(i int) error { return o.get(paths[i%len(paths)]) },
		func(i int) error { return bare(t.Context(), w.reader(o), asked[i%len(paths)]) },
	)
	return bench.Figure{
		Name: "get-trace", Goal: 1.25, Bound: 2, Got: measured.Ratio(0, 1),
		Says: fmt.Sprintf("get a trace over HTTP (%.1f ms) ÷ its bare statements (%.1f ms)", 1e3*measured.Median(0), 1e3*measured.Median(1)),
	}
}

// rowFilter compares the statements of a trace, a list and figures under the row
// filter with the same as a user that has none.
func rowFilter(t testing.TB, w *world, rounds int) bench.Figure {
	t.Helper()
	require.NoError(t, w.ch.Filtered(t.Context()), "restart the development engine: dev/engines restart clickhouse")
	o := w.orgs[0]
	var asked []string
	for _, p := range append(o.some(4), "/api/traces?limit=50", "/api/traces/metrics?groupBy=model&startAfter="+w.firstDay(t)) {
		asked = append(asked, w.statements(t, func() error { return o.get(p) })...)
	}
	all := func(as asker) error {
		for _, s := range asked {
			if err := readAll(t.Context(), as, s); err != nil {
				return err
			}
		}
		return nil
	}
	measured := pairs(t, rounds,
		func(int) error { return all(w.reader(o)) },
		func(int) error { return all(w.unfiltered) },
	)
	return bench.Figure{
		Name: "row-filter", Goal: 1.02, Bound: 1.15, Got: measured.Ratio(0, 1),
		Says: fmt.Sprintf("%d statements of traces, a list and figures under the row filter (%.1f ms) ÷ without", len(asked), 1e3*measured.Median(0)),
	}
}

// getTraceGrowing compares the same request on ten times the data.
func getTraceGrowing(t testing.TB, small, large *world, rounds int) bench.Figure {
	t.Helper()
	few, many := small.orgs[0], large.orgs[0]
	from, to := few.some(8), many.some(8)
	measured := pairs(t, rounds,
		func(i int) error { return many.get(to[i%len(to)]) },
		func(i int) error { return few.get(from[i%len(from)]) },
	)
	return bench.Figure{
		Name: "get-trace-10x", Goal: 1.15, Bound: 1.5, Got: measured.Ratio(0, 1),
		Says: "get a trace on ten times the data ÷ on the data",
	}
}

// listDuplicates compares two organizations with as much data: of one, five of
// a hundred spans of today are stored twice.
func listDuplicates(t testing.TB, w *world, rounds int) bench.Figure {
	t.Helper()
	const path = "/api/traces?limit=50"
	measured := pairs(t, rounds,
		func(int) error { return w.orgs[doubled].get(path) },
		func(int) error { return w.orgs[clean].get(path) },
	)
	return bench.Figure{
		Name: "list-duplicates", Goal: 1.1, Bound: 1.5, Got: measured.Ratio(0, 1),
		Says: fmt.Sprintf("list 50 traces, 5 %% of the spans stored twice (%.1f ms) ÷ none", 1e3*measured.Median(0)),
	}
}

// analytics compares the figures of all days, of spans of which some are stored
// twice, with the same on a table that never had any twice.
func analytics(t testing.TB, w *world, rounds int) bench.Figure {
	t.Helper()
	o := w.orgs[0]
	from := w.firstDay(t)
	path := "/api/traces/metrics?groupBy=model&startAfter=" + from
	asked := w.statements(t, func() error { return o.get(path) })
	statement := asked[len(asked)-1]
	require.Contains(t, statement, "FROM spans FINAL")
	w.makePlain(t)
	bench.Quiet(t)
	plain := strings.ReplaceAll(statement, "FROM spans FINAL", "FROM plain")
	measured := pairs(t, rounds,
		func(int) error { return readAll(t.Context(), w.reader(o), statement) },
		func(int) error { return readAll(t.Context(), w.reader(o), plain) },
	)
	return bench.Figure{
		Name: "analytics-dedup", Goal: 1.2, Bound: 1.6, Got: measured.Ratio(0, 1),
		Says: fmt.Sprintf("percentiles and cost of %d days, each span once (%.1f ms) ÷ of a table without doubles", days, 1e3*measured.Median(0)),
	}
}

// makePlain copies the spans into a table that is the same but replaces
// nothing: its days are merged too, and its today lies in as many parts.
func (w *world) makePlain(t testing.TB) {
	t.Helper()
	var create string
	require.NoError(t, w.ch.Writer().QueryRow(t.Context(), "SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name = 'spans'").Scan(&create))
	_, columns, ok := strings.Cut(create, "(")
	require.True(t, ok)
	create = strings.Replace("CREATE OR REPLACE TABLE plain ("+columns, "ReplacingMergeTree(version)", "MergeTree", 1)
	require.Contains(t, create, "ENGINE = MergeTree")
	exec := func(statement string, settings chgo.Settings) {
		require.NoError(t, w.ch.Writer().Exec(chgo.Context(t.Context(), chgo.WithSettings(settings)), statement), statement)
	}
	exec(create, nil)
	exec("INSERT INTO plain SELECT * FROM spans FINAL WHERE start_time < today()", chgo.Settings{"max_partitions_per_insert_block": 0})
	exec("OPTIMIZE TABLE plain FINAL", nil)
	exec("SYSTEM STOP MERGES plain", nil)
	var parts uint64
	require.NoError(t, w.ch.Writer().QueryRow(t.Context(), "SELECT uniqExact(_part) FROM spans WHERE start_time >= today()").Scan(&parts))
	for i := range parts {
		exec(fmt.Sprintf("INSERT INTO plain SELECT * FROM spans FINAL WHERE start_time >= today() AND cityHash64(trace_id) %% %d = %d", parts, i), nil)
	}
}

func (w *world) firstDay(t testing.TB) string {
	t.Helper()
	var day string
	require.NoError(t, w.ch.Writer().QueryRow(t.Context(), "SELECT formatDateTime(min(start_time) - INTERVAL 1 HOUR, '%Y-%m-%dT%H:%i:%SZ') FROM spans").Scan(&day))
	return day
}

// search compares finding a rare word in so many bytes of what was written by
// the index with reading all of it.
func search(t testing.TB, w *world, text, rounds int) bench.Figure {
	t.Helper()
	o := w.orgs[0]
	word := w.rareWord(t)
	w.write(t, text, word)
	var found string
	for _, s := range w.statements(t, func() error { return o.get("/api/traces?search=" + word) }) {
		if strings.Contains(s, "hasAllTokens(search_text") {
			found = s
		}
	}
	require.NotEmpty(t, found, "the search does not ask the index")
	// The part of the question that is about what was written, of all time.
	_, found, _ = strings.Cut(found, "SELECT trace_id FROM span_payloads")
	found, _, _ = strings.Cut(found, "UNION DISTINCT")
	indexed := "SELECT DISTINCT trace_id FROM span_payloads" + bounds.ReplaceAllString(found, "")
	for _, settings := range []clickhouse.Settings{{}, {"use_skip_indexes": 0}} {
		require.Positive(t, w.count(t, o, indexed, settings))
	}
	off := clickhouse.Settings{"use_skip_indexes": 0}
	measured, err := bench.Run(rounds+1, rounds+1, func(bench.Rounds) bool { return true },
		func() (float64, error) {
			return median(requests, func(int) error { return readAll(t.Context(), w.reader(o), indexed) })
		},
		func() (float64, error) {
			return median(1, func(int) error { return readAll(t.Context(), w.reader(o), indexed, off) })
		},
	)
	require.NoError(t, err)
	measured = measured[1:]
	return bench.Figure{
		Name: "search", Goal: 1.0 / 50, Bound: 1.0 / 10, Short: 1.0 / 4, Got: measured.Ratio(0, 1),
		Says: fmt.Sprintf("find %q by the index (%.1f ms) ÷ by reading all %d MiB of text for search (%.1f ms)", word, 1e3*measured.Median(0), text>>20, 1e3*measured.Median(1)),
	}
}

// bounds are those of the window of time that a search looks at.
var bounds = regexp.MustCompile(`start_time [<>]= fromUnixTimestamp64Micro\(\d+, 'UTC'\) AND `)

// count is how many rows a statement finds.
func (w *world) count(t testing.TB, o *org, statement string, settings clickhouse.Settings) int {
	t.Helper()
	var n uint64
	require.NoError(t, w.ch.Org(o.caller.Org).With(settings).QueryRow(t.Context(), "SELECT count() FROM ("+statement+")").Scan(&n))
	return int(n)
}

// write copies the text for search, as that of other traces, until there is so
// much of it; but not what has the word that will be looked for. It is written
// straight into the table, without the conversations that it was made of, and a
// day at a time, so that a day is one part more and nothing has to be merged.
func (w *world) write(t testing.TB, text int, word string) {
	t.Helper()
	var have uint64
	require.NoError(t, w.ch.Writer().QueryRow(t.Context(), "SELECT sum(length(search_text)) FROM span_payloads").Scan(&have))
	var days []struct {
		Day string `ch:"day"`
	}
	require.NoError(t, w.ch.Writer().Select(t.Context(), &days, "SELECT DISTINCT toString(toDate(start_time)) AS day FROM span_payloads WHERE search_text != '' ORDER BY day"))
	whole := chgo.Settings{"min_insert_block_size_rows": 0, "min_insert_block_size_bytes": 256 << 20, "max_insert_threads": 1}
	const columns = "org_id, start_time, span_id, search_text, retention_days, ingested_at, version"
	for _, d := range days {
		statement := fmt.Sprintf(`INSERT INTO span_payloads (trace_id, %[1]s)
			SELECT CAST(MD5(concat(trace_id, toString(number))), 'FixedString(16)'), %[1]s
			FROM (SELECT trace_id, %[1]s FROM span_payloads WHERE toDate(start_time) = '%[2]s' AND NOT hasAllTokens(search_text, ['%[3]s'])) AS p CROSS JOIN numbers(%[4]d) AS n`,
			columns, d.Day, word, text/int(have))
		require.NoError(t, w.ch.Writer().Exec(chgo.Context(t.Context(), chgo.WithSettings(whole)), statement), statement)
	}
	bench.Quiet(t)
}

// rareWord is a word that few spans have.
func (w *world) rareWord(t testing.TB) string {
	t.Helper()
	var word string
	require.NoError(t, w.ch.Writer().QueryRow(t.Context(), `SELECT word FROM (
		SELECT arrayJoin(arrayDistinct(tokens(lower(search_text)))) AS word FROM span_payloads)
		WHERE match(word, '^[a-z]{6,20}$') GROUP BY word ORDER BY count(), word LIMIT 1`).Scan(&word))
	return word
}
