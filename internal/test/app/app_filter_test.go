package app_test

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/test/testkit"
	"github.com/assayhq/assay/internal/test/testkit/specimen"
)

// analyticTables are the tables of ClickHouse that reading looks into.
var analyticTables = []string{"api_usage", "run_results", "scores", "span_events", "span_payloads", "spans", "trace_starts", "traces"}

// TestTheRowFilterHolds repeats every query that reading makes ClickHouse
// answer, as the reader of another organization: it finds nothing. Nor does it
// if the query's own condition is taken out. The same query with the
// organization's own name finds what is there, with and without the condition,
// so that the filter is what hides it.
func TestTheRowFilterHolds(t *testing.T) {
	t.Parallel()
	k := testkit.Working(t)
	lists := filledLists(t, k)
	m := lists[0].m
	readEverything(t, k, m)

	ch, err := clickhouse.Open(k.App.Config.ClickHouse)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	require.NoError(t, ch.Filtered(t.Context()), "restart the development engines: dev/engines restart clickhouse clickhouse2")
	nameless, err := clickhouse.Connect(k.App.Config.ClickHouse.ReaderURL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = nameless.Close() })
	org, other := m.Client.Org, principal.NewOrgID()
	condition := regexp.MustCompile(`org_id = (toUUID\()?'` + org.String() + `'\)?`)
	ask := func(as principal.OrgID, text string) int {
		return told(t, func() (driver.Rows, error) {
			return ch.Org(as).With(clickhouse.Settings{"max_query_size": 4 << 20}).Query(t.Context(), strings.ReplaceAll(text, "?", `\?`))
		})
	}

	found, queries := map[string]int{}, asked(t, ch, org)
	require.Greater(t, len(queries), 25)
	for _, text := range queries {
		open := condition.ReplaceAllString(text, "1")
		require.NotEqual(t, text, open, "a query without its condition: %s", text)
		require.Zero(t, ask(other, text), text)
		require.Zero(t, ask(other, open), open)
		require.Zero(t, told(t, func() (driver.Rows, error) { return nameless.Query(t.Context(), strings.ReplaceAll(open, "?", `\?`)) }), open)
		if ask(org, text) == 0 {
			continue
		}
		require.Positive(t, ask(org, open), open)
		for _, table := range analyticTables {
			if regexp.MustCompile(`\b` + table + `\b`).MatchString(text) {
				found[table]++
			}
		}
	}
	require.Equal(t, analyticTables, slices.Sorted(maps.Keys(found)), "a table that no query found something in")
}

// readEverything calls every operation that reads, and the filters that have
// queries of their own.
func readEverything(t *testing.T, k *testkit.Kit, m *specimen.Maker) {
	t.Helper()
	c := m.Client
	trace := testkit.NewTraceID()
	c.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{
		Trace: trace, Name: "chat", Service: "shop", Start: time.Now().Add(-time.Second), Duration: time.Millisecond,
		Attributes: map[string]any{"user.id": "u1", "gen_ai.conversation.id": "talk", "gen_ai.request.model": "gpt-4o", "input.value": "zebra"},
	}))
	_, err := c.AddTraceFeedback(t.Context(), trace, testkit.TraceFeedback{Type: "comment", Comment: new("Fine.")})
	require.NoError(t, err)
	for _, id := range []string{"sendTraces", "sendLogs"} {
		call := m.Call(t, specimen.Find(id))
		_, err := c.Call(t.Context(), call.Method, call.Path, jsontext.Value(call.Body), nil)
		require.NoError(t, err)
	}
	me, err := c.GetMe(t.Context())
	require.NoError(t, err)
	k.App.Tenancy.FlushMeter(t.Context())
	paths := []string{"/api/developer/api-keys/" + strconv.FormatInt(me.APIKeyID, 10) + "/usage", "/api/traces/5b8efff798038103d269b633813fc60c"}
	for _, op := range k.App.Edge.Ops() {
		if op.Method == http.MethodGet && op.Scope != principal.Public && op.ContentType != "text/event-stream" {
			call := m.Call(t, specimen.OfRoute(op.Method+" "+op.Path))
			paths = append(paths, call.Path+call.Query)
		}
	}
	since := "startAfter=" + time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	for _, query := range []string{
		"search=zebra", "userId=u1", "conversationId=talk", "serviceName=shop", "status=running", "includeTotal=true", "userId=u1&includeTotal=true",
	} {
		paths = append(paths, "/api/traces?"+query)
	}
	paths = append(paths, "/api/traces/"+trace, "/api/traces/"+trace+"/spans?offset=0", "/api/traces/"+trace+"/spans?limit=1&offset=1",
		"/api/traces/metrics?groupBy=model&"+since, "/api/conversations?userId=u1&"+since, "/api/conversations?includeTotal=true&"+since,
		"/api/end-users?includeTotal=true&"+since)
	for _, path := range paths {
		res, err := c.Send(t.Context(), http.MethodGet, path, nil)
		require.NoError(t, err, path)
		require.Less(t, res.Status, 500, "%s: %s", path, res.Body)
	}
}

// asked are the texts of all queries that the reader has answered for an
// organization, each once.
func asked(t *testing.T, ch *clickhouse.DB, org principal.OrgID) (texts []string) {
	t.Helper()
	require.NoError(t, ch.Writer().Exec(t.Context(), "SYSTEM FLUSH LOGS"))
	rows, err := ch.Writer().Query(t.Context(), `SELECT any(query) FROM system.query_log
		WHERE type = 'QueryFinish' AND current_database = currentDatabase() AND user = 'assay_reader' AND log_comment = ?
		GROUP BY normalized_query_hash`, org.String())
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		require.NoError(t, rows.Scan(&text))
		texts = append(texts, text)
	}
	require.NoError(t, rows.Err())
	return texts
}

// told counts the rows that say something. What is counted and summed of nothing
// is a row too, of zeros.
func told(t *testing.T, query func() (driver.Rows, error)) (n int) {
	t.Helper()
	rows, err := query()
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	types := rows.ColumnTypes()
	into := make([]any, len(types))
	for i, typ := range types {
		into[i] = reflect.New(typ.ScanType()).Interface()
	}
	for rows.Next() {
		require.NoError(t, rows.Scan(into...))
		if slices.ContainsFunc(into, says) {
			n++
		}
	}
	require.NoError(t, rows.Err())
	return n
}

func says(pointer any) bool {
	v := reflect.ValueOf(pointer).Elem()
	switch value := v.Interface().(type) {
	case time.Time:
		return value.Unix() != 0
	case float64:
		return value != 0 && !math.IsNaN(value)
	}
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Map || v.Kind() == reflect.String {
		return strings.Trim(fmt.Sprint(v.Interface()), "[]map \x00") != ""
	}
	return !v.IsZero()
}
