package egress

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func client(t testing.TB, cfg Config) *Client {
	t.Helper()
	c, err := New(cfg)
	require.NoError(t, err)
	return c
}

func TestCheckURLAccepts(t *testing.T) {
	t.Parallel()
	c := client(t, Config{Ports: []string{"443", "8443"}})
	for _, text := range []string{
		"https://example.com", "https://example.com/", "https://example.com:443/v1?x=1#y", "https://EXAMPLE.com/",
		"https://example.com:8443/", "https://api_1.example.com/", "https://xn--bcher-kva.example/",
		"https://93.184.216.34/", "https://[2606:4700::1111]:8443/", "https://4chan.org/", "https://1.1.1.1.example.com/",
		"https://example.com:/", "https://0xff.example.com/",
	} {
		require.NoError(t, c.CheckURL(text), text)
	}
}

func TestCheckURLSaysWhatToDo(t *testing.T) {
	t.Parallel()
	c := client(t, Config{})
	for text, words := range map[string]string{
		"http://example.com/":                   "Use https",
		"ftp://example.com/":                    "Use https",
		"":                                      "Use https",
		"example.com":                           "Use https",
		"https://":                              "https://HOST/PATH",
		"https://a b/":                          "https://HOST/PATH",
		"https://key:secret@example.com/":       "give the credential as a secret",
		"https://example.com:8443/":             "ASSAY_EGRESS_ALLOW=example.com:8443.",
		"https://example.com:0443/":             "ASSAY_EGRESS_ALLOW=example.com:0443.",
		"https://93.184.216.34:22/":             "ASSAY_EGRESS_ALLOW=93.184.216.34:22.",
		"http://93.184.216.34/":                 "Use https",
		"https://10.0.0.1/":                     "ASSAY_EGRESS_ALLOW=10.0.0.1:443.",
		"https://localhost/":                    "ASSAY_EGRESS_ALLOW=localhost:443.",
		"https://judge.corp/":                   "ASSAY_EGRESS_ALLOW=judge.corp:443.",
		"https://0x7f.1/":                       "four decimal numbers",
		"https://[::ffff:93.184.216.34]/":       "four decimal numbers",
		"https://bücher.example/":               "xn-- form",
		"https://example.com./":                 "Remove it",
		"https://exa$mple.com/":                 "letters, digits, hyphens and dots",
		"https://" + strings.Repeat("a.", 1500): "Use a shorter one",
	} {
		err := c.CheckURL(text)
		require.ErrorIs(t, err, ErrForbidden, text)
		require.ErrorContains(t, err, words, text)
	}
}

func TestCheckURLWithAllowList(t *testing.T) {
	t.Parallel()
	c := client(t, Config{Allow: []string{"10.0.0.0/8", "judge.internal:8080"}})
	for _, text := range []string{
		"http://judge.internal:8080/", "https://judge.internal:8080/", "http://10.1.2.3:9/", "https://10.1.2.3/",
		"http://other.internal/", // may lead into 10.0.0.0/8; the dial decides
	} {
		require.NoError(t, c.CheckURL(text), text)
	}
	for _, text := range []string{"http://192.168.0.1/", "https://127.0.0.1/", "http://93.184.216.34/", "https://[::ffff:10.0.0.1]/"} {
		require.ErrorIs(t, c.CheckURL(text), ErrForbidden, text)
	}
}

// FuzzCheckURL shows that no text makes the check panic, and that a URL which
// passes is https, carries no credential and, if its host is an address by
// anyone's reading, is a public one.
func FuzzCheckURL(f *testing.F) {
	live, inert := rows()
	for _, text := range append(live, inert...) {
		f.Add(strings.ReplaceAll(text, "PORT", "443"))
	}
	f.Add("https://example.com/")
	f.Add("https://93.184.216.34:443/?a=b")
	f.Add("https://[2606:4700::1111]/")
	c := client(f, Config{})
	f.Fuzz(func(t *testing.T, text string) {
		if c.CheckURL(text) != nil {
			return
		}
		u, err := url.Parse(text)
		require.NoError(t, err)
		require.Equal(t, "https", u.Scheme)
		require.Nil(t, u.User)
		require.Contains(t, []string{"", "443"}, u.Port())
		host := u.Hostname()
		if addr, err := netip.ParseAddr(host); err == nil {
			require.Empty(t, addr.Zone())
			require.False(t, addr.Is4In6())
			require.False(t, forbiddenByHand(addr), "%s", addr)
			return
		}
		// A name that passes ends in a label with a letter that is no hex digit
		// after 0x, so no resolver takes it for a number.
		require.Regexp(t, `^([A-Za-z0-9_-]+\.)+[A-Za-z0-9_-]*[A-Za-z_-][A-Za-z0-9_-]*$`, host)
		require.NotRegexp(t, `(?i)(^|\.)0x[0-9a-f]*$`, host)
	})
}
