package tenancy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

func telemetryHasBucketsOfItsOwn(t *testing.T, k *testkit.Kit) {
	t.Helper()
	ctx := t.Context()
	us := k.Org(t)
	caller := principal.Caller{Org: us.Org, KeyID: "telemetry"}
	before, err := us.GetMe(ctx)
	require.NoError(t, err)

	// A hundred exports of 9,999 spans fit the million; the next does not, and
	// is refused whole: its bytes are not counted either.
	for range 100 {
		d, err := k.App.Tenancy.SpendTelemetry(ctx, caller, 9_999, 1_000)
		require.NoError(t, err)
		require.True(t, d.Allowed)
	}
	d, err := k.App.Tenancy.SpendTelemetry(ctx, caller, 9_999, 1_000)
	require.NoError(t, err)
	require.False(t, d.Allowed)
	require.Positive(t, d.RetryAfter)
	d, err = k.App.Tenancy.SpendTelemetry(ctx, caller, 100, 999_900_000)
	require.NoError(t, err)
	require.True(t, d.Allowed, "what was refused took no bytes")

	// The bytes are spent now, though spans are left after an hour.
	d, err = k.App.Tenancy.SpendTelemetry(ctx, caller, 0, 1)
	require.NoError(t, err)
	require.False(t, d.Allowed)
	k.Clock.Advance(time.Hour + time.Second)
	d, err = k.App.Tenancy.SpendTelemetry(ctx, caller, 1, 1)
	require.NoError(t, err)
	require.True(t, d.Allowed)

	// None of it counted as requests.
	after, err := us.GetMe(ctx)
	require.NoError(t, err)
	require.Equal(t, before.HourlyLimit, after.HourlyLimit)
}

func TestAMemberMintsKeysWithinTheirRole(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Shared(t)
	us := k.Org(t)
	ada, err := us.InviteMember(ctx, testkit.NewMember{Email: "ada@example.com", Role: "member"})
	require.NoError(t, err)

	// An administrator makes Ada's first key for her.
	first, err := us.CreateKey(ctx, testkit.NewKey{Name: "Ada", Scopes: []string{"eval:read", "eval:write"}, Personal: new(true)}, testkit.Header("X-On-Behalf-Of", ada.ID))
	require.NoError(t, err)

	// With it she makes one that can only read, and none that can do more.
	own := us.With(first.Key)
	var reader testkit.Key
	_, err = own.Call(ctx, "POST", "/api/me/api-keys", testkit.NewKey{Name: "Reader", Scopes: []string{"eval:read"}}, &reader)
	require.NoError(t, err)
	require.True(t, reader.Personal)
	res, err := own.Call(ctx, "POST", "/api/me/api-keys", testkit.NewKey{Name: "More", Scopes: []string{"admin:org"}}, nil)
	require.Error(t, err)
	require.Equal(t, 403, res.Status)

	// A service key is nobody, and mints no personal key.
	res, err = us.Call(ctx, "POST", "/api/me/api-keys", testkit.NewKey{Name: "Nobody's", Scopes: []string{"eval:read"}}, nil)
	require.Error(t, err)
	require.Equal(t, 403, res.Status)
}
