package change

import (
	"fmt"

	"github.com/assayhq/assay/internal/core/fault"
)

// Versioned is a resource that counts its changes.
type Versioned interface {
	Resource
	Revision() int64
}

// Edit is one update of a resource, in the transaction of its functions.
type Edit[T Versioned] struct {
	// Expected is the version that the caller means to change; zero means any.
	Expected int64
	// Conflict is returned if the resource has another version.
	Conflict *fault.Error
	// Lock reads the resource and keeps it from changing.
	Lock func() (T, error)
	// Apply makes the changes. What it refuses is refused also where nothing
	// would change.
	Apply func(*T) error
	// Unseen says that the update changes something that is never shown, such as
	// a secret.
	Unseen bool
	// Save checks the change, counts the version up and writes it.
	Save func(before T, after *T) error
	// Audit records the change.
	Audit func(before, after T) error
}

// Update changes a resource: it locks it, compares its version with the expected
// one, applies the changes, and saves and records them. If the resource would
// show the same afterwards, apart from volatile fields, nothing is written and
// nothing is recorded.
func Update[T Versioned](e Edit[T]) (T, error) {
	var none T
	before, err := e.Lock()
	if err != nil {
		return none, err
	}
	if v := before.Revision(); e.Expected != 0 && e.Expected != v {
		return none, e.Conflict.With("currentVersion", v)
	}
	after := before
	if err := e.Apply(&after); err != nil {
		return none, err
	}
	unchanged, err := same(before, after)
	if err != nil {
		return none, fmt.Errorf("compare: %w", err)
	}
	if unchanged && !e.Unseen {
		return before, nil
	}
	if err := e.Save(before, &after); err != nil {
		return none, err
	}
	return after, e.Audit(before, after)
}
