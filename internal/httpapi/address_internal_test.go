package httpapi

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheAddressIsThatOfTheLastStranger reads what proxies say, and what callers
// pretend that proxies have said.
func TestTheAddressIsThatOfTheLastStranger(t *testing.T) {
	t.Parallel()
	trusted, err := parseProxies([]string{"10.0.0.0/8", "192.0.2.7", "2001:db8::/32"})
	require.NoError(t, err)
	for _, c := range []struct {
		connection string
		forwarded  []string
		want       string
	}{
		{"203.0.113.5:4711", nil, "203.0.113.5"},
		{"203.0.113.5:4711", []string{"198.51.100.1"}, "203.0.113.5"}, // a stranger says what it likes
		{"10.1.2.3:4711", nil, "10.1.2.3"},
		{"10.1.2.3:4711", []string{"198.51.100.1"}, "198.51.100.1"},
		{"10.1.2.3:4711", []string{"198.51.100.1, 203.0.113.5"}, "203.0.113.5"}, // the left part was there before
		{"10.1.2.3:4711", []string{"198.51.100.1, 203.0.113.5, 192.0.2.7, 10.9.9.9"}, "203.0.113.5"},
		{"10.1.2.3:4711", []string{"198.51.100.1", "203.0.113.5,10.9.9.9"}, "203.0.113.5"}, // several headers are one
		{"10.1.2.3:4711", []string{"10.9.9.9, 192.0.2.7"}, "10.9.9.9"},                     // nobody but proxies
		{"10.1.2.3:4711", []string{"203.0.113.5, unknown"}, "10.1.2.3"},                    // what cannot be read ends the search
		{"10.1.2.3:4711", []string{"203.0.113.5, , 10.9.9.9"}, "10.9.9.9"},
		{"10.1.2.3:4711", []string{"203.0.113.5:8080"}, "203.0.113.5"},
		{"[2001:db8::1]:4711", []string{"[2001:4860::8]:443"}, "2001:4860::8"},
		{"[::ffff:10.1.2.3]:4711", []string{"::ffff:203.0.113.5"}, "203.0.113.5"},
		{"@", []string{"203.0.113.5"}, "@"},
		{"", nil, ""},
	} {
		require.Equal(t, c.want, trusted.client(c.connection, c.forwarded), "%s %v", c.connection, c.forwarded)
	}
	require.Equal(t, "10.1.2.3", proxies(nil).client("10.1.2.3:1", []string{"203.0.113.5"}), "without the setting no header counts")
	_, err = parseProxies([]string{"proxy.internal"})
	require.ErrorContains(t, err, `trusted_proxies has "proxy.internal"`)
	require.Error(t, Config{Addr: ":1", RequestTimeout: 1, ShutdownTimeout: 1, TrustedProxies: []string{"x"}}.Validate())
}
