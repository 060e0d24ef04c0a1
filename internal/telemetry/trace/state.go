package trace

import (
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/state"
)

// transitions is every move of a trace's status that a caller may make; what
// is not here is refused. A trace that has ended does not run again.
var transitions = state.Moves[Status]{
	StatusRunning:   {StatusCompleted, StatusFailed},
	StatusCompleted: {StatusFailed},
	StatusFailed:    {StatusCompleted},
}

// ErrTransition is returned for a move that the table does not have.
var ErrTransition = fault.New(fault.Conflict, "invalid_transition", "The trace cannot go to that status from where it is.")

// move checks one transition; staying is always allowed.
func move(from, to Status) error {
	if from == to {
		return nil
	}
	return transitions.Check(ErrTransition, from, to)
}
