// Package egress is the only way of the product to call a URL.
//
// Every URL that a tenant supplies is an order to our workers, who stand inside
// the operator's network, to call something. The package refuses what is not
// https to a public address, unless the operator allow-lists it. It decides at
// three points: when a URL is saved (CheckURL), when a connection is made, on
// the very address that is dialled, and at each redirect. The second decision
// is the one that protects; names that change their mind cannot pass it.
//
// Connections speak HTTP/1.1: one connection then carries requests for one
// scheme, host and port only, whose address was checked when it was made. No
// proxy is taken from the environment, because a proxy would choose the address.
package egress

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// Client makes outbound connections. It is safe for concurrent use, and one is
// enough for a process: its connections are shared.
type Client struct {
	policy   *policy
	check    func(*url.URL) error
	control  controlFunc
	resolver *net.Resolver
	secure   *http.Transport // https
	plain    *http.Transport // http, to allow-listed destinations only
}

// controlFunc sees each address before it is dialled and may refuse it.
type controlFunc func(ctx context.Context, network, address string, t target) error

// New prepares a client. It fails if the configuration is not valid.
func New(cfg Config) (*Client, error) {
	p, err := newPolicy(cfg)
	if err != nil {
		return nil, err
	}
	c := &Client{policy: p, check: p.check}
	c.control = c.admit
	// Go's resolver, and not the system's, which takes 0x7f.1 for an address.
	c.resolver = &net.Resolver{PreferGo: true}
	c.secure, c.plain = c.transport(false), c.transport(true)
	return c, nil
}

// Close closes the connections that are not in use.
func (c *Client) Close() {
	c.secure.CloseIdleConnections()
	c.plain.CloseIdleConnections()
}

func (c *Client) transport(plain bool) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy: nil,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return c.dial(ctx, network, address, plain)
		},
		Protocols:              protocols,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    10 * time.Second,
		ExpectContinueTimeout:  time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    16,       // a run asks one judge many times at once
		MaxResponseHeaderBytes: 64 << 10, // as much as servers accept in a request
	}
}

// dial connects to a host and port. The dialer calls ControlContext between
// resolving and connecting, once for each address that it tries, so the address
// that is decided about is the one that is dialled.
func (c *Client) dial(ctx context.Context, network, address string, plain bool) (net.Conn, error) {
	t := target{named: c.policy.names[strings.ToLower(address)], plain: plain}
	d := net.Dialer{
		Timeout:  10 * time.Second,
		Resolver: c.resolver,
		ControlContext: func(ctx context.Context, network, resolved string, _ syscall.RawConn) error {
			err := c.control(ctx, network, resolved, t)
			if err != nil {
				slog.WarnContext(ctx, "outbound connection refused", "host", address, "address", resolved)
			}
			return err
		},
	}
	return d.DialContext(ctx, network, address)
}

func (c *Client) admit(_ context.Context, network, address string, t target) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" || !c.policy.admits(to, t) {
		return ErrForbidden
	}
	return nil
}
