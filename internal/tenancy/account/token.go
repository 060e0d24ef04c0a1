package account

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/secret"
)

// A token names an organization, so that its row can be looked for there alone, and has 256 random
// bits, so that a fast hash protects it as well as a slow one would.
const (
	orgBytes    = 16
	randomBytes = 32
)

type token struct {
	text secret.Text
	org  principal.OrgID
	hash []byte
}

func newToken(org principal.OrgID) token {
	raw := make([]byte, orgBytes+randomBytes)
	copy(raw, org[:])
	_, _ = rand.Read(raw[orgBytes:]) // never fails; it ends the process instead
	return tokenOf(raw)
}

func tokenOf(raw []byte) token {
	hash := sha256.Sum256(raw)
	return token{text: secret.Text(base64.RawURLEncoding.EncodeToString(raw)), org: principal.OrgID(raw[:orgBytes]), hash: hash[:]}
}

func parseToken(text string) (t token, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != orgBytes+randomBytes {
		return token{}, false
	}
	return tokenOf(raw), true
}
