package account

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Config of the pages for people.
type Config struct {
	Origin         string `setting:"origin" help:"Scheme and host at which browsers reach Assay, such as https://assay.example.com. Links in invitations begin with it. Plain http is for a browser on this machine only, such as http://localhost:4318. Without it, links have no host, and browsers must come over https."`
	AttemptsMinute int    `setting:"attempts_minute" default:"10" help:"Passwords and invitations per minute that are tried for one account. From one client address it is three times as many. Further attempts get 429."`
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	var errs []error
	if c.Origin != "" {
		u, err := url.Parse(c.Origin)
		switch {
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https",
			strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil:
			errs = append(errs, fmt.Errorf("origin is %q: give a scheme and a host, such as https://assay.example.com", c.Origin))
		case u.Scheme == "http" && !onThisMachine(u.Hostname()):
			errs = append(errs, fmt.Errorf("origin is %q: passwords must not be sent over plain http; give an https address, and let a proxy terminate TLS", c.Origin))
		}
	}
	if c.AttemptsMinute < 1 {
		errs = append(errs, fmt.Errorf("attempts_minute is %d: it must be 1 or more", c.AttemptsMinute))
	}
	return errors.Join(errs...)
}

func onThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
}

// Plain reports whether browsers come over plain http.
func (c Config) Plain() bool { return strings.HasPrefix(c.Origin, "http://") }

// link is the address of an invitation.
func (c Config) link(token string) string {
	return strings.TrimRight(c.Origin, "/") + "/app/invitation?token=" + token
}
