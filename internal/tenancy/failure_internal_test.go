package tenancy

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/core/request"
	"github.com/assayhq/assay/internal/platform/secret"
)

// TestFailedSignInsAreHeldOff guesses until the limit of five a minute: from then
// on guessing costs no lookup, and whoever has a key that works keeps working.
//
//nolint:paralleltest // the parts count the same failures
func TestFailedSignInsAreHeldOff(t *testing.T) {
	t.Parallel()
	s := service(t)
	b, err := s.Bootstrap(t.Context(), "Test", FirstMember{Email: "owner@example.com"}, NewKey{Name: "first", Mode: ModeLive, Scopes: principal.Scopes})
	require.NoError(t, err)
	_, unused, err := s.CreateKey(t.Context(), b.Org, NewKey{Name: "unused", Mode: ModeLive, Scopes: principal.Scopes})
	require.NoError(t, err)
	from := func(ip string, key secret.Text) error {
		_, err := s.Authenticate(request.With(t.Context(), &request.Info{IP: ip, Header: http.Header{}}), key.Reveal())
		return err
	}
	heldOff := func(t *testing.T, err error) {
		t.Helper()
		require.ErrorIs(t, err, ErrTooManyFailures)
		f, _ := fault.From(err)
		require.Equal(t, fault.RateLimited, f.Kind)
		require.InDelta(t, 60, f.Details["retryAfterSeconds"], 10)
	}
	require.NoError(t, from("203.0.113.1", b.Key))

	t.Run("by address", func(t *testing.T) {
		for range 5 {
			require.ErrorIs(t, from("203.0.113.1", secret.Text(newKey(ModeLive).whole)), ErrKeyUnknown)
		}
		entries := len(s.cache.entries)
		for range 100 {
			heldOff(t, from("203.0.113.1", secret.Text(newKey(ModeLive).whole)))
		}
		require.Len(t, s.cache.entries, entries, "a guess that is held off reaches neither the database nor the cache")
		heldOff(t, from("203.0.113.1", "asy_live_nonsense"))
		require.NoError(t, from("203.0.113.1", b.Key), "a key that is known here")
		heldOff(t, from("203.0.113.1", unused))
		require.NoError(t, from("203.0.113.2", unused), "another address")
		require.NoError(t, from("203.0.113.1", unused), "and now it is known")
	})

	t.Run("by the network of an IPv6 address", func(t *testing.T) {
		for i := range 5 {
			require.ErrorIs(t, from(fmt.Sprintf("2001:db8:0:7::%d", i), "asy_live_nonsense"), ErrKeyIncomplete)
		}
		heldOff(t, from("2001:db8:0:7:ffff::1", "asy_live_nonsense"))
		require.ErrorIs(t, from("2001:db8:0:8::1", "asy_live_nonsense"), ErrKeyIncomplete)
	})

	t.Run("by key", func(t *testing.T) {
		known, err := parseKey(unused.Reveal())
		require.NoError(t, err)
		forged := func() secret.Text {
			body := keyPrefix + "_live_" + known.id + "_" + randomBase62(secretLength)
			return secret.Text(body + "_" + checksum(body))
		}
		for i := range 5 {
			require.ErrorIs(t, from(fmt.Sprintf("198.51.100.%d", i), forged()), ErrKeyUnknown)
		}
		heldOff(t, from("198.51.100.77", forged()))
		require.NoError(t, from("198.51.100.77", unused), "the key itself works: nobody can lock its owner out")
	})

	require.Error(t, Config{Pepper: "a pepper for tests, of 32 or more characters", PepperVersion: 1}.Validate())
}
