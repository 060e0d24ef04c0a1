package principal

import (
	"context"

	"github.com/assayhq/assay/internal/core/fault"
)

// ErrNotAPerson is returned where only a person may decide.
var ErrNotAPerson = fault.New(fault.Forbidden, "not_a_person", "Only a person can do this. Sign in, or use a personal key that you made after signing in: service keys, keys that somebody else made for you, and X-On-Behalf-Of do not count as a person.")

// RequirePerson refuses a caller that is not a person.
func RequirePerson(ctx context.Context) error {
	if From(ctx).InPerson() {
		return nil
	}
	return ErrNotAPerson
}
