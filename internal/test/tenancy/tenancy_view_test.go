package tenancy_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/test/testkit"
)

// view is a view on the wire.
type view struct {
	ID       string              `json:"id"`
	Name     string              `json:"name"`
	List     string              `json:"list"`
	Filters  map[string][]string `json:"filters"`
	Personal bool                `json:"personal"`
	Version  int64               `json:"version"`
}

func createView(ctx context.Context, c *testkit.Client, body map[string]any) (v view, err error) {
	_, err = c.Call(ctx, http.MethodPost, "/api/views", body, &v)
	return v, err
}

// seen are the names of the views that a client sees.
func seen(t testing.TB, c *testkit.Client, query string) []string {
	t.Helper()
	var page struct {
		Views []view `json:"views"`
	}
	_, err := c.Call(t.Context(), http.MethodGet, "/api/views"+query, nil, &page)
	require.NoError(t, err)
	names := []string{}
	for _, v := range page.Views {
		names = append(names, v.Name)
	}
	return names
}

func TestViews(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	failed := map[string]any{"name": "Failed", "list": "evaluations", "filters": map[string]any{"status": []string{"failed"}}}

	t.Run("a view is saved, changed and deleted", func(t *testing.T) {
		t.Parallel()
		ctx, us := t.Context(), k.Org(t)
		made, err := createView(ctx, us, failed)
		require.NoError(t, err)
		require.Equal(t, view{ID: made.ID, Name: "Failed", List: "evaluations", Filters: map[string][]string{"status": {"failed"}}, Version: 1}, made)

		var changed view
		change := map[string]any{"filters": map[string]any{"status": []string{"failed", "cancelled"}}, "expectedVersion": 1}
		_, err = us.Call(ctx, http.MethodPatch, "/api/views/"+made.ID, change, &changed)
		require.NoError(t, err)
		require.Equal(t, []string{"failed", "cancelled"}, changed.Filters["status"])
		require.EqualValues(t, 2, changed.Version)
		_, err = us.Call(ctx, http.MethodPatch, "/api/views/"+made.ID, change, nil)
		refused(t, err, fault.Conflict, "version_conflict")
		_, err = us.Call(ctx, http.MethodPatch, "/api/views/"+made.ID, map[string]any{"name": "Failed"}, &changed)
		require.NoError(t, err)
		require.EqualValues(t, 2, changed.Version, "nothing has changed")

		_, err = us.Call(ctx, http.MethodDelete, "/api/views/"+made.ID, nil, nil)
		require.NoError(t, err)
		_, err = us.Call(ctx, http.MethodDelete, "/api/views/"+made.ID, nil, nil)
		require.ErrorIs(t, err, tenancy.ErrViewNotFound)
		require.Empty(t, seen(t, us, ""))
	})

	t.Run("a name is taken once for a list and an owner", func(t *testing.T) {
		t.Parallel()
		ctx, us := t.Context(), k.Org(t)
		_, err := createView(ctx, us, failed)
		require.NoError(t, err)
		_, err = createView(ctx, us, failed)
		refused(t, err, fault.Conflict, "view_name_taken")
		_, ada := us.Person(t, principal.Member)
		for _, body := range []map[string]any{
			{"name": "Failed", "list": "traces", "filters": map[string]any{}},
			{"name": "Failed", "list": "evaluations", "filters": map[string]any{}, "personal": true},
		} {
			_, err = createView(ctx, ada, body)
			require.NoError(t, err)
		}
	})

	t.Run("a personal view is its owner's alone", func(t *testing.T) {
		t.Parallel()
		ctx, us := t.Context(), k.Org(t)
		_, ada := us.Person(t, principal.Member)
		_, bob := us.Person(t, principal.Member)
		_, err := createView(ctx, us, failed)
		require.NoError(t, err)
		mine, err := createView(ctx, ada, map[string]any{"name": "Mine", "list": "traces", "filters": map[string]any{}, "personal": true})
		require.NoError(t, err)
		require.True(t, mine.Personal)

		require.Equal(t, []string{"Mine", "Failed"}, seen(t, ada, ""))
		require.Equal(t, []string{"Mine"}, seen(t, ada, "?list=traces"))
		require.Equal(t, []string{"Failed"}, seen(t, bob, ""))
		require.Equal(t, []string{"Failed"}, seen(t, us, ""), "a service key is nobody's")
		for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodDelete} {
			_, err = bob.Call(ctx, method, "/api/views/"+mine.ID, nil, nil)
			require.ErrorIs(t, err, tenancy.ErrViewNotFound, method)
		}
		_, err = createView(ctx, us, map[string]any{"name": "Nobody's", "list": "traces", "filters": map[string]any{}, "personal": true})
		refused(t, err, fault.Forbidden, "not_a_person")
	})

	t.Run("an organization has at most 1000 views, however many are created at once", func(t *testing.T) {
		t.Parallel()
		ctx, us := t.Context(), k.Org(t)
		_, err := k.Runtime(t, us.Org).Exec(ctx, `INSERT INTO views (org_id, name, list, filters, creator, created_at, updated_at)
			SELECT $1, 'View ' || n, 'traces', '{}', 'system', now(), now() FROM generate_series(1, 995) n`, us.Org)
		require.NoError(t, err)
		_, ada := us.Person(t, principal.Member)
		require.Equal(t, 5, atOnce(t, func(i int) error {
			_, err := createView(ctx, ada, map[string]any{"name": strconv.Itoa(i), "list": "traces", "filters": map[string]any{}, "personal": i%2 == 0})
			return err
		}, "too_many_views"))
		_, err = createView(ctx, us, failed)
		refused(t, err, fault.Conflict, "too_many_views")
		require.ErrorContains(t, err, "Delete some")
	})

	t.Run("the name of a filter is short", func(t *testing.T) {
		t.Parallel()
		ctx, us := t.Context(), k.Org(t)
		named := func(n int) map[string]any {
			return map[string]any{"name": "Named", "list": "traces", "filters": map[string]any{strings.Repeat("é", n): []string{"a"}}}
		}
		made, err := createView(ctx, us, named(200))
		require.NoError(t, err)
		_, err = createView(ctx, us, named(201))
		invalid(t, err, "/filters", "length")
		_, err = us.Call(ctx, http.MethodPatch, "/api/views/"+made.ID, map[string]any{"filters": named(201)["filters"]}, nil)
		invalid(t, err, "/filters", "length")
	})

	t.Run("the personal views of a member go with the membership", func(t *testing.T) {
		t.Parallel()
		ctx, us := t.Context(), k.Org(t)
		member, ada := us.Person(t, principal.Member)
		_, err := createView(ctx, ada, failed)
		require.NoError(t, err)
		mine, err := createView(ctx, ada, map[string]any{"name": "Mine", "list": "traces", "filters": map[string]any{}, "personal": true})
		require.NoError(t, err)
		_, bob := us.Person(t, principal.Member)
		_, err = createView(ctx, bob, map[string]any{"name": "Bob's", "list": "traces", "filters": map[string]any{}, "personal": true})
		require.NoError(t, err)
		require.NoError(t, us.RemoveMember(ctx, member.ID))

		require.Equal(t, []string{"Bob's", "Failed"}, seen(t, bob, ""))
		require.EqualValues(t, 2, scalar[int64](t, k.Runtime(t, us.Org), "SELECT count(*) FROM views"))
		entries, err := us.ListAuditLogs(ctx, "action=view.deleted")
		require.NoError(t, err)
		require.Len(t, entries.AuditLogs, 1)
		require.Equal(t, mine.ID, entries.AuditLogs[0].ResourceID)
		require.NotNil(t, entries.AuditLogs[0].BeforeDigest)
		require.Nil(t, entries.AuditLogs[0].AfterDigest)
	})

	t.Run("also those that are created while the member is removed", func(t *testing.T) {
		t.Parallel()
		ctx, us := t.Context(), k.Org(t)
		member, ada := us.Person(t, principal.Member)
		removed := make(chan error, 1)
		atOnce(t, func(i int) error {
			if i == 5 {
				removed <- us.RemoveMember(ctx, member.ID)
			}
			_, err := createView(ctx, ada, map[string]any{"name": strconv.Itoa(i), "list": "traces", "filters": map[string]any{}, "personal": true})
			return err
		}, "member_not_found", "key_revoked")
		require.NoError(t, <-removed)
		require.Zero(t, scalar[int64](t, k.Runtime(t, us.Org), "SELECT count(*) FROM views"))
	})

	t.Run("pages follow cursors", func(t *testing.T) {
		t.Parallel()
		ctx, us := t.Context(), k.Org(t)
		for _, name := range []string{"a", "b", "c"} {
			_, err := createView(ctx, us, map[string]any{"name": name, "list": "traces", "filters": map[string]any{}})
			require.NoError(t, err)
		}
		var page struct {
			Views      []view  `json:"views"`
			NextCursor *string `json:"next_cursor"`
			Total      *int64  `json:"total"`
		}
		_, err := us.Call(ctx, http.MethodGet, "/api/views?limit=2&includeTotal=true", nil, &page)
		require.NoError(t, err)
		require.EqualValues(t, 3, *page.Total)
		require.Len(t, page.Views, 2)
		require.Equal(t, []string{"a"}, seen(t, us, "?limit=2&cursor="+*page.NextCursor))
	})
}
