package kind

import (
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/state"
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
	// One names a single record, for people and for the audit log.
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
	// Changes says who may make the moves of the table.
	Changes Writer
	// Natural are the fields that name a record without an idempotency key.
	Natural []string
	Fields  []Field
	// Filters are the list parameters that reach the kind besides its own id and
	// key, those of every kind, and those of its fields.
	Filters []string
}

// Postable reports whether callers may post records of the kind.
func (k *Kind) Postable() bool { return k.Use == "" }

// States are the values of the lifecycle field.
func (k *Kind) States() []string {
	if f := k.Field(k.Lifecycle); f != nil {
		return f.Enum
	}
	return nil
}

// Terminal reports whether nothing leads on from a state.
func (k *Kind) Terminal(state string) bool {
	for _, m := range k.Moves {
		if m.From == state {
			return false
		}
	}
	return true
}

// Field finds a field of the kind, or one that every kind has.
func (k *Kind) Field(name string) *Field {
	if name == "" {
		return nil
	}
	for _, list := range [][]Field{k.Fields, Common} {
		if i := slices.IndexFunc(list, func(f Field) bool { return f.Name == name }); i >= 0 {
			return &list[i]
		}
	}
	return nil
}

// Find returns the kind that a path names. Case, hyphens and underscores, and singular
// or plural make no difference.
func Find(name string) (*Kind, bool) {
	want := plain(name)
	for i := range Kinds {
		k := &Kinds[i]
		if plain(string(k.Name)) == want || slices.ContainsFunc(k.Aliases, func(a string) bool { return plain(a) == want }) {
			return k, true
		}
	}
	return nil, false
}

// Must returns a kind that exists.
func Must(name Name) *Kind {
	for i := range Kinds {
		if Kinds[i].Name == name {
			return &Kinds[i]
		}
	}
	panic("kind: there is no kind " + string(name))
}

// plain is a name without what makes no difference.
func plain(name string) string {
	s := strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	if rest, ok := strings.CutSuffix(s, "ies"); ok {
		return rest + "y"
	}
	if !strings.HasSuffix(s, "ss") {
		s = strings.TrimSuffix(s, "s")
	}
	return s
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
