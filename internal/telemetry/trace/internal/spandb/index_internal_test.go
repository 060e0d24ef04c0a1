package spandb

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// TestReadsGoByTheKey reads the server's plans: a trace costs a few granules
// however much else there is, a list reads backwards, and searches and ids of
// users and conversations are found with their indexes.
func TestReadsGoByTheKey(t *testing.T) {
	t.Parallel()
	ch, err := clickhouse.Open(clickhousetest.New(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	s := DB{ch: ch}
	org := principal.OrgID(uuid.New())
	now := time.Now().UTC().Truncate(time.Minute).Add(-time.Hour)
	// 30,000 traces of 4 spans within 20 hours.
	numbers := `
		WITH intDiv(number, 4) AS n, number % 4 AS k, toFixedString(reinterpretAsString(sipHash128(n)), 16) AS trace,
		  fromUnixTimestamp64Micro(` + strconv.FormatInt(now.UnixMicro(), 10) + ` - n * 2400000 + k * 1000, 'UTC') AS started
		SELECT '` + org.String() + `' AS org_id, trace AS trace_id, toFixedString(reinterpretAsString(toUInt64(number + 1)), 8) AS span_id, started AS start_time, 90 AS retention_days, now64(3) AS ingested_at, 1 AS version, `
	fill := func(table, columns, values string) {
		require.NoError(t, ch.Writer().Exec(t.Context(), "INSERT INTO "+table+" (org_id, trace_id, span_id, start_time, retention_days, ingested_at, version, "+columns+") "+
			numbers+values+" FROM numbers(120000) SETTINGS max_partitions_per_insert_block = 0"))
	}
	fill("span_payloads", "search_text", "concat('Talk of ', toString(n))")
	fill("spans", "user_id, conversation_id, attrs", "concat('u', toString(n)), concat('c', toString(n)), map('note', concat('Mark ', toString(n)))")

	var id string
	require.NoError(t, ch.Org(org).QueryRow(t.Context(), "SELECT trace_id FROM spans WHERE org_id = ? ORDER BY start_time LIMIT 1 OFFSET 60000", uuid.UUID(org)).Scan(&id))
	of, err := s.Bounds(t.Context(), org, []span.TraceID{span.TraceID([]byte(id))})
	require.NoError(t, err)
	require.Len(t, of, 1)
	in := Window{Low: now.UnixMicro() - day, High: now.UnixMicro()}

	for name, c := range map[string]struct {
		q         statement
		marks     int // most that may be read, of all tables together
		indexes   []string
		backwards bool
	}{
		"bounds":       {q: boundsQuery{org: org, ids: of.ids()}, marks: 2},
		"folded":       {q: foldedQuery{org: org, of: of, limit: 100}, marks: 2},
		"summary":      {q: SummaryQuery{Org: org, Of: of}, marks: 2},
		"rows":         {q: rowsQuery{org: org, of: of, limit: 100}, marks: 2},
		"spans":        {q: SpansQuery{Org: org, Of: of, Limit: 100}, marks: 4},
		"payloads":     {q: payloadsQuery{org: org, of: of, limit: 100}, marks: 2},
		"candidates":   {q: candidatesQuery{org: org, in: in, limit: 100}, marks: 100, backwards: true},
		"conversation": {q: ConversationQuery{Org: org, ID: "c5000", In: in, Limit: 10}, marks: 2, indexes: []string{"by_conversation"}},
		"user":         {q: rowsOf(org, Filter{UserID: "u5000"}, in, 0), marks: 2, indexes: []string{"by_user"}},
		"words":        {q: rowsOf(org, Filter{Search: "TALK 5000"}, in, 1), marks: 2, indexes: []string{"by_text"}},
		"attributes":   {q: rowsOf(org, Filter{Search: "mark 5000"}, in, 2), marks: 2, indexes: []string{"by_text"}},
	} {
		plan := explain(t, s, "EXPLAIN indexes = 1 ", c.q)
		require.Contains(t, plan, "PrimaryKey", name)
		for _, index := range c.indexes {
			require.Contains(t, plan, "Name: "+index, "%s\n%s", name, plan)
		}
		if c.backwards {
			require.Contains(t, plan, "InReverseOrder", "%s\n%s", name, plan)
		}
		require.LessOrEqual(t, marksOf(plan), c.marks, "%s\n%s", name, plan)
	}
}

// rowsOf is the nth search for rows that a filter makes: the server runs it
// before it plans the statement around it.
func rowsOf(org principal.OrgID, f Filter, in Window, nth int) statement {
	n := forOrg(org)
	f.values(n, 0)
	in.set(n)
	text := strings.TrimSuffix(strings.TrimPrefix(f.narrow()[0], "trace_id IN ("), ")")
	return explained{strings.Split(text, "UNION DISTINCT")[nth], n}
}

// explain returns the plan of a statement.
func explain(t *testing.T, s DB, how string, q statement) string {
	t.Helper()
	text, args := q.sql()
	var plan strings.Builder
	err := s.read(t.Context(), explained{how + text, args}, func(rows scanner) error {
		var line string
		err := rows.Scan(&line)
		plan.WriteString(line + "\n")
		return err
	})
	require.NoError(t, err)
	return plan.String()
}

type explained struct {
	text string
	n    *arguments
}

func (e explained) sql() (string, *arguments) { return e.text, e.n }

// marksOf sums the granules that the plan's reads are left with.
func marksOf(plan string) int {
	sum := 0
	for line := range strings.Lines(plan) {
		_, after, ok := strings.Cut(line, "| Granules: ")
		if n, err := strconv.Atoi(strings.TrimSpace(after)); ok && err == nil {
			sum += n
		}
	}
	return sum
}
