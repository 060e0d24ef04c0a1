package tenancy

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"strings"
	"sync"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/secret"
)

// A key reads asy_live_<12 id>_<32 secret>_<6 checksum>. The id is public and
// finds the row; the secret has 190 random bits, so a fast keyed hash protects
// it as well as a slow one would; the checksum tells a truncated key from an
// unknown one without a lookup. Underscores let a double click select it whole.
const (
	keyPrefix      = "asy"
	idLength       = 12
	secretLength   = 32
	checksumLength = 6
	keyLength      = len("asy_live_") + idLength + 1 + secretLength + 1 + checksumLength
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Mode says whether a key is for live use or for tests.
type Mode string

// The modes.
const (
	ModeLive Mode = "live"
	ModeTest Mode = "test"
)

// Faults of authentication.
var (
	ErrKeyIncomplete = fault.New(fault.Unauthorized, "key_incomplete", "The API key is incomplete: a part of it is missing or changed. Copy it again, whole.")
	ErrKeyUnknown    = fault.New(fault.Unauthorized, "key_unknown", "The API key does not exist.")
	ErrKeyRevoked    = fault.New(fault.Unauthorized, "key_revoked", "This API key was revoked. Create a new one.")
	ErrKeyExpired    = fault.New(fault.Unauthorized, "key_expired", "This API key has expired. Create a new one.")
	ErrProviderKey   = fault.New(fault.Unauthorized, "provider_key_not_accepted", "This looks like a model provider's key. Send an API key of this service, which begins with asy_.")
)

// Config of keys.
type Config struct {
	Pepper         secret.Text `setting:"pepper" help:"Secret for hashing API keys, at least 32 characters. Generate one with: openssl rand -hex 32"`
	PepperVersion  int         `setting:"pepper_version" default:"1" help:"Number of the pepper. Increase it by one when you replace the pepper."`
	PreviousPepper secret.Text `setting:"previous_pepper" help:"Previous pepper, whose number is one less. Keys created with it remain valid."`
	FailuresMinute int         `setting:"failures_minute" default:"300" help:"Requests per minute with an API key that does not work, for each client address and for each key. Further ones get 429. Set ASSAY_HTTP_TRUSTED_PROXIES behind a proxy."`
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	var errs []error
	if len(c.Pepper.Reveal()) < 32 {
		errs = append(errs, errors.New("pepper is missing or shorter than 32 characters: make one with `openssl rand -hex 32` and keep it secret and safe; without it no key works"))
	}
	if c.FailuresMinute < 1 {
		errs = append(errs, fmt.Errorf("failures_minute is %d: it must be 1 or more", c.FailuresMinute))
	}
	if c.PepperVersion < 1 {
		errs = append(errs, errors.New("pepper_version must be 1 or more"))
	}
	return errors.Join(errs...)
}

// pepper returns the pepper of a version.
func (c Config) pepper(version int) (secret.Text, bool) {
	switch {
	case version == c.PepperVersion:
		return c.Pepper, true
	case version == c.PepperVersion-1 && c.PreviousPepper != "":
		return c.PreviousPepper, true
	}
	return "", false
}

// parsedKey is a key whose form and checksum are right.
type parsedKey struct {
	id    string
	whole string
}

// parseKey checks the form of a presented key.
func parseKey(text string) (parsedKey, error) {
	if !strings.HasPrefix(text, keyPrefix+"_") {
		if looksLikeProviderKey(text) {
			return parsedKey{}, ErrProviderKey
		}
		return parsedKey{}, ErrKeyUnknown
	}
	mode, rest, _ := strings.Cut(text[len(keyPrefix)+1:], "_")
	id, rest, _ := strings.Cut(rest, "_")
	body, sum, _ := strings.Cut(rest, "_")
	if mode != string(ModeLive) && mode != string(ModeTest) ||
		len(text) != keyLength || len(id) != idLength || len(body) != secretLength || !isBase62(id) || !isBase62(body) ||
		sum != checksum(text[:len(text)-checksumLength-1]) {
		return parsedKey{}, ErrKeyIncomplete
	}
	return parsedKey{id: id, whole: text}, nil
}

// newKey makes a key from the system's random source.
func newKey(mode Mode) parsedKey {
	id := randomBase62(idLength)
	body := keyPrefix + "_" + string(mode) + "_" + id + "_" + randomBase62(secretLength)
	return parsedKey{id: id, whole: body + "_" + checksum(body)}
}

// hash is what is stored of a key.
func (k parsedKey) hash(pepper secret.Text) []byte {
	return k.hashWith(hmac.New(sha256.New, []byte(pepper.Reveal())))
}

func (k parsedKey) hashWith(mac hash.Hash) []byte {
	mac.Write([]byte(k.whole))
	return mac.Sum(nil)
}

// verifier compares presented keys with what is stored of them. It keeps its
// keyed hashes for the next key, since keying one costs more than hashing.
type verifier struct {
	cfg  Config
	macs [2]sync.Pool // of the pepper, and of the one before
}

func newVerifier(cfg Config) *verifier {
	v := &verifier{cfg: cfg}
	for i := range v.macs {
		v.macs[i].New = func() any {
			pepper, _ := cfg.pepper(cfg.PepperVersion - i)
			return hmac.New(sha256.New, []byte(pepper.Reveal()))
		}
	}
	return v
}

// matches reports whether the key is the one that was hashed with a version of
// the pepper.
func (v *verifier) matches(k parsedKey, pepperVersion int, stored []byte) bool {
	if _, ok := v.cfg.pepper(pepperVersion); !ok {
		return false
	}
	macs := &v.macs[v.cfg.PepperVersion-pepperVersion]
	mac := macs.Get().(hash.Hash)
	defer macs.Put(mac)
	mac.Reset()
	return hmac.Equal(k.hashWith(mac), stored)
}

func checksum(body string) string {
	n := crc32.ChecksumIEEE([]byte(body))
	out := make([]byte, checksumLength)
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = base62[n%62]
		n /= 62
	}
	return string(out)
}

// randomBase62 draws characters without bias: bytes that do not divide evenly
// among 62 are drawn again.
func randomBase62(n int) string {
	out := make([]byte, 0, n)
	buf := make([]byte, 2*n)
	for len(out) < n {
		_, _ = rand.Read(buf) // never fails; it ends the process instead
		for _, b := range buf {
			if b < 248 && len(out) < n {
				out = append(out, base62[b%62])
			}
		}
	}
	return string(out)
}

func isBase62(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// looksLikeProviderKey recognises what people paste by mistake. The value goes
// into no log and no message.
func looksLikeProviderKey(text string) bool {
	for _, prefix := range []string{"sk-", "sk_", "pk-", "AIza", "AKIA", "ASIA", "gsk_", "xai-", "hf_", "r8_", "pplx-", "nvapi-", "fw_", "tgp_", "csk-", "ghp_", "github_pat_", "eyJ"} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}
