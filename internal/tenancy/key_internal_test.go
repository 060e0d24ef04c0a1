package tenancy

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
)

func FuzzParseKey(f *testing.F) {
	whole := newKey(ModeLive).whole
	for _, seed := range []string{
		whole, newKey(ModeTest).whole, whole[:len(whole)-1], whole + "0", strings.ToUpper(whole), "", "asy_", "asy_____", "asy_live__", "sk-abc", "eyJhbGciOi",
		strings.Replace(whole, "live", "prod", 1), strings.Repeat("_", keyLength), "asy_live_\xff", "asy_live_" + strings.Repeat("é", 30),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := parseKey(text)
		if err != nil {
			require.Equal(t, parsedKey{}, key)
			fa, ok := fault.From(err)
			require.True(t, ok)
			require.Equal(t, fault.Unauthorized, fa.Kind)
			require.True(t, text == "" || len(text) < 12 || !strings.Contains(err.Error(), text), "the key is not repeated")
			require.Equal(t, strings.HasPrefix(text, "asy_"), errors.Is(err, ErrKeyIncomplete))
			return
		}
		require.Equal(t, text, key.whole)
		require.Len(t, text, keyLength)
		require.Len(t, key.id, idLength)
		require.Equal(t, checksum(text[:len(text)-checksumLength-1]), text[len(text)-checksumLength:])
		// Any one character less or changed is noticed.
		for i := range text {
			other := byte('0')
			if text[i] == other {
				other = '1'
			}
			_, err := parseKey(text[:i] + string(other) + text[i+1:])
			require.Error(t, err)
			_, err = parseKey(text[:i] + text[i+1:])
			require.Error(t, err)
		}
	})
}

// TestKeyFormat fixes the form of keys for all time: a key that was handed out
// has to be read by every later version.
func TestKeyFormat(t *testing.T) {
	t.Parallel()
	const golden = "asy_live_AAAAAAAAAAAA_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB_"
	require.Equal(t, "3Wy9GP", checksum(golden[:len(golden)-1]))
	key, err := parseKey(golden + "3Wy9GP")
	require.NoError(t, err)
	require.Equal(t, parsedKey{id: "AAAAAAAAAAAA", whole: golden + "3Wy9GP"}, key)
	require.Equal(t, "15477520072e7fa035b576c8aad3b85fc9fc0838c0c6fc62701cce7e4785f44e", hex.EncodeToString(key.hash("a pepper for tests, of 32 or more characters")))

	for _, env := range []Mode{ModeLive, ModeTest} {
		seen := map[string]bool{}
		for range 1000 {
			k := newKey(env)
			require.Regexp(t, `^asy_`+string(env)+`_[0-9A-Za-z]{12}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$`, k.whole)
			require.False(t, seen[k.id])
			seen[k.id] = true
		}
	}
}
