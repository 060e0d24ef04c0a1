package postgres_test

import (
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
)

// proxy stands between a pool and the server. It counts round trips and can
// cut every connection, as a failing network does.
type proxy struct {
	listener net.Listener
	target   string

	mu         sync.Mutex
	conns      []net.Conn
	clientLast bool
	trips      int
}

// through returns the configuration that reaches the same database by way of a
// new proxy.
func through(t testing.TB, cfg postgres.Config) (postgres.Config, *proxy) {
	t.Helper()
	u, err := url.Parse(cfg.URL.Reveal())
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: l, target: u.Host}
	t.Cleanup(p.cut)
	go p.serve()
	u.Host = l.Addr().String()
	cfg.URL = secret.Text(u.String())
	return cfg, p
}

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		go p.pump(client, server, true)
		go p.pump(server, client, false)
	}
}

// pump copies one direction. A round trip begins when the client speaks after
// the server did; however many packets it takes, it is one.
func (p *proxy) pump(from, to net.Conn, fromClient bool) {
	defer func() { _ = to.Close() }()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		if fromClient && !p.clientLast {
			p.trips++
		}
		p.clientLast = fromClient
		p.mu.Unlock()
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// count returns how many round trips fn needs.
func (p *proxy) count(fn func()) int {
	p.mu.Lock()
	before := p.trips
	p.mu.Unlock()
	fn()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trips - before
}

// cut ends every connection and accepts no other.
func (p *proxy) cut() {
	_ = p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
}
