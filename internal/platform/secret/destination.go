package secret

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// ErrDestination is returned for an address that a secret cannot be bound to.
var ErrDestination = errors.New("the destination is not an http or https URL with a plain host")

// hostLetters are all that a host's name is made of. A name in another script
// has a form in these letters too.
const hostLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"

// Destination reduces a URL to scheme://host:port, the part that decides who
// receives a secret: lower case, port always written, no path. Whoever is about
// to send a secret derives the destination from the URL that it will really
// call.
//
// A host that could be read in two ways is refused and not repaired: user
// names, zones, trailing dots and letters beyond ASCII. The error does not
// quote the URL, which may hold a password.
func Destination(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.User != nil || u.Opaque != "" {
		return "", ErrDestination
	}
	port := u.Port()
	switch {
	case port == "" && strings.HasSuffix(u.Host, ":"):
		return "", ErrDestination
	case port == "" && u.Scheme == "https":
		port = "443"
	case port == "" && u.Scheme == "http":
		port = "80"
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 || u.Scheme != "https" && u.Scheme != "http" {
		return "", ErrDestination
	}
	host, ok := canonicalHost(u.Hostname())
	if !ok {
		return "", ErrDestination
	}
	return u.Scheme + "://" + net.JoinHostPort(host, strconv.FormatUint(number, 10)), nil
}

func canonicalHost(host string) (string, bool) {
	if strings.Contains(host, ":") {
		address, err := netip.ParseAddr(host)
		return address.String(), err == nil && address.Zone() == ""
	}
	if host == "" || host[0] == '.' || host[len(host)-1] == '.' {
		return "", false
	}
	// Before lowering: the Kelvin sign becomes a plain k.
	if strings.Trim(host, hostLetters) != "" {
		return "", false
	}
	return strings.ToLower(host), true
}
