package tenancy

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/assayhq/assay/internal/platform/secret"
)

// PepperError is returned for a pepper that is not the one with which the keys of
// the database were hashed.
type PepperError struct {
	Setting      string
	Version      int
	Have, Stored string // fingerprints
}

// Error says what to do.
func (e *PepperError) Error() string {
	return fmt.Sprintf("%s is not the pepper that the API keys of this database were made with, so no key would work: its fingerprint is %s, and pepper %d has %s. "+
		"Set the old pepper again. To replace it, set ASSAY_KEY_PREVIOUS_PEPPER to the old one and ASSAY_KEY_PEPPER_VERSION to %d.",
		e.Setting, e.Have, e.Version, e.Stored, e.Version+1)
}

// CheckPepper compares the peppers with those that the database knows. A process that
// cannot recognise any key must not seem to work. Whoever serves or makes keys
// records a pepper that is new; whoever only looks does not, lest a command with the
// wrong settings decides for all.
func (s *Service) CheckPepper(ctx context.Context, record bool) error {
	for _, one := range []struct {
		setting string
		version int
		pepper  secret.Text
	}{
		{"ASSAY_KEY_PEPPER", s.cfg.PepperVersion, s.cfg.Pepper},
		{"ASSAY_KEY_PREVIOUS_PEPPER", s.cfg.PepperVersion - 1, s.cfg.PreviousPepper},
	} {
		if one.pepper == "" {
			continue
		}
		have := fingerprint(one.pepper)
		stored, err := s.store.pepper(ctx, one.version, have, record)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, stored) {
			return &PepperError{Setting: one.setting, Version: one.version, Have: hex.EncodeToString(have), Stored: hex.EncodeToString(stored)}
		}
	}
	return nil
}

// fingerprint tells peppers apart and says nothing else about them.
func fingerprint(pepper secret.Text) []byte {
	mac := hmac.New(sha256.New, []byte(pepper.Reveal()))
	_, _ = mac.Write([]byte("assay pepper fingerprint"))
	return mac.Sum(nil)[:8]
}
