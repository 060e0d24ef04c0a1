package tenancy_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestJourney is how a team gets in, hands out keys and takes them back.
func TestJourney(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Shared(t)
	us := k.Org(t)

	// The first key says who it is.
	me, err := us.GetMe(ctx)
	require.NoError(t, err)
	require.Equal(t, us.Org.String(), me.OrganizationID)
	require.Len(t, me.Scopes, len(principal.Scopes))

	// It makes a key for CI that can only run evaluations.
	ci, err := us.CreateKey(ctx, testkit.NewKey{Name: "CI gate", Scopes: []string{"eval:read", "eval:write"}})
	require.NoError(t, err)
	require.Equal(t, us.Org.String(), ci.OrganizationID)
	robot := us.With(ci.Key)
	_, err = robot.CreateDataset(ctx, testkit.NewDataset{Name: "From CI"})
	require.NoError(t, err)
	res, err := robot.Call(ctx, http.MethodGet, "/api/developer/api-keys", nil, nil)
	require.Error(t, err)
	require.Equal(t, http.StatusUnauthorized, res.Status)
	require.Contains(t, res.Header.Get("WWW-Authenticate"), `scope="admin:org"`)

	// Every answer says where the key stands in its hour.
	require.NotEmpty(t, res.Header.Get("RateLimit"))
	require.Contains(t, res.Header.Get("RateLimit-Policy"), "w=3600")

	// The key is rotated: both work during the grace, then only the new one.
	next, err := us.RotateKey(ctx, ci.ID, 60)
	require.NoError(t, err)
	for _, c := range []*testkit.Client{robot, us.With(next.Key)} {
		_, err = c.GetMe(ctx)
		require.NoError(t, err)
	}
	require.NoError(t, us.DeleteAPIKey(ctx, next.ID))
	_, err = us.With(next.Key).GetMe(ctx)
	require.ErrorIs(t, err, tenancy.ErrKeyRevoked)

	// Everything that was written is in the log, with who did it.
	log, err := us.ListAuditLogs(ctx, "")
	require.NoError(t, err)
	var actions []string
	for _, e := range log.AuditLogs {
		actions = append(actions, e.Action)
	}
	require.Equal(t, []string{
		"api_key.revoked", "api_key.created", "api_key.rotated", "dataset.created", "api_key.created",
		"organization.created", "api_key.created", "member.added",
	}, actions)

	// And the usage of the first key is there, per day and per endpoint.
	k.App.Tenancy.FlushMeter(ctx)
	usage, err := us.GetAPIKeyUsage(ctx, me.APIKeyID, "")
	require.NoError(t, err)
	require.Positive(t, usage.TotalRequests)
	require.NotEmpty(t, usage.ByEndpoint)
	require.Equal(t, usage.TotalRequests, usage.ByDay[0].Requests)
	require.NotNil(t, usage.P95LatencyMs)
}
