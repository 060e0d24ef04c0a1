package telemetry_test

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestAddSpans(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us, them := k.Org(t), k.Org(t)
	see := stored(t, k.App.Config.ClickHouse, us)

	t.Run("one span, or a list, of a trace that is not known yet", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		var one testkit.AddedSpans
		res, err := us.Call(t.Context(), http.MethodPost, "/api/traces/"+id+"/spans", span("alone", nil), &one)
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, res.Status)
		require.EqualValues(t, 1, one.Accepted)
		require.Empty(t, one.Rejected)
		require.Equal(t, one.Spans[0].SpanID, one.Spans[0].ID)
		require.Equal(t, "/api/traces/"+id+"/spans", res.Header.Get("Location"))
		many, err := us.AddSpans(t.Context(), id, []map[string]any{span("a", nil), span("b", nil)})
		require.NoError(t, err)
		require.EqualValues(t, 2, many.Accepted)
		require.Equal(t, []int64{0, 1}, []int64{many.Spans[0].Index, many.Spans[1].Index})
		require.Equal(t, 3, see.spans(id))
	})

	t.Run("everything that can be said of a span", func(t *testing.T) {
		t.Parallel()
		id, me, parent := testkit.NewTraceID(), testkit.NewSpanID(), testkit.NewSpanID()
		_, err := us.AddSpans(t.Context(), id, []map[string]any{{
			"span_id": me, "parent_span_id": parent, "name": "chat", "kind": "client", "primitive_type": "model_call",
			"start_time": at(-time.Minute), "duration_ms": 1500, "status": map[string]any{"code": "error", "message": "too long"},
			"attributes": map[string]any{"plain": "text", "count": 3, "deep": map[string]any{"List": []any{1, "two", nil}}},
			"events":     []any{map[string]any{"name": "retry", "time": at(-time.Minute), "attributes": map[string]any{"n": 1}}},
			"links":      []any{map[string]any{"trace_id": testkit.NewTraceID(), "span_id": parent}},
			"input":      []any{map[string]any{"role": "user", "content": "Hello"}}, "output": map[string]any{"text": "Hi"},
			"model": "some-model", "provider": "some-provider",
			"usage": map[string]any{"input_tokens": 12, "output_tokens": 7, "cached_tokens": 4, "reasoning_tokens": 2}, "cost_usd": 0.25,
		}})

		require.NoError(t, err)
		require.Equal(t, parent, see.value(id, me, "lower(hex(parent_span_id))"))
		require.Equal(t, "client|model_call|1500000|ended|error|too long|some-model|some-provider|12|7|4|2|250000000|true", see.value(id, me,
			"concat(toString(kind), '|', primitive_type, '|', toString(duration_us), '|', toString(state), '|', toString(status), '|', status_message, '|', model, '|', provider, '|', "+
				"toString(input_tokens), '|', toString(output_tokens), '|', toString(cached_tokens), '|', toString(reasoning_tokens), '|', toString(cost_nano_usd), '|', toString(cost_known))"))
		require.Equal(t, "text", see.value(id, me, "attrs['plain']"))
		require.Equal(t, "3", see.value(id, me, "attrs_json['count']"))
		require.JSONEq(t, `{"List":[1,"two",null]}`, see.value(id, me, "attrs_json['deep']"))
		require.JSONEq(t, `[{"role":"user","content":"Hello"}]`, see.payload(id, me, "input"))
		require.JSONEq(t, `{"text":"Hi"}`, see.payload(id, me, "output"))
		require.Contains(t, see.payload(id, me, "events"), `"name":"retry","attributes":{"n":1}`)
		require.Contains(t, see.payload(id, me, "links"), parent)
	})

	t.Run("conventions are read, and a field of its own wins", func(t *testing.T) {
		t.Parallel()
		id, a, b := testkit.NewTraceID(), testkit.NewSpanID(), testkit.NewSpanID()
		attributes := map[string]any{
			"gen_ai.operation.name": "chat", "gen_ai.request.model": "told", "gen_ai.usage.input_tokens": 10,
			"gen_ai.input.messages": `[{"role":"user","parts":[{"type":"text","content":"from the attribute"}]}]`,
		}
		_, err := us.AddSpans(t.Context(), id, []map[string]any{
			span("lifted", map[string]any{"spanId": a, "attributes": attributes}),
			span("said", map[string]any{"spanId": b, "attributes": attributes, "model": "said", "primitiveType": "evaluation", "usage": map[string]any{"inputTokens": 99}, "input": "from the field"}),
		})
		require.NoError(t, err)
		read := "concat(model, '|', primitive_type, '|', toString(input_tokens))"
		require.Equal(t, "told|model_call|10", see.value(id, a, read))
		require.Equal(t, "said|evaluation|99", see.value(id, b, read))
		require.Contains(t, see.payload(id, a, "input"), "from the attribute")
		require.Equal(t, `"from the field"`, see.payload(id, b, "input"))
	})

	t.Run("an ended span stays ended, whatever arrives last", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		start := at(-time.Minute)
		open := func(s string) map[string]any {
			return map[string]any{"spanId": s, "name": "open", "startTime": start}
		}
		ended := func(s string) map[string]any {
			return map[string]any{"spanId": s, "name": "ended", "startTime": start, "endTime": at(0)}
		}
		first, second := testkit.NewSpanID(), testkit.NewSpanID()
		for _, one := range []map[string]any{open(first), ended(first), ended(second), open(second)} {
			_, err := us.AddSpans(t.Context(), id, []map[string]any{one})
			require.NoError(t, err)
		}
		require.Equal(t, 2, see.spans(id))
		for _, s := range []string{first, second} {
			require.Equal(t, "ended", see.value(id, s, "name"))
		}
		_, err := us.AddSpans(t.Context(), id, []map[string]any{{"spanId": first, "name": "again", "startTime": start, "endTime": at(0)}})
		require.NoError(t, err)
		require.Equal(t, "again", see.value(id, first, "name"), "a later version replaces an earlier one")
	})

	t.Run("the same request again changes no total, also without span ids", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		spans := []map[string]any{
			span("a", map[string]any{"usage": map[string]any{"inputTokens": 5}, "costUsd": 0.5}),
			{"name": "b", "startTime": at(-time.Minute), "usage": map[string]any{"inputTokens": 7}},
			{"name": "b", "startTime": at(-time.Minute), "usage": map[string]any{"inputTokens": 7}},
		}
		spans[2]["startTime"] = spans[1]["startTime"] // twins are two spans
		var ids []string
		for range 3 {
			added, err := us.AddSpans(t.Context(), id, spans)
			require.NoError(t, err)
			var got []string
			for _, s := range added.Spans {
				got = append(got, s.SpanID)
			}
			if ids != nil {
				require.Equal(t, ids, got)
			}
			ids = got
		}
		require.Equal(t, 3, see.spans(id))
		require.Equal(t, 19, see.count("SELECT sum(input_tokens) FROM spans FINAL WHERE org_id = ? AND trace_id = unhex(?)", id))
	})

	t.Run("a span that is not valid leaves the others alone", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		added, err := us.AddSpans(t.Context(), id, []map[string]any{
			span("good", nil),
			span("bad", map[string]any{"startTime": nil, "kind": "sideways", "usage": map[string]any{"inputTokens": -1}, "events": []any{map[string]any{"time": "yesterday"}}}),
			span("good", nil),
			span("old", map[string]any{"startTime": "1999-01-01T00:00:00Z", "endTime": nil}),
		})
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, added.Response.Status)
		require.EqualValues(t, 2, added.Accepted)
		require.Len(t, added.Rejected, 2)
		require.EqualValues(t, 1, added.Rejected[0].Index)
		var told []string
		for _, e := range added.Rejected[0].Errors {
			told = append(told, e.Path+" "+e.Code)
		}
		require.Equal(t, []string{"/kind enum", "/startTime required", "/events/0/time format", "/events/0/name required", "/usage/inputTokens min"}, told)
		require.Equal(t, "/startTime", added.Rejected[1].Errors[0].Path)
		require.Equal(t, 2, see.spans(id))
	})

	t.Run("nothing valid is refused", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		_, err := us.AddSpans(t.Context(), id, []map[string]any{{"name": "x"}, {"startTime": at(0)}})
		require.Equal(t, []string{"/spans/0/startTime required", "/spans/1/name required"}, fieldsOf(t, err))
		_, err = us.Call(t.Context(), http.MethodPost, "/api/traces/"+id+"/spans", map[string]any{"name": "x"}, nil)
		require.Equal(t, []string{"/startTime required"}, fieldsOf(t, err))
		_, err = us.Call(t.Context(), http.MethodPost, "/api/traces/"+id+"/spans", map[string]any{"name": "x", "spans": []any{}}, nil)
		require.Error(t, err)
		_, err = us.Call(t.Context(), http.MethodPost, "/api/traces/"+id+"/spans", map[string]any{"name": "x", "spans": []any{span("y", nil)}}, nil)
		require.Equal(t, []string{"/spans mutually_exclusive"}, fieldsOf(t, err))
		for _, text := range []string{`[]`, `{"spans":{}}`, `{"spans":[]}`, `{"spans":[1]}`, `{"NAME":"x","startTime":"2026-01-01T00:00:00Z"}`, `"x"`} {
			res, err := us.Send(t.Context(), http.MethodPost, "/api/traces/"+id+"/spans", strings.NewReader(text))
			require.NoError(t, err)
			require.Equal(t, http.StatusBadRequest, res.Status, text)
		}
		require.Zero(t, see.seen(id))
	})

	t.Run("501 spans are too many", func(t *testing.T) {
		t.Parallel()
		spans := make([]map[string]any, 501)
		for i := range spans {
			spans[i] = span("x", nil)
		}
		id := testkit.NewTraceID()
		_, err := us.AddSpans(t.Context(), id, spans)
		require.Equal(t, []string{"/spans length"}, fieldsOf(t, err))
		added, err := us.AddSpans(t.Context(), id, spans[:500])
		require.NoError(t, err)
		require.EqualValues(t, 500, added.Accepted)
	})

	t.Run("a number must belong to a trace of the caller", func(t *testing.T) {
		t.Parallel()
		theirs, err := them.CreateTrace(t.Context(), map[string]any{"name": "theirs"})
		require.NoError(t, err)
		var number int64
		require.NoError(t, k.Owner(t, them.Org).QueryRow(t.Context(), "SELECT trace_ref FROM trace_refs WHERE trace_id = decode($1, 'hex')", theirs.ID).Scan(&number))
		_, err = them.AddSpans(t.Context(), strconv.FormatInt(number, 10), []map[string]any{span("x", nil)})
		require.NoError(t, err)
		for _, name := range []string{strconv.FormatInt(number, 10), "999999999", "0", "01", "abc", strings.Repeat("0", 32), strings.Repeat("g", 32)} {
			_, err := us.AddSpans(t.Context(), name, []map[string]any{span("x", nil)})
			require.ErrorIs(t, err, trace.ErrNotFound, name)
		}
	})

	t.Run("a start in the future becomes the present and stays readable", func(t *testing.T) {
		t.Parallel()
		id, me := testkit.NewTraceID(), testkit.NewSpanID()
		added, err := us.AddSpans(t.Context(), id, []map[string]any{span("x", map[string]any{"spanId": me, "startTime": "2200-01-01T00:00:00Z", "endTime": "2200-01-01T00:00:02Z"})})
		require.NoError(t, err)
		require.Less(t, added.Spans[0].StartTime.Year(), 2100)
		require.Contains(t, see.value(id, me, "attrs_json['assay.claimed_start_time']"), "2200-01-01")
		require.Equal(t, "2000000", see.value(id, me, "duration_us"))
	})
}

