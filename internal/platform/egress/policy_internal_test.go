package egress

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// The refused ranges, by hand, from the registries: an upgrade of the library
// with the tables cannot open one of them.
func TestSpecialAddressesAreNotPublic(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16",
		"172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32",
		"::/128", "::1/128", "::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48",
		"100::/64", "2001::/32", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16",
		"fc00::/7", "fd00:ec2::254/128", "fe80::/10", "fec0::/10", "ff00::/8", "4000::/3", "8000::/1",
	} {
		p := netip.MustParsePrefix(text)
		for _, addr := range []netip.Addr{p.Addr(), p.Addr().Next(), middle(p), last(p)} {
			if p.Contains(addr) {
				require.False(t, public(addr), "%s of %s", addr, p)
			}
		}
	}
}

func TestPublicAddressesArePublic(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.216.34", "100.63.255.255", "100.128.0.0",
		"126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
		"192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
		"2001:4860:4860::8888", "2606:4700::1111", "2a00:1450::1", "2003::1", "2400::1", "2001:200::1",
	} {
		require.True(t, public(netip.MustParseAddr(text)), text)
	}
}

// The guard refuses whatever the second opinion refuses, over the whole space.
func TestGuardAgreesWithTheSecondOpinion(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 20_000 {
		var four [4]byte
		var sixteen [16]byte
		for i := range sixteen {
			sixteen[i] = byte(random.Uint32())
		}
		copy(four[:], sixteen[:])
		sixteen[0] = sixteen[0]&0x1f | 0x20 // most of the rest is refused at once
		for _, addr := range []netip.Addr{netip.AddrFrom4(four), netip.AddrFrom16(sixteen)} {
			if forbiddenByHand(addr) {
				refused++
				require.False(t, public(addr), "%s", addr)
			}
		}
	}
	require.Positive(t, refused)
}

func TestAdmits(t *testing.T) {
	t.Parallel()
	p, err := newPolicy(Config{Allow: []string{"10.0.0.0/8", "fd00::/8", "192.168.1.5:8080", "[::1]:9000"}})
	require.NoError(t, err)
	for _, c := range []struct {
		to   string
		t    target
		want bool
	}{
		{"93.184.216.34:443", target{}, true},
		{"93.184.216.34:80", target{}, false},
		{"93.184.216.34:443", target{plain: true}, false},
		{"93.184.216.34:6443", target{named: true}, true},
		{"10.1.2.3:5432", target{}, true},
		{"10.1.2.3:80", target{plain: true}, true},
		{"[::ffff:10.1.2.3]:80", target{}, true},
		{"11.1.2.3:80", target{plain: true}, false},
		{"[fd00::1]:80", target{plain: true}, true},
		{"192.168.1.5:8080", target{plain: true}, true},
		{"192.168.1.5:8081", target{}, false},
		{"192.168.1.6:8080", target{}, false},
		{"[::1]:9000", target{}, true},
		{"[::1]:443", target{}, false},
		{"127.0.0.1:443", target{named: true, plain: true}, true},
		{"169.254.169.254:80", target{named: true, plain: true}, false},
		{"[fe80::1]:443", target{named: true}, false},
		{"[fd00::1%eth0]:443", target{named: true}, false},
		{"0.0.0.0:443", target{named: true}, false},
		{"224.0.0.1:443", target{named: true}, false},
		{"10.1.2.3:0", target{}, false},
	} {
		require.Equal(t, c.want, p.admits(netip.MustParseAddrPort(c.to), c.t), "%s %+v", c.to, c.t)
	}
}

func middle(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	if p.Bits() < len(b)*8 {
		b[p.Bits()/8] |= 0x80 >> (p.Bits() % 8)
	}
	addr, _ := netip.AddrFromSlice(b)
	return addr
}

func last(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	addr, _ := netip.AddrFromSlice(b)
	return addr
}
