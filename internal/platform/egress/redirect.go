package egress

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// MaxRedirects bounds what a caller can ask for. A host that moved, over the
// name of its content network, takes three hops.
const MaxRedirects = 5

// kept are the headers that may follow a redirect to another origin. The list
// names what is kept and not what is dropped, because every provider has its
// own header for a key.
var kept = []string{"Accept", "Accept-Encoding", "Accept-Language", "User-Agent"}

// follow is the rule for redirects. The next hop's destination is checked here
// for its words and again by its own exchange.
func follow(c *Client, limit int) func(*http.Request, []*http.Request) error {
	return func(next *http.Request, via []*http.Request) error {
		if limit <= 0 {
			return http.ErrUseLastResponse
		}
		last := via[len(via)-1]
		if len(via) > limit || last.URL.Scheme == "https" && next.URL.Scheme != "https" {
			return ErrRedirected
		}
		if err := c.check(next.URL); err != nil {
			return err
		}
		// The previous URL may carry a secret in its path or query.
		next.Header.Del("Referer")
		if strayed(next, via) {
			if next.Body != nil && next.Body != http.NoBody {
				return ErrRedirected
			}
			maps.DeleteFunc(next.Header, func(name string, _ []string) bool { return !slices.Contains(kept, name) })
			next.Host = ""
		}
		return nil
	}
}

// strayed reports whether any hop left the first origin. Coming back does not
// bring the credentials back: the way was chosen by another host.
func strayed(next *http.Request, via []*http.Request) bool {
	home := origin(via[0].URL)
	for _, r := range append(via[1:len(via):len(via)], next) {
		if origin(r.URL) != home {
			return true
		}
	}
	return false
}

func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
