package trace

import "github.com/assayhq/assay/internal/fault"

// transitions is every move of a trace's status that a caller may make; what
// is not here is refused. A trace that has ended does not run again.
var transitions = []struct {
	from  Status
	event string
	to    Status
}{
	{StatusRunning, "complete", StatusCompleted},
	{StatusRunning, "fail", StatusFailed},
	{StatusCompleted, "correct", StatusFailed},
	{StatusFailed, "correct", StatusCompleted},
}

// ErrTransition is returned for a move that the table does not have.
var ErrTransition = fault.New(fault.Conflict, "invalid_transition", "The trace cannot go to that status from where it is.")

// move checks one transition; staying is always allowed.
func move(from, to Status) error {
	if from == to {
		return nil
	}
	allowed := []Status{}
	for _, t := range transitions {
		if t.from != from {
			continue
		}
		if t.to == to {
			return nil
		}
		allowed = append(allowed, t.to)
	}
	return ErrTransition.With("currentState", from).With("allowedTransitions", allowed)
}
