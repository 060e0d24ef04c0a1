package judge

import (
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/state"
)

// Status of a judge.
type Status string

// The statuses.
const (
	StatusDraft   Status = "draft"
	StatusActive  Status = "active"
	StatusRetired Status = "retired"
)

// transitions is every legal move; what is not here is refused. Anyone who may
// write evaluations may make them.
var transitions = state.Moves[Status]{
	StatusDraft:   {StatusActive, StatusRetired},
	StatusActive:  {StatusRetired},
	StatusRetired: {StatusActive},
}

// ErrTransition is returned for a move that the table does not have.
var ErrTransition = fault.New(fault.Conflict, "invalid_transition", "The judge cannot change to that status from its current one.")

// ErrRetired is returned when a retired judge is asked or changed.
var ErrRetired = fault.New(fault.Conflict, "judge_retired", "The judge is retired. Set its status to active first.")

// move checks one transition; staying is always allowed.
func move(from, to Status) error {
	if from == to {
		return nil
	}
	return transitions.Check(ErrTransition, from, to)
}
