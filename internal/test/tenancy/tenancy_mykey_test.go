package tenancy_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
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
		first, err := annotator.ListMyAPIKeys(ctx, "includeTotal=true")
		require.NoError(t, err)
		require.EqualValues(t, 1, api.Value(first.Total), "the key that asks")

		made, err := annotator.CreateMyKey(ctx, testkit.NewKey{Name: "laptop", Scopes: reading})
		require.NoError(t, err)
		mine, err := annotator.ListMyAPIKeys(ctx, "includeTotal=true")
		require.NoError(t, err)
		require.Equal(t, append([]api.APIKey{made.APIKey}, first.APIKeys...), mine.APIKeys)
		require.EqualValues(t, 2, api.Value(mine.Total))
		found, err := annotator.ListMyAPIKeys(ctx, "includeTotal=true&search=LAPTOP&limit=1")
		require.NoError(t, err)
		require.Equal(t, []api.APIKey{made.APIKey}, found.APIKeys)
		got, err := annotator.GetMyAPIKey(ctx, made.ID)
		require.NoError(t, err)
		require.Equal(t, made.APIKey, got)

		theirs, err := admin.ListMyAPIKeys(ctx, "includeTotal=true")
		require.NoError(t, err)
		require.EqualValues(t, 1, api.Value(theirs.Total), "a service key is not personal")
		_, err = admin.GetMyAPIKey(ctx, made.ID)
		require.ErrorIs(t, err, tenancy.ErrKeyNotFound)
		_, err = annotator.GetMyAPIKey(ctx, theirs.APIKeys[0].ID)
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

		require.ErrorIs(t, viewer.DeleteMyAPIKey(ctx, made.ID), tenancy.ErrKeyNotFound)
		require.ErrorIs(t, annotator.DeleteMyAPIKey(ctx, service.ID), tenancy.ErrKeyNotFound)
		_, err = us.With(made.Key).GetMe(ctx)
		require.NoError(t, err)

		require.NoError(t, annotator.DeleteMyAPIKey(ctx, made.ID))
		_, err = us.With(made.Key).GetMe(ctx)
		require.ErrorIs(t, err, tenancy.ErrKeyRevoked)
		require.ErrorIs(t, annotator.DeleteMyAPIKey(ctx, made.ID), tenancy.ErrKeyNotFound, "twice")
		_, err = annotator.GetMyAPIKey(ctx, made.ID)
		require.ErrorIs(t, err, tenancy.ErrKeyNotFound)
		revoked, err := annotator.ListMyAPIKeys(ctx, "includeTotal=true&status=revoked")
		require.NoError(t, err)
		require.Len(t, revoked.APIKeys, 1)

		// The key itself may be the one that ends.
		me, err := annotator.GetMe(ctx)
		require.NoError(t, err)
		require.NoError(t, annotator.DeleteMyAPIKey(ctx, me.APIKeyID))
		_, err = annotator.ListMyAPIKeys(ctx, "includeTotal=true")
		require.ErrorIs(t, err, tenancy.ErrKeyRevoked)
	})

	t.Run("a service key has no personal keys, unless it speaks for a member", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		_, err := us.ListMyAPIKeys(ctx, "includeTotal=true")
		require.ErrorIs(t, err, tenancy.ErrNotAPerson)
		_, err = us.GetMyAPIKey(ctx, 1)
		require.ErrorIs(t, err, tenancy.ErrNotAPerson)
		require.ErrorIs(t, us.DeleteMyAPIKey(ctx, 1), tenancy.ErrNotAPerson)

		ada, hers := us.Person(t, principal.Member)
		keys, err := us.ListMyAPIKeys(ctx, "includeTotal=true", testkit.OnBehalfOf(ada.ID))
		require.NoError(t, err)
		require.EqualValues(t, 1, api.Value(keys.Total))
		require.NoError(t, us.DeleteMyAPIKey(ctx, keys.APIKeys[0].ID, testkit.OnBehalfOf(ada.ID)))
		_, err = hers.GetMe(ctx)
		require.ErrorIs(t, err, tenancy.ErrKeyRevoked)
	})

	t.Run("an administrator cannot end an owner's key by speaking for the owner", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		boss, owner := us.Person(t, principal.Owner)
		_, admin := us.Person(t, principal.Admin)
		me, err := owner.GetMe(ctx)
		require.NoError(t, err)
		require.ErrorIs(t, admin.DeleteMyAPIKey(ctx, me.APIKeyID, testkit.OnBehalfOf(boss.ID)), tenancy.ErrOwnersOnly)
		_, err = owner.GetMe(ctx)
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
