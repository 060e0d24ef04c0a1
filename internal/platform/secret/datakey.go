package secret

import (
	"bytes"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// format1 begins a wrapped data key and a sealed secret of the first format.
const format1 = 1

// DataKey is an organization's data key, wrapped by a master key: safe to store
// and of no use without that master key. Destroying every copy destroys what
// was sealed with it.
//
// Its first byte is the format. In format 1 the length of the master key's id,
// the id and the encrypted keyset follow.
type DataKey []byte

// MasterKeyID tells which master key opens the data key. The answer is a claim
// until the key has been opened.
func (d DataKey) MasterKeyID() (string, error) {
	id, _, err := d.parts()
	return id, err
}

func (d DataKey) parts() (masterID string, encrypted []byte, err error) {
	if len(d) < 2 || d[0] != format1 {
		return "", nil, fmt.Errorf("data key: %w", ErrFormat)
	}
	size, rest := int(d[1]), d[2:]
	if size == 0 || len(rest) <= size {
		return "", nil, fmt.Errorf("data key: %w", ErrFormat)
	}
	return string(rest[:size]), rest[size:], nil
}

// wrap encrypts a keyset with the current master key for one organization.
func (k *Keeper) wrap(raw []byte, org string) (DataKey, error) {
	m := k.masters[0]
	encrypted, err := m.cipher.Encrypt(raw, k.wrappedUnder(m.id, org))
	if err != nil {
		return nil, fmt.Errorf("wrap data key with master key %s: %w", m.id, err)
	}
	out := append(DataKey{format1, byte(len(m.id))}, m.id...)
	return append(out, encrypted...), nil
}

// unwrap returns the keyset in the clear; the caller wipes it.
func (k *Keeper) unwrap(key DataKey, org string) ([]byte, error) {
	id, encrypted, err := key.parts()
	if err != nil {
		return nil, err
	}
	for _, m := range k.masters {
		if m.id != id {
			continue
		}
		raw, err := m.cipher.Decrypt(encrypted, k.wrappedUnder(id, org))
		if err != nil {
			return nil, fmt.Errorf("data key wrapped by master key %s: %w", id, ErrRefused)
		}
		return raw, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrMasterKeyMissing, id)
}

// open returns the cipher of a data key, from the cache if it is there.
func (k *Keeper) open(key DataKey, org string) (tink.AEAD, error) {
	if cipher, ok := k.cache.find(key, org); ok {
		return cipher, nil
	}
	raw, err := k.unwrap(key, org)
	if err != nil {
		return nil, err
	}
	defer clear(raw)
	handle, err := insecurecleartextkeyset.Read(keyset.NewBinaryReader(bytes.NewReader(raw)))
	if err != nil {
		return nil, fmt.Errorf("keyset of the data key: %w", ErrFormat)
	}
	cipher, err := aead.New(handle)
	if err != nil {
		return nil, fmt.Errorf("cipher of the data key: %w", ErrFormat)
	}
	k.cache.keep(key, org, cipher)
	return cipher, nil
}
