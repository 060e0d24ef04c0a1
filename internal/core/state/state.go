// Package state is the state machine of a kind of thing: a table of the legal
// moves, and the refusal of every other one, which names the moves that are
// possible.
package state

import (
	"slices"

	"github.com/assayhq/assay/internal/core/fault"
)

// Move is a legal change: an event that takes a thing from one state to
// another.
type Move[S ~string] struct {
	From  S
	Event string
	To    S
}

// Moves is the state machine of a kind of thing: what it does not have is
// refused.
type Moves[S ~string] []Move[S]

// Has reports whether the table has a move.
func (m Moves[S]) Has(from, to S) bool {
	return slices.ContainsFunc(m, func(one Move[S]) bool { return one.From == from && one.To == to })
}

// Check returns the refusal, unless the table has the move.
func (m Moves[S]) Check(refusal *fault.Error, from, to S) error {
	if m.Has(from, to) {
		return nil
	}
	return m.In(refusal, from)
}

// In adds to a refusal which state the thing is in and where it could go.
func (m Moves[S]) In(refusal *fault.Error, state S) *fault.Error {
	allowed := []S{}
	for _, one := range m {
		if one.From == state {
			allowed = append(allowed, one.To)
		}
	}
	return refusal.With("currentState", state).With("allowedTransitions", allowed)
}
