package telemetry_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/test/testkit"
)

// detailsOf are what a refusal says beside its message.
func detailsOf(t testing.TB, err error) map[string]any {
	t.Helper()
	f, ok := fault.From(err)
	require.True(t, ok, "%v", err)
	return f.Details
}

// fieldsOf are the violations that a refusal lists, as "path code".
func fieldsOf(t testing.TB, err error) []string {
	t.Helper()
	list, _ := detailsOf(t, err)["fields"].([]any)
	var out []string
	for _, f := range list {
		m, ok := f.(map[string]any)
		require.True(t, ok)
		out = append(out, fmt.Sprint(m["path"], " ", m["code"]))
	}
	return out
}

func TestCreateTrace(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us, them := k.Org(t), k.Org(t)
	see := stored(t, k.App.Config.ClickHouse, us)

	t.Run("what was said can be read when it answers", func(t *testing.T) {
		t.Parallel()
		made, err := us.CreateTrace(t.Context(), map[string]any{
			"name": "Answer", "status": "completed", "startTime": at(-time.Hour), "endTime": at(-time.Minute),
			"conversationId": "c-1", "userId": "u-1", "environment": "production", "serviceName": "web", "agentName": "helper", "releaseId": "r-1",
			"input": map[string]any{"question": "Why?"}, "output": "Because.", "tags": []string{"a", "b"}, "metadata": map[string]any{"Team": "care"},
			"spans": []map[string]any{span("retrieve", nil), span("answer", nil)},
		})

		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, made.Response.Status)
		require.False(t, made.Response.Deferred())
		require.Equal(t, "/api/traces/"+made.ID, made.Response.Header.Get("Location"))
		require.Equal(t, []any{"Answer", "completed", "c-1", "u-1", "production", "helper", "r-1", 2}, []any{
			api.Value(made.Name), made.Status, api.Value(made.ConversationID), api.Value(made.UserID), api.Value(made.Environment), api.Value(made.AgentName), api.Value(made.ReleaseID), int(made.SpanCount),
		})
		require.Equal(t, []any{map[string]any{"question": "Why?"}, "Because.", map[string]any{"Team": "care"}}, []any{made.Input, made.Output, made.Metadata})
		require.ElementsMatch(t, []string{"a", "b"}, made.Tags)
		require.Positive(t, api.Value(made.TraceRef))
		require.Equal(t, 2, see.spans(made.ID))
		require.Equal(t, "Answer|ended|ok|c-1|u-1|production|web|helper|r-1|['a','b']|{\"Team\":\"care\"}", see.value(made.ID, noSpan,
			"concat(name, '|', toString(state), '|', toString(status), '|', conversation_id, '|', user_id, '|', environment, '|', service_name, '|', agent_name, '|', release_id, '|', toString(tags), '|', attrs_json['assay.metadata'])"))
		require.JSONEq(t, `{"question":"Why?"}`, see.payload(made.ID, noSpan, "input"))
		require.Equal(t, `"Because."`, see.payload(made.ID, noSpan, "output"))
	})

	t.Run("a trace is running until something says that it has ended", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			body map[string]any
			want string
		}{
			"nothing said":        {map[string]any{}, "open unset"},
			"running":             {map[string]any{"status": "running"}, "open unset"},
			"an end":              {map[string]any{"startTime": at(-time.Hour), "endTime": at(0)}, "ended ok"},
			"completed":           {map[string]any{"status": "completed"}, "ended ok"},
			"failed":              {map[string]any{"status": "failed"}, "ended error"},
			"failed, with an end": {map[string]any{"status": "failed", "startTime": at(-time.Hour), "endTime": at(0)}, "ended error"},
		} {
			c.body["name"] = name
			made, err := us.CreateTrace(t.Context(), c.body)
			require.NoError(t, err, name)
			require.Equal(t, c.want, see.value(made.ID, noSpan, "concat(toString(state), ' ', toString(status))"), name)
		}
	})

	t.Run("the same content again changes nothing, in any order and casing", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		body := `{"traceId":"` + id + `","name":"Once","input":{"a":1,"b":2},"spans":[{"name":"x","startTime":"` + at(-time.Minute) + `"}]}`
		again := strings.NewReplacer(`"a":1,"b":2`, `"b":2, "a":1.0`, `"traceId"`, `"otel_trace_id"`, `"startTime"`, `"start_time"`, id, strings.ToUpper(id)).Replace(body)
		for i, text := range []string{body, body, again} {
			res, err := us.Send(t.Context(), http.MethodPost, "/api/traces", strings.NewReader(text))
			require.NoError(t, err)
			want := http.StatusOK
			if i == 0 {
				want = http.StatusCreated
			}
			require.Equal(t, want, res.Status, "%s", res.Body)
		}
		require.Equal(t, 1, see.spans(id))
		require.Equal(t, 1, see.count("SELECT count() FROM spans FINAL WHERE org_id = ? AND trace_id = unhex(?) AND span_id = toFixedString('', 8)", id))
	})

	t.Run("other content is a conflict that names the trace", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		_, err := us.CreateTrace(t.Context(), map[string]any{"traceId": id, "name": "First"})
		require.NoError(t, err)
		_, err = us.CreateTrace(t.Context(), map[string]any{"traceId": id, "name": "Second"})
		require.ErrorIs(t, err, trace.ErrExists)
		require.Equal(t, id, detailsOf(t, err)["id"])
		require.Equal(t, "First", see.value(id, noSpan, "name"))
	})

	t.Run("of two at the same moment with different content one is refused", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		errs := make([]error, 6)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() {
				_, errs[i] = us.CreateTrace(t.Context(), map[string]any{"traceId": id, "name": fmt.Sprint("content ", i%2)})
			})
		}
		wg.Wait()
		refused := 0
		for _, err := range errs {
			if err != nil {
				require.ErrorIs(t, err, trace.ErrExists)
				refused++
			}
		}
		require.Equal(t, 3, refused)
	})

	t.Run("a trace that is known only from its spans is filled", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		_, err := us.AddSpans(t.Context(), id, []map[string]any{span("root", nil)})
		require.NoError(t, err)
		made, err := us.CreateTrace(t.Context(), map[string]any{"traceId": id, "name": "Filled"})
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, made.Response.Status)
		require.Equal(t, 1, see.spans(id))
	})

	t.Run("a stub is filled", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		_, err := k.Owner(t, us.Org).Exec(t.Context(), "INSERT INTO trace_refs (org_id, trace_id, stub, created_at) VALUES ($1, decode($2, 'hex'), true, now())", us.Org.String(), id)
		require.NoError(t, err)
		for _, want := range []int{http.StatusCreated, http.StatusOK} {
			made, err := us.CreateTrace(t.Context(), map[string]any{"traceId": id, "name": "Filled"})
			require.NoError(t, err)
			require.Equal(t, want, made.Response.Status)
		}
	})

	t.Run("creating again does not undo a change", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		body := map[string]any{"traceId": id, "name": "Before", "status": "completed"}
		_, err := us.CreateTrace(t.Context(), body)
		require.NoError(t, err)
		_, err = us.PatchTrace(t.Context(), id, map[string]any{"name": "After"})
		require.NoError(t, err)
		again, err := us.CreateTrace(t.Context(), body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, again.Response.Status)
		require.Equal(t, "After", see.value(id, noSpan, "name"))
	})

	t.Run("a write that was lost after the claim is healed by a repetition", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		body := map[string]any{"traceId": id, "name": "Healed", "spans": []map[string]any{span("x", nil)}}
		_, err := us.CreateTrace(t.Context(), body)
		require.NoError(t, err)
		for _, table := range []string{"spans", "span_payloads", "traces", "trace_starts"} {
			require.NoError(t, see.ch.Exec(t.Context(), "DELETE FROM "+table+" WHERE org_id = ? AND trace_id = unhex(?)", see.org, id))
		}
		require.Zero(t, see.spans(id))
		again, err := us.CreateTrace(t.Context(), body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, again.Response.Status)
		require.Equal(t, 1, see.spans(id))
	})

	t.Run("an Idempotency-Key makes one trace of several requests", func(t *testing.T) {
		t.Parallel()
		key := testkit.Idempotent(testkit.NewTraceID())
		first, err := us.CreateTrace(t.Context(), map[string]any{"name": "Once"}, key)
		require.NoError(t, err)
		second, err := us.CreateTrace(t.Context(), map[string]any{"name": "Once"}, key)
		require.NoError(t, err)
		require.Equal(t, first.ID, second.ID)
		require.Equal(t, http.StatusCreated, second.Response.Status)
		require.Equal(t, "true", second.Response.Header.Get("Idempotent-Replayed"))
		_, err = us.CreateTrace(t.Context(), map[string]any{"name": "Other"}, key)
		require.ErrorIs(t, err, change.ErrKeyReused)
		theirs, err := them.CreateTrace(t.Context(), map[string]any{"name": "Once"}, key)
		require.NoError(t, err)
		require.NotEqual(t, first.ID, theirs.ID)
	})

	t.Run("two organizations can have the same id", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		for _, c := range []*testkit.Client{us, them} {
			made, err := c.CreateTrace(t.Context(), map[string]any{"traceId": id, "name": c.Org.String()})
			require.NoError(t, err)
			require.Equal(t, http.StatusCreated, made.Response.Status)
		}
		require.Equal(t, us.Org.String(), see.value(id, noSpan, "name"))
	})

	t.Run("what cannot be is refused with its place", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			body map[string]any
			want []string
		}{
			{map[string]any{}, []string{"/name required"}},
			{map[string]any{"name": "x", "traceId": "xyz"}, []string{"/traceId pattern"}},
			{map[string]any{"name": "x", "traceId": strings.Repeat("0", 32)}, []string{"/traceId pattern"}},
			{map[string]any{"name": "x", "traceId": testkit.NewTraceID(), "otelTraceId": testkit.NewTraceID()}, []string{"/otelTraceId mutually_exclusive"}},
			{map[string]any{"name": "x", "status": "running", "endTime": at(0)}, []string{"/endTime mutually_exclusive"}},
			{map[string]any{"name": "x", "startTime": at(0), "endTime": at(-time.Hour)}, []string{"/endTime min"}},
			{map[string]any{"name": "x", "startTime": "1999-12-31T23:59:59Z"}, []string{"/startTime min"}},
			{map[string]any{"name": "x", "environment": strings.Repeat("e", 65), "releaseId": strings.Repeat("r", 65)}, []string{"/environment length", "/releaseId length"}},
			{
				map[string]any{"name": "x", "spans": []any{span("ok", nil), map[string]any{"name": "no start"}, map[string]any{"startTime": at(0), "kind": "odd"}}},
				[]string{"/spans/1/startTime required", "/spans/2/name required", "/spans/2/kind enum"},
			},
			{map[string]any{"name": "x", "tags": []string{"a", "a"}}, []string{"/tags format"}},
		} {
			_, err := us.CreateTrace(t.Context(), c.body)
			require.Error(t, err)
			require.Equal(t, c.want, fieldsOf(t, err), "%v", c.body)
		}
	})
}

func TestWritesLeaveNoAuditRow(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	var before, after, remembered int
	conn := k.Owner(t, us.Org)
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM audit_logs").Scan(&before))

	made, err := us.CreateTrace(t.Context(), map[string]any{"name": "x"}, testkit.Idempotent("k"))
	require.NoError(t, err)
	_, err = us.AddSpans(t.Context(), made.ID, []map[string]any{span("y", nil)}, testkit.Idempotent("k"))
	require.NoError(t, err)
	_, err = us.PatchTrace(t.Context(), made.ID, map[string]any{"status": "completed"}, testkit.Idempotent("k"))
	require.NoError(t, err)

	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM audit_logs").Scan(&after))
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM idempotency_keys").Scan(&remembered))
	require.Equal(t, before, after)
	require.Zero(t, remembered)
}
