package secret

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/aesgcm"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// A master key's text is assay_mk1_ID_KEYSET. The prefix lets scanners for
// leaked secrets find it; the id is a digest of the keyset, so that a mistyped
// or shortened text is noticed before anything is wrapped with it.
const (
	masterPrefix = "assay_mk1_"
	masterIDSize = 6 // bytes: enough to tell an operator's keys apart
)

var masterEncoding = base64.RawURLEncoding.Strict()

// publishedMasters are keys that everybody can read, such as the one of the
// golden files. They open what the tests sealed and nothing else.
var publishedMasters = map[string]bool{"e1e6cd9981d6": true}

// master wraps data keys. The id is stored beside what it wrapped; the cipher
// is in memory here and can as well be a key service that never lets its key go.
type master struct {
	id     string
	cipher tink.AEAD
}

// NewMasterKey makes the text that an operator stores as master_key. The part
// after the prefix is the key's id, which may be shown; the rest may not.
func NewMasterKey() (Text, error) {
	raw, err := newKeyset()
	if err != nil {
		return "", err
	}
	defer clear(raw)
	return Text(masterPrefix + masterID(raw) + "_" + masterEncoding.EncodeToString(raw)), nil
}

// parseMaster reads the text of a master key. Its errors never quote the text.
func parseMaster(text Text) (master, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text.Reveal()), masterPrefix)
	if !ok {
		return master{}, errors.New("is not a master key: a password or a placeholder is not enough")
	}
	id, encoded, _ := strings.Cut(rest, "_")
	raw, err := masterEncoding.DecodeString(encoded)
	if err != nil || len(raw) == 0 || masterID(raw) != id {
		return master{}, errors.New("is damaged: characters are missing or changed")
	}
	defer clear(raw)
	handle, err := insecurecleartextkeyset.Read(keyset.NewBinaryReader(bytes.NewReader(raw)))
	if err != nil {
		return master{}, errors.New("holds no key")
	}
	if !isOneStrongKey(handle) {
		return master{}, errors.New("is too weak: it must hold one AES-GCM key of 256 bits")
	}
	cipher, err := aead.New(handle)
	if err != nil {
		return master{}, errors.New("holds no key that can encrypt")
	}
	return master{id, cipher}, nil
}

func isOneStrongKey(handle *keyset.Handle) bool {
	primary, err := handle.Primary()
	if err != nil || handle.Len() != 1 {
		return false
	}
	parameters, ok := primary.Key().Parameters().(*aesgcm.Parameters)
	return ok && parameters.KeySizeInBytes() == 32
}

// masterID is a digest of the keyset. The keyset holds 256 random bits, so the
// digest tells nothing about them.
func masterID(raw []byte) string {
	sum := sha256.Sum256(append([]byte("assay master key\x00"), raw...))
	return hex.EncodeToString(sum[:masterIDSize])
}

// newKeyset makes one key in Tink's binary form, in the clear.
func newKeyset() ([]byte, error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	var raw bytes.Buffer
	if err := insecurecleartextkeyset.Write(handle, keyset.NewBinaryWriter(&raw)); err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	return raw.Bytes(), nil
}
