package tenancy_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	t.Run("an invitation makes a member", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		ada, err := us.InviteMember(ctx, testkit.NewMember{Email: "Ada@Example.com", Name: new("Ada"), Role: "member"})
		require.NoError(t, err)
		require.NotEmpty(t, ada.ID)
		require.Equal(t, testkit.Member{ID: ada.ID, Email: "Ada@Example.com", Name: new("Ada"), Role: "member", Status: "invited", CreatedAt: ada.CreatedAt, Version: 1}, ada)

		for _, email := range []string{"Ada@Example.com", "ada@example.com", "ADA@EXAMPLE.COM"} {
			_, err = us.InviteMember(ctx, testkit.NewMember{Email: email, Role: "viewer"})
			require.ErrorIs(t, err, tenancy.ErrMemberExists, email)
			refused(t, err, fault.Conflict, "already_exists")
		}
		// In another organization the same person is another member.
		there, err := k.Org(t).InviteMember(ctx, testkit.NewMember{Email: "ada@example.com", Role: "viewer"})
		require.NoError(t, err)
		require.NotEqual(t, ada.ID, there.ID)

		changed, err := us.UpdateMember(ctx, ada.ID, map[string]any{"role": "admin", "name": "Ada L."})
		require.NoError(t, err)
		require.Equal(t, "admin", changed.Role)
		require.Equal(t, "Ada L.", api.Value(changed.Name))
		all, err := us.ListMembers(ctx, "limit=1000")
		require.NoError(t, err)
		require.Len(t, all.Members, 2)
		require.Equal(t, changed, all.Members[0], "newest first")
	})

	t.Run("a member is active once a key of theirs was used", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		status := func(user string) string {
			t.Helper()
			k.App.Tenancy.FlushMeter(ctx) // which a process does once a second
			all, err := us.ListMembers(ctx, "limit=1000")
			require.NoError(t, err)
			for _, m := range all.Members {
				if m.ID == user {
					return m.Status
				}
			}
			return "missing"
		}
		ada, hers := us.Minted(t, principal.Member)
		require.Equal(t, "invited", status(ada.ID), "somebody else made the key for her")

		_, err := hers.ListDatasets(ctx, "includeTotal=true")

		require.NoError(t, err)
		require.Equal(t, "active", status(ada.ID))
		changed, err := us.UpdateMember(ctx, ada.ID, map[string]any{"name": "Ada"})
		require.NoError(t, err)
		require.Equal(t, "active", changed.Status)
	})

	t.Run("a request that makes no sense is refused", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		_, err := us.InviteMember(ctx, testkit.NewMember{Email: "not an address", Role: "member"})
		invalid(t, err, "/email", "format")
		_, err = us.InviteMember(ctx, testkit.NewMember{Email: "a@example.com", Role: "god"})
		invalid(t, err, "/role", "enum")
		_, err = us.UpdateMember(ctx, us.Owner.String(), map[string]any{"email": "new@example.com", "colour": "red"})
		invalid(t, err, "/colour", "unknown_field")
		for _, nobody := range []string{"01900000-0000-7000-8000-000000000001", "nobody", strings.ReplaceAll(us.Owner.String(), "-", "")} {
			_, err = us.UpdateMember(ctx, nobody, map[string]any{"name": "x"})
			require.ErrorIs(t, err, tenancy.ErrMemberNotFound)
			require.ErrorIs(t, us.RemoveMember(ctx, nobody), tenancy.ErrMemberNotFound)
		}
		// Another organization's member is nobody here.
		them := k.Org(t)
		_, err = us.UpdateMember(ctx, them.Owner.String(), map[string]any{"role": "viewer"})
		require.ErrorIs(t, err, tenancy.ErrMemberNotFound)
		require.ErrorIs(t, us.RemoveMember(ctx, them.Owner.String()), tenancy.ErrMemberNotFound)
	})

	t.Run("the last owner stays", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		_, err := us.UpdateMember(ctx, us.Owner.String(), map[string]any{"role": "admin"})
		require.ErrorIs(t, err, tenancy.ErrLastOwner)
		refused(t, err, fault.Forbidden, "last_owner")
		require.ErrorIs(t, us.RemoveMember(ctx, us.Owner.String()), tenancy.ErrLastOwner)
		_, err = us.UpdateMember(ctx, us.Owner.String(), map[string]any{"name": "Still the owner"})
		require.NoError(t, err)

		second, _ := us.Person(t, principal.Owner)
		require.NoError(t, us.RemoveMember(ctx, us.Owner.String()))
		require.ErrorIs(t, us.RemoveMember(ctx, second.ID), tenancy.ErrLastOwner)
	})

	t.Run("of two owners one remains, whoever is quicker", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		second, _ := us.Person(t, principal.Owner)
		owners := []string{us.Owner.String(), second.ID}
		errs := make([]error, 50)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() {
				user := owners[i%2]
				if i%4 < 2 {
					_, errs[i] = us.UpdateMember(ctx, user, map[string]any{"role": "member"})
				} else {
					errs[i] = us.RemoveMember(ctx, user)
				}
			})
		}
		wg.Wait()

		all, err := us.ListMembers(ctx, "limit=1000")
		require.NoError(t, err)
		left := 0
		for _, m := range all.Members {
			if m.Role == "owner" {
				left++
			}
		}
		require.Equal(t, 1, left)
		refusals := 0
		for _, err := range errs {
			if err != nil {
				f, ok := fault.From(err)
				require.True(t, ok, "%v", err)
				require.Contains(t, []string{"last_owner", "member_not_found"}, f.Reason)
				refusals++
			}
		}
		require.Positive(t, refusals)
	})

	t.Run("removal ends personal keys and keeps service keys", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		admin, mine := us.Minted(t, principal.Admin)
		service, err := mine.CreateKey(ctx, testkit.NewKey{Name: "for the robot", Scopes: reading})
		require.NoError(t, err)
		require.Equal(t, testkit.Actor{Type: "user", ID: &admin.ID, Asserted: true}, service.CreatedBy, "another person made the key that made it; who has no name is not shown by address")
		require.False(t, service.Personal)
		second, err := mine.CreateKey(ctx, testkit.NewKey{Name: "for my laptop", Scopes: reading, Personal: new(true)})
		require.NoError(t, err)
		require.True(t, second.Personal)

		require.NoError(t, us.RemoveMember(ctx, admin.ID))

		_, err = mine.GetMe(ctx)
		require.ErrorIs(t, err, tenancy.ErrKeyRevoked)
		_, err = us.With(second.Key).GetMe(ctx)
		require.ErrorIs(t, err, tenancy.ErrKeyRevoked)
		_, err = us.With(service.Key).GetMe(ctx)
		require.NoError(t, err)
		_, err = us.Call(ctx, http.MethodGet, "/api/me", nil, nil, testkit.OnBehalfOf(admin.ID))
		require.ErrorIs(t, err, tenancy.ErrNotAMember)

		// They can come back, as somebody new.
		again, err := us.InviteMember(ctx, testkit.NewMember{Email: strings.ToUpper(admin.Email), Role: "viewer"})
		require.NoError(t, err)
		require.NotEqual(t, admin.ID, again.ID)
		_, err = mine.GetMe(ctx)
		require.ErrorIs(t, err, tenancy.ErrKeyRevoked, "old keys stay dead")
	})

	t.Run("a demotion narrows personal keys at once", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		admin, mine := us.Person(t, principal.Admin)
		_, err := mine.ListMembers(ctx, "limit=1000")
		require.NoError(t, err)

		_, err = us.UpdateMember(ctx, admin.ID, map[string]any{"role": "viewer"})
		require.NoError(t, err)

		_, err = mine.ListMembers(ctx, "limit=1000")
		require.Equal(t, "viewer", refused(t, err, fault.Forbidden, "role_forbids")["role"])
		_, err = mine.CreateDataset(ctx, testkit.NewDataset{Name: "x"})
		refused(t, err, fault.Forbidden, "role_forbids")
		me, err := mine.GetMe(ctx)
		require.NoError(t, err)
		require.Equal(t, []string{"eval:read", "traces:read"}, me.Scopes)
		require.Equal(t, "viewer", *me.Role)

		_, err = us.UpdateMember(ctx, admin.ID, map[string]any{"role": "admin"})
		require.NoError(t, err)
		_, err = mine.ListMembers(ctx, "limit=1000")
		require.NoError(t, err, "a promotion widens them again")
	})

	t.Run("an annotator cannot write datasets", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		_, annotator := us.Person(t, principal.Annotator)
		_, err := annotator.CreateDataset(ctx, testkit.NewDataset{Name: "x"})
		require.Equal(t, "annotator", refused(t, err, fault.Forbidden, "role_forbids")["role"])
		_, err = annotator.ListDatasets(ctx, "includeTotal=true")
		require.NoError(t, err)
		_, err = annotator.Call(ctx, http.MethodPost, "/api/datasets", map[string]any{}, nil)
		refused(t, err, fault.Validation, "invalid_request")
	})

	t.Run("a member makes keys of their own within their role", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		member, viewer := us.Person(t, principal.Viewer)
		made, err := viewer.CreateMyKey(ctx, testkit.NewKey{Name: "mine", Scopes: reading})
		require.NoError(t, err)
		require.True(t, made.Personal)
		require.Equal(t, &member.ID, made.CreatedBy.ID)
		_, err = viewer.Call(ctx, http.MethodPost, "/api/me/api-keys", testkit.NewKey{Name: "more", Scopes: []string{"eval:write"}}, nil)
		require.ErrorIs(t, err, tenancy.ErrScopeEscalation)
		_, err = us.Call(ctx, http.MethodPost, "/api/me/api-keys", testkit.NewKey{Name: "whose", Scopes: reading}, nil)
		require.ErrorIs(t, err, tenancy.ErrNotAPerson)
	})

	t.Run("an administrator cannot touch owners", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		member, _ := us.Person(t, principal.Member)
		_, admin := us.Person(t, principal.Admin)
		_, owner := us.Person(t, principal.Owner)
		_, err := admin.InviteMember(ctx, testkit.NewMember{Email: "boss@example.com", Role: "owner"})
		require.ErrorIs(t, err, tenancy.ErrOwnersOnly)
		_, err = admin.UpdateMember(ctx, member.ID, map[string]any{"role": "owner"})
		require.ErrorIs(t, err, tenancy.ErrOwnersOnly)
		_, err = admin.UpdateMember(ctx, us.Owner.String(), map[string]any{"role": "viewer"})
		refused(t, err, fault.Forbidden, "owners_only")
		require.ErrorIs(t, admin.RemoveMember(ctx, us.Owner.String()), tenancy.ErrOwnersOnly)
		_, err = admin.Call(ctx, http.MethodDelete, "/api/organizations/current/members/"+us.Owner.String(), nil, nil, testkit.OnBehalfOf(us.Owner.String()))
		refused(t, err, fault.Forbidden, "owners_only")
		// Nor with a service key of their making, nor one that it makes.
		robot := admin
		for _, name := range []string{"robot", "robot's robot"} {
			made, err := robot.CreateKey(ctx, testkit.NewKey{Name: name, Scopes: []string{"admin:org"}})
			require.NoError(t, err)
			robot = us.With(made.Key)
			require.ErrorIs(t, robot.RemoveMember(ctx, us.Owner.String()), tenancy.ErrOwnersOnly)
			require.ErrorIs(t, robot.DeleteOrganization(ctx, "confirm="+us.Org.String()), tenancy.ErrOwnerDeletes)
		}
		_, err = admin.UpdateMember(ctx, member.ID, map[string]any{"role": "viewer"})
		require.NoError(t, err)
		require.NoError(t, owner.RemoveMember(ctx, us.Owner.String()))
	})
}
