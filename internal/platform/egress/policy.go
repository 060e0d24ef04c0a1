package egress

import (
	"net/netip"

	"code.dny.dev/ssrf"
)

// policy decides about destinations. It reads no clock and no network, so the
// same destination always gets the same answer.
type policy struct {
	ranges []reach
	names  map[string]bool // host:port, lower case
	ports  map[uint16]bool // of public addresses
}

// reach is an allow-listed range. Port zero is every port.
type reach struct {
	prefix netip.Prefix
	port   uint16
}

// target is what is known about a destination beside its address.
type target struct {
	named bool // the operator allow-lists its name and port
	plain bool // http: nothing proves who answers
}

// admits reports whether a connection to the address may be made.
//
// A public address is reached over https on the configured ports. Other ports
// stay shut because services there (Kubernetes on 6443 and 10250, search
// engines on 9200) often trust whoever can reach them, and our workers reach
// more than a tenant does.
//
// An allow-listed name never opens link-local addresses, where clouds keep the
// credentials of the machine; an operator who means them lists their range.
func (p *policy) admits(to netip.AddrPort, t target) bool {
	addr := to.Addr()
	if !addr.IsValid() || addr.Zone() != "" || to.Port() == 0 {
		return false
	}
	addr = addr.Unmap()
	if p.listed(addr, to.Port()) {
		return true
	}
	if t.named && !addr.IsLinkLocalUnicast() && !addr.IsMulticast() && !addr.IsUnspecified() {
		return true
	}
	return !t.plain && p.ports[to.Port()] && public(addr)
}

func (p *policy) listed(addr netip.Addr, port uint16) bool {
	for _, r := range p.ranges {
		if r.prefix.Contains(addr) && (r.port == 0 || r.port == port) {
			return true
		}
	}
	return false
}

// registries refuses what the IANA registries call special, and what they
// call public although a cloud answers it with its own machinery.
var registries = ssrf.New(
	ssrf.WithAnyPort(),
	ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")), // Azure's host agent
)

// public reports whether an address belongs to the internet at large. The
// standard library's predicates repeat part of the registries, so that a
// damaged table cannot open the loopback.
func public(addr netip.Addr) bool {
	return addr.IsGlobalUnicast() && !addr.IsPrivate() && !addr.Is4In6() && registries.SafeAddr(addr) == nil
}
