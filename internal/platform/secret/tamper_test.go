package secret_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/secret"
)

func TestEveryChangedBitIsNoticed(t *testing.T) {
	t.Parallel()
	k, key, ciphertext := sealed(t)

	for i := range len(ciphertext) * 8 {
		bad := bytes.Clone(ciphertext)
		bad[i/8] ^= 1 << (i % 8)
		_, err := k.Unseal(key, bad, atOpenAI)
		require.Error(t, err, "bit %d of the sealed secret", i)
	}
	for i := range len(key) * 8 {
		bad := slices.Clone(key)
		bad[i/8] ^= 1 << (i % 8)
		_, err := k.Unseal(bad, ciphertext, atOpenAI)
		require.Error(t, err, "bit %d of the data key", i)
		_, _, err = k.Rewrap(bad, atOpenAI.Org)
		require.Error(t, err, "bit %d of the data key", i)
	}
}

func TestEveryCutIsNoticed(t *testing.T) {
	t.Parallel()
	k, key, ciphertext := sealed(t)

	for n := range ciphertext {
		_, err := k.Unseal(key, ciphertext[:n], atOpenAI)
		require.Error(t, err, "%d bytes of the sealed secret", n)
	}
	for n := range key {
		require.Error(t, k.Open(key[:n], atOpenAI.Org), "%d bytes of the data key", n)
	}
	_, err := k.Unseal(key, append(bytes.Clone(ciphertext), 0), atOpenAI)
	require.ErrorIs(t, err, secret.ErrRefused)
	require.ErrorIs(t, k.Open(append(slices.Clone(key), 0), atOpenAI.Org), secret.ErrRefused)
}

func TestAnUnknownFormatIsNamedAsOne(t *testing.T) {
	t.Parallel()
	k, key, ciphertext := sealed(t)
	laterKey, laterCiphertext := slices.Clone(key), bytes.Clone(ciphertext)
	laterKey[0], laterCiphertext[0] = 2, 2

	_, err := k.Unseal(key, laterCiphertext, atOpenAI)
	require.ErrorIs(t, err, secret.ErrFormat)
	require.ErrorIs(t, k.Open(laterKey, atOpenAI.Org), secret.ErrFormat)
	_, err = laterKey.MasterKeyID()
	require.ErrorIs(t, err, secret.ErrFormat)
}
