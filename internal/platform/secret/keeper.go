package secret

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrMasterKeyMissing is returned when a data key needs a master key that is
	// not configured. The error's text ends with the id of that key.
	ErrMasterKeyMissing = errors.New("the master key that wrapped the data key is not configured")

	// ErrRefused is returned when bytes were altered, or belong to another
	// organization, credential, provider, destination or key. Which of these it
	// is cannot be known.
	ErrRefused = errors.New("the ciphertext was altered or belongs elsewhere")

	// ErrFormat is returned for bytes that no format explains.
	ErrFormat = errors.New("the bytes are of no known format")

	// ErrBinding is returned for a binding that is incomplete.
	ErrBinding = errors.New("the binding is incomplete")

	// ErrNothing is returned when an empty secret is to be sealed.
	ErrNothing = errors.New("there is no secret to seal")
)

// Keeper seals secrets for storage and opens them for use. Each organization
// has a data key, which seals its secrets; master keys wrap the data keys. It
// stores nothing: the caller keeps the data key and the sealed bytes.
//
// A Keeper prints as dots and is safe for concurrent use.
type Keeper struct {
	masters []master // the first wraps; all open
	cache   *cache

	// What ciphertexts are bound to. Only a test that shows why they are bound
	// puts something else here.
	sealedUnder  func(Binding) []byte
	wrappedUnder func(masterID, org string) []byte
}

// New returns a Keeper with the configured master keys.
func New(cfg Config, now func() time.Time) (*Keeper, error) {
	masters, err := cfg.masters()
	if err != nil {
		return nil, err
	}
	return newKeeper(masters, now), nil
}

func newKeeper(masters []master, now func() time.Time) *Keeper {
	return &Keeper{
		masters:      masters,
		cache:        newCache(now),
		sealedUnder:  sealedUnder,
		wrappedUnder: wrappedUnder,
	}
}

// MasterKeyID is the id of the key that wraps new data keys. A data key with
// another id is due for Rewrap.
func (k *Keeper) MasterKeyID() string { return k.masters[0].id }

// NewDataKey makes a data key for an organization, wrapped by the current
// master key. Only that organization can use it.
func (k *Keeper) NewDataKey(org string) (DataKey, error) {
	if org == "" {
		return nil, fmt.Errorf("%w: it has no organization", ErrBinding)
	}
	raw, err := newKeyset()
	if err != nil {
		return nil, err
	}
	defer clear(raw)
	return k.wrap(raw, org)
}

// Open reports whether the organization's data key can be used here, and keeps
// it ready for the next five minutes. The key itself stays inside.
func (k *Keeper) Open(key DataKey, org string) error {
	_, err := k.open(key, org)
	return err
}

// Rewrap wraps a data key with the current master key and reports whether that
// changed it. Secrets that the key sealed stay as they are. A key that is
// wrapped by the current master key already is checked and returned unchanged.
func (k *Keeper) Rewrap(key DataKey, org string) (DataKey, bool, error) {
	raw, err := k.unwrap(key, org)
	if err != nil {
		return nil, false, err
	}
	defer clear(raw)
	if id, _ := key.MasterKeyID(); id == k.MasterKeyID() {
		return key, false, nil
	}
	wrapped, err := k.wrap(raw, org)
	return wrapped, err == nil, err
}

// Seal encrypts a secret so that it opens under the same binding only.
func (k *Keeper) Seal(key DataKey, plaintext Text, b Binding) ([]byte, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	if plaintext == "" {
		return nil, ErrNothing
	}
	cipher, err := k.open(key, b.Org)
	if err != nil {
		return nil, err
	}
	encrypted, err := cipher.Encrypt([]byte(plaintext.Reveal()), k.sealedUnder(b))
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return append([]byte{format1}, encrypted...), nil
}

// Unseal decrypts what Seal made. The binding's destination must come from the
// URL that is about to be called, and not from beside the ciphertext.
func (k *Keeper) Unseal(key DataKey, sealed []byte, b Binding) (Text, error) {
	if err := b.check(); err != nil {
		return "", err
	}
	if len(sealed) < 2 || sealed[0] != format1 {
		return "", fmt.Errorf("sealed secret: %w", ErrFormat)
	}
	cipher, err := k.open(key, b.Org)
	if err != nil {
		return "", err
	}
	plaintext, err := cipher.Decrypt(sealed[1:], k.sealedUnder(b))
	if err != nil {
		return "", fmt.Errorf("sealed secret: %w", ErrRefused)
	}
	return Text(plaintext), nil
}

// Forget drops an organization's opened data keys from memory at once, for when
// the organization is deleted. Other processes forget within five minutes.
func (k *Keeper) Forget(org string) { k.cache.forget(org) }
