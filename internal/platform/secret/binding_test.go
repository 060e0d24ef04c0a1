package secret_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/platform/secret"
)

// part draws ids from few letters, so that parts often share ends and borders.
func part() *rapid.Generator[string] { return rapid.StringMatching(`[ab:/1]{1,4}`) }

func drawDestination(t *rapid.T) string {
	return rapid.SampledFrom([]string{"http", "https"}).Draw(t, "scheme") +
		"://" + rapid.StringMatching(`[ab]{1,3}(\.[ab]{1,2})?`).Draw(t, "host") +
		":" + strconv.Itoa(rapid.IntRange(1, 65535).Draw(t, "port"))
}

func drawBinding(t *rapid.T) secret.Binding {
	return secret.Binding{
		Org:         part().Draw(t, "org"),
		Credential:  part().Draw(t, "credential"),
		Provider:    part().Draw(t, "provider"),
		Destination: drawDestination(t),
	}
}

// drawSwap changes one part or several of a binding, often by a little.
func drawSwap(t *rapid.T, b secret.Binding) secret.Binding {
	other := drawBinding(t)
	for _, p := range rapid.SliceOfN(rapid.IntRange(0, 3), 1, 3).Draw(t, "swapped") {
		switch p {
		case 0:
			b.Org = other.Org
		case 1:
			b.Credential = other.Credential
		case 2:
			b.Provider = other.Provider
		case 3:
			b.Destination = other.Destination
		}
	}
	return b
}

func TestNoOtherBindingOpens(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, newMasterKey(t))

	rapid.Check(t, func(t *rapid.T) {
		right := drawBinding(t)
		wrong := drawSwap(t, right)
		plaintext := secret.Text(rapid.StringN(1, -1, 64).Draw(t, "plaintext"))
		key, err := k.NewDataKey(right.Org)
		require.NoError(t, err)
		ciphertext, err := k.Seal(key, plaintext, right)
		require.NoError(t, err)

		got, err := k.Unseal(key, ciphertext, right)
		require.NoError(t, err)
		require.Equal(t, plaintext.Reveal(), got.Reveal())

		if wrong != right {
			_, err = k.Unseal(key, ciphertext, wrong)
			require.ErrorIs(t, err, secret.ErrRefused)
		}
	})
}

func TestNoSinglePartCanBeSwapped(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, newMasterKey(t))
	replace := func(from, to string) func(*secret.Binding) {
		return func(b *secret.Binding) {
			require.Equal(t, from, b.Destination)
			b.Destination = to
		}
	}
	swaps := map[string]func(*secret.Binding){
		"org":        func(b *secret.Binding) { b.Org = "org-b" },
		"credential": func(b *secret.Binding) { b.Credential = "cred-2" },
		"provider":   func(b *secret.Binding) { b.Provider = "azure" },
		"host":       replace("https://api.openai.com:443", "https://evil.example:443"),
		"subdomain":  replace("https://api.openai.com:443", "https://api.openai.com.evil.example:443"),
		"port":       replace("https://api.openai.com:443", "https://api.openai.com:8443"),
		"scheme":     replace("https://api.openai.com:443", "http://api.openai.com:443"),
	}
	key, err := k.NewDataKey(atOpenAI.Org)
	require.NoError(t, err)
	theirs, err := k.NewDataKey("org-b")
	require.NoError(t, err)
	ciphertext, err := k.Seal(key, "sk-live", atOpenAI)
	require.NoError(t, err)

	for name, swap := range swaps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := atOpenAI
			swap(&b)
			for _, with := range []secret.DataKey{key, theirs} {
				_, err := k.Unseal(with, ciphertext, b)
				require.ErrorIs(t, err, secret.ErrRefused)
			}
		})
	}
}

func TestDestination(t *testing.T) {
	t.Parallel()

	for in, want := range map[string]string{
		"https://api.openai.com":              "https://api.openai.com:443",
		"HTTPS://API.OpenAI.com/v1?x=1#y":     "https://api.openai.com:443",
		"http://localhost":                    "http://localhost:80",
		"http://my_service:0080/":             "http://my_service:80",
		"https://[2001:DB8:0::1]:8443/v1":     "https://[2001:db8::1]:8443",
		"http://127.0.0.1:11434/api/generate": "http://127.0.0.1:11434",
	} {
		got, err := secret.Destination(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got)
		again, err := secret.Destination(got)
		require.NoError(t, err)
		require.Equal(t, got, again)
	}

	for _, in := range []string{
		"", "api.openai.com", "//api.openai.com", "https://", "https://:443", "ftp://a", "file:///etc/passwd",
		"https:api.openai.com", "https://user:hunter2@api.openai.com", "https://api.openai.com@evil.example",
		"https://api.openai.com.", "https://.openai.com", "https://api.openai.com:", "https://a:0", "https://a:65536",
		"https://a:+443", "https://a b", "https://ápi.openai.com", "https://to\u212aen.example", "https://[fe80::1%25eth0]:443", "https://[::1",
		"https://a%2eb", "https://a\x00", "https://a\\@b",
	} {
		got, err := secret.Destination(in)
		require.ErrorIs(t, err, secret.ErrDestination, "%q gave %q", in, got)
		require.NotContains(t, err.Error(), "hunter2")
	}
}
