package rule

import (
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/state"
)

// Status of a rule.
type Status string

// The statuses.
const (
	StatusActive Status = "active"
	StatusPaused Status = "paused"
)

// transitions is every legal move of a rule. Anyone who may write evaluations may
// make them.
var transitions = state.Moves[Status]{
	StatusActive: {StatusPaused},
	StatusPaused: {StatusActive},
}

// ErrTransition is returned for a move that the table does not have.
var ErrTransition = fault.New(fault.Conflict, "invalid_transition", "The rule cannot change to that status from its current one.")

// move checks one transition; staying is always allowed.
func move(from, to Status) error {
	if from == to {
		return nil
	}
	return transitions.Check(ErrTransition, from, to)
}

// BackfillStatus is where a back-fill stands.
type BackfillStatus string

// The statuses of back-fills. A stopped one says why.
const (
	BackfillRunning   BackfillStatus = "running"
	BackfillCompleted BackfillStatus = "completed"
	BackfillStopped   BackfillStatus = "stopped"
	BackfillCancelled BackfillStatus = "cancelled"
)

// backfillTransitions is every legal move of a back-fill. Callers cancel; the
// workflow makes the other two moves.
var backfillTransitions = state.Moves[BackfillStatus]{
	BackfillRunning: {BackfillCompleted, BackfillStopped, BackfillCancelled},
}

// ErrBackfillEnded is returned when a back-fill that has ended is cancelled.
var ErrBackfillEnded = fault.New(fault.Conflict, "invalid_transition", "The back-fill has ended, so it cannot be cancelled.")
