package tenancy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/test/testkit"
)

// sent is a request and the two moments that it happened between.
type sent struct {
	began, ended time.Time
	res          *httptest.ResponseRecorder
}

// serve makes a request of the edge in this process.
func serve(t testing.TB, k *testkit.Kit, key secret.Text, method, path string) sent {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key.Reveal())
	}
	s := sent{began: k.Clock.Now(), res: httptest.NewRecorder()}
	k.App.Edge.ServeHTTP(s.res, req)
	s.ended = k.Clock.Now()
	return s
}

// free is an organization of the free plan: 100 requests an hour and key.
func free(t testing.TB, k *testkit.Kit) *testkit.Client {
	t.Helper()
	us := k.Org(t)
	require.NoError(t, k.App.Tenancy.SetPlan(t.Context(), us.Org, tenancy.PlanFree, 0))
	return us
}

// header is a number of a header.
func header(t testing.TB, s sent, name string) int {
	t.Helper()
	n, err := strconv.Atoi(s.res.Header().Get(name))
	require.NoError(t, err, "%s: %q", name, s.res.Header().Get(name))
	return n
}

// leaves requires that a number of seconds is the time until a request leaves
// the hour, rounded up; the exact moments are only known to lie in the bounds.
func leaves(t testing.TB, oldest, now sent, seconds int) {
	t.Helper()
	least := math.Ceil((time.Hour - now.ended.Sub(oldest.began)).Seconds())
	most := math.Ceil((time.Hour - now.began.Sub(oldest.ended)).Seconds())
	require.GreaterOrEqual(t, float64(seconds), least)
	require.LessOrEqual(t, float64(seconds), most)
}

//nolint:paralleltest // one case after the other moves the clock
func TestRateLimit(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its clock only goes forward: a limit remembers the latest time")

	t.Run("every answer says where the key stands, and every request counts once", func(t *testing.T) {
		us := free(t, k)
		var first sent
		for i, c := range []struct {
			method, path string
			status       int
		}{
			{http.MethodGet, "/api/me", 200},
			{http.MethodGet, "/api/nothing/here", 404},
			{http.MethodGet, "/api/datasets/4711", 404},
			{http.MethodGet, "/api/datasets?limit=0", 400},
			{http.MethodPost, "/api/datasets", 400},
			{http.MethodPut, "/api/datasets", 405},
			{http.MethodHead, "/api/me", 200},
			{http.MethodDelete, "/api/organizations/current?confirm=no", 400},
		} {
			s := serve(t, k, us.Key, c.method, c.path)
			if i == 0 {
				first = s
			}
			require.Equal(t, c.status, s.res.Code, "%s %s", c.method, c.path)
			h := s.res.Header()
			require.Equal(t, `"hour";q=100;w=3600`, h.Get("RateLimit-Policy"))
			require.Equal(t, "100", h.Get("X-RateLimit-Limit"))
			require.Equal(t, strconv.Itoa(99-i), h.Get("X-RateLimit-Remaining"), "%s %s", c.method, c.path)
			require.Equal(t, fmt.Sprintf(`"hour";r=%d;t=%s`, 99-i, h.Get("X-RateLimit-Reset")), h.Get("RateLimit"))
			leaves(t, first, s, header(t, s, "X-RateLimit-Reset"))
			require.Empty(t, h.Get("Retry-After"))
			k.Clock.Advance(time.Minute)
		}
		narrow := k.Key(t, us, principal.EvalRead)
		s := serve(t, k, narrow.Key, http.MethodGet, "/api/audit-logs")
		require.Equal(t, http.StatusUnauthorized, s.res.Code)
		require.Equal(t, 99, header(t, s, "X-RateLimit-Remaining"), "a missing scope counts")
	})

	t.Run("the limit is exact", func(t *testing.T) { limitIsExact(t, k) })

	t.Run("telemetry has buckets of its own", func(t *testing.T) { telemetryHasBucketsOfItsOwn(t, k) })

	t.Run("a request without a good key counts for nobody", func(t *testing.T) {
		t.Parallel()
		k := testkit.Shared(t)
		us := free(t, k)
		whole := us.Key.Reveal()
		other := whole[:30] + string(whole[30]^1) + whole[31:] // another character, whichever it is
		for _, key := range []secret.Text{"", "sk-something", secret.Text(other), secret.Text(whole[:40])} {
			for range 3 {
				s := serve(t, k, key, http.MethodGet, "/api/me")
				require.Equal(t, http.StatusUnauthorized, s.res.Code)
				require.Empty(t, s.res.Header().Get("RateLimit"))
			}
		}
		require.Empty(t, serve(t, k, us.Key, http.MethodGet, "/api/health").res.Header().Get("RateLimit"), "health needs no key and counts none")
		require.Equal(t, 99, header(t, serve(t, k, us.Key, http.MethodGet, "/api/me"), "X-RateLimit-Remaining"))
	})

	t.Run("the hundred and first waits until the first leaves", func(t *testing.T) {
		us := free(t, k)
		second := k.Key(t, us, principal.EvalRead)
		first := serve(t, k, us.Key, http.MethodGet, "/api/nothing")
		k.Clock.Advance(10 * time.Minute)
		for range 99 {
			require.Equal(t, http.StatusNotFound, serve(t, k, us.Key, http.MethodGet, "/api/nothing").res.Code)
		}
		k.Clock.Advance(20 * time.Minute)

		over := serve(t, k, us.Key, http.MethodGet, "/api/me")

		require.Equal(t, http.StatusTooManyRequests, over.res.Code)
		require.Contains(t, over.res.Body.String(), `"code":"RATE_LIMITED"`)
		wait := header(t, over, "Retry-After")
		leaves(t, first, over, wait)
		require.Contains(t, over.res.Body.String(), fmt.Sprintf(`"retryAfterSeconds":%d`, wait))
		require.Equal(t, `"hour";q=100;w=3600`, over.res.Header().Get("RateLimit-Policy"))
		require.Equal(t, fmt.Sprintf(`"hour";r=0;t=%d`, wait), over.res.Header().Get("RateLimit"))
		require.Equal(t, 99, header(t, serve(t, k, second.Key, http.MethodGet, "/api/me"), "X-RateLimit-Remaining"), "another key has its own hour")

		// Refusals do not count: who waits as told is served, once.
		k.Clock.Advance(time.Duration(wait) * time.Second)
		require.Equal(t, http.StatusOK, serve(t, k, us.Key, http.MethodGet, "/api/me").res.Code)
		require.Equal(t, http.StatusTooManyRequests, serve(t, k, us.Key, http.MethodGet, "/api/me").res.Code)
	})

	t.Run("a larger plan takes effect at once", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		k := testkit.Shared(t)
		us := free(t, k)
		for range 100 {
			serve(t, k, us.Key, http.MethodGet, "/api/nothing")
		}
		_, err := us.GetMe(ctx)
		refused(t, err, fault.RateLimited, "rate_limit_exceeded")

		require.NoError(t, k.App.Tenancy.SetPlan(ctx, us.Org, tenancy.PlanPro, 0))

		s := serve(t, k, us.Key, http.MethodGet, "/api/me")
		require.Equal(t, http.StatusOK, s.res.Code)
		require.Equal(t, 1000, header(t, s, "X-RateLimit-Limit"))
		require.Equal(t, 899, header(t, s, "X-RateLimit-Remaining"), "what was spent stays spent")
		require.NoError(t, k.App.Tenancy.SetPlan(ctx, us.Org, tenancy.PlanEnterprise, 0))
		require.Equal(t, 100_000, header(t, serve(t, k, us.Key, http.MethodGet, "/api/me"), "X-RateLimit-Limit"))
		require.NoError(t, k.App.Tenancy.SetPlan(ctx, us.Org, tenancy.PlanEnterprise, 250))
		me, err := us.GetMe(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 250, me.HourlyLimit)
	})
}

