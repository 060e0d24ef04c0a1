package dataset

import (
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/state"
)

// Status of a dataset.
type Status string

// The statuses.
const (
	StatusActive   Status = "active"
	StatusArchived Status = "archived"
)

// transitions is every legal move; what is not here is refused. Anyone who may
// write datasets may make them.
var transitions = state.Moves[Status]{
	StatusActive:   {StatusArchived},
	StatusArchived: {StatusActive},
}

// ErrTransition is returned for a move that the table does not have.
var ErrTransition = fault.New(fault.Conflict, "invalid_transition", "The dataset cannot change to that status from its current one.")

// ErrArchived is returned for a write to an archived dataset.
var ErrArchived = fault.New(fault.Conflict, "dataset_archived", "The dataset is archived. Set its status to active first.")

// move checks one transition; staying is always allowed.
func move(from, to Status) error {
	if from == to {
		return nil
	}
	return transitions.Check(ErrTransition, from, to)
}
