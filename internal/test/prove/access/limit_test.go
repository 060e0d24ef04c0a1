package main

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/devenv"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/ratelimit"
	"github.com/assayhq/assay/internal/platform/redis"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/test/testkit"
)

const hourly = 20

// limited makes an organization whose keys may make hourly requests an hour.
func limited(t *testing.T, k *testkit.Kit) string {
	t.Helper()
	org := k.Org(t)
	require.NoError(t, k.App.Tenancy.SetPlan(t.Context(), org.Org, tenancy.PlanEnterprise, hourly))
	return org.Key.Reveal()
}

// rush sends requests of one key to all handlers at once and counts what was
// admitted and what was refused for its number.
func rush(t *testing.T, key string, each int, handlers ...http.Handler) (admitted, refused int64) {
	t.Helper()
	var yes, no atomic.Int64
	var wg sync.WaitGroup
	for _, h := range handlers {
		for range 4 {
			wg.Go(func() {
				for range each / 4 {
					switch got := send(context.WithoutCancel(t.Context()), t, h, call{method: "GET", target: "/api/me", headers: []header{bearer(key)}}); got.status {
					case http.StatusOK:
						yes.Add(1)
					case http.StatusTooManyRequests:
						no.Add(1)
					default:
						t.Errorf("a request was answered with %d", got.status)
					}
				}
			})
		}
	}
	wg.Wait()
	return yes.Load(), no.Load()
}

// TestLimiterIsWhatLimits counts through the whole interface, with the limiter
// and without it.
func TestLimiterIsWhatLimits(t *testing.T) {
	t.Parallel()
	k := boot(t, nil)
	key := limited(t, k)

	admitted, refused := rush(t, key, 3*hourly, k.App.Edge)
	require.EqualValues(t, hourly, admitted)
	require.EqualValues(t, 2*hourly, refused)

	k.Clock.Advance(time.Hour + time.Second)
	admitted, _ = rush(t, key, 3*hourly, k.App.Edge)
	require.EqualValues(t, hourly, admitted, "the next hour has its own")

	open := httpapi.New(httpapi.Options{Config: k.App.Config.HTTP, Now: k.Clock.Now, Authenticate: k.App.Tenancy.Authenticate})
	k.App.Tenancy.RegisterHTTP(open)
	open.Seal()
	admitted, _ = rush(t, key, 3*hourly, open)
	require.EqualValues(t, 3*hourly, admitted, "without the limiter nothing limits")
}

// TestReplicasShareTheLimit asks eight replicas at once. With Redis they never
// admit more than the limit together; without it each grants the whole limit,
// so Redis is what they share.
func TestReplicasShareTheLimit(t *testing.T) {
	t.Parallel()
	const replicas = 8
	k := boot(t, nil)
	url, err := devenv.Get("ASSAY_REDIS_URL")
	require.NoError(t, err)
	start := func(url secret.Text) (handlers []http.Handler) {
		for range replicas {
			handlers = append(handlers, patient(t, k, url))
		}
		return handlers
	}

	admitted, refused := rush(t, limited(t, k), hourly, start(secret.Text(url))...)
	require.EqualValues(t, hourly, admitted)
	require.EqualValues(t, (replicas-1)*hourly, refused)

	admitted, _ = rush(t, limited(t, k), hourly, start("")...)
	require.EqualValues(t, replicas*hourly, admitted)
}

// patient is a replica that waits for Redis however busy the machine is. The
// application gives Redis 50 ms and then counts alone, which is right for a
// request and wrong for a proof.
func patient(t *testing.T, k *testkit.Kit, url secret.Text) http.Handler {
	t.Helper()
	cfg := k.App.Config
	cfg.Postgres.MaxConns = 2
	pg, err := postgres.Open(t.Context(), cfg.Postgres)
	require.NoError(t, err)
	t.Cleanup(pg.Close)
	ch, err := clickhouse.Open(cfg.ClickHouse)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ch.Close() })
	client, err := redis.Open(redis.Config{URL: url})
	require.NoError(t, err)
	limiter, stop := ratelimit.Open(client, time.Hour, ratelimit.Options{Clock: k.Clock.Now, Timeout: 30 * time.Second})
	t.Cleanup(func() { _ = stop() })

	people := tenancy.New(tenancy.Parts{
		Stores: tenancy.Stores{Postgres: pg, ClickHouse: ch}, Config: cfg.Key, Plans: cfg.Plan,
		Log: change.New(pg, k.Clock.Now), Limiter: limiter, Now: k.Clock.Now,
	})
	e := httpapi.New(httpapi.Options{
		Config: cfg.HTTP, Now: k.Clock.Now, Authenticate: people.Authenticate,
		Limit: func(ctx context.Context, c principal.Caller) (httpapi.Quota, error) {
			d, err := people.Spend(ctx, c)
			return httpapi.Quota{Allowed: d.Allowed, Limit: d.Limit, Remaining: d.Remaining, Reset: d.ResetAfter, Retry: d.RetryAfter, Window: time.Hour}, err
		},
	})
	people.RegisterHTTP(e)
	e.Seal()
	return e
}
