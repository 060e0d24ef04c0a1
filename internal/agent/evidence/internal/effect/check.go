package effect

import (
	"bytes"
	"context"
	"slices"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
)

// What a caller sees of a change that a side effect does not allow.
var (
	// ErrUnverified is returned for a state that says what was found out, without how.
	ErrUnverified = fault.New(fault.Validation, "verification_required", "Say in verification how the effect was checked and what was found.")

	// ErrContradicted is returned for a state that says something else than what was found.
	ErrContradicted = fault.New(fault.Validation, "verification_contradicts", "The result of the verification does not fit the state: verified goes with confirmed, not_applied and compensated with absent, and conflicting with different.")

	// ErrIrreversible is returned for undoing what cannot be undone.
	ErrIrreversible = fault.New(fault.Conflict, "irreversible", "The effect is irreversible: it cannot be compensated.")

	// ErrNotUndone is returned for an effect that is said to be undone, and nothing undid it.
	ErrNotUndone = fault.New(fault.Conflict, "not_compensated", "Nothing in the ledger undoes the effect. Report what undid it as an entry with compensatesId, dispatched under a policy decision that allows it.")

	// ErrUnauthorized and ErrRepeated are returned to callers who want to know before they
	// send an effect.
	ErrUnauthorized = fault.New(fault.Conflict, "side_effect_unauthorized", "No policy decision allows the effect. The report is not stored: do not send the effect.")
	ErrRepeated     = fault.New(fault.Conflict, "side_effect_repeated", "The effect is in the ledger already, and may have happened. The report is not stored: do not send the effect again.")

	// ErrNotAPerson is returned for a check by a person that somebody else reports or replaces.
	ErrNotAPerson = fault.New(fault.Forbidden, "not_a_person", "Only a person can report a check by a person, or replace one. Use a personal key that its owner made after signing in, or state another method.")
)

// found is what somebody found who brings a side effect to a state.
var found = map[string]string{"verified": "confirmed", "not_applied": "absent", "conflicting": "different", "compensated": "absent"}

// Move checks what the state asks for that a change leaves a side effect in. A state that says
// what was found comes with a verification, and stays with one that fits. Looked says that the
// change has a verification.
func Move(before, after kind.Values, looked bool) error {
	state := after.State()
	moved := state != before.State()
	if want := found[state]; want != "" && (moved || !bytes.Equal(before[kind.FieldVerification], after[kind.FieldVerification])) {
		if !looked {
			return ErrUnverified
		}
		if after.Verification().Text(kind.FieldResult) != want {
			return ErrContradicted
		}
	}
	if moved && state == "compensating" && after.Reversibility() == "irreversible" {
		return ErrIrreversible
	}
	return nil
}

// Refuse refuses the dispatch of a side effect for the reasons that its caller names. Known
// says that the record was there before: its effect may have been sent then.
func Refuse(r *record.Record, known bool, reasons []string) error {
	first, said := r.Values.DuplicateOfID(), r.Values.Authorization()
	if known {
		first = r.ID
	}
	switch {
	case slices.Contains(reasons, "repeated") && first != 0: // more important than that it is late
		return ErrRepeated.With("duplicateOfId", first)
	case slices.Contains(reasons, "unauthorized") && !Harmless(r.Values) && said != Allowed:
		return ErrUnauthorized.With("authorization", said)
	}
	return nil
}

// Look refuses a new check that is said to be a person's and is not reported by one, and
// another check in place of a person's while the state stays. Other checks may come from
// whoever reported the effect. Before is nil for a new side effect.
func Look(ctx context.Context, before, after kind.Values) error {
	c := principal.From(ctx)
	if c.InPerson() || bytes.Equal(before[kind.FieldVerification], after[kind.FieldVerification]) {
		return nil
	}
	person := func(v kind.Values) bool { return v.Verification().Method() == "human" }
	if person(after) || person(before) && before.State() == after.State() {
		return ErrNotAPerson
	}
	return nil
}
