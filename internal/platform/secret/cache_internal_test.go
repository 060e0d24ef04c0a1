package secret

import (
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// counted counts the openings that reach the master key.
type counted struct {
	tink.AEAD
	decrypts atomic.Int64
}

func (c *counted) Decrypt(ciphertext, associated []byte) ([]byte, error) {
	c.decrypts.Add(1)
	return c.AEAD.Decrypt(ciphertext, associated)
}

func countingKeeper(t *testing.T) (*Keeper, *counted, *time.Time) {
	t.Helper()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	k := goldenKeeper(t)
	c := &counted{AEAD: k.masters[0].cipher}
	return newKeeper([]master{{k.masters[0].id, c}}, func() time.Time { return now }), c, &now
}

func TestCache(t *testing.T) {
	t.Parallel()

	t.Run("a data key is opened once in five minutes, however busy", func(t *testing.T) {
		t.Parallel()
		k, c, now := countingKeeper(t)
		key, err := k.NewDataKey("org-a")
		require.NoError(t, err)

		for range 5 {
			require.NoError(t, k.Open(key, "org-a"))
			*now = now.Add(time.Minute - 1)
		}
		require.EqualValues(t, 1, c.decrypts.Load())
		*now = now.Add(5)
		require.NoError(t, k.Open(key, "org-a"))
		require.EqualValues(t, 2, c.decrypts.Load())
	})

	t.Run("a clock that is set back lengthens no stay", func(t *testing.T) {
		t.Parallel()
		k, c, now := countingKeeper(t)
		key, err := k.NewDataKey("org-a")
		require.NoError(t, err)
		require.NoError(t, k.Open(key, "org-a"))

		*now = now.Add(-time.Hour)
		require.NoError(t, k.Open(key, "org-a"))

		require.EqualValues(t, 2, c.decrypts.Load())
	})

	t.Run("another organization misses and is refused", func(t *testing.T) {
		t.Parallel()
		k, c, _ := countingKeeper(t)
		key, err := k.NewDataKey("org-a")
		require.NoError(t, err)
		require.NoError(t, k.Open(key, "org-a"))

		require.ErrorIs(t, k.Open(key, "org-b"), ErrRefused)
		require.EqualValues(t, 2, c.decrypts.Load())
	})

	t.Run("forgetting an organization leaves the others", func(t *testing.T) {
		t.Parallel()
		k, c, _ := countingKeeper(t)
		a, err := k.NewDataKey("org-a")
		require.NoError(t, err)
		b, err := k.NewDataKey("org-b")
		require.NoError(t, err)
		require.NoError(t, k.Open(a, "org-a"))
		require.NoError(t, k.Open(b, "org-b"))

		k.Forget("org-a")
		require.NoError(t, k.Open(a, "org-a"))
		require.NoError(t, k.Open(b, "org-b"))

		require.EqualValues(t, 3, c.decrypts.Load())
	})

	t.Run("it is bounded, and the oldest goes first", func(t *testing.T) {
		t.Parallel()
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		c := newCache(func() time.Time { return now })
		for i := range cacheSize + 10 {
			c.keep(DataKey{1}, strconv.Itoa(i), nil)
			now = now.Add(time.Millisecond)
		}

		require.Len(t, c.entries, cacheSize)
		_, ok := c.find(DataKey{1}, "9")
		require.False(t, ok)
		_, ok = c.find(DataKey{1}, "10")
		require.True(t, ok)
	})
}
