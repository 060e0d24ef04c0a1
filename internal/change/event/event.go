// Package event is the catalogue of what happens to resources. Each kind of event is a variable
// of the area that it belongs to. Only this package makes one, so the compiler refuses an entry
// of the audit log whose action the catalogue does not have.
package event

import (
	"cmp"
	"slices"
)

// Noun is a type of resource that events are about.
type Noun struct{ resource, schema string }

// Of returns the noun with the name that the audit log shows, such as judge_config, and the
// schema that the interface shows it in, such as JudgeConfig.
func Of(resource, schema string) Noun { return Noun{resource, schema} }

// Type is a kind of event. The zero value is none.
type Type struct {
	noun                 Noun
	action, public, says string
}

// all is filled while the variables of packages are made, and only read after that.
var all []Type

// Event adds a kind of event to the catalogue: the action that the audit log and followers
// see, and a sentence that says when it happens.
func (n Noun) Event(action, says string) Type { return n.Public(action, "", says) }

// Public adds one that has a name for callers as well. An action that happens for several
// reasons may have several of those names, and a name several actions.
func (n Noun) Public(action, public, says string) Type {
	t := Type{noun: n, action: action, public: public, says: says}
	all = append(all, t)
	return t
}

// All returns the catalogue of the packages that are linked, by action and public name.
func All() []Type {
	return slices.SortedFunc(slices.Values(all), func(a, b Type) int {
		return cmp.Or(cmp.Compare(a.action, b.action), cmp.Compare(a.public, b.public))
	})
}

// Action is the name that is stored and that the audit log shows, such as run.started.
func (t Type) Action() string { return t.action }

// Public is the name that callers know, such as evaluation.run.started; empty if they know none.
func (t Type) Public() string { return t.public }

// Resource is the type of resource that the event is about.
func (t Type) Resource() string { return t.noun.resource }

// Schema is the schema of that resource in the interface.
func (t Type) Schema() string { return t.noun.schema }

// Says is when the event happens.
func (t Type) Says() string { return t.says }
