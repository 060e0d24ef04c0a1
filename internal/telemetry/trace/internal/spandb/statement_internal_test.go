package spandb

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/telemetry/span"
)

var updateSQL = flag.Bool("update-sql", false, "write the files of testdata/sql anew")

// statements are one of every kind that the read side makes.
func statements() map[string]statement {
	org := principal.OrgID{0: 1, 15: 10}
	start := time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC).UnixMicro()
	yes, no, slow := true, false, 2*time.Second
	one := Scope{{ID: span.TraceID{0: 0xab, 15: 1}, First: start, last: start + 90*micros}}
	two := append(slices.Clone(one), Bounds{ID: span.TraceID{0: 0xcd, 15: 2}, First: start - minute, last: start})
	long := append(slices.Clone(one), Bounds{ID: span.TraceID{0: 0xef, 15: 3}, First: start - 10*day, last: start})
	in := Window{Low: start - day, High: start}
	everything := Filter{
		Status: []Status{StatusFailed}, Search: "Refund policy?", ConversationID: "c-1", UserID: "u'1", Environment: "production", AgentName: "helper",
		ReleaseID: "r-1", Tag: "beta", HasError: &yes, MinDuration: &slow,
	}
	figures := MetricsQuery{From: at(start - day), To: at(start), GroupBy: GroupModel, Interval: time.Hour}
	filtered := figures
	filtered.GroupBy, filtered.Environment, filtered.AgentName, filtered.ReleaseID, filtered.Model = GroupNone, "production", "helper", "r-1", "m-1"
	return map[string]statement{
		"candidates":          candidatesQuery{org: org, in: in, limit: 100},
		"candidates_filtered": candidatesQuery{org: org, filter: everything, in: in, idle: 1000, limit: 100},
		"candidates_running":  candidatesQuery{org: org, filter: Filter{Status: []Status{StatusRunning}}, in: in, idle: 1000, limit: 100},
		"candidates_open":     candidatesQuery{org: org, filter: Filter{Status: []Status{StatusRunning, StatusFailed}}, in: in, idle: 1000, limit: 100},
		"candidates_signs":    candidatesQuery{org: org, filter: Filter{Search: "???"}, in: in, idle: 1000, limit: 100},
		"minute":              minuteQuery{candidatesQuery: candidatesQuery{org: org, in: in, limit: 100}, below: Position{Start: start, ID: span.TraceID{1}}},
		"arrivals":            arrivalsQuery{org: org, after: Arrival{At: start / 1000, ID: span.TraceID{1}}, until: start/1000 + 15_000, limit: 100},
		"match":               matchQuery{candidatesQuery{org: org, filter: everything, in: in, idle: 1000}, two.ids()},
		"bounds":              boundsQuery{org: org, ids: two.ids()},
		"folded":              foldedQuery{org: org, of: two, limit: 100},
		"summary":             SummaryQuery{Org: org, Of: two},
		"summary_rooted":      SummaryQuery{Org: org, Of: one, rooted: true},
		"summary_long":        SummaryQuery{Org: org, Of: long},
		"summary_filtered":    SummaryQuery{Org: org, Of: one, Filter: everything, idle: 1000},
		"summary_no_error":    SummaryQuery{Org: org, Of: one, Filter: Filter{HasError: &no}, idle: 1000},
		"total":               totalQuery{org: org, in: in, idle: 1000},
		"total_filtered":      totalQuery{org: org, filter: everything, in: in, idle: 1000},
		"spans":               SpansQuery{Org: org, Of: one, TraceRow: true, Limit: 1001},
		"span":                spanQuery{org: org, of: one, span: span.ID{7}},
		"rows":                rowsQuery{org: org, of: one, limit: 100},
		"spans_page":          SpansQuery{Org: org, Of: one, After: SpanPosition{Start: start, Span: span.ID{7}}, Limit: 51, Offset: 20},
		"payloads":            payloadsQuery{org: org, of: two, from: start, limit: 100},
		"payloads_texts":      textsQuery{org: org, texts: []textKey{{trace: span.TraceID{1}, SourcedText: SourcedText{Span: span.ID{2}, start: start}}}},
		"events":              eventsQuery{org: org, ids: one.ids(), limit: 100},
		"conversation":        ConversationQuery{Org: org, ID: "c-1", In: in, Limit: 100},
		"conversations":       groupListQuery{org: org, filter: TraceGroupFilter{By: ByConversation}, in: in, limit: 51},
		"conversations_filtered": groupListQuery{
			org: org, filter: TraceGroupFilter{By: ByConversation, UserID: "u'1", Environment: "production", ServiceName: "web"}, in: in,
			after: TraceGroupPosition{Last: start, Hash: 7}, limit: 51, offset: 20,
		},
		"conversations_count":  groupListQuery{org: org, filter: TraceGroupFilter{By: ByConversation}, in: in, count: true},
		"conversations_totals": groupTotalsQuery{org: org, filter: TraceGroupFilter{By: ByConversation}, in: in, ids: []string{"c-1", "c'2"}},
		"users": groupListQuery{
			org: org, filter: TraceGroupFilter{By: ByUser, Environment: "production"}, in: in, after: TraceGroupPosition{Last: start, Hash: 7}, limit: 51,
		},
		"users_totals":     groupTotalsQuery{org: org, filter: TraceGroupFilter{By: ByUser, ServiceName: "web"}, in: in, ids: []string{"u-1", "u'2"}},
		"groups":           groupsQuery{MetricsQuery: figures, org: org},
		"metrics":          metricsQuery{MetricsQuery: figures, org: org},
		"metrics_filtered": metricsQuery{MetricsQuery: filtered, org: org},
		"metrics_other":    metricsQuery{MetricsQuery: figures, org: org, shown: []string{"a", "b"}},
	}
}

