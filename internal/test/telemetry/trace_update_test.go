package telemetry_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestUpdateTrace(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us, them := k.Org(t), k.Org(t)
	see := stored(t, k.App.Config.ClickHouse, us)
	whole := "concat(name, '|', toString(state), '|', toString(status), '|', conversation_id, '|', user_id, '|', environment, '|', agent_name, '|', release_id, '|', toString(tags), '|', attrs_json['assay.metadata'])"

	t.Run("what is sent changes, the rest stays, null clears", func(t *testing.T) {
		t.Parallel()
		made, err := us.CreateTrace(t.Context(), map[string]any{
			"name": "n", "startTime": at(-time.Hour), "conversationId": "c", "userId": "u", "environment": "e", "agentName": "a", "releaseId": "r",
			"input": "in", "output": "out", "tags": []string{"t"}, "metadata": map[string]any{"k": 1},
		})
		require.NoError(t, err)
		changed, err := us.PatchTrace(t.Context(), made.ID, map[string]any{"name": "m", "user_id": "v", "tags": []string{"x", "y"}, "output": map[string]any{"a": 1}})
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, changed.Response.Status)
		require.Equal(t, `m|open|unset|c|v|e|a|r|['x','y']|{"k":1}`, see.value(made.ID, noSpan, whole))
		require.Equal(t, `"in"`, see.payload(made.ID, noSpan, "input"))
		require.Equal(t, `{"a":1}`, see.payload(made.ID, noSpan, "output"))

		_, err = us.PatchTrace(t.Context(), made.ID, map[string]any{"conversationId": nil, "tags": nil, "metadata": nil, "input": nil, "output": nil})
		require.NoError(t, err)
		require.Equal(t, `m|open|unset||v|e|a|r|[]|`, see.value(made.ID, noSpan, whole))
		require.Empty(t, see.payload(made.ID, noSpan, "concat(input, output)"))
		require.Equal(t, 1, see.count("SELECT count() FROM spans FINAL WHERE org_id = ? AND trace_id = unhex(?)", made.ID))
	})

	t.Run("what a trace always has cannot be cleared", func(t *testing.T) {
		t.Parallel()
		made, err := us.CreateTrace(t.Context(), map[string]any{"name": "n"})
		require.NoError(t, err)
		_, err = us.PatchTrace(t.Context(), made.ID, map[string]any{"name": nil, "status": nil, "endTime": nil})
		require.ElementsMatch(t, []string{"/name type", "/status type", "/endTime type"}, fieldsOf(t, err))
		require.Equal(t, "n", see.value(made.ID, noSpan, "name"))
	})

	t.Run("nothing sent changes nothing", func(t *testing.T) {
		t.Parallel()
		made, err := us.CreateTrace(t.Context(), map[string]any{"name": "n", "input": map[string]any{"a": 1}})
		require.NoError(t, err)
		before := see.rows(made.ID)
		for _, body := range []string{"", "{}", `{"name":"n"}`} {
			res, err := us.Send(t.Context(), http.MethodPatch, "/api/traces/"+made.ID, strings.NewReader(body))
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, res.Status, "%s", res.Body)
		}
		require.Equal(t, before, see.rows(made.ID))
	})

	t.Run("a trace ends once and its outcome can be corrected", func(t *testing.T) {
		t.Parallel()
		made, err := us.CreateTrace(t.Context(), map[string]any{"name": "n", "startTime": at(-time.Hour)})
		require.NoError(t, err)
		end := time.Now().Add(-time.Minute).UTC().Truncate(time.Millisecond)
		for _, c := range []struct {
			patch map[string]any
			want  string
		}{
			{map[string]any{"status": "running"}, "open unset"},
			{map[string]any{"status": "completed", "endTime": end.Format(time.RFC3339Nano)}, "ended ok"},
			{map[string]any{"status": "failed"}, "ended error"},
			{map[string]any{"status": "completed"}, "ended ok"},
		} {
			_, err := us.PatchTrace(t.Context(), made.ID, c.patch)
			require.NoError(t, err)
			require.Equal(t, c.want, see.value(made.ID, noSpan, "concat(toString(state), ' ', toString(status))"))
		}
		require.Equal(t, end.Format("2006-01-02 15:04:05.000000"), see.value(made.ID, noSpan, "start_time + toIntervalMicrosecond(duration_us)"), "a correction keeps the end")

		_, err = us.PatchTrace(t.Context(), made.ID, map[string]any{"status": "running"})
		require.ErrorIs(t, err, trace.ErrTransition)
		require.Equal(t, "completed", detailsOf(t, err)["currentState"])
		require.Equal(t, []any{"failed"}, detailsOf(t, err)["allowedTransitions"])
	})

	t.Run("a trace that reads as completed because nothing came does not run again", func(t *testing.T) {
		t.Parallel()
		k := testkit.Moving(t)
		us := k.Org(t)
		see := stored(t, k.App.Config.ClickHouse, us)
		made, err := us.CreateTrace(t.Context(), map[string]any{"name": "n"})
		require.NoError(t, err)
		k.Clock.Advance(time.Hour)
		_, err = us.PatchTrace(t.Context(), made.ID, map[string]any{"status": "running"})
		require.ErrorIs(t, err, trace.ErrTransition)
		changed, err := us.PatchTrace(t.Context(), made.ID, map[string]any{"name": "m"})
		require.NoError(t, err)
		require.Equal(t, "running", changed.Status, "something came")
		require.Equal(t, "open", see.value(made.ID, noSpan, "state"))
		k.Clock.Advance(time.Hour)
		changed, err = us.PatchTrace(t.Context(), made.ID, map[string]any{"status": "failed"})
		require.NoError(t, err)
		require.Equal(t, "failed", changed.Status)
	})

	t.Run("times must fit", func(t *testing.T) {
		t.Parallel()
		made, err := us.CreateTrace(t.Context(), map[string]any{"name": "n", "startTime": at(-time.Hour)})
		require.NoError(t, err)
		_, err = us.PatchTrace(t.Context(), made.ID, map[string]any{"endTime": at(0)})
		require.Equal(t, []string{"/endTime mutually_exclusive"}, fieldsOf(t, err))
		_, err = us.PatchTrace(t.Context(), made.ID, map[string]any{"status": "failed", "endTime": at(-2 * time.Hour)})
		require.Equal(t, []string{"/endTime min"}, fieldsOf(t, err))
	})

	t.Run("a trace without a row of its own gets one that begins with its first span", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		first := time.Now().Add(-10 * time.Minute).UTC().Truncate(time.Microsecond)
		_, err := us.AddSpans(t.Context(), id, []map[string]any{
			span("root", map[string]any{"startTime": first.Format(time.RFC3339Nano)}), span("later", map[string]any{"parentSpanId": testkit.NewSpanID()}),
		})
		require.NoError(t, err)
		changed, err := us.PatchTrace(t.Context(), id, map[string]any{"tags": []string{"seen"}})
		require.NoError(t, err)
		require.Equal(t, []any{"root", "completed", 2}, []any{api.Value(changed.Name), changed.Status, int(changed.SpanCount)}, "what its spans show stays")
		require.Equal(t, first.Format("2006-01-02 15:04:05.000000"), see.value(id, noSpan, "start_time"))
		require.Equal(t, "['seen']", see.value(id, noSpan, "tags"))
		require.Equal(t, 2, see.spans(id))
	})

	t.Run("an unknown trace, and another organization's, is not found", func(t *testing.T) {
		t.Parallel()
		theirs, err := them.CreateTrace(t.Context(), map[string]any{"name": "theirs"})
		require.NoError(t, err)
		for _, id := range []string{testkit.NewTraceID(), theirs.ID, "12345", "x"} {
			_, err := us.PatchTrace(t.Context(), id, map[string]any{"name": "ours"})
			require.ErrorIs(t, err, trace.ErrNotFound, id)
		}
	})
}
