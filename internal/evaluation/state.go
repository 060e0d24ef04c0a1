package evaluation

import (
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/state"
)

// Status of a run, and of an evaluation as its runs show it.
type Status string

// The statuses. Runs have the first four; pending and archived are for
// evaluations alone.
const (
	StatusRunning   Status = "running"
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled"
	StatusPending   Status = "pending"
	StatusArchived  Status = "archived"
)

// Phase is where a running run is.
type Phase string

// The phases, in their order.
const (
	PhaseQueued      Phase = "queued"
	PhaseExecuting   Phase = "executing"
	PhaseScoring     Phase = "scoring" // of results that a client sent, and that are all
	PhaseAggregating Phase = "aggregating"
	PhaseDone        Phase = "done"
)

// transitions is every legal move of a run; what is not here is refused. The
// engine completes and fails runs, a caller who may write cancels them.
var transitions = state.Moves[Status]{
	StatusRunning: {StatusCompleted, StatusFailed, StatusCancelled},
}

// ErrTransition is returned for a move that the table does not have.
var ErrTransition = fault.New(fault.Conflict, "invalid_transition", "The run has ended, so this can no longer be done to it.")

// statusOf is what an evaluation shows: archived, or running if any run is, or
// as its newest run ended.
func statusOf(e Evaluation) Status {
	switch {
	case e.Archived != nil:
		return StatusArchived
	case e.running:
		return StatusRunning
	case e.latest == "":
		return StatusPending
	default:
		return Status(e.latest)
	}
}
