package tenancy_test

import (
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestOwnersAreOutOfAnAdminsReach tries the ways around the rule that only an
// owner decides about owners.
func TestOwnersAreOutOfAnAdminsReach(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	all := []string{"eval:read", "eval:write", "traces:read", "traces:write", "reports:write", "admin:org"}

	t.Run("a service key that an admin made is no owner's", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		_, admin := us.Person(t, principal.Admin)
		made, err := admin.CreateKey(ctx, testkit.NewKey{Name: "back door", Scopes: all})
		require.NoError(t, err)
		back := us.With(made.Key)
		_, err = back.UpdateMember(ctx, us.Owner.String(), map[string]any{"name": "Renamed"})
		require.ErrorIs(t, err, tenancy.ErrOwnersOnly)
		require.ErrorIs(t, back.DeleteOrganization(ctx, "confirm="+us.Org.String()), tenancy.ErrOwnerDeletes)

		// Neither is one that this key makes, nor a rotated one.
		deeper, err := back.CreateKey(ctx, testkit.NewKey{Name: "deeper", Scopes: all})
		require.NoError(t, err)
		_, err = us.With(deeper.Key).UpdateMember(ctx, us.Owner.String(), map[string]any{"name": "Renamed"})
		require.ErrorIs(t, err, tenancy.ErrOwnersOnly)
	})

	t.Run("a key over owners cannot be taken by rotation", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		me, err := us.GetMe(ctx)
		require.NoError(t, err)
		_, admin := us.Person(t, principal.Admin)
		_, err = admin.RotateKey(ctx, me.APIKeyID, 60)
		require.ErrorIs(t, err, tenancy.ErrOwnersOnly)
	})

	t.Run("an owner's personal key cannot be rotated or made by an admin", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		owner, err := us.CreateKey(ctx, testkit.NewKey{Name: "owner", Scopes: all, Personal: new(true)}, testkit.Header("X-On-Behalf-Of", us.Owner.String()))
		require.NoError(t, err, "the first key may: the operator made it")
		_, admin := us.Person(t, principal.Admin)
		_, err = admin.RotateKey(ctx, owner.ID, 60)
		require.ErrorIs(t, err, tenancy.ErrOwnersOnly)
		_, err = admin.CreateKey(ctx, testkit.NewKey{Name: "as owner", Scopes: all, Personal: new(true)}, testkit.Header("X-On-Behalf-Of", us.Owner.String()))
		require.ErrorIs(t, err, tenancy.ErrOwnersOnly)
	})

	t.Run("a personal key that somebody else made says so in the log", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		member, theirs := us.Minted(t, principal.Member)
		d, err := theirs.CreateDataset(ctx, testkit.NewDataset{Name: "Made with it"})
		require.NoError(t, err)
		log, err := us.ListAuditLogs(ctx, "resourceType=dataset&resourceId="+d.ID)
		require.NoError(t, err)
		require.Len(t, log.AuditLogs, 1)
		require.Equal(t, member.ID, *log.AuditLogs[0].Actor.ID)
		require.True(t, log.AuditLogs[0].Actor.Asserted)
		require.NotEqual(t, uuid.Nil.String(), *log.AuditLogs[0].Actor.ID)
	})
	t.Run("a key over owners is not an admin's to widen, shorten or revoke", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		ci, err := us.CreateKey(ctx, testkit.NewKey{Name: "CI gate", Scopes: []string{"eval:read"}})
		require.NoError(t, err)
		root, err := us.CreateKey(ctx, testkit.NewKey{Name: "root", Scopes: all})
		require.NoError(t, err)
		_, admin := us.Person(t, principal.Admin)

		// The CI key never was over owners, so widening it gains nothing.
		_, err = admin.Call(ctx, "PATCH", "/api/developer/api-keys/"+strconv.FormatInt(ci.ID, 10), map[string]any{"scopes": all}, nil)
		require.NoError(t, err)
		_, err = us.With(ci.Key).UpdateMember(ctx, us.Owner.String(), map[string]any{"name": "Renamed"})
		require.ErrorIs(t, err, tenancy.ErrOwnersOnly)

		_, err = admin.Call(ctx, "PATCH", "/api/developer/api-keys/"+strconv.FormatInt(root.ID, 10), map[string]any{"name": "mine"}, nil)
		require.ErrorIs(t, err, tenancy.ErrOwnersOnly)
		require.ErrorIs(t, admin.DeleteAPIKey(ctx, root.ID), tenancy.ErrOwnersOnly)
	})

	t.Run("a key made for a member stays small when the member becomes an owner", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		bob, err := us.InviteMember(ctx, testkit.NewMember{Email: "bob@example.com", Role: "member"})
		require.NoError(t, err)
		_, admin := us.Person(t, principal.Admin)
		kept, err := admin.CreateKey(ctx, testkit.NewKey{Name: "kept", Scopes: all, Personal: new(true)}, testkit.OnBehalfOf(bob.ID))
		require.NoError(t, err)
		_, err = us.UpdateMember(ctx, bob.ID, map[string]any{"role": "owner"})
		require.NoError(t, err)
		_, err = us.With(kept.Key).UpdateMember(ctx, us.Owner.String(), map[string]any{"role": "viewer"})
		require.ErrorIs(t, err, tenancy.ErrOwnersOnly)
	})
}
