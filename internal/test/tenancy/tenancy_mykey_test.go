package tenancy_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestMyKeys(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	t.Run("a person sees their own keys and no others", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		_, annotator := us.Person(t, principal.Annotator)
		_, admin := us.Person(t, principal.Admin)
		_, err := admin.CreateKey(ctx, testkit.NewKey{Name: "service", Scopes: reading})
		require.NoError(t, err)
		first, err := annotator.MyKeys(ctx, "")
		require.NoError(t, err)
		require.Equal(t, 1, first.Total, "the key that asks")

		made, err := annotator.CreateMyKey(ctx, testkit.NewKey{Name: "laptop", Scopes: reading})
		require.NoError(t, err)
		made.Key, made.OrganizationID = "", ""
		mine, err := annotator.MyKeys(ctx, "")
		require.NoError(t, err)
		require.Equal(t, append([]testkit.Key{made}, first.APIKeys...), mine.APIKeys)
		require.Equal(t, 2, mine.Total)
		found, err := annotator.MyKeys(ctx, "search=LAPTOP&limit=1")
		require.NoError(t, err)
		require.Equal(t, []testkit.Key{made}, found.APIKeys)
		got, err := annotator.GetMyKey(ctx, made.ID)
		require.NoError(t, err)
		require.Equal(t, made, got)

		theirs, err := admin.MyKeys(ctx, "")
		require.NoError(t, err)
		require.Equal(t, 1, theirs.Total, "a service key is not personal")
		_, err = admin.GetMyKey(ctx, made.ID)
		require.ErrorIs(t, err, tenancy.ErrKeyNotFound)
		_, err = annotator.GetMyKey(ctx, theirs.APIKeys[0].ID)
		require.ErrorIs(t, err, tenancy.ErrKeyNotFound)
	})

	t.Run("a person deletes their own keys and no others", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		_, viewer := us.Person(t, principal.Viewer)
		_, annotator := us.Person(t, principal.Annotator)
		made, err := annotator.CreateMyKey(ctx, testkit.NewKey{Name: "laptop", Scopes: reading})
		require.NoError(t, err)
		service, err := us.CreateKey(ctx, testkit.NewKey{Name: "service", Scopes: reading})
		require.NoError(t, err)

		require.ErrorIs(t, viewer.RevokeMyKey(ctx, made.ID), tenancy.ErrKeyNotFound)
		require.ErrorIs(t, annotator.RevokeMyKey(ctx, service.ID), tenancy.ErrKeyNotFound)
		_, err = us.With(made.Key).Me(ctx)
		require.NoError(t, err)

		require.NoError(t, annotator.RevokeMyKey(ctx, made.ID))
		_, err = us.With(made.Key).Me(ctx)
		require.ErrorIs(t, err, tenancy.ErrKeyRevoked)
		require.ErrorIs(t, annotator.RevokeMyKey(ctx, made.ID), tenancy.ErrKeyNotFound, "twice")
		_, err = annotator.GetMyKey(ctx, made.ID)
		require.ErrorIs(t, err, tenancy.ErrKeyNotFound)
		revoked, err := annotator.MyKeys(ctx, "status=revoked")
		require.NoError(t, err)
		require.Len(t, revoked.APIKeys, 1)

		// The key itself may be the one that ends.
		me, err := annotator.Me(ctx)
		require.NoError(t, err)
		require.NoError(t, annotator.RevokeMyKey(ctx, me.APIKeyID))
		_, err = annotator.MyKeys(ctx, "")
		require.ErrorIs(t, err, tenancy.ErrKeyRevoked)
	})

	t.Run("a service key has no personal keys, unless it speaks for a member", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		_, err := us.MyKeys(ctx, "")
		require.ErrorIs(t, err, tenancy.ErrNotAPerson)
		_, err = us.GetMyKey(ctx, 1)
		require.ErrorIs(t, err, tenancy.ErrNotAPerson)
		require.ErrorIs(t, us.RevokeMyKey(ctx, 1), tenancy.ErrNotAPerson)

		ada, hers := us.Person(t, principal.Member)
		keys, err := us.MyKeys(ctx, "", testkit.OnBehalfOf(ada.ID))
		require.NoError(t, err)
		require.Equal(t, 1, keys.Total)
		require.NoError(t, us.RevokeMyKey(ctx, keys.APIKeys[0].ID, testkit.OnBehalfOf(ada.ID)))
		_, err = hers.Me(ctx)
		require.ErrorIs(t, err, tenancy.ErrKeyRevoked)
	})

	t.Run("an administrator cannot end an owner's key by speaking for the owner", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		boss, owner := us.Person(t, principal.Owner)
		_, admin := us.Person(t, principal.Admin)
		me, err := owner.Me(ctx)
		require.NoError(t, err)
		require.ErrorIs(t, admin.RevokeMyKey(ctx, me.APIKeyID, testkit.OnBehalfOf(boss.ID)), tenancy.ErrOwnersOnly)
		_, err = owner.Me(ctx)
		require.NoError(t, err)
	})

	t.Run("a new key is found where its owner can read it", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		_, viewer := k.Org(t).Person(t, principal.Viewer)
		var made testkit.Key
		res, err := viewer.Call(ctx, http.MethodPost, "/api/me/api-keys", testkit.NewKey{Name: "found", Scopes: reading}, &made)
		require.NoError(t, err)
		require.Equal(t, "/api/me/api-keys/"+strconv.FormatInt(made.ID, 10), res.Header.Get("Location"))
		_, err = viewer.Call(ctx, http.MethodGet, res.Header.Get("Location"), nil, nil)
		require.NoError(t, err)
	})
}
