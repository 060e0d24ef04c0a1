package trace_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/testkit"
	"github.com/assayhq/assay/internal/trace"
)

func TestFeedback(t *testing.T) {
	t.Parallel()
	k := testkit.New(t)
	us, them := k.Org(t), k.Org(t)
	made, err := us.CreateTrace(t.Context(), map[string]any{"name": "n"})
	require.NoError(t, err)

	t.Run("each type takes what it needs", func(t *testing.T) {
		t.Parallel()
		on := testkit.NewSpanID()
		for _, c := range []struct {
			in   testkit.TraceFeedback
			want any
		}{
			{testkit.TraceFeedback{Type: "thumbs", Value: true}, true},
			{testkit.TraceFeedback{Type: "thumbs", Value: "down", Comment: "no"}, false},
			{testkit.TraceFeedback{Type: "rating", Value: 0.75, UserID: "u-1"}, 0.75},
			{testkit.TraceFeedback{Type: "rating", Value: 0}, 0.0},
			{testkit.TraceFeedback{Type: "comment", Comment: "fine", SpanID: strings.ToUpper(on)}, nil},
			{testkit.TraceFeedback{Type: "correction", Value: map[string]any{"Answer": 42.0}}, map[string]any{"Answer": 42.0}},
		} {
			got, err := us.Feedback(t.Context(), made.ID, c.in)
			require.NoError(t, err, "%v", c.in)
			require.Equal(t, c.want, got.Value)
			require.Equal(t, made.ID, got.TraceID)
			require.Equal(t, []string{c.in.Type, c.in.Comment, c.in.UserID, strings.ToLower(c.in.SpanID)}, []string{got.Type, got.Comment, got.UserID, got.SpanID})
			require.Positive(t, got.ID)
		}
	})

	t.Run("what it does not need is refused", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			in   testkit.TraceFeedback
			want string
		}{
			{testkit.TraceFeedback{}, "/type required"},
			{testkit.TraceFeedback{Type: "stars"}, "/type enum"},
			{testkit.TraceFeedback{Type: "thumbs"}, "/value required"},
			{testkit.TraceFeedback{Type: "thumbs", Value: "sideways"}, "/value enum"},
			{testkit.TraceFeedback{Type: "rating"}, "/value required"},
			{testkit.TraceFeedback{Type: "rating", Value: "0.5"}, "/value type"},
			{testkit.TraceFeedback{Type: "rating", Value: 1.5}, "/value max"},
			{testkit.TraceFeedback{Type: "rating", Value: -0.5}, "/value min"},
			{testkit.TraceFeedback{Type: "comment"}, "/comment required"},
			{testkit.TraceFeedback{Type: "correction"}, "/value required"},
			{testkit.TraceFeedback{Type: "comment", Comment: "x", SpanID: "zz"}, "/spanId pattern"},
		} {
			_, err := us.Feedback(t.Context(), made.ID, c.in)
			require.Error(t, err, "%v", c.in)
			require.Equal(t, []string{c.want}, fieldsOf(t, err), "%v", c.in)
		}
	})

	t.Run("it is audited, and said once under one key", func(t *testing.T) {
		t.Parallel()
		about, err := us.CreateTrace(t.Context(), map[string]any{"name": "audited"})
		require.NoError(t, err)
		for range 2 {
			_, err = us.Feedback(t.Context(), about.ID, testkit.TraceFeedback{Type: "thumbs", Value: true}, testkit.Idempotent("feedback"))
			require.NoError(t, err)
		}
		var rows, audited int
		conn := control(t, k, us)
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM trace_feedback WHERE trace_id = decode($1, 'hex')", about.ID).Scan(&rows))
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM audit_logs a JOIN trace_feedback f ON f.id::text = a.resource_id
			WHERE a.action = 'trace.feedback_created' AND a.resource_type = 'feedback' AND f.trace_id = decode($1, 'hex')`, about.ID).Scan(&audited))
		require.Equal(t, []int{1, 1}, []int{rows, audited})
	})

	t.Run("it names who sent it and where it is shown", func(t *testing.T) {
		t.Parallel()
		about, err := us.CreateTrace(t.Context(), map[string]any{"name": "signed"})
		require.NoError(t, err)
		var got struct {
			SpanID    *string        `json:"span_id"`
			Value     any            `json:"value"`
			UserID    *string        `json:"user_id"`
			CreatedBy map[string]any `json:"created_by"`
		}
		res, err := us.Call(t.Context(), http.MethodPost, "/api/traces/"+about.ID+"/feedback", map[string]any{"type": "comment", "comment": "x"}, &got)
		require.NoError(t, err)
		require.Equal(t, "/api/traces/"+about.ID, res.Header.Get("Location"))
		require.Nil(t, got.SpanID)
		require.Nil(t, got.UserID)
		require.Nil(t, got.Value)
		require.Equal(t, "service_key", got.CreatedBy["type"])
		var shown struct {
			Feedback []struct {
				CreatedBy map[string]any `json:"created_by"`
			} `json:"feedback"`
		}
		_, err = us.Call(t.Context(), http.MethodGet, "/api/traces/"+about.ID, nil, &shown)
		require.NoError(t, err)
		require.Equal(t, got.CreatedBy, shown.Feedback[0].CreatedBy)
		require.NotEmpty(t, got.CreatedBy["name"])
	})

	t.Run("secrets are removed from it", func(t *testing.T) {
		t.Parallel()
		const secret = "AKIAIOSFODNN7EXAMPLE"
		got, err := us.Feedback(t.Context(), made.ID, testkit.TraceFeedback{Type: "correction", Value: map[string]any{"text": "use " + secret}, Comment: "not " + secret})
		require.NoError(t, err)
		require.NotContains(t, got.Comment, secret)
		require.NotContains(t, got.Value.(map[string]any)["text"], secret)
	})

	t.Run("the trace must exist", func(t *testing.T) {
		t.Parallel()
		theirs, err := them.CreateTrace(t.Context(), map[string]any{"name": "theirs"})
		require.NoError(t, err)
		for _, id := range []string{testkit.NewTraceID(), theirs.ID, "77777"} {
			_, err := us.Feedback(t.Context(), id, testkit.TraceFeedback{Type: "thumbs", Value: true})
			require.ErrorIs(t, err, trace.ErrNotFound)
		}
	})
}
