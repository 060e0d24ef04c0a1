package egress

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ground is what a hostile URL aims at: a port that is open on every address of
// this machine, and a hook behind the guard that sees each address it lets
// through. The hook stops whatever would leave the machine.
type ground struct {
	client   *Client
	port     string
	accepted atomic.Int64
	mu       sync.Mutex
	through  []netip.AddrPort
	home     netip.AddrPort // the one server that may be called
}

// defences say which of the two layers stand.
type defences struct{ check, control bool }

var errStopped = errors.New("let through by the guard, stopped by the test")

func newGround(t *testing.T, d defences, z zone) *ground {
	t.Helper()
	l, err := net.Listen("tcp", ":0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	g := &ground{port: strconv.Itoa(l.Addr().(*net.TCPAddr).Port)}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			g.accepted.Add(1)
			_ = conn.Close()
		}
	}()
	g.client, err = New(Config{Ports: []string{"443", g.port}})
	require.NoError(t, err)
	g.client.resolver = newNameServer(t, z).resolver()
	if !d.check {
		g.client.check = func(*url.URL) error { return nil }
	}
	guard := g.client.control
	g.client.control = func(ctx context.Context, network, address string, to target) error {
		if err := guard(ctx, network, address, to); err != nil && d.control {
			return err
		}
		dialled := netip.MustParseAddrPort(address)
		g.mu.Lock()
		g.through = append(g.through, dialled)
		g.mu.Unlock()
		if !here(dialled.Addr()) {
			return errStopped
		}
		return nil
	}
	return g
}

// call requests the URL; PORT in it is the open port.
func (g *ground) call(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	u, err := url.Parse(g.at(text))
	if err != nil {
		return forbidden(notURL)
	}
	r := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}).WithContext(ctx)
	resp, err := g.client.HTTP(Options{}).Do(r)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}

func (g *ground) at(text string) string { return strings.ReplaceAll(text, "PORT", g.port) }

// forbidden counts the connections that should not be: those that arrived at
// the open port, and those that the guard let leave for elsewhere.
func (g *ground) forbidden() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, to := range g.through {
		if to == g.home {
			continue
		}
		if port := strconv.Itoa(int(to.Port())); forbiddenByHand(to.Addr()) || port != "443" && port != g.port {
			n++
		}
	}
	return max(n, int(g.accepted.Load()))
}

// here reports whether a connection to the address stays on this machine.
func here(addr netip.Addr) bool {
	addr = addr.Unmap()
	if addr.IsLoopback() || addr.IsUnspecified() {
		return true
	}
	return slices.Contains(ownAddresses(), addr)
}

func ownAddresses() []netip.Addr {
	nets, _ := net.InterfaceAddrs()
	var out []netip.Addr
	for _, n := range nets {
		if p, err := netip.ParsePrefix(n.String()); err == nil && !p.Addr().IsLinkLocalUnicast() {
			out = append(out, p.Addr())
		}
	}
	return out
}

// specialRanges are written from the IANA registries and share nothing with the
// guard, so that a change of its tables cannot change what the tests expect.
var specialRanges = func() (out []netip.Prefix) {
	for _, text := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16",
		"172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
		"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	} {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}()

// forbiddenByHand is a second opinion on addresses.
func forbiddenByHand(addr netip.Addr) bool {
	addr = addr.WithZone("").Unmap()
	if addr.Is6() && addr.As16()[0]>>5 != 0b001 {
		return true // outside 2000::/3
	}
	return slices.ContainsFunc(specialRanges, func(p netip.Prefix) bool { return p.Contains(addr) })
}
