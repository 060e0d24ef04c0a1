package kind

import (
	"slices"

	"github.com/assayhq/assay/internal/core/state"
)

// Name of a kind, as paths have it.
type Name string

// Class says where records of a kind are stored.
type Class int

// The classes.
const (
	// State kinds are things that last and change: PostgreSQL, one row each.
	State Class = iota
	// Stream kinds are what happened, in volume: ClickHouse.
	Stream
)

// Writer says who may change records of a kind.
type Writer int

// The writers.
const (
	// Nobody changes a record through the interface; the platform may.
	Nobody Writer = iota
	// Reporter is whoever may send telemetry.
	Reporter
	// Admin is whoever may decide for the organization.
	Admin
)

// Kind is one kind of evidence.
type Kind struct {
	Name Name
	// One names a single record, for people.
	One   string
	About string
	Class Class
	// Aliases are other names in paths.
	Aliases []string

	// IDFilter is the list parameter for the id, and KeyField the field that names
	// a record for its organization, with a parameter of the same name.
	IDFilter string
	KeyField string
	// Lifecycle is the field with the state: state, status or decision.
	Lifecycle string
	// Initial is the state of a new record that does not say another one, and Born the
	// states that a caller may give it. If there is none, what a caller says is
	// ignored.
	Initial string
	Born    []string
	Moves   state.Moves[string]

	// Use is the action that makes records, if callers cannot post them.
	Use string
	// Changes says who may make the moves of the table, and Mutable which fields may be
	// set with them or without them: what is learnt after the record was made. What
	// identifies a record, classifies it or says what it refers to stays as it was
	// reported.
	Changes Writer
	Mutable []string
	// Natural are the fields that name a record without an idempotency key.
	Natural []string
	Fields  []Field
	// Filters are the list parameters that reach the kind besides its own id and
	// key, those of every kind, and those of its fields.
	Filters []string

	index *index
}

// Postable reports whether callers may post records of the kind.
func (k *Kind) Postable() bool { return k.Use == "" }

// Changeable reports whether a change of a record may set a field: the state, by the
// table of moves, and what is learnt later.
func (k *Kind) Changeable(name string) bool {
	return name != "" && name == k.Lifecycle || slices.Contains(k.Mutable, name)
}

// States are the values of the lifecycle field.
func (k *Kind) States() []string {
	if f := k.Field(k.Lifecycle); f != nil {
		return f.Enum
	}
	return nil
}

// Field finds a field of the kind, or one that every kind has.
func (k *Kind) Field(name string) *Field {
	if f := k.fields()[name]; f != nil && f.Name == name {
		return f
	}
	return nil
}

// Selects are the list parameters that select records of a kind.
func (k *Kind) Selects() []string {
	own := slices.Clone(shared)
	if k.IDFilter != "" {
		own = append(own, k.IDFilter)
	}
	if k.KeyField != "" {
		own = append(own, Camel(k.KeyField))
	}
	own = append(own, k.Filters...)
	slices.Sort(own)
	return slices.Compact(own)
}
