package spandb

import (
	"strconv"
	"testing"
	"time"

	chgo "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/clickhouse/clickhousetest"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// answers is what one installation says about some rows.
type answers struct {
	lists   map[string][]Trace
	totals  map[string]int64
	spans   []StoredSpan
	payload map[payloadKey]payloadText
	groups  map[string]MetricGroup
	talks   []TraceGroup
	users   []TraceGroup
}

// TestAClusterAnswersLikeOneNode asks both the same about the same rows.
func TestAClusterAnswersLikeOneNode(t *testing.T) {
	t.Parallel()
	org := principal.OrgID(uuid.New())
	now := time.Now().UTC().Truncate(time.Minute)
	one := ask(t, clickhousetest.New(t), org, now)
	require.Len(t, one.lists[""], 300)
	require.Len(t, one.spans, 4)
	require.Equal(t, one, ask(t, clickhousetest.NewCluster(t), org, now))
}

func ask(t *testing.T, cfg clickhouse.Config, org principal.OrgID, now time.Time) answers {
	t.Helper()
	ch, err := clickhouse.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	// 300 traces of 4 spans; every span twice.
	numbers := `
		WITH intDiv(number, 4) AS n, number % 4 AS k, toFixedString(reinterpretAsString(sipHash128(n)), 16) AS trace,
		  toFixedString(reinterpretAsString(toUInt64(4 * n + k + 1)), 8) AS span, toFixedString(reinterpretAsString(toUInt64(4 * n + 1)), 8) AS root,
		  fromUnixTimestamp64Micro(` + strconv.FormatInt(now.UnixMicro(), 10) + ` - n * 77000000 + k * 40000000, 'UTC') AS started
		SELECT '` + org.String() + `' AS org_id, trace AS trace_id, span AS span_id, started AS start_time, 90 AS retention_days,
		  fromUnixTimestamp64Milli(` + strconv.FormatInt(now.UnixMilli(), 10) + `, 'UTC') AS ingested_at, @version AS version, `
	ctx := chgo.Context(t.Context(), chgo.WithSettings(chgo.Settings{"distributed_foreground_insert": 1, "max_partitions_per_insert_block": 0}))
	for version := range 2 {
		for table, columns := range map[string][2]string{
			"span_payloads": {"search_text, input", "concat('Talk of ', toString(n)), toString(n)"},
			"spans": {
				"parent_span_id, state, status, duration_us, name, conversation_id, user_id, environment, model, input_tokens, tags, attrs, input_preview",
				"if(k = 0, toFixedString('', 8), root), 'ended', if(n % 7 = 0, 'error', 'ok'), 1000 * (n + 1), concat('step ', toString(k)), concat('c', toString(n % 11)), concat('u', toString(n % 5)), " +
					"if(n % 3 = 0, 'production', 'staging'), concat('m', toString(k)), n, [concat('t', toString(n % 4))], map('note', concat('Mark ', toString(n))), toString(n)",
			},
		} {
			statement := "INSERT INTO " + table + " (org_id, trace_id, span_id, start_time, retention_days, ingested_at, version, " + columns[0] + ") " + numbers + columns[1] + " FROM numbers(1200)"
			require.NoError(t, ch.Writer().Exec(ctx, statement, chgo.Named("version", version+1)))
		}
	}

	s := DB{ch: ch}
	yes, long := true, 200*time.Millisecond
	out := answers{lists: map[string][]Trace{}, totals: map[string]int64{}, groups: map[string]MetricGroup{}}
	for name, f := range map[string]Filter{
		"": {}, "user": {UserID: "u2"}, "two": {Environment: "production", Tag: "t1"}, "error": {HasError: &yes, Status: []Status{StatusFailed}},
		"search": {Search: "talk 17"}, "attribute": {Search: "MARK 18"}, "name": {Search: "STEP 2"}, "long": {MinDuration: &long}, "none": {Status: []Status{StatusRunning}},
	} {
		for w := s.Walk(org, f, Page{}, now); w.More(); {
			found, _, err := w.Next(t.Context(), 50)
			require.NoError(t, err, name)
			out.lists[name] = append(out.lists[name], found...)
		}
		out.totals[name], err = s.Count(t.Context(), org, f, now)
		require.NoError(t, err, name)
		require.Len(t, out.lists[name], int(out.totals[name]), name)
	}
	of, err := s.Bounds(t.Context(), org, []span.TraceID{out.lists[""][100].ID})
	require.NoError(t, err)
	out.spans, err = s.spans(t.Context(), SpansQuery{Org: org, Of: of, Limit: 10})
	require.NoError(t, err)
	b := payloadBatch{budget: 1 << 20}
	require.NoError(t, b.read(t.Context(), s, payloadsQuery{org: org, of: of, limit: 100}))
	out.payload = map[payloadKey]payloadText{}
	for _, r := range out.spans {
		key := payloadKey{trace: r.trace, span: r.ID, version: r.version}
		require.Contains(t, b.found, key)
		out.payload[key] = b.found[key]
	}
	groups, _, err := s.Metrics(t.Context(), org, MetricsQuery{From: now.Add(-24 * time.Hour), To: now.Add(time.Hour), GroupBy: GroupModel, Interval: time.Hour})
	require.NoError(t, err)
	for _, g := range groups {
		out.groups[g.Key] = g
	}
	talks, err := s.TraceGroups(t.Context(), org, TraceGroupFilter{By: ByConversation, Environment: "staging"}, TraceGroupPage{Limit: 10}, now)
	require.NoError(t, err)
	require.True(t, talks.More)
	require.Len(t, talks.Groups, 10)
	users, err := s.TraceGroups(t.Context(), org, TraceGroupFilter{By: ByUser, Environment: "staging"}, TraceGroupPage{Limit: 10}, now)
	require.NoError(t, err)
	require.Len(t, users.Groups, 5)
	require.Equal(t, 11, users.Groups[0].Conversations)
	out.talks, out.users = talks.Groups, users.Groups
	return out
}
