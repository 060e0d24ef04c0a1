package simulated

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Serve answers on an address until ctx ends, for a command. It tells ready the
// address it listens on, which matters where the port was 0.
func Serve(ctx context.Context, addr string, o Options, ready func(net.Addr)) error {
	p, err := New(o)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", addr, err)
	}
	if ready != nil {
		ready(l.Addr())
	}
	return p.Serve(ctx, l)
}

// Serve answers on a listener until ctx ends. Calls in flight are cut off:
// whoever simulates an outage means it.
func (p *Provider) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	ended := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer ended()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// T is the part of a test that Start needs.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(end func())
}

// Server is a provider on a port of this machine.
type Server struct {
	*Provider
	URL     string // the base URL of both protocols: http://127.0.0.1:PORT/v1
	Control string // the URL below which faults, script and calls are: …/simulated
	Addr    string // 127.0.0.1:PORT, for an allow-list
}

// Start serves until the test ends.
func Start(t T, o Options) *Server {
	t.Helper()
	p, err := New(o)
	if err != nil {
		t.Fatalf("start simulated provider: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		t.Fatalf("start simulated provider: %v", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = p.Serve(ctx, l) // a test whose provider is gone notices
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	addr := l.Addr().String()
	return &Server{p, "http://" + addr + "/v1", "http://" + addr + "/simulated", addr}
}