// limitIsExact holds the limit against a list of the moments of all
// requests: in no hour are more admitted than the limit, and nobody is refused
// while fewer were.
func limitIsExact(t *testing.T, k *testkit.Kit) {
	t.Helper()
	const limit = 100
	us := free(t, k)
	random := rand.New(rand.NewPCG(1, 2))
	steps := []time.Duration{0, 0, 0, 0, time.Second, 7 * time.Second, 36 * time.Second, 5 * time.Minute}
	var admitted []sent
	refusals := 0
	for range 1500 {
		// The clock jumps, and sometimes to just before or after a request leaves.
		k.Clock.Advance(steps[random.IntN(len(steps))])
		if len(admitted) >= limit && random.IntN(20) == 0 {
			leaving := admitted[len(admitted)-limit].ended.Add(time.Hour).Sub(k.Clock.Now())
			k.Clock.Advance(max(0, leaving+time.Duration(random.IntN(3)-1)*time.Second))
		}
		s := serve(t, k, us.Key, http.MethodGet, "/api/nothing")
		surely, perhaps := 0, 0
		for _, a := range admitted {
			if s.ended.Sub(a.began) < time.Hour {
				surely++
			}
			if s.began.Sub(a.ended) < time.Hour {
				perhaps++
			}
		}
		switch s.res.Code {
		case http.StatusNotFound:
			require.Less(t, surely, limit, "admitted although the hour was full")
			require.LessOrEqual(t, header(t, s, "X-RateLimit-Remaining"), limit-1-surely)
			require.GreaterOrEqual(t, header(t, s, "X-RateLimit-Remaining"), limit-1-perhaps)
			admitted = append(admitted, s)
		case http.StatusTooManyRequests:
			require.GreaterOrEqual(t, perhaps, limit, "refused although the hour had room")
			leaves(t, admitted[len(admitted)-limit], s, header(t, s, "Retry-After"))
			refusals++
		default:
			t.Fatalf("status %d", s.res.Code)
		}
	}
	require.Greater(t, refusals, 100)
	require.Greater(t, len(admitted), 3*limit)
}
