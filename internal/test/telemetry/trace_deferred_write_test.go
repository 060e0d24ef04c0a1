package telemetry_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestWritesWhileClickHouseIsAway(t *testing.T) {
	t.Parallel()
	k, direct, w := wired(t)
	us := k.Org(t)
	see := stored(t, direct, us)
	id := testkit.NewTraceID()
	body := map[string]any{"traceId": id, "name": "kept safe", "input": "key AKIAIOSFODNN7EXAMPLE", "spans": []map[string]any{span("x", nil)}}

	w.set(true)
	made, err := us.CreateTrace(t.Context(), body)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, made.Response.Status)
	require.True(t, made.Response.Deferred())
	require.Contains(t, string(made.Response.Body), `"deferred":true`)
	require.Equal(t, "kept safe", api.Value(made.Name))
	require.EqualValues(t, 1, made.SpanCount)
	require.NotContains(t, string(made.Response.Body), "AKIAIOSFODNN7EXAMPLE")
	again, err := us.CreateTrace(t.Context(), body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, again.Response.Status)
	require.True(t, again.Response.Deferred())
	added, err := us.AddSpans(t.Context(), id, []map[string]any{span("y", nil)})
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, added.Response.Status)
	require.True(t, added.Response.Deferred())
	require.Contains(t, string(added.Response.Body), `"deferred":true`)
	warned, err := us.Call(t.Context(), http.MethodPost, "/v1/traces", map[string]any{"resourceSpans": []any{map[string]any{"scopeSpans": []any{map[string]any{"spans": []any{map[string]any{
		"traceId": id, "spanId": "00f067aa0ba902b7", "name": "w", "startTimeUnixNano": strconv.FormatInt(k.Clock.Now().UnixNano(), 10),
	}}}}}}}, nil)
	require.NoError(t, err)
	require.Contains(t, string(warned.Body), `{"partialSuccess":{"errorMessage":"stored safely, but not readable yet`)
	require.Contains(t, string(warned.Body), `"rejectedSpans":"0"`)
	_, err = us.PatchTrace(t.Context(), id, map[string]any{"status": "completed"})
	require.Error(t, err, "a change begins with what is stored, which cannot be read")
	said, err := us.Call(t.Context(), http.MethodPost, "/api/traces/"+id+"/feedback", testkit.TraceFeedback{Type: "thumbs", Value: true}, nil)
	require.NoError(t, err, "a trace that was created is known")
	require.True(t, said.Deferred())
	require.Zero(t, see.seen(id))
	_, err = k.App.Trace.Drain(t.Context())
	require.Error(t, err)

	w.set(false)
	require.NotZero(t, deferredSince(t, us), "lists say that something is missing")
	k.Clock.Advance(2 * time.Second)
	n, err := k.App.Trace.Drain(t.Context())
	require.NoError(t, err)
	require.Positive(t, n)
	_, err = k.App.Trace.Drain(t.Context())
	require.NoError(t, err)
	require.Zero(t, deferredSince(t, us))
	k.Clock.Advance(time.Minute)
	_, err = k.App.Outbox.Once(t.Context())
	require.NoError(t, err)

	require.Equal(t, 3, see.spans(id))
	require.Equal(t, 1, see.feedback(id))
	changed, err := us.PatchTrace(t.Context(), id, map[string]any{"status": "completed"})
	require.NoError(t, err)
	require.False(t, changed.Response.Deferred())
	require.Contains(t, string(changed.Response.Body), `"deferred":false`)
	require.Equal(t, "kept safe ended", see.value(id, noSpan, "concat(name, ' ', toString(state))"))
	later, err := us.AddSpans(t.Context(), id, []map[string]any{span("z", nil)})
	require.NoError(t, err)
	require.False(t, later.Response.Deferred())
	require.Equal(t, 4, see.spans(id))
}

func TestTelemetryIsTakenWhilePostgreSQLIsAway(t *testing.T) {
	t.Parallel()
	cfg := testkit.Config(t)
	w := newWire(t, &cfg.Postgres.URL)
	k := testkit.NewWith(t, cfg)
	us := k.Org(t)
	see := stored(t, cfg.ClickHouse, us)
	id := testkit.NewTraceID()
	// Who asks is settled: keys are not looked up here.
	send := func(spans ...testkit.OTLPSpan) {
		got, err := k.App.Trace.IngestTraces(t.Context(), principal.Caller{Org: us.Org}, testkit.Spans(spans...))
		require.NoError(t, err)
		require.Equal(t, len(spans), got.Accepted)
	}
	one := func() testkit.OTLPSpan {
		return testkit.OTLPSpan{Trace: id, ID: testkit.NewSpanID(), Name: "s", Start: k.Clock.Now().Add(-time.Minute), Duration: time.Second}
	}
	announced := func() (n int) {
		err := k.Owner(t, us.Org).QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE org_id = $1 AND topic = $2", us.Org, trace.TopicArrived).Scan(&n)
		require.NoError(t, err)
		return n
	}
	send() // the organization's rules are known from here on
	require.Zero(t, announced(), "nothing came")

	w.set(true)
	send(one())
	send(one())
	require.Equal(t, 2, see.spans(id))
	require.Zero(t, announced())

	w.set(false)
	k.Clock.Advance(time.Minute)
	send(one())
	require.Equal(t, 1, announced(), "what came meanwhile is found with it")
}

// deferredSince is since when a list of traces says that telemetry waits.
func deferredSince(t *testing.T, us *testkit.Client) time.Time {
	t.Helper()
	var list struct {
		DeferredSince time.Time `json:"deferred_since"`
	}
	_, err := us.Call(t.Context(), http.MethodGet, "/api/traces", nil, &list)
	require.NoError(t, err)
	return list.DeferredSince
}