// otlp is an ExportTraceServiceRequest with one open span.
func otlp(t testing.TB, traceID, spanID string, start time.Time) []byte {
	t.Helper()
	td := ptrace.NewTraces()
	s := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	var id pcommon.TraceID
	var me pcommon.SpanID
	_, err := hex.Decode(id[:], []byte(traceID))
	require.NoError(t, err)
	_, err = hex.Decode(me[:], []byte(spanID))
	require.NoError(t, err)
	s.SetTraceID(id)
	s.SetSpanID(me)
	s.SetName("from telemetry")
	s.SetStartTimestamp(pcommon.NewTimestampFromTime(start))
	text, err := ptraceotlp.NewExportRequestFromTraces(td).MarshalProto()
	require.NoError(t, err)
	return text
}

func TestASpanFromTelemetryIsCompletedAsJSON(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	see := stored(t, k.App.Config.ClickHouse, us)
	id, me := testkit.NewTraceID(), testkit.NewSpanID()
	start := time.Now().Add(-time.Minute).UTC().Truncate(time.Microsecond)

	res, err := us.Send(t.Context(), http.MethodPost, "/v1/traces", bytes.NewReader(otlp(t, id, me, start)), testkit.Header("Content-Type", "application/x-protobuf"))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.Status, "%s", res.Body)
	require.Equal(t, "open", see.value(id, me, "state"))
	_, err = us.AddSpans(t.Context(), id, []map[string]any{{"spanId": me, "name": "completed", "startTime": start.Format(time.RFC3339Nano), "endTime": at(0)}})
	require.NoError(t, err)

	require.Equal(t, 1, see.spans(id))
	require.Equal(t, "completed ended", see.value(id, me, "concat(name, ' ', toString(state))"))
}

