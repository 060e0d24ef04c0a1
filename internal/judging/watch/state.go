package watch

import (
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/state"
)

// Status of a watch.
type Status string

// The statuses.
const (
	StatusPreparing Status = "preparing"
	StatusWatching  Status = "watching"
	StatusDrifted   Status = "drifted"
	StatusStopped   Status = "stopped"
)

// transitions is every legal move; what is not here is refused.
var transitions = state.Moves[Status]{
	StatusPreparing: {StatusWatching, StatusStopped},
	StatusWatching:  {StatusDrifted, StatusStopped},
}

// ErrTransition is returned for a move that the table does not have.
var ErrTransition = fault.New(fault.Conflict, "invalid_transition", "The watch cannot change to that status from its current one.")

// ErrEnded is returned when a watch that has ended is to check its judge.
var ErrEnded = fault.New(fault.Conflict, "judge_watch_ended", "The watch has ended. Start a new one.")

// open reports whether the watch still checks its judge.
func (s Status) open() bool { return s == StatusPreparing || s == StatusWatching }
