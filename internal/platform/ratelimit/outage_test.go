package ratelimit_test

import (
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/devenv"
	"github.com/assayhq/assay/internal/platform/ratelimit"
	"github.com/assayhq/assay/internal/platform/redis"
)

// line is a connection to the real Redis that a test can cut or freeze.
type line struct {
	addr, target string
	mu           sync.Mutex
	frozen       bool
	door         net.Listener
	conns        []net.Conn
}

// newLine returns a line and a client at its end.
func newLine(t *testing.T) (*line, *redis.Client) {
	t.Helper()
	raw, err := devenv.Get("ASSAY_REDIS_URL")
	require.NoError(t, err)
	u, err := url.Parse(raw)
	require.NoError(t, err)
	l := &line{addr: "127.0.0.1:0", target: u.Host}
	l.mend(t)
	t.Cleanup(l.cut)
	u.Host, u.RawQuery = l.addr, "pool_size=4"
	return l, dialURL(t, u.String())
}

// mend lets connections through, at the address that the line always had.
func (l *line) mend(t *testing.T) {
	t.Helper()
	door, err := net.Listen("tcp", l.addr)
	require.NoError(t, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.door, l.addr, l.frozen = door, door.Addr().String(), false
	go func() {
		for {
			c, err := door.Accept()
			if err != nil {
				return
			}
			go l.carry(c)
		}
	}()
}

func (l *line) carry(c net.Conn) {
	far, err := net.Dial("tcp", l.target)
	if err != nil {
		_ = c.Close()
		return
	}
	l.mu.Lock()
	l.conns = append(l.conns, c, far)
	l.mu.Unlock()
	go l.copy(far, c)
	l.copy(c, far)
}

func (l *line) copy(to, from net.Conn) {
	defer func() { _ = to.Close() }()
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		l.mu.Lock()
		frozen := l.frozen
		l.mu.Unlock()
		if frozen {
			_, _ = io.Copy(io.Discard, from)
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// freeze keeps connections open and carries nothing more.
func (l *line) freeze() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frozen = true
}

// cut ends connections and refuses new ones.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.door.Close()
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}

func TestOutage(t *testing.T) {
	t.Parallel()

	// local reports whether this replica alone decided: Redis has counted the
	// only request of the key that it admits.
	open := func(t *testing.T, o ratelimit.Options) (*line, func() (local bool)) {
		t.Helper()
		l, client := newLine(t)
		key := newKey(t, dial(t), window)
		_, err := replica(t, dial(t), window).Take(t.Context(), key, 1, 1)
		require.NoError(t, err)
		o.Log = slog.New(slog.DiscardHandler)
		lim, done := ratelimit.Open(client, window, o)
		t.Cleanup(func() { _ = done() })
		return l, func() bool {
			d, err := lim.Take(t.Context(), key, 1_000_000_000, 0)
			require.NoError(t, err)
			return d.Remaining == 1_000_000_000
		}
	}

	t.Run("a Redis that hangs delays one request, and not by much", func(t *testing.T) {
		t.Parallel()
		l, local := open(t, ratelimit.Options{Timeout: 5 * time.Second, Pause: time.Hour})
		require.False(t, local())
		l.freeze()
		start := time.Now()
		for range 1000 {
			require.True(t, local())
		}
		require.Less(t, time.Since(start), time.Minute, "asking each time would take 5,000 seconds")
	})

	t.Run("a Redis that returns is used at once after the pause", func(t *testing.T) {
		t.Parallel()
		l, local := open(t, ratelimit.Options{Timeout: 5 * time.Second, Pause: time.Nanosecond})
		require.False(t, local())
		l.cut()
		for range 10 { // more failed dials than a pool has connections
			require.True(t, local())
		}
		l.mend(t)
		require.False(t, local())
	})

	t.Run("without Redis a replica counts alone", func(t *testing.T) {
		t.Parallel()
		lim, done := ratelimit.Open(nil, window, ratelimit.Options{})
		require.IsType(t, &ratelimit.Memory{}, lim)
		require.NoError(t, done())
	})
}
