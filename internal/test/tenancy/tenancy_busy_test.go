package tenancy_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/test/testkit"
)

// TestCallersAreRecognisedHoweverBusyTheDatabaseIs holds every connection but
// those for keys with slow requests of three organizations. Another's key is still
// recognised, and what needs a connection is refused soon, with a time to come
// again.
func TestCallersAreRecognisedHoweverBusyTheDatabaseIs(t *testing.T) {
	t.Parallel()
	cfg := testkit.Config(t)
	cfg.Postgres.MaxConns, cfg.Postgres.ConnWait = 5, 6*time.Second
	k := testkit.NewWith(t, cfg)
	busy, other, third, quiet := k.Org(t), k.Org(t), k.Org(t), k.Org(t)
	holder, err := pgx.Connect(t.Context(), cfg.Postgres.OwnerURL.Reveal())
	require.NoError(t, err)
	t.Cleanup(func() { _ = holder.Close(t.Context()) })
	tx, err := holder.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "LOCK TABLE datasets IN ACCESS EXCLUSIVE MODE")
	require.NoError(t, err)
	slow := make(chan error, 4)
	for _, c := range []*testkit.Client{busy, busy, other, third} { // one organization gets two
		go func() { _, err := c.ListDatasets(t.Context(), "includeTotal=true"); slow <- err }()
	}
	require.Eventually(t, func() bool {
		var n int
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE relation = 'datasets'::regclass AND NOT granted").Scan(&n))
		return n == cap(slow)
	}, 10*time.Minute, 10*time.Millisecond)

	asked := time.Now()
	res, err := quiet.Send(t.Context(), http.MethodGet, "/api/me", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, res.Status)
	require.NotEmpty(t, res.Header.Get("X-RateLimit-Limit"), "the caller is not recognised")
	require.Equal(t, "1", res.Header.Get("Retry-After"))
	require.Contains(t, string(res.Body), `"reason":"database_busy"`)
	require.Contains(t, string(res.Body), "All connections to the database are in use. Retry in a moment")
	require.Less(t, time.Since(asked), 20*time.Second)

	require.NoError(t, tx.Rollback(t.Context()))
	for range cap(slow) {
		require.NoError(t, <-slow)
	}
	_, err = quiet.GetMe(t.Context())
	require.NoError(t, err)
}
