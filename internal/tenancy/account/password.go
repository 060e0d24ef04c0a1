package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/assayhq/assay/internal/core/fault"
)

// The cost of a hash, as OWASP recommends for Argon2id: 19 MiB and two passes on one thread.
const (
	passes    = 2
	memoryKiB = 19 * 1024
	threads   = 1
	saltBytes = 16
	hashBytes = 32
)

// How long a password is. There are no other rules: length is what makes it hard to guess.
const (
	minPassword = 12
	maxPassword = 200
)

// ErrBusy is returned when too many passwords are checked at once.
var ErrBusy = fault.New(fault.Unavailable, "sign_in_busy", "Many people are signing in. Try again in a moment.")

// hashWait is how long a request waits for its turn.
const hashWait = 5 * time.Second

// hasher hashes passwords, so few at a time that most of the processor is left for others.
type hasher struct{ turns chan struct{} }

func newHasher() *hasher {
	return &hasher{turns: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/4))}
}

func (h *hasher) turn(ctx context.Context, work func()) error {
	ctx, cancel := context.WithTimeout(ctx, hashWait)
	defer cancel()
	select {
	case h.turns <- struct{}{}:
		defer func() { <-h.turns }()
		work()
		return nil
	case <-ctx.Done():
		return ErrBusy
	}
}

// hash is what is stored of a password.
func (h *hasher) hash(ctx context.Context, password string) (text string, err error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails; it ends the process instead
	err = h.turn(ctx, func() {
		sum := argon2.IDKey([]byte(password), salt, passes, memoryKiB, threads, hashBytes)
		text = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, threads,
			base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum))
	})
	return text, err
}

// nobody is the hash of no password: whoever has no account waits as long as whoever has one.
var nobody = "$argon2id$v=19$m=19456,t=2,p=1$" + strings.Repeat("A", 22) + "$" + strings.Repeat("A", 43)

// matches compares a password with what is stored. Nothing stored matches nothing.
func (h *hasher) matches(ctx context.Context, password, stored string) (same bool, err error) {
	known := stored != ""
	if !known {
		stored = nobody
	}
	var version, memory, time, lanes uint32
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, fmt.Errorf("a stored password has an unknown form")
	}
	if _, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &version, &memory, &time, &lanes); err != nil {
		return false, fmt.Errorf("read the cost of a stored password: %w", err)
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false, fmt.Errorf("read the salt of a stored password: %w", err)
	}
	want, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil {
		return false, fmt.Errorf("read a stored password: %w", err)
	}
	err = h.turn(ctx, func() {
		got := argon2.IDKey([]byte(password), salt, time, memory, uint8(lanes), uint32(len(want)))
		same = known && subtle.ConstantTimeCompare(got, want) == 1
	})
	return same, err
}

// acceptable refuses a password that is too short to keep others out.
func acceptable(password, email string) error {
	n := utf8.RuneCountInString(password)
	switch {
	case n < minPassword || n > maxPassword:
		return fault.Invalid("body", "/password", "length", fmt.Sprintf("must have %d to %d characters", minPassword, maxPassword))
	case strings.EqualFold(password, email):
		return fault.Invalid("body", "/password", "pattern", "must not be the e-mail address")
	}
	return nil
}
