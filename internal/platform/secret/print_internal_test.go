package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const canary = "sk-canary-7f3b9d"

// shapes are the forms in which a printer may show bytes.
func shapes(b []byte) []string {
	return []string{
		string(b),
		hex.EncodeToString(b),
		strings.ToUpper(hex.EncodeToString(b)),
		base64.RawStdEncoding.EncodeToString(b),
		base64.RawURLEncoding.EncodeToString(b),
		strings.Trim(fmt.Sprintf("%d", b), "[]"),
		strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", b), "[]byte{"), "}"),
	}
}

// keyBytes finds the 32 bytes of the key in a keyset of newKeyset.
func keyBytes(t *testing.T, raw []byte) []byte {
	t.Helper()
	at := bytes.Index(raw, []byte{0x1a, 0x20}) // the field of the key, 32 bytes long
	require.Positive(t, at)
	return raw[at+2 : at+34]
}

func TestNothingPrintsASecret(t *testing.T) {
	t.Parallel()
	text, err := NewMasterKey()
	require.NoError(t, err)
	cfg := Config{MasterKey: text, OtherMasterKeys: text}
	k, err := New(cfg, time.Now)
	require.NoError(t, err)
	b := thefts()["none"]
	key, err := k.NewDataKey(b.Org)
	require.NoError(t, err)
	ciphertext, err := k.Seal(key, canary, b)
	require.NoError(t, err)
	plaintext, err := k.Unseal(key, ciphertext, b)
	require.NoError(t, err)

	secrets := slices.Concat(shapes([]byte(canary)), shapes([]byte(text.Reveal())))
	_, encoded, _ := strings.Cut(strings.TrimPrefix(text.Reveal(), masterPrefix), "_")
	masterRaw, err := masterEncoding.DecodeString(encoded)
	require.NoError(t, err)
	dataRaw, err := k.unwrap(key, b.Org)
	require.NoError(t, err)
	for _, raw := range [][]byte{masterRaw, dataRaw} {
		secrets = append(secrets, shapes(keyBytes(t, raw))...)
	}

	printed := map[string]any{
		"keeper": k, "keeper value": *k, "config": cfg, "config pointer": &cfg,
		"data key": key, "sealed": ciphertext, "plaintext": plaintext,
		"within": struct {
			Keeper *Keeper
			Config Config
			hidden *Keeper
		}{k, cfg, k},
	}
	for i, e := range failures(t, k, key, ciphertext, b, text) {
		printed[fmt.Sprint("error ", i)] = e
	}
	for name, v := range printed {
		out := everyPrint(v)
		for _, s := range secrets {
			require.NotContains(t, out, s, name)
		}
	}
}

// failures collects an error of every kind, each from inputs that hold secrets.
func failures(t *testing.T, k *Keeper, key DataKey, ciphertext []byte, b Binding, text Text) []error {
	t.Helper()
	other, err := NewMasterKey()
	require.NoError(t, err)
	stranger, err := New(Config{MasterKey: other}, time.Now)
	require.NoError(t, err)
	elsewhere := b
	elsewhere.Destination = "https://evil.example:443"
	withPassword := b
	withPassword.Destination = "https://user:" + canary + "@api.openai.com:443"

	_, refused := k.Unseal(key, ciphertext, elsewhere)
	_, cut := k.Unseal(key, ciphertext[:9], b)
	_, format := k.Unseal(key, []byte(canary), b)
	_, missing := stranger.Unseal(key, ciphertext, b)
	_, binding := k.Seal(key, canary, Binding{})
	_, password := k.Seal(key, canary, withPassword)
	_, foreign := k.Seal(key, canary, thefts()["org"])
	all := []error{
		refused, cut, format, missing, binding, password, foreign,
		Config{MasterKey: canary}.Validate(),
		Config{MasterKey: text, OtherMasterKeys: text[:len(text)-1]}.Validate(),
	}
	for i, e := range all {
		require.Error(t, e, i)
	}
	return all
}

// everyPrint leaves out %p, with which fmt asks no value how it wants to be
// shown; vet refuses it for anything but pointers.
func everyPrint(v any) string {
	var out bytes.Buffer
	for _, verb := range "vsqxXdtcbogeUT" {
		for _, flag := range []string{"", "+", "#", " "} {
			fmt.Fprintf(&out, "%"+flag+string(verb)+"\n", v)
		}
	}
	for _, h := range []slog.Handler{slog.NewJSONHandler(&out, nil), slog.NewTextHandler(&out, nil)} {
		slog.New(h).Info("printed", "value", v, "error", fmt.Errorf("wrapped: %v", v))
	}
	if encoded, err := json.Marshal(v); err == nil {
		out.Write(encoded)
	}
	return out.String()
}
