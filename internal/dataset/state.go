package dataset

import "github.com/assayhq/assay/internal/fault"

// Status of a dataset.
type Status string

// The statuses.
const (
	StatusActive   Status = "active"
	StatusArchived Status = "archived"
)

// transitions is every legal move; what is not here is refused. Anyone who may
// write datasets may make them.
var transitions = []struct {
	from  Status
	event string
	to    Status
}{
	{StatusActive, "archive", StatusArchived},
	{StatusArchived, "restore", StatusActive},
}

// ErrTransition is returned for a move that the table does not have.
var ErrTransition = fault.New(fault.Conflict, "invalid_transition", "The dataset cannot go to that status from where it is.")

// ErrArchived is returned for a write to an archived dataset.
var ErrArchived = fault.New(fault.Conflict, "dataset_archived", "The dataset is archived. Set its status to active first.")

// move checks one transition; staying is always allowed.
func move(from, to Status) error {
	if from == to {
		return nil
	}
	for _, t := range transitions {
		if t.from == from && t.to == to {
			return nil
		}
	}
	return inState(ErrTransition, from)
}

// inState adds to a conflict where the dataset is and where it could go.
func inState(f *fault.Error, s Status) *fault.Error {
	allowed := []Status{}
	for _, t := range transitions {
		if t.from == s {
			allowed = append(allowed, t.to)
		}
	}
	return f.With("currentState", s).With("allowedTransitions", allowed)
}
