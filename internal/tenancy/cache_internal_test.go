package tenancy

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
)

func TestKeyCache(t *testing.T) {
	t.Parallel()
	org := principal.NewOrgID()

	t.Run("a key is read again when its age is over", func(t *testing.T) {
		t.Parallel()
		now, reads := time.Now(), 0
		c := newKeyCache(func() time.Time { return now })
		read := func(context.Context, string) (storedKey, error) { reads++; return storedKey{Org: org}, nil }
		for _, step := range []struct {
			wait time.Duration
			want int
		}{{0, 1}, {cacheAge - 1, 1}, {1, 2}, {0, 2}} {
			now = now.Add(step.wait)
			_, err := c.get(t.Context(), "K", read)
			require.NoError(t, err)
			require.Equal(t, step.want, reads)
		}
	})

	t.Run("an unknown key is remembered and an outage is not", func(t *testing.T) {
		t.Parallel()
		reads := 0
		c := newKeyCache(time.Now)
		for _, want := range []error{ErrKeyUnknown, context.DeadlineExceeded} {
			reads = 0
			read := func(context.Context, string) (storedKey, error) { reads++; return storedKey{}, want }
			for range 2 {
				_, err := c.get(t.Context(), want.Error(), read)
				require.ErrorIs(t, err, want)
			}
		}
		require.Equal(t, 2, reads)
	})

	t.Run("what was read before a change is not used after it", func(t *testing.T) {
		t.Parallel()
		c := newKeyCache(time.Now)
		reading, changed := make(chan struct{}), make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			// This reads the key as it was, and answers after the change.
			_, _ = c.get(t.Context(), "K", func(context.Context, string) (storedKey, error) {
				close(reading)
				<-changed
				return storedKey{Org: org, KeyID: "before"}, nil
			})
		}()
		<-reading
		c.forgetOrg(org) // the change has committed
		after := func() string {
			k, err := c.get(t.Context(), "K", func(context.Context, string) (storedKey, error) { return storedKey{Org: org, KeyID: "after"}, nil })
			require.NoError(t, err)
			return k.KeyID
		}
		answer := make(chan string, 1)
		go func() { answer <- after() }()
		select {
		case got := <-answer:
			require.Equal(t, "after", got)
		case <-time.After(5 * time.Second):
			t.Error("a request after the change waits for a read from before it")
		}
		close(changed)
		<-done
		require.Equal(t, "after", after(), "the late answer replaced the newer one")
	})
}
