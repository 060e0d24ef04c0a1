package secret

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
)

// masterOf writes a well-formed text around keys of the test's choice.
func masterOf(t testing.TB, templates ...*tink_go_proto.KeyTemplate) Text {
	t.Helper()
	manager := keyset.NewManager()
	for _, template := range templates {
		id, err := manager.Add(template)
		require.NoError(t, err)
		require.NoError(t, manager.SetPrimary(id))
	}
	handle, err := manager.Handle()
	require.NoError(t, err)
	var raw bytes.Buffer
	require.NoError(t, insecurecleartextkeyset.Write(handle, keyset.NewBinaryWriter(&raw)))
	return Text(masterPrefix + masterID(raw.Bytes()) + "_" + masterEncoding.EncodeToString(raw.Bytes()))
}

func TestConfigRefusesWhatIsNoMasterKey(t *testing.T) {
	t.Parallel()
	good, err := NewMasterKey()
	require.NoError(t, err)
	text := good.Reveal()
	typo := text[:60] + swapCase(text[60:61]) + text[61:]

	cases := map[string]struct {
		key  Text
		says string
	}{
		"blank":            {" \n", "master_key is empty"},
		"placeholder":      {"changeme-changeme-changeme-changeme", "is not a master key"},
		"prefix only":      {masterPrefix, "is damaged"},
		"cut short":        {Text(text[:len(text)-4]), "is damaged"},
		"mistyped":         {Text(typo), "is damaged"},
		"short key":        {masterOf(t, aead.AES128GCMKeyTemplate()), "is too weak"},
		"another cipher":   {masterOf(t, aead.AES256CTRHMACSHA256KeyTemplate()), "is too weak"},
		"two keys":         {masterOf(t, aead.AES256GCMKeyTemplate(), aead.AES256GCMKeyTemplate()), "is too weak"},
		"the golden files": {golden(t).MasterKey, "is published"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Config{MasterKey: c.key}.Validate()
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, "assay admin new-master-key")
			_, err = New(Config{MasterKey: c.key}, time.Now)
			require.ErrorContains(t, err, c.says)
			if secret := strings.TrimSpace(c.key.Reveal()); secret != "" {
				require.NotContains(t, err.Error(), secret)
			}

			if strings.TrimSpace(c.key.Reveal()) != "" {
				err = Config{MasterKey: good, OtherMasterKeys: c.key}.Validate()
				require.ErrorContains(t, err, "other_master_keys "+c.says[strings.Index(c.says, "is "):])
			}
		})
	}
}

func TestADeploymentWithoutProviderKeysNeedsNoMasterKey(t *testing.T) {
	t.Parallel()
	require.False(t, Config{}.Enabled())
	require.NoError(t, Config{}.Validate())
	_, err := New(Config{}, time.Now)
	require.Error(t, err, "there is nothing to seal with")
	require.Error(t, Config{OtherMasterKeys: "x"}.Validate(), "half a configuration is none")
}

func TestConfigAcceptsWhatOperatorsPaste(t *testing.T) {
	t.Parallel()
	first, err := NewMasterKey()
	require.NoError(t, err)
	second, err := NewMasterKey()
	require.NoError(t, err)

	require.NoError(t, Config{MasterKey: first + "\n"}.Validate())
	require.NoError(t, Config{MasterKey: first, OtherMasterKeys: " " + second + ", " + first + ",\n"}.Validate())
	require.NotEqual(t, first.Reveal(), second.Reveal())
}

func swapCase(s string) string {
	if up := strings.ToUpper(s); up != s {
		return up
	}
	if low := strings.ToLower(s); low != s {
		return low
	}
	return "A"
}
