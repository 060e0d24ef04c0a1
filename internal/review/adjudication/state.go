package adjudication

import (
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/state"
)

// Status is where an item stands.
type Status string

// The statuses.
const (
	StatusOpen      Status = "open"
	StatusAssigned  Status = "assigned"
	StatusDecided   Status = "decided"
	StatusClosed    Status = "closed"
	StatusDismissed Status = "dismissed"
)

// statuses are all of them, in the order of the queue.
var statuses = []Status{StatusOpen, StatusAssigned, StatusDecided, StatusClosed, StatusDismissed}

// transitions is every legal move of an item. A person decides and states ground
// truth; whoever may administer the organization makes the other moves.
var transitions = state.Moves[Status]{
	StatusOpen:      {StatusAssigned, StatusDecided, StatusDismissed},
	StatusAssigned:  {StatusOpen, StatusDecided, StatusDismissed},
	StatusDecided:   {StatusClosed, StatusOpen},
	StatusDismissed: {StatusOpen},
	StatusClosed:    {StatusOpen},
}

// ErrTransition is returned for a move that the table does not have.
var ErrTransition = fault.New(fault.Conflict, "invalid_transition", "The item cannot change to that status from its current one.")

// undecided reports whether the item waits for a decision.
func (s Status) undecided() bool { return s == StatusOpen || s == StatusAssigned }

// TruthStatus is where a ground truth stands.
type TruthStatus string

// The statuses of ground truth. What has ended never becomes active again.
const (
	TruthActive     TruthStatus = "active"
	TruthSuperseded TruthStatus = "superseded"
	TruthRevoked    TruthStatus = "revoked"
)
