package httpapi

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the networks of the proxies in front of the process.
type proxies []netip.Prefix

// parseProxies reads networks and single addresses.
func parseProxies(texts []string) (all proxies, err error) {
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			ip, err := netip.ParseAddr(text)
			if err != nil {
				return nil, fmt.Errorf("trusted_proxies has %q: give networks and addresses, such as 10.0.0.0/8 or 192.0.2.7", text)
			}
			network = netip.PrefixFrom(ip, ip.BitLen())
		}
		all = append(all, network.Masked())
	}
	return all, nil
}

func (p proxies) trust(ip netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(ip) })
}

// client is the address that a request came from: that of the connection or, if
// it is a trusted proxy's, what the proxy says. X-Forwarded-For is read from the
// right, where each proxy adds whom it heard, and no further than the first
// address that is not a trusted proxy's: what stands before it anybody may have
// written.
func (p proxies) client(connection string, forwarded []string) string {
	from, err := netip.ParseAddr(host(connection))
	if err != nil {
		return host(connection)
	}
	from = from.Unmap()
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for i := len(hops) - 1; i >= 0 && p.trust(from); i-- {
		hop, err := netip.ParseAddr(host(strings.TrimSpace(hops[i])))
		if err != nil {
			break
		}
		from = hop.Unmap()
	}
	return from.String()
}

// host is an address without its port.
func host(address string) string {
	ip, _, err := net.SplitHostPort(address)
	if err != nil {
		return strings.Trim(address, "[]")
	}
	return ip
}
