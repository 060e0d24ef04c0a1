package telemetry_test

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/test/testkit"
)

// aMomentAgo is a start that is shown as it was sent.
func aMomentAgo() time.Time { return time.Now().UTC().Add(-time.Minute).Truncate(time.Millisecond) }

func TestReadATrace(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us, them := k.Org(t), k.Org(t)
	start := aMomentAgo()

	t.Run("by its id and by its number", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		us.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{Trace: id, Name: "a", Start: start, Duration: time.Second, Attributes: map[string]any{"user.id": "counted"}}))

		listed, err := us.ListTraces(t.Context(), "userId=counted")
		require.NoError(t, err)
		require.Zero(t, listed.Traces[0].TraceRef, "a list gives no numbers")
		read, err := us.GetTrace(t.Context(), strings.ToUpper(id))
		require.NoError(t, err)
		require.Equal(t, id, read.ID)
		require.Positive(t, api.Value(read.TraceRef))
		number := strconv.FormatInt(api.Value(read.TraceRef), 10)
		again, err := us.GetTrace(t.Context(), number)
		require.NoError(t, err)
		require.Equal(t, read, again)
		listed, err = us.ListTraces(t.Context(), "userId=counted")
		require.NoError(t, err)
		require.Equal(t, read.TraceRef, listed.Traces[0].TraceRef)

		for _, name := range []string{id, number} {
			_, err = them.GetTrace(t.Context(), name)
			require.ErrorIs(t, err, trace.ErrNotFound)
			_, err = them.ListTraceSpans(t.Context(), name, "")
			require.ErrorIs(t, err, trace.ErrNotFound)
		}
	})

	t.Run("names that name nothing", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{"0", "-1", "01", "abc", "99999999", strings.Repeat("0", 32), strings.Repeat("g", 32), testkit.NewTraceID()[1:], testkit.NewTraceID(), strconv.Itoa(math.MaxInt)} {
			_, err := us.GetTrace(t.Context(), name)
			require.ErrorIs(t, err, trace.ErrNotFound, name)
			_, err = us.ListTraceSpans(t.Context(), name, "")
			require.ErrorIs(t, err, trace.ErrNotFound, name)
		}
	})

	t.Run("a trace that is only named is a stub", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		_, err := k.Owner(t, us.Org).Exec(t.Context(), "INSERT INTO trace_refs (org_id, trace_id, stub, created_at) VALUES ($1, decode($2, 'hex'), true, now())", us.Org.String(), id)
		require.NoError(t, err)

		read, err := us.GetTrace(t.Context(), id)
		require.NoError(t, err)
		require.True(t, read.Stub)
		require.Positive(t, api.Value(read.TraceRef))
		require.Empty(t, read.Spans)
		spans, err := us.ListTraceSpans(t.Context(), id, "")
		require.NoError(t, err)
		require.Empty(t, spans.Spans)

		us.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{Trace: id, Name: "a", Start: start, Duration: time.Second}))
		filled, err := us.GetTrace(t.Context(), id)
		require.NoError(t, err)
		require.False(t, filled.Stub)
		require.Equal(t, read.TraceRef, filled.TraceRef)
		require.Len(t, filled.Spans, 1)
	})

	t.Run("values keep their form", func(t *testing.T) {
		t.Parallel()
		id, root := testkit.NewTraceID(), testkit.NewSpanID()
		us.SendOTLP(t, testkit.Spans(
			testkit.OTLPSpan{Trace: id, ID: root, Name: "a", Service: "shop", Start: start, Duration: 1500 * time.Microsecond, Attributes: map[string]any{
				"b": true, "a": "text", "n": 7, "f": 1.5, "list": []any{"x", 2}, "odd": "a\xffb", "input.value": `{"q":[1,"two"]}`, "output.value": "not {json",
			}},
			testkit.OTLPSpan{Trace: id, ID: testkit.NewSpanID(), Parent: root, Name: "b", Start: start.Add(time.Millisecond), Attributes: map[string]any{"input.value": `{"a":1,"a":2}`}},
		))

		read, err := us.GetTrace(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, map[string]any{"q": []any{float64(1), "two"}}, read.Input)
		require.Equal(t, "not {json", read.Output)
		require.Len(t, read.Spans, 2)
		require.Equal(t, map[string]any{"b": true, "a": "text", "n": float64(7), "f": 1.5, "list": []any{"x", float64(2)}, "odd": "a\uFFFDb"}, read.Spans[0].Attributes)
		require.Equal(t, map[string]any{"service.name": "shop"}, read.Spans[0].Resource)
		require.InDelta(t, 1.5, *read.Spans[0].DurationMs, 0)
		require.Equal(t, root, api.Value(read.Spans[1].ParentSpanID))
		require.Nil(t, read.Spans[1].DurationMs, "it is open")
		require.Equal(t, `{"a":1,"a":2}`, read.Spans[1].Input, "an object that repeats a name is text")
	})

	t.Run("what is not known is there and null", func(t *testing.T) {
		t.Parallel()
		id, root := testkit.NewTraceID(), testkit.NewSpanID()
		us.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{Trace: id, ID: root, Start: start, Events: []string{"said"}}))
		var read map[string]any
		_, err := us.Call(t.Context(), http.MethodGet, "/api/traces/"+id, nil, &read)
		require.NoError(t, err)
		nothing := func(of map[string]any) (names []string) {
			for name, v := range of {
				if v == nil {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			return names
		}
		require.Equal(t, []string{
			"agent_name", "conversation_id", "cost_usd", "duration_ms", "end_time", "environment", "input", "name", "output", "release_id", "service_name", "user_id",
		}, nothing(read))
		require.Equal(t, []any{map[string]any{}, []any{}, []any{}}, []any{read["metadata"], read["events"], read["feedback"]})
		span := read["spans"].([]any)[0].(map[string]any)
		require.Equal(t, []string{
			"agent_name", "cost_usd", "duration_ms", "end_time", "first_token_ms", "input", "model", "name", "output", "parent_span_id", "primitive_type", "provider", "system", "tool_name", "tools",
		}, nothing(span))
		require.Equal(t, []any{root, root, map[string]any{"code": "unset", "message": nil}}, []any{span["id"], span["span_id"], span["status"]})
		require.Equal(t, []any{map[string]any{}, map[string]any{}, []any{}}, []any{span["attributes"], span["resource"], span["links"]})
		event := span["events"].([]any)[0].(map[string]any)
		require.Equal(t, []string{"body", "severity"}, nothing(event))
		require.Equal(t, map[string]any{}, event["attributes"])
	})

	t.Run("a span that is sent again is replaced", func(t *testing.T) {
		t.Parallel()
		id, root := testkit.NewTraceID(), testkit.NewSpanID()
		send := func(name string, at time.Time, took time.Duration, attributes map[string]any) {
			us.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{Trace: id, ID: root, Name: name, Start: at, Duration: took, Attributes: attributes}))
		}
		read := func() (testkit.Trace, api.Trace) {
			d, err := us.GetTrace(t.Context(), id)
			require.NoError(t, err)
			p, err := us.ListTraces(t.Context(), "limit=1000")
			require.NoError(t, err)
			i := slices.IndexFunc(p.Traces, func(l api.Trace) bool { return l.ID == id })
			require.Equal(t, seen(listed(d)), seen(p.Traces[i]))
			return d, p.Traces[i]
		}
		send("open", start, 0, map[string]any{"input.value": "first words", "gen_ai.usage.input_tokens": 5})
		d, listed := read()
		require.Equal(t, []any{"running", "open", "first words", "first words"}, []any{d.Status, api.Value(d.Name), d.Input, listed.Input})
		require.Nil(t, d.DurationMs)

		send("ended", start, time.Second, map[string]any{"gen_ai.usage.input_tokens": 7})
		d, listed = read()
		require.Equal(t, []any{"completed", "ended", nil, nil}, []any{d.Status, api.Value(d.Name), d.Input, listed.Input}, "what the older version said is gone")
		require.Equal(t, []any{1, 1, 7}, []any{len(d.Spans), int(d.SpanCount), int(d.Usage.InputTokens)})

		send("open again", start, 0, nil)
		d, _ = read()
		require.Equal(t, []any{"completed", "ended"}, []any{d.Status, api.Value(d.Name)})

		send("moved", start.Add(90*time.Second), 2*time.Second, map[string]any{"input.value": "last words"})
		d, _ = read()
		require.Equal(t, []any{"moved", 1, 1, "last words"}, []any{api.Value(d.Name), len(d.Spans), int(d.SpanCount), d.Input}, "also if it starts elsewhere")
		require.Equal(t, start.Add(90*time.Second), d.Spans[0].StartTime)
	})

	t.Run("feedback is shown, newest first", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		us.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{Trace: id, Name: "a", Start: start, Duration: time.Second}))
		for i := range 3 {
			_, err := us.AddTraceFeedback(t.Context(), id, testkit.TraceFeedback{Type: "comment", Comment: new(strconv.Itoa(i))})
			require.NoError(t, err)
		}
		read, err := us.GetTrace(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, read.Feedback, 3)
		require.Equal(t, "2", api.Value(read.Feedback[0].Comment))
		require.Equal(t, "0", api.Value(read.Feedback[2].Comment))
	})

	t.Run("log records stand with their span", func(t *testing.T) {
		t.Parallel()
		id, root := testkit.NewTraceID(), testkit.NewSpanID()
		us.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{Trace: id, ID: root, Name: "a", Start: start, Duration: time.Second, Events: []string{"first", "third"}}))
		for range 2 {
			sendLogs(t, us, id, root, "second", start.Add(1500*time.Microsecond))
		}
		sendLogs(t, us, id, "", "apart", start)

		read, err := us.GetTrace(t.Context(), id)
		require.NoError(t, err)
		names := []string{}
		for _, e := range read.Spans[0].Events {
			names = append(names, *e.Name)
		}
		require.Equal(t, []string{"first", "second", "third"}, names)
		require.Equal(t, "good", read.Spans[0].Events[1].Body)
		require.Equal(t, map[string]any{"score": 0.5}, read.Spans[0].Events[1].Attributes)
		require.Len(t, read.Events, 1)
		require.Equal(t, "apart", *read.Events[0].Name)
	})
}

