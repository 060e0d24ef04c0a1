package policy

import (
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/state"
)

// State of a policy.
type State string

// The states.
const (
	StateDraft   State = "draft"
	StateActive  State = "active"
	StateRetired State = "retired"
)

// Mode is what an active policy does.
type Mode string

// The modes.
const (
	ModeEnforce  Mode = "enforce"
	ModeShadow   Mode = "shadow"
	ModeDisabled Mode = "disabled"
)

// transitions is every legal move; what is not here is refused. Administrators make
// them.
var transitions = state.Moves[State]{
	StateDraft:  {StateActive, StateRetired},
	StateActive: {StateDraft, StateRetired},
}

// What a policy's state refuses.
var (
	ErrTransition = fault.New(fault.Conflict, "invalid_transition", "The policy cannot change to that state from its current one.")
	ErrRetired    = fault.New(fault.Conflict, "policy_retired", "The policy is retired and cannot be changed. Create a new one.")
	ErrInUse      = fault.New(fault.Conflict, "policy_in_use", "The policy is or was active, and decisions may refer to it. Set its state to retired instead.")
)

// move checks one transition; staying is always allowed.
func move(from, to State) error {
	if from == to {
		return nil
	}
	return transitions.Check(ErrTransition, from, to)
}
