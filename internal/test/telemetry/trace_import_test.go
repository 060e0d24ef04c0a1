package telemetry_test

import (
	"bytes"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// TestHistoryCanBeImported stores what happened years ago and reads it in every
// way.
func TestHistoryCanBeImported(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	long := time.Now().UTC().AddDate(-3, 0, 0).Truncate(time.Millisecond)
	stamp := func(at time.Time) string { return at.Format(time.RFC3339Nano) }

	readable := func(t *testing.T, id string, start time.Time, spans int) {
		t.Helper()
		read, err := us.GetTrace(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, start, read.StartTime)
		require.Len(t, read.Spans, spans)
		window := url.Values{"startAfter": {stamp(start.Add(-time.Second))}, "startBefore": {stamp(start.Add(time.Second))}, "includeTotal": {"true"}}
		page, err := us.ListTraces(t.Context(), window.Encode())
		require.NoError(t, err)
		require.Equal(t, []any{id, 1}, []any{page.Traces[0].ID, int(*page.Total)})
		found, err := us.ListTraces(t.Context(), "userId=user-of-"+id)
		require.NoError(t, err)
		require.Len(t, found.Traces, 1, "without a window too")
	}

	t.Run("over REST, with spans of many days beside one of today", func(t *testing.T) {
		t.Parallel()
		start := long
		spans := []map[string]any{{"name": "today", "startTime": at(-time.Minute), "durationMs": 1}}
		for i := range 60 {
			spans = append(spans, map[string]any{"name": "then", "startTime": stamp(start.AddDate(0, 0, i)), "durationMs": 1})
		}
		id := testkit.NewTraceID()
		made, err := us.CreateTrace(t.Context(), map[string]any{"traceId": id, "name": "Imported", "userId": "user-of-" + id, "startTime": stamp(start), "endTime": stamp(start.Add(time.Hour)), "spans": spans[:2]})
		require.NoError(t, err)
		require.EqualValues(t, 2, made.SpanCount)
		added, err := us.AddSpans(t.Context(), id, spans)
		require.NoError(t, err)
		require.EqualValues(t, len(spans), added.Accepted)
		for i, s := range added.Spans {
			require.EqualValues(t, i, s.Index, "in the order of the request")
		}
		readable(t, id, start, len(spans))
	})

	t.Run("over OTLP, with its log records", func(t *testing.T) {
		t.Parallel()
		start, id, root := long.Add(-24*time.Hour), testkit.NewTraceID(), testkit.NewSpanID()
		us.SendOTLP(t, testkit.Spans(
			testkit.OTLPSpan{Trace: id, ID: root, Name: "then", Start: start, Duration: time.Second, Attributes: map[string]any{"user.id": "user-of-" + id}},
			testkit.OTLPSpan{Trace: id, ID: testkit.NewSpanID(), Parent: root, Name: "now", Start: time.Now(), Duration: time.Second},
		))
		sendLogs(t, us, id, root, "noted", start.Add(time.Millisecond))
		readable(t, id, start, 2)
		read, err := us.GetTrace(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, "noted", *read.Spans[0].Events[0].Name)
	})

	t.Run("what is in the wrong unit is rejected", func(t *testing.T) {
		t.Parallel()
		millis := time.Unix(0, time.Now().UnixMilli())
		body := testkit.Spans(testkit.OTLPSpan{Trace: testkit.NewTraceID(), Name: "x", Start: millis}, testkit.OTLPSpan{Trace: testkit.NewTraceID(), Name: "y", Start: time.Now()})
		res, err := us.Send(t.Context(), http.MethodPost, "/v1/traces", bytes.NewReader(body), testkit.Header("Content-Type", "application/x-protobuf"))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.Status)
		require.Contains(t, string(res.Body), "nanoseconds since 1970")
	})
}
