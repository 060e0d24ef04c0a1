package tenancy

import (
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/state"
)

// Status of an organization.
type Status string

// The statuses.
const (
	StatusActive    Status = "active"
	StatusSuspended Status = "suspended"
	StatusDeleting  Status = "deleting"
)

// ErrTransition is returned for a move of an organization that the table does
// not have.
var ErrTransition = fault.New(fault.Conflict, "invalid_transition", "The organization cannot change to that status from its current one.")

// transitions of an organization; what is not here is refused. Suspending and
// resuming is the operator's; deleting is an owner's and cannot be undone.
var transitions = state.Moves[Status]{
	StatusActive:    {StatusSuspended, StatusDeleting},
	StatusSuspended: {StatusActive, StatusDeleting},
}