func TestSecretsAreRemovedBeforeStoring(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	see := stored(t, k.App.Config.ClickHouse, us)
	const secret = "AKIAIOSFODNN7EXAMPLE"

	made, err := us.CreateTrace(t.Context(), map[string]any{
		"name": "uses " + secret, "input": map[string]any{"text": "key " + secret}, "output": secret, "metadata": map[string]any{"note": secret},
		"spans": []map[string]any{span("say "+secret, map[string]any{
			"attributes": map[string]any{"note": secret, "deep": map[string]any{"note": secret}}, "input": secret, "output": []any{secret},
			"status": map[string]any{"code": "error", "message": secret}, "events": []any{map[string]any{"name": "e", "attributes": map[string]any{"note": secret}}},
		})},
	})
	require.NoError(t, err)
	_, err = us.PatchTrace(t.Context(), made.ID, map[string]any{"output": "again " + secret})
	require.NoError(t, err)

	require.NotContains(t, string(made.Response.Body), secret)
	for _, table := range []string{"spans", "span_payloads", "traces"} {
		rows, err := see.ch.Query(t.Context(), "SELECT formatRow('JSONEachRow', * ) FROM "+table+" WHERE org_id = ? AND trace_id = unhex(?)", see.org, made.ID)
		require.NoError(t, err)
		n := 0
		for rows.Next() {
			var line string
			require.NoError(t, rows.Scan(&line))
			require.NotContains(t, line, secret, table)
			n++
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
		require.Positive(t, n, table)
	}
}
