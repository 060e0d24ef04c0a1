package tenancy_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/test/testkit"
)

// noon moves the application's clock to the next noon, so that no day ends in
// the middle of a test, and returns it as a date.
func noon(k *testkit.Kit) string {
	now := k.Clock.Now().UTC()
	next := now.Truncate(24 * time.Hour).Add(36 * time.Hour)
	k.Clock.Advance(next.Sub(now))
	return next.Format("2006-01-02")
}

// usage asks for a key's usage with a query of its own. The latencies of
// operations, which no test can predict, are checked and set to zero.
func usage(t testing.TB, c *testkit.Client, id int64, query string) (out testkit.Usage) {
	t.Helper()
	_, err := c.Call(t.Context(), http.MethodGet, "/api/developer/api-keys/"+strconv.FormatInt(id, 10)+"/usage?"+query, nil, &out)
	require.NoError(t, err)
	for i := range out.ByEndpoint {
		e := &out.ByEndpoint[i]
		require.GreaterOrEqual(t, e.P95LatencyMs, e.P50LatencyMs)
		e.P50LatencyMs, e.P95LatencyMs = 0, 0
	}
	return out
}

func endpoint(operation, method, route string, requests, errors int64) testkit.UsageEndpoint {
	return testkit.UsageEndpoint{Operation: &operation, Method: &method, Route: &route, Requests: requests, Errors: errors}
}

func TestUsage(t *testing.T) {
	t.Parallel()

	t.Run("the figures are what was sent", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		k := testkit.Moving(t)
		us := k.Org(t)
		made, err := us.CreateKey(ctx, testkit.NewKey{Name: "counted", Scopes: []string{"eval:read", "eval:write"}})
		require.NoError(t, err)
		robot := us.With(made.Key)
		none := usage(t, us, made.ID, "")
		require.Zero(t, none.TotalRequests)
		require.Nil(t, none.ErrorRate)
		require.Nil(t, none.P95LatencyMs)
		require.Empty(t, none.ByDay)

		yesterday := noon(k)
		for range 3 {
			get(t, robot, "/api/datasets")
		}
		get(t, robot, "/api/datasets/4711") // 404
		today := noon(k)
		get(t, robot, "/api/datasets?limit=0") // 400
		get(t, robot, "/api/audit-logs")       // 401, a scope is missing
		get(t, robot, "/api/nothing")          // 404, no route
		_, err = robot.CreateDataset(ctx, testkit.NewDataset{Name: "one"})
		require.NoError(t, err)
		get(t, us, "/api/datasets") // another key's
		k.App.Tenancy.FlushMeter(ctx)

		u := usage(t, us, made.ID, "")
		require.Equal(t, made.ID, u.APIKeyID)
		require.EqualValues(t, 8, u.TotalRequests)
		require.InDelta(t, 0.5, *u.ErrorRate, 1e-9)
		require.Positive(t, *u.P50LatencyMs)
		require.GreaterOrEqual(t, *u.P95LatencyMs, *u.P50LatencyMs)
		require.Zero(t, u.RateLimited)
		require.Equal(t, []testkit.UsageDay{{Date: yesterday, Requests: 4, Errors: 1}, {Date: today, Requests: 4, Errors: 3}}, u.ByDay)
		require.Equal(t, endpoint("listDatasets", "GET", "/api/datasets", 4, 1), u.ByEndpoint[0], "busiest first")
		require.ElementsMatch(t, []testkit.UsageEndpoint{
			endpoint("listDatasets", "GET", "/api/datasets", 4, 1),
			endpoint("getDataset", "GET", "/api/datasets/{id}", 1, 1),
			endpoint("createDataset", "POST", "/api/datasets", 1, 0),
			endpoint("listAuditLogs", "GET", "/api/audit-logs", 1, 1),
			{Requests: 1, Errors: 1}, // no route
		}, u.ByEndpoint)
		require.EqualValues(t, 1_000_000, u.CurrentWindow.Limit)
		// Yesterday's have left the hour, unless another test was at a later time before: a
		// limit remembers the latest. TestRateLimit has a clock of its own.
		require.Contains(t, []int64{1_000_000 - 4, 1_000_000 - 8}, u.CurrentWindow.Remaining)

		require.EqualValues(t, 4, usage(t, us, made.ID, "days=1").TotalRequests, "today only")
		require.Equal(t, u.ByEndpoint, usage(t, us, made.ID, "limit=2&offset=1").ByEndpoint, "it is not paged")
		k.Clock.Advance(10 * 24 * time.Hour)
		require.Zero(t, usage(t, us, made.ID, "").TotalRequests)
		require.EqualValues(t, 8, usage(t, us, made.ID, "days=90").TotalRequests)
		for _, days := range []string{"0", "91", "-1", "x"} {
			_, err := us.Call(ctx, http.MethodGet, "/api/developer/api-keys/"+strconv.FormatInt(made.ID, 10)+"/usage?days="+days, nil, nil)
			refused(t, err, fault.Validation, "invalid_request")
		}
	})

	t.Run("refusals of the limit are counted apart", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		k := testkit.Shared(t)
		us := free(t, k)
		made, err := us.CreateKey(ctx, testkit.NewKey{Name: "busy", Scopes: reading})
		require.NoError(t, err)
		for range 103 {
			serve(t, k, made.Key, http.MethodGet, "/api/nothing")
		}
		k.App.Tenancy.FlushMeter(ctx)
		u := usage(t, us, made.ID, "")
		require.EqualValues(t, 103, u.TotalRequests)
		require.EqualValues(t, 3, u.RateLimited)
		require.EqualValues(t, 100, u.CurrentWindow.Limit)
		require.Zero(t, u.CurrentWindow.Remaining)
	})
}

// TestReadsLeaveNoRows counts every row of PostgreSQL: a request costs none.
func TestReadsLeaveNoRows(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "it sees the rows of all organizations")
	us := k.Org(t)
	d := us.Dataset(t, testkit.NewDataset{})
	conn := asOwner(t, k)
	narrow := k.Key(t, us, principal.EvalRead)
	before := rowsOf(t, conn, us.Org)
	paths := []string{"/api/me", "/api/datasets", "/api/datasets/" + d.ID, "/api/audit-logs", "/api/nothing", "/api/organizations/current"}
	for i := range 200 {
		key := us.Key
		if i%3 == 0 {
			key = narrow.Key
		}
		serve(t, k, key, http.MethodGet, paths[i%len(paths)])
	}
	k.App.Tenancy.FlushMeter(t.Context())
	require.Equal(t, before, rowsOf(t, conn, us.Org))
}