// sendLogs sends one log record that names a trace.
func sendLogs(t testing.TB, c *testkit.Client, traceID, spanID, name string, at time.Time) {
	t.Helper()
	logs := plog.NewLogs()
	r := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	r.SetTimestamp(pcommon.NewTimestampFromTime(at))
	r.SetTraceID(pcommon.TraceID(unhex(t, traceID)))
	if spanID != "" {
		r.SetSpanID(pcommon.SpanID(unhex(t, spanID)))
	}
	r.SetEventName(name)
	r.Body().SetStr("good")
	r.Attributes().PutDouble("score", 0.5)
	body, err := plogotlp.NewExportRequestFromLogs(logs).MarshalProto()
	require.NoError(t, err)
	res, err := c.Send(t.Context(), http.MethodPost, "/v1/logs", bytes.NewReader(body), testkit.Header("Content-Type", "application/x-protobuf"))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.Status, "%s", res.Body)
	require.Empty(t, res.Body)
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b := make([]byte, len(text)/2)
	_, err := fmt.Sscanf(text, "%x", &b)
	require.NoError(t, err)
	return b
}

func TestALargeTraceIsReadInPages(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	start := aMomentAgo()

	t.Run("many spans", func(t *testing.T) {
		t.Parallel()
		id, root := testkit.NewTraceID(), testkit.NewSpanID()
		spans := []testkit.OTLPSpan{{Trace: id, ID: root, Name: "root", Start: start, Duration: time.Hour, Attributes: map[string]any{"input.value": "Count"}}}
		for i := range 1100 {
			// Many start together, and some minutes apart.
			spans = append(spans, testkit.OTLPSpan{
				Trace: id, ID: testkit.NewSpanID(), Parent: root, Name: strconv.Itoa(i), Start: start.Add(time.Duration(i/7) * time.Second), Duration: time.Second,
				Attributes: map[string]any{"gen_ai.usage.input_tokens": 1},
			})
		}
		us.SendOTLP(t, testkit.Spans(spans...))
		us.SendOTLP(t, testkit.Spans(spans[:400]...))
		_, err := us.PatchTrace(t.Context(), id, map[string]any{"tags": []string{"large"}})
		require.NoError(t, err)

		d, err := us.GetTrace(t.Context(), id)
		require.NoError(t, err)
		require.True(t, d.SpansTruncated)
		require.Len(t, d.Spans, 1000)
		require.Equal(t, []any{1101, 1100, "Count", []string{"large"}}, []any{int(d.SpanCount), int(d.Usage.InputTokens), d.Input, d.Tags})

		byCursor, byOffset := []string{}, []string{}
		for cursor := ""; ; {
			page, err := us.ListTraceSpans(t.Context(), id, "limit=300&includeTotal=true&cursor="+cursor)
			require.NoError(t, err)
			require.EqualValues(t, 1101, *page.Total)
			byCursor = append(byCursor, spanIDs(page.Spans)...)
			if cursor = api.Value(page.NextCursor); !page.HasMore {
				break
			}
		}
		for {
			page, err := us.ListTraceSpans(t.Context(), id, fmt.Sprint("limit=400&offset=", len(byOffset)))
			require.NoError(t, err)
			byOffset = append(byOffset, spanIDs(page.Spans)...)
			if !page.HasMore {
				break
			}
		}
		require.Len(t, byCursor, 1101)
		require.Equal(t, byCursor, byOffset)
		require.Equal(t, spanIDs(d.Spans), byCursor[:1000])
		slices.Sort(byCursor)
		require.Len(t, slices.Compact(byCursor), 1101)
	})

	t.Run("large payloads", func(t *testing.T) {
		t.Parallel()
		id, root := testkit.NewTraceID(), testkit.NewSpanID()
		us.SendOTLP(t, testkit.Spans(testkit.OTLPSpan{Trace: id, ID: root, Name: "root", Start: start, Duration: time.Hour, Attributes: map[string]any{"output.value": "Done"}}))
		for part := range 3 {
			var spans []testkit.OTLPSpan
			for i := range 8 {
				spans = append(spans, testkit.OTLPSpan{
					Trace: id, ID: testkit.NewSpanID(), Parent: root, Name: "large", Start: start.Add(time.Duration(part*8+i) * time.Second), Duration: time.Second,
					Attributes: map[string]any{"input.value": strings.Repeat("word ", 400_000)},
				})
			}
			us.SendOTLP(t, testkit.Spans(spans...))
		}

		d, err := us.GetTrace(t.Context(), id)
		require.NoError(t, err)
		require.True(t, d.SpansTruncated)
		require.Equal(t, []any{25, "Done"}, []any{int(d.SpanCount), d.Output})
		require.Greater(t, len(d.Spans), 10)
		require.Less(t, len(d.Spans), 20)
		found := 0
		for cursor := ""; ; {
			page, err := us.ListTraceSpans(t.Context(), id, "limit=1000&cursor="+cursor)
			require.NoError(t, err)
			require.NotEmpty(t, page.Spans)
			for _, s := range page.Spans {
				if text, ok := s.Input.(string); ok && len(text) == 2_000_000 {
					found++
				}
			}
			if cursor = api.Value(page.NextCursor); !page.HasMore {
				break
			}
		}
		require.Equal(t, 24, found)
	})
}

func spanIDs(spans []testkit.Span) []string {
	ids := make([]string, len(spans))
	for i, s := range spans {
		ids[i] = s.SpanID
	}
	return ids
}
