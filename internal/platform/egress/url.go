package egress

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/assayhq/assay/internal/core/fault"
)

// maxURL is what common servers and proxies accept in a request line.
const maxURL = 2048

// The reasons to refuse a URL, in words that say what to change.
const (
	notURL      = "The URL cannot be read. Write it as https://HOST/PATH."
	tooLong     = "The URL is longer than 2048 characters. Use a shorter one."
	needsHTTPS  = "The URL is not an https URL. Use https; plain http is for destinations that the operator of this deployment allows."
	hasUser     = "The URL contains a user name or password. Remove it and give the credential as a secret."
	badPort     = "The URL's port may not be called. Use port 443, or ask the operator of this deployment to allow it."
	oddAddress  = "The URL's host is a number that is not a plain address. Write an IPv4 address as four decimal numbers and an IPv6 address in brackets, or use a name."
	private     = "The URL's address is not public. Use a public https URL, or ask the operator of this deployment to allow it."
	privateName = "The URL's host is a name of a private network. Use a public https URL, or ask the operator of this deployment to allow it."
	notASCII    = "The URL's host has characters outside ASCII. Write the name in its xn-- form."
	dotAtEnd    = "The URL's host ends in a dot. Remove it."
	badName     = "The URL's host is not a host name. Use letters, digits, hyphens and dots."
)

// CheckURL refuses a URL that can never be called, with words that say what to
// change; a domain calls it when a URL is saved. It asks no name server, so a
// URL that passes may still be refused when it is called: a name leads
// somewhere else tomorrow, and only the address that is dialled counts.
func (c *Client) CheckURL(text string) error {
	if len(text) > maxURL {
		return forbidden(tooLong)
	}
	u, err := url.Parse(text)
	if err != nil {
		return forbidden(notURL)
	}
	err = c.policy.check(u)
	if f, ok := fault.From(err); ok && allowable[f.Message] && u.Hostname() != "" {
		return forbidden(fmt.Sprintf("%s: ASSAY_EGRESS_ALLOW=%s.", strings.TrimSuffix(f.Message, "."), net.JoinHostPort(strings.ToLower(u.Hostname()), portOf(u))))
	}
	return err
}

// allowable are the refusals of what the operator can allow. Whoever saves a URL
// learns the setting; a refusal of a call would quote where a redirect leads.
var allowable = map[string]bool{needsHTTPS: true, badPort: true, private: true, privateName: true}

// portOf is the port that a URL leads to.
func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	}
	return "443"
}

func (p *policy) check(u *url.URL) error {
	plain := u.Scheme == "http"
	switch {
	case u.User != nil:
		return forbidden(hasUser)
	case u.Scheme != "https" && !plain:
		return forbidden(needsHTTPS)
	case u.Opaque != "" || u.Hostname() == "":
		return forbidden(notURL)
	}
	portText := portOf(u)
	host := strings.ToLower(u.Hostname())
	port, ok := parsePort(portText)
	if !ok {
		return forbidden(badPort)
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return p.checkAddress(netip.AddrPortFrom(addr, port), plain)
	}
	if words := nameProblem(host); words != "" {
		return forbidden(words)
	}
	// A name may lead into an allow-listed range, which the dial decides.
	if p.names[net.JoinHostPort(host, portText)] || len(p.ranges) > 0 {
		return nil
	}
	switch {
	case plain:
		return forbidden(needsHTTPS)
	case insideName(host):
		return forbidden(privateName)
	case !p.ports[port]:
		return forbidden(badPort)
	}
	return nil
}

func (p *policy) checkAddress(to netip.AddrPort, plain bool) error {
	addr := to.Addr()
	switch {
	case addr.Zone() != "" || addr.Is4In6():
		return forbidden(oddAddress)
	case p.admits(to, target{plain: plain}):
		return nil
	case plain && public(addr):
		return forbidden(needsHTTPS)
	case public(addr):
		return forbidden(badPort)
	}
	return forbidden(private)
}

// nameProblem says what is wrong with a lower-case host name, or nothing.
// Resolvers and browsers read numbers such as 0x7f.1 as addresses, and IDNA
// turns many characters into digits and dots; none of that reaches a resolver.
func nameProblem(host string) string {
	if strings.HasSuffix(host, ".") {
		return dotAtEnd
	}
	for i := range len(host) {
		if host[i] >= 0x80 {
			return notASCII
		}
	}
	if len(host) > 253 {
		return badName
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return badName
		}
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" || isHex(last) {
		return oddAddress
	}
	return ""
}

func isHex(label string) bool {
	digits, ok := strings.CutPrefix(label, "0x")
	return ok && strings.Trim(digits, "0123456789abcdef") == ""
}

// insides are the top-level names that only private networks answer.
var insides = map[string]bool{
	"localhost": true, "local": true, "localdomain": true, "internal": true, "intranet": true,
	"lan": true, "home": true, "corp": true, "private": true, "svc": true, "arpa": true,
}

// insideName reports whether a name means a machine nearby: it has one label,
// or ends in a name of private networks. This is a courtesy to whoever saves
// the URL; the dial would refuse it too.
func insideName(host string) bool {
	i := strings.LastIndexByte(host, '.')
	return i < 0 || insides[host[i+1:]]
}