// TestStatements compares what ClickHouse is asked with what a reviewer has
// seen.
func TestStatements(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("testdata", "sql")
	if *updateSQL {
		require.NoError(t, os.MkdirAll(folder, 0o755))
	}
	for name, q := range statements() {
		file := filepath.Join(folder, name+".sql")
		text, n := q.sql()
		var used strings.Builder
		for _, a := range n.args {
			named, ok := a.(driver.NamedValue)
			require.True(t, ok)
			if strings.Contains(text, "@"+named.Name) {
				fmt.Fprintf(&used, "-- %s = %v\n", named.Name, named.Value)
			}
		}
		got := used.String() + text + "\n"
		if *updateSQL {
			require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err, "run the test with -update and look at what it wrote")
		require.Equal(t, string(want), got, name)
		// Organization first, and never a column that was not asked for.
		require.Contains(t, text, "WHERE org_id = @org", name)
		require.NotContains(t, text, "*", name)
	}
	kept, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, kept, len(statements()), "a file without its statement")
}

// TestStatementsRun has every statement answered by the user that can only
// read, on one node and on a cluster.
func TestStatementsRun(t *testing.T) {
	t.Parallel()
	for kind, make := range map[string]func(testing.TB) clickhouse.Config{"single": clickhousetest.New, "cluster": clickhousetest.NewCluster} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ch, err := clickhouse.Open(make(t))
			require.NoError(t, err)
			t.Cleanup(func() { _ = ch.Close() })
			s := DB{ch: ch}
			for name, q := range statements() {
				require.NoError(t, s.read(t.Context(), q, func(scanner) error { return nil }), name)
			}
		})
	}
}

func TestHashIsClickHouses(t *testing.T) {
	t.Parallel()
	ch, err := clickhouse.Open(clickhousetest.New(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	for _, id := range []span.TraceID{{}, {15: 1}, {0xff, 0x80, 3: 7, 12: 0xfe}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}} {
		var want uint32
		require.NoError(t, ch.Writer().QueryRow(t.Context(), "SELECT xxHash32(toFixedString("+literal(id[:])+", 16))").Scan(&want))
		require.Equal(t, want, xxHash32(id))
	}
}

func TestAReadThatIsTooLargeSaysWhatToDo(t *testing.T) {
	t.Parallel()
	ch, err := clickhouse.Open(clickhousetest.New(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	s := DB{ch: ch}
	read := func(text string) error {
		return s.read(t.Context(), explained{text: text, n: forOrg(principal.OrgID{})}, func(scanner) error { return nil })
	}
	for _, text := range []string{
		"SELECT number FROM numbers(10000000) ORDER BY rand() SETTINGS max_memory_usage = 1000000, max_bytes_before_external_sort = 0, max_bytes_ratio_before_external_sort = 0",
		"SELECT sum(sleepEachRow(0.1)) FROM numbers(100) SETTINGS max_execution_time = 1, max_block_size = 1, function_sleep_max_microseconds_per_block = 1000000",
		"SELECT number FROM numbers(1000000) SETTINGS max_result_rows = 10",
		"SELECT sum(number) FROM numbers(100000000) SETTINGS max_bytes_to_read = 1000",
	} {
		require.ErrorIs(t, read(text), ErrTooMuch, text)
	}
	require.NotErrorIs(t, read("SELECT nothing"), ErrTooMuch)
	require.ErrorContains(t, read("SELECT 1 SETTINGS max_memory_usage = 100000000000"), "max_memory_usage", "limits cannot be loosened")
}

func TestWordsAreThoseOfTheIndexes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Hello, World": {"hello", "world"}, "a_b-c.d": {"a", "b", "c", "d"}, "  ": {}, "???": {}, "x'); DROP--": {"x", "drop"},
		"ÉCOLE naïve": {"École", "naïve"} /* the indexes know no case of É */, "日本 語": {"日本", "語"}, "gpt-4o": {"gpt", "4o"},
	} {
		require.Equal(t, want, append([]string{}, words(text)...), text)
	}
	require.Len(t, words(strings.Repeat("a ", 100)), maxWords)
	require.Equal(t, []string{"word", "Word", "WORD"}, spellings("word"))
	require.Equal(t, []string{"école", "école", "éCOLE"}, spellings("école"))
}
