package ratelimit_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/devenv"
	"github.com/assayhq/assay/internal/platform/ratelimit"
	"github.com/assayhq/assay/internal/platform/redis"
	"github.com/assayhq/assay/internal/platform/secret"
)

// patient is for tests of what Redis answers, not of how soon: the machine may
// be busy.
var patient = ratelimit.Options{Timeout: 10 * time.Second}

// dial opens a client of the development Redis.
func dial(t testing.TB) *redis.Client {
	t.Helper()
	url, err := devenv.Get("ASSAY_REDIS_URL")
	require.NoError(t, err)
	return dialURL(t, url)
}

func dialURL(t testing.TB, url string) *redis.Client {
	t.Helper()
	client, err := redis.Open(redis.Config{URL: secret.Text(url)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// replica is one more limiter on the client's Redis.
func replica(t testing.TB, client *redis.Client, window time.Duration) *ratelimit.Redis {
	t.Helper()
	r := ratelimit.NewRedis(client, window, patient)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// newKey is a key that no other test has. Its log goes with the test.
func newKey(t testing.TB, client *redis.Client, window time.Duration) string {
	t.Helper()
	key := uuid.NewString() + "/key"
	name := replica(t, client, window).Key(key)
	t.Cleanup(func() { client.Del(context.WithoutCancel(t.Context()), name) })
	return key
}
