package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Config says which destinations may be called beside public https ones.
type Config struct {
	Allow []string `setting:"allow" help:"Private destinations that may be called, also over http: ranges such as 10.0.0.0/8 and HOST:PORT such as judge.internal:443. All organizations of the deployment can reach them."`
	Ports []string `setting:"ports" default:"443,8443" help:"Ports of public addresses that may be called. If empty, only 443."`
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	_, err := newPolicy(c)
	return err
}

// newPolicy reads the configuration. All problems are reported at once.
func newPolicy(c Config) (*policy, error) {
	p := &policy{names: map[string]bool{}, ports: map[uint16]bool{}}
	var errs []error
	for _, text := range c.Allow {
		if err := p.allow(text); err != nil {
			errs = append(errs, err)
		}
	}
	for _, text := range c.Ports {
		port, ok := parsePort(text)
		if !ok {
			errs = append(errs, fmt.Errorf("ports has %q: give numbers from 1 to 65535, for example 443,8443", text))
		}
		p.ports[port] = true
	}
	if len(c.Ports) == 0 {
		p.ports[443] = true
	}
	return p, errors.Join(errs...)
}

// allow adds one entry of the allow-list.
func (p *policy) allow(text string) error {
	if strings.Contains(text, "/") {
		return p.allowRange(text)
	}
	if _, err := netip.ParseAddr(text); err == nil {
		return fmt.Errorf("allow has %q: write a range, for example 10.1.2.3/32, or add a port, for example 10.1.2.3:443 or [fd00::1]:443", text)
	}
	host, portText, err := net.SplitHostPort(text)
	if err != nil {
		return fmt.Errorf("allow has %q: add the port, for example judge.internal:443, or give a range such as 10.0.0.0/8", text)
	}
	port, ok := parsePort(portText)
	if !ok {
		return fmt.Errorf("allow has %q: the port is a number from 1 to 65535, for example judge.internal:443", text)
	}
	host = strings.ToLower(host)
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" || addr.Is4In6() {
			return fmt.Errorf("allow has %q: write the address plainly, without a zone or a ::ffff: prefix", text)
		}
		p.ranges = append(p.ranges, reach{netip.PrefixFrom(addr, addr.BitLen()), port})
		return nil
	}
	if words := nameProblem(host); words != "" {
		return fmt.Errorf("allow has %q: the host is not a name in plain ASCII such as judge.internal", text)
	}
	p.names[net.JoinHostPort(host, portText)] = true
	return nil
}

func (p *policy) allowRange(text string) error {
	prefix, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return fmt.Errorf("allow has %q: write a range as address and length, for example 10.0.0.0/8", text)
	case prefix.Addr().Is4In6():
		return fmt.Errorf("allow has %q: write the IPv4 range plainly, without the ::ffff: prefix", text)
	case prefix.Bits() == 0:
		return fmt.Errorf("allow has %q, which is every address and would switch the guard off: list the ranges that you need", text)
	case prefix != prefix.Masked():
		return fmt.Errorf("allow has %q: the address has bits below the length; write %s", text, prefix.Masked())
	}
	p.ranges = append(p.ranges, reach{prefix, 0})
	return nil
}

// parsePort reads a port in its only spelling: no sign, no leading zero.
func parsePort(text string) (uint16, bool) {
	n, err := strconv.ParseUint(text, 10, 16)
	return uint16(n), err == nil && n > 0 && strconv.FormatUint(n, 10) == text
}
