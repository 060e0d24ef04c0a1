package tenancy

import "github.com/assayhq/assay/internal/fault"

// ErrTransition is returned for a move of an organization that the table does
// not have.
var ErrTransition = fault.New(fault.Conflict, "invalid_transition", "The organization cannot go to that status from where it is.")

// transitions of an organization; what is not here is refused. Suspending and
// resuming is the operator's; deleting is an owner's and cannot be undone.
var transitions = []struct {
	from  Status
	event string
	to    Status
}{
	{StatusActive, "suspend", StatusSuspended},
	{StatusSuspended, "resume", StatusActive},
	{StatusActive, "delete", StatusDeleting},
	{StatusSuspended, "delete", StatusDeleting},
}

// inStatus says where the organization is and where it could go.
func inStatus(s Status) error {
	allowed := []Status{}
	for _, t := range transitions {
		if t.from == s {
			allowed = append(allowed, t.to)
		}
	}
	return ErrTransition.With("currentState", s).With("allowedTransitions", allowed)
}
