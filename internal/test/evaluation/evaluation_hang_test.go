package evaluation_test

import (
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/test/testkit"
)

// hanging stands between a process and ClickHouse. While it hangs, nothing comes
// through and nothing is refused.
type hanging struct{ atomic.Bool }

func through(t testing.TB, to secret.Text) (secret.Text, *hanging) {
	t.Helper()
	u, err := url.Parse(to.Reveal())
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	h, server := &hanging{}, u.Host
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", server)
			if err != nil {
				_ = from.Close()
				continue
			}
			go h.pump(from, to)
			go h.pump(to, from)
		}
	}()
	u.Host = l.Addr().String()
	return secret.Text(u.String()), h
}

func (h *hanging) pump(from, to net.Conn) {
	defer func() { _ = to.Close() }()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if h.Load() {
			_, _ = io.Copy(io.Discard, from)
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// TestResultsWaitForClickHouseWithoutAConnection posts more results than there are
// connections to PostgreSQL while ClickHouse hangs. Whoever needs PostgreSQL alone
// notices nothing, and what was not stored is not accepted.
func TestResultsWaitForClickHouseWithoutAConnection(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cfg := testkit.Config(t)
	cfg.Postgres.MaxConns = 5
	var clickhouse *hanging
	cfg.ClickHouse.URL, clickhouse = through(t, cfg.ClickHouse.URL)
	k := testkit.NewWith(t, cfg)
	k.Work(t)
	us, others := k.Org(t), k.Org(t)
	r, ids := waiting(t, us, 40, nil)
	require.NoError(t, us.PutResults(ctx, r.EvaluationID, r.RunID, []map[string]any{{"testCaseId": ids[0], "output": "answer 0"}}, false))
	clickhouse.Store(true)
	var posts errgroup.Group
	begun := make(chan struct{}, len(ids))
	for _, id := range ids {
		posts.Go(func() error {
			begun <- struct{}{}
			return us.PutResults(ctx, r.EvaluationID, r.RunID, []map[string]any{{"testCaseId": id, "output": "late"}}, false)
		})
	}
	for range ids {
		<-begun
	}
	conn := k.Owner(t, us.Org)
	// The announcements are the only trace of requests that wait.
	require.Eventually(t, func() bool {
		var n int
		err := conn.QueryRow(ctx, "SELECT posting FROM evaluation_runs WHERE id = $1", r.RunID).Scan(&n)
		return err == nil && n >= cfg.Postgres.MaxConns
	}, 10*time.Minute, 10*time.Millisecond)

	var slowest time.Duration
	for range 20 {
		began := time.Now()
		others.Dataset(t, testkit.NewDataset{})
		slowest = max(slowest, time.Since(began))
	}

	require.Less(t, slowest, 10*time.Second, "others wait for nobody")
	f, ok := fault.From(posts.Wait())
	require.True(t, ok)
	require.Equal(t, fault.Unavailable, f.Kind)
	clickhouse.Store(false)
	require.Eventually(t, func() bool {
		return us.PutResults(ctx, r.EvaluationID, r.RunID, []map[string]any{{"testCaseId": ids[1], "output": "answer 1"}}, true) == nil
	}, 10*time.Minute, 100*time.Millisecond)
	require.EqualValues(t, 2, us.Ended(t, r).Passed, "what was accepted is in the figures")
}
