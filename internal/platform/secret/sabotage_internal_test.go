package secret

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// These tests take the protection away and show that the theft then succeeds.
// A test that refuses a swap proves little if the swap is refused anyway.

func thefts() map[string]Binding {
	return map[string]Binding{
		"none":       {"org-a", "cred-1", "openai", "https://api.openai.com:443"},
		"credential": {"org-a", "cred-2", "openai", "https://api.openai.com:443"},
		"provider":   {"org-a", "cred-1", "azure", "https://api.openai.com:443"},
		"host":       {"org-a", "cred-1", "openai", "https://evil.example:443"},
		"port":       {"org-a", "cred-1", "openai", "https://api.openai.com:444"},
		"scheme":     {"org-a", "cred-1", "openai", "http://api.openai.com:443"},
		"org":        {"org-b", "cred-1", "openai", "https://api.openai.com:443"},
	}
}

// stolen returns the names of the bindings that a secret of "none" opens under.
func stolen(t *testing.T, sabotage func(*Keeper)) []string {
	t.Helper()
	k := goldenKeeper(t)
	sabotage(k)
	key, err := k.NewDataKey("org-a")
	require.NoError(t, err)
	ciphertext, err := k.Seal(key, "sk-live", thefts()["none"])
	require.NoError(t, err)
	var names []string
	for name, b := range thefts() {
		if got, err := k.Unseal(key, ciphertext, b); err == nil {
			require.Equal(t, "sk-live", got.Reveal())
			names = append(names, name)
		}
	}
	return names
}

func TestTheBindingIsWhatProtects(t *testing.T) {
	t.Parallel()
	unboundSecret := func(k *Keeper) { k.sealedUnder = func(Binding) []byte { return nil } }
	unboundKey := func(k *Keeper) { k.wrappedUnder = func(string, string) []byte { return nil } }

	t.Run("bound, nothing is stolen", func(t *testing.T) {
		t.Parallel()
		require.ElementsMatch(t, []string{"none"}, stolen(t, func(*Keeper) {}))
	})
	t.Run("secrets unbound, everything within the organization is", func(t *testing.T) {
		t.Parallel()
		require.ElementsMatch(t, []string{"none", "credential", "provider", "host", "port", "scheme"}, stolen(t, unboundSecret))
	})
	t.Run("data keys unbound, the secrets' own binding still holds", func(t *testing.T) {
		t.Parallel()
		require.ElementsMatch(t, []string{"none"}, stolen(t, unboundKey))
	})
	t.Run("both unbound, organizations read each other", func(t *testing.T) {
		t.Parallel()
		require.Len(t, stolen(t, func(k *Keeper) { unboundSecret(k); unboundKey(k) }), len(thefts()))
	})
}

func TestNoTwoBindingsMakeTheSameBytes(t *testing.T) {
	t.Parallel()
	draw := rapid.SliceOfN(rapid.StringMatching("[\x00-\x03ab]{0,5}"), 4, 4)

	rapid.Check(t, func(t *rapid.T) {
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		same := bytes.Equal(
			sealedUnder(Binding{a[0], a[1], a[2], a[3]}),
			sealedUnder(Binding{b[0], b[1], b[2], b[3]}))
		require.Equal(t, strings.Join(a, "|") == strings.Join(b, "|"), same)
	})

	t.Run("without lengths they do", func(t *testing.T) {
		t.Parallel()
		a, b := []string{"a", "bc"}, []string{"ab", "c"}
		require.Equal(t, strings.Join(a, ""), strings.Join(b, ""))
		require.NotEqual(t, joined(a...), joined(b...))
	})
	t.Run("the bytes of format 1", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, "\x00\x00\x00\x03pk1\x00\x00\x00\x01o\x00\x00\x00\x02cc\x00\x00\x00\x01p\x00\x00\x00\x0ahttp://h:1",
			string(sealedUnder(Binding{"o", "cc", "p", "http://h:1"})))
	})
}
