package telemetry_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/test/testkit"
)

// full makes a trace that has rows in every table and partition that it can.
func full(t testing.TB, us *testkit.Client) string {
	t.Helper()
	made, err := us.CreateTrace(t.Context(), map[string]any{
		"name": "to be deleted", "startTime": at(-40 * 24 * time.Hour), "endTime": at(0), "input": "in", "output": "out",
		"spans": []map[string]any{span("today", map[string]any{"input": "x"}), span("last month", map[string]any{"startTime": at(-39 * 24 * time.Hour), "input": "y"})},
	})
	require.NoError(t, err)
	_, err = us.AddTraceFeedback(t.Context(), made.ID, testkit.TraceFeedback{Type: "thumbs", Value: true})
	require.NoError(t, err)
	return made.ID
}

func TestDeleteTrace(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its cases run side by side while the clock moves")
	us, them := k.Org(t), k.Org(t)
	see := stored(t, k.App.Config.ClickHouse, us)

	t.Run("nothing of it can be read when it answers, and its neighbours stay", func(t *testing.T) {
		t.Parallel()
		gone, kept := full(t, us), full(t, us)
		_, err := them.CreateTrace(t.Context(), map[string]any{"traceId": gone, "name": "theirs"})
		require.NoError(t, err)
		before := see.seen(kept)

		var deleted api.Deleted
		_, err = us.Call(t.Context(), http.MethodDelete, "/api/traces/"+gone, nil, &deleted)

		require.NoError(t, err)
		require.Equal(t, gone, deleted.ID)
		require.True(t, deleted.Deleted)
		require.Zero(t, see.seen(gone))
		require.Equal(t, before, see.seen(kept))
		require.Positive(t, stored(t, k.App.Config.ClickHouse, them).seen(gone))
		var audited, promised int
		conn := k.Owner(t, us.Org)
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM audit_logs WHERE action = 'trace.deleted' AND resource_id = $1", gone).Scan(&audited))
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE topic = 'trace.deleted' AND convert_from(payload, 'UTF8')::json->>'trace' = $1", gone).Scan(&promised))
		require.Equal(t, []int{1, 1}, []int{audited, promised})
		require.Equal(t, 1, see.feedback(kept))
		// Feedback that was promised before does not come back.
		k.Clock.Advance(time.Minute)
		_, err = k.App.Outbox.Once(t.Context())
		require.NoError(t, err)
		require.Zero(t, see.feedback(gone))
	})

	t.Run("a second time it is not found, by any operation", func(t *testing.T) {
		t.Parallel()
		gone := full(t, us)
		err := us.DeleteTrace(t.Context(), gone)
		require.NoError(t, err)
		err = us.DeleteTrace(t.Context(), gone)
		require.ErrorIs(t, err, trace.ErrNotFound)
		_, err = us.PatchTrace(t.Context(), gone, map[string]any{"name": "x"})
		require.ErrorIs(t, err, trace.ErrNotFound)
		_, err = us.AddTraceFeedback(t.Context(), gone, testkit.TraceFeedback{Type: "thumbs", Value: true})
		require.ErrorIs(t, err, trace.ErrNotFound)
	})

	t.Run("sent again it is a new trace", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		body := map[string]any{"traceId": id, "name": "again", "spans": []map[string]any{span("x", nil)}}
		for range 2 {
			made, err := us.CreateTrace(t.Context(), body)
			require.NoError(t, err)
			require.Equal(t, http.StatusCreated, made.Response.Status)
			require.Equal(t, 1, see.spans(id))
			err = us.DeleteTrace(t.Context(), id)
			require.NoError(t, err)
			require.Zero(t, see.seen(id))
		}
		made, err := us.CreateTrace(t.Context(), map[string]any{"traceId": id, "name": "other"})
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, made.Response.Status)
		require.Zero(t, see.spans(id))
	})

	t.Run("a stub can be deleted", func(t *testing.T) {
		t.Parallel()
		id := testkit.NewTraceID()
		_, err := k.Owner(t, us.Org).Exec(t.Context(), "INSERT INTO trace_refs (org_id, trace_id, stub, created_at) VALUES ($1, decode($2, 'hex'), true, now())", us.Org.String(), id)
		require.NoError(t, err)
		err = us.DeleteTrace(t.Context(), id)
		require.NoError(t, err)
		err = us.DeleteTrace(t.Context(), id)
		require.ErrorIs(t, err, trace.ErrNotFound)
	})

	t.Run("an unknown trace, and another organization's, is not found", func(t *testing.T) {
		t.Parallel()
		theirs, err := them.CreateTrace(t.Context(), map[string]any{"name": "theirs"})
		require.NoError(t, err)
		for _, id := range []string{testkit.NewTraceID(), theirs.ID, "424242", "x"} {
			err := us.DeleteTrace(t.Context(), id)
			require.ErrorIs(t, err, trace.ErrNotFound, id)
		}
		require.Positive(t, stored(t, k.App.Config.ClickHouse, them).seen(theirs.ID))
	})
}

func TestDeletingWhileClickHouseIsAwayIsNotAnswered(t *testing.T) {
	t.Parallel()
	k, direct, w := wired(t)
	us := k.Org(t)
	id := testkit.NewTraceID()
	_, err := us.AddSpans(t.Context(), id, []map[string]any{span("x", nil)})
	require.NoError(t, err)

	w.set(true)
	err = us.DeleteTrace(t.Context(), id)
	require.Error(t, err, "whether the trace exists cannot be told")
	w.set(false)

	err = us.DeleteTrace(t.Context(), id)
	require.NoError(t, err)
	require.Zero(t, stored(t, direct, us).seen(id))
}
