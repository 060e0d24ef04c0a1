// Package state is the state machine of a kind of thing: a table of the legal
// moves, and the refusal of every other one, which names the moves that are
// possible.
package state

import (
	"slices"

	"github.com/assayhq/assay/internal/core/fault"
)

// Moves is the state machine of a kind of thing: to which states it can go from each.
// What it does not have is refused.
type Moves[S ~string] map[S][]S

// Has reports whether the table has a move.
func (m Moves[S]) Has(from, to S) bool { return slices.Contains(m[from], to) }

// Check returns the refusal, unless the table has the move.
func (m Moves[S]) Check(refusal *fault.Error, from, to S) error {
	if m.Has(from, to) {
		return nil
	}
	return m.In(refusal, from)
}

// In adds to a refusal which state the thing is in and where it could go.
func (m Moves[S]) In(refusal *fault.Error, state S) *fault.Error {
	return refusal.With("currentState", state).With("allowedTransitions", append([]S{}, m[state]...))
}
