package secret_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/secret"
)

var atOpenAI = secret.Binding{
	Org:         "org-a",
	Credential:  "cred-1",
	Provider:    "openai",
	Destination: "https://api.openai.com:443",
}

func newMasterKey(t testing.TB) secret.Text {
	t.Helper()
	key, err := secret.NewMasterKey()
	require.NoError(t, err)
	return key
}

func newKeeper(t testing.TB, current secret.Text, others ...secret.Text) *secret.Keeper {
	t.Helper()
	cfg := secret.Config{MasterKey: current}
	for _, o := range others {
		cfg.OtherMasterKeys += o + ","
	}
	k, err := secret.New(cfg, time.Now)
	require.NoError(t, err)
	return k
}

// sealed returns a Keeper, a data key and the secret sk-live, sealed for OpenAI.
func sealed(t testing.TB) (*secret.Keeper, secret.DataKey, []byte) {
	t.Helper()
	k := newKeeper(t, newMasterKey(t))
	key, err := k.NewDataKey(atOpenAI.Org)
	require.NoError(t, err)
	ciphertext, err := k.Seal(key, "sk-live", atOpenAI)
	require.NoError(t, err)
	return k, key, ciphertext
}

func TestSeal(t *testing.T) {
	t.Parallel()

	t.Run("a sealed secret opens under its own binding", func(t *testing.T) {
		t.Parallel()
		k, key, ciphertext := sealed(t)

		got, err := k.Unseal(key, ciphertext, atOpenAI)

		require.NoError(t, err)
		require.Equal(t, "sk-live", got.Reveal())
	})

	t.Run("sealing twice never gives the same bytes", func(t *testing.T) {
		t.Parallel()
		k, key, first := sealed(t)

		second, err := k.Seal(key, "sk-live", atOpenAI)

		require.NoError(t, err)
		require.NotEqual(t, first, second)
	})

	t.Run("an incomplete binding or an empty secret is refused", func(t *testing.T) {
		t.Parallel()
		k, key, _ := sealed(t)
		for _, drop := range []func(*secret.Binding){
			func(b *secret.Binding) { b.Org = "" },
			func(b *secret.Binding) { b.Credential = "" },
			func(b *secret.Binding) { b.Provider = "" },
			func(b *secret.Binding) { b.Destination = "" },
			func(b *secret.Binding) { b.Destination = "https://api.openai.com" },
			func(b *secret.Binding) { b.Destination = "https://api.openai.com:443/v1" },
		} {
			b := atOpenAI
			drop(&b)
			_, err := k.Seal(key, "sk-live", b)
			require.ErrorIs(t, err, secret.ErrBinding, "%+v", b)
		}

		_, err := k.Seal(key, "", atOpenAI)
		require.ErrorIs(t, err, secret.ErrNothing)
		_, err = k.NewDataKey("")
		require.ErrorIs(t, err, secret.ErrBinding)
	})

	t.Run("a data key of another organization does not open", func(t *testing.T) {
		t.Parallel()
		k, key, _ := sealed(t)

		// It is in the cache for its owner, which helps nobody else.
		require.NoError(t, k.Open(key, "org-a"))
		require.ErrorIs(t, k.Open(key, "org-b"), secret.ErrRefused)
	})
}

func TestRotation(t *testing.T) {
	t.Parallel()

	t.Run("old and new, rewrap, then only new", func(t *testing.T) {
		t.Parallel()
		oldKey, newKey := newMasterKey(t), newMasterKey(t)
		before := newKeeper(t, oldKey)
		key, err := before.NewDataKey("org-a")
		require.NoError(t, err)
		ciphertext, err := before.Seal(key, "sk-live", atOpenAI)
		require.NoError(t, err)

		during := newKeeper(t, newKey, oldKey)
		got, err := during.Unseal(key, ciphertext, atOpenAI)
		require.NoError(t, err)
		require.Equal(t, "sk-live", got.Reveal())
		rewrapped, changed, err := during.Rewrap(key, "org-a")
		require.NoError(t, err)
		require.True(t, changed)
		again, changed, err := during.Rewrap(rewrapped, "org-a")
		require.NoError(t, err)
		require.False(t, changed)
		require.Equal(t, rewrapped, again)

		after := newKeeper(t, newKey)
		got, err = after.Unseal(rewrapped, ciphertext, atOpenAI)
		require.NoError(t, err)
		require.Equal(t, "sk-live", got.Reveal())
		_, err = after.Unseal(key, ciphertext, atOpenAI)
		require.ErrorIs(t, err, secret.ErrMasterKeyMissing)
	})

	t.Run("a replica that knows the next key opens what it wraps before the exchange", func(t *testing.T) {
		t.Parallel()
		oldKey, newKey := newMasterKey(t), newMasterKey(t)
		key, err := newKeeper(t, newKey, oldKey).NewDataKey("org-a")
		require.NoError(t, err)

		require.NoError(t, newKeeper(t, oldKey, newKey).Open(key, "org-a"))
	})

	t.Run("another organization cannot rewrap", func(t *testing.T) {
		t.Parallel()
		oldKey, newKey := newMasterKey(t), newMasterKey(t)
		key, err := newKeeper(t, oldKey).NewDataKey("org-a")
		require.NoError(t, err)

		_, changed, err := newKeeper(t, newKey, oldKey).Rewrap(key, "org-b")

		require.ErrorIs(t, err, secret.ErrRefused)
		require.False(t, changed)
	})

	t.Run("a missing master key is named by its id", func(t *testing.T) {
		t.Parallel()
		wrapper, other := newKeeper(t, newMasterKey(t)), newKeeper(t, newMasterKey(t))
		key, err := wrapper.NewDataKey("org-a")
		require.NoError(t, err)

		id, err := key.MasterKeyID()
		require.NoError(t, err)
		require.Equal(t, wrapper.MasterKeyID(), id)

		err = other.Open(key, "org-a")
		require.ErrorIs(t, err, secret.ErrMasterKeyMissing)
		require.ErrorContains(t, err, id)
	})
}
