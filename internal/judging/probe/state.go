package probe

import (
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/state"
)

// Status of a probe.
type Status string

// The statuses.
const (
	StatusRunning   Status = "running"
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled"
)

// transitions is every legal move; what is not here is refused. The engine completes
// and fails probes, and a caller who may write cancels them.
var transitions = state.Moves[Status]{
	StatusRunning: {StatusCompleted, StatusFailed, StatusCancelled},
}

// ErrTransition is returned for a move that the table does not have.
var ErrTransition = fault.New(fault.Conflict, "invalid_transition", "The probe has ended, so this can no longer be done to it.")
