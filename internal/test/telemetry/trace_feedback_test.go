package telemetry_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/trace"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestFeedback(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
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
			{testkit.TraceFeedback{Type: "thumbs", Value: "down", Comment: new("no")}, false},
			{testkit.TraceFeedback{Type: "rating", Value: 0.75, UserID: new("u-1")}, 0.75},
			{testkit.TraceFeedback{Type: "rating", Value: 0}, 0.0},
			{testkit.TraceFeedback{Type: "comment", Comment: new("fine"), SpanID: new(strings.ToUpper(on))}, nil},
			{testkit.TraceFeedback{Type: "correction", Value: map[string]any{"Answer": 42.0}}, map[string]any{"Answer": 42.0}},
		} {
			got, err := us.AddTraceFeedback(t.Context(), made.ID, c.in)
			require.NoError(t, err, "%v", c.in)
			require.Equal(t, c.want, got.Value)
			require.Equal(t, made.ID, got.TraceID)
			require.Equal(t, []string{c.in.Type, api.Value(c.in.Comment), api.Value(c.in.UserID), strings.ToLower(api.Value(c.in.SpanID))}, []string{got.Type, api.Value(got.Comment), api.Value(got.UserID), api.Value(got.SpanID)})
			require.Positive(t, got.ID)
		}
	})

	t.Run("what it does not need is refused", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			in   any
			want string
		}{
			{map[string]any{}, "/type required"},
			{testkit.TraceFeedback{Type: "stars"}, "/type enum"},
			{testkit.TraceFeedback{Type: "thumbs"}, "/value required"},
			{testkit.TraceFeedback{Type: "thumbs", Value: "sideways"}, "/value enum"},
			{testkit.TraceFeedback{Type: "rating"}, "/value required"},
			{testkit.TraceFeedback{Type: "rating", Value: "0.5"}, "/value type"},
			{testkit.TraceFeedback{Type: "rating", Value: 1.5}, "/value max"},
			{testkit.TraceFeedback{Type: "rating", Value: -0.5}, "/value min"},
			{testkit.TraceFeedback{Type: "comment"}, "/comment required"},
			{testkit.TraceFeedback{Type: "correction"}, "/value required"},
			{testkit.TraceFeedback{Type: "comment", Comment: new("x"), SpanID: new("zz")}, "/spanId pattern"},
		} {
			_, err := us.AddTraceFeedback(t.Context(), made.ID, c.in)
			require.Error(t, err, "%v", c.in)
			require.Equal(t, []string{c.want}, fieldsOf(t, err), "%v", c.in)
		}
	})

	t.Run("it is audited, and said once under one key", func(t *testing.T) {
		t.Parallel()
		about, err := us.CreateTrace(t.Context(), map[string]any{"name": "audited"})
		require.NoError(t, err)
		for range 2 {
			_, err = us.AddTraceFeedback(t.Context(), about.ID, testkit.TraceFeedback{Type: "thumbs", Value: true}, testkit.Idempotent("feedback"))
			require.NoError(t, err)
		}
		read, err := us.GetTrace(t.Context(), about.ID)
		require.NoError(t, err)
		require.Len(t, read.Feedback, 1)
		var audited int
		require.NoError(t, k.Owner(t, us.Org).QueryRow(t.Context(), `SELECT count(*) FROM audit_logs
			WHERE action = 'trace.feedback_created' AND resource_type = 'feedback' AND resource_id = $1`, strconv.FormatInt(read.Feedback[0].ID, 10)).Scan(&audited))
		require.Equal(t, 1, audited)
	})

	t.Run("a user's newer feedback replaces the older one, and comments stay", func(t *testing.T) {
		t.Parallel()
		about, err := us.CreateTrace(t.Context(), map[string]any{"name": "discussed"})
		require.NoError(t, err)
		_, member := us.Minted(t, principal.Admin) // whose key somebody else made
		on := testkit.NewSpanID()
		for _, one := range []struct {
			by *testkit.Client
			in testkit.TraceFeedback
		}{
			{us, testkit.TraceFeedback{Type: "thumbs", Value: true, UserID: new("u-1")}},
			{us, testkit.TraceFeedback{Type: "thumbs", Value: false, UserID: new("u-1")}},
			{us, testkit.TraceFeedback{Type: "thumbs", Value: true, UserID: new("u-1"), SpanID: new(on)}},
			{us, testkit.TraceFeedback{Type: "thumbs", Value: true, UserID: new("u-2")}},
			{us, testkit.TraceFeedback{Type: "comment", Comment: new("first"), UserID: new("u-1")}},
			{us, testkit.TraceFeedback{Type: "comment", Comment: new("second"), UserID: new("u-1")}},
			{us, testkit.TraceFeedback{Type: "rating", Value: 0.1}},
			{us, testkit.TraceFeedback{Type: "rating", Value: 0.2}},
			{member, testkit.TraceFeedback{Type: "rating", Value: 0.3}},
			{member, testkit.TraceFeedback{Type: "rating", Value: 0.4}},
		} {
			_, err := one.by.AddTraceFeedback(t.Context(), about.ID, one.in)
			require.NoError(t, err)
		}
		read, err := us.GetTrace(t.Context(), about.ID)
		require.NoError(t, err)
		var said []string
		for _, f := range read.Feedback {
			said = append(said, strings.TrimSpace(fmt.Sprint(f.Type, " ", api.Value(f.UserID), f.Value, api.Value(f.Comment), " ", api.Value(f.SpanID))))
		}
		require.Equal(t, []string{
			"rating 0.4", "rating 0.3", "rating 0.2", "rating 0.1", "comment u-1<nil>second", "comment u-1<nil>first", "thumbs u-2true", "thumbs u-1true " + on, "thumbs u-1false",
		}, said, "newest first")
	})

	t.Run("it names who sent it and where it is shown", func(t *testing.T) {
		t.Parallel()
		about, err := us.CreateTrace(t.Context(), map[string]any{"name": "signed"})
		require.NoError(t, err)
		var got api.Feedback
		res, err := us.Call(t.Context(), http.MethodPost, "/api/traces/"+about.ID+"/feedback", map[string]any{"type": "comment", "comment": "x"}, &got)
		require.NoError(t, err)
		require.Equal(t, "/api/traces/"+about.ID, res.Header.Get("Location"))
		require.Nil(t, got.SpanID)
		require.Nil(t, got.UserID)
		require.Nil(t, got.Value)
		require.Equal(t, "service_key", got.CreatedBy.Type)
		shown, err := us.GetTrace(t.Context(), about.ID)
		require.NoError(t, err)
		require.Equal(t, got.CreatedBy, shown.Feedback[0].CreatedBy)
		require.NotEmpty(t, *got.CreatedBy.Name)
	})

	t.Run("secrets are removed from it", func(t *testing.T) {
		t.Parallel()
		const secret = "AKIAIOSFODNN7EXAMPLE"
		got, err := us.AddTraceFeedback(t.Context(), made.ID, testkit.TraceFeedback{Type: "correction", Value: map[string]any{"text": "use " + secret}, Comment: new("not " + secret)})
		require.NoError(t, err)
		require.NotContains(t, api.Value(got.Comment), secret)
		require.NotContains(t, got.Value.(map[string]any)["text"], secret)
		got, err = us.AddTraceFeedback(t.Context(), made.ID, testkit.TraceFeedback{Type: "correction", Value: map[string]any{secret: 1, "AKIAIOSFODNN7EXAMPLF": 2}})
		require.NoError(t, err)
		require.Len(t, got.Value, 2, "what became the same name is numbered: both values are kept")
		require.NotContains(t, fmt.Sprint(got.Value), "AKIA")
	})

	t.Run("the trace must exist", func(t *testing.T) {
		t.Parallel()
		theirs, err := them.CreateTrace(t.Context(), map[string]any{"name": "theirs"})
		require.NoError(t, err)
		for _, id := range []string{testkit.NewTraceID(), theirs.ID, "77777"} {
			_, err := us.AddTraceFeedback(t.Context(), id, testkit.TraceFeedback{Type: "thumbs", Value: true})
			require.ErrorIs(t, err, trace.ErrNotFound)
		}
	})
}
