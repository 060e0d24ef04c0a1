package engine

import (
	"cmp"
	"slices"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// variables are some of the entities of a question, as Cedar calls them.
type variables uint8

// The variables.
const (
	thePrincipal variables = 1 << iota
	theAction
	theResource

	everyVariable = thePrincipal | theAction | theResource
)

// form is a question with the statements that are asked about it. In all forms but the
// first, some of the entities that the caller named are replaced by what they are by
// default: the runtime, a call of a tool, and the tool.
//
// All forms describe the same action, and what the caller names is up to the caller. So
// what restricts an action holds if it is about any of them: otherwise naming a resource as
// well as the tool would lift what is forbidden for the tool. What permits must be
// about the question as it was put.
type form struct {
	Question
	replaced   variables
	statements []*statement
}

// forms are all forms of a question, itself first. Most questions name only the runtime
// and the tool, and have one.
func (q Question) forms() []form {
	out := []form{{Question: q}}
	named := q.named()
	for v := thePrincipal; named != 0 && v <= everyVariable; v++ {
		if v&^named == 0 {
			out = append(out, form{Question: q.without(v), replaced: v})
		}
	}
	return out
}

// named are the entities that are named in place of the runtime and of what a tool gives.
func (q Question) named() variables {
	var v variables
	plain := q.without(everyVariable)
	if q.RuntimeKey != "" && q.Subject.identified() && q.subject() != plain.subject() {
		v |= thePrincipal
	}
	if q.ToolName != "" && q.Action.identified() && q.action() != plain.action() {
		v |= theAction
	}
	if q.ToolName != "" && q.Resource.identified() && q.resource() != plain.resource() {
		v |= theResource
	}
	return v
}

func (e Entity) identified() bool { return e.Type != "" || e.ID != "" }

// without is the question with the defaults of some entities. Their properties stay, so that
// statements can read in each form what was sent.
func (q Question) without(v variables) Question {
	if v&thePrincipal != 0 {
		q.Subject.Type, q.Subject.ID = "", ""
	}
	if v&theAction != 0 {
		q.Action.Type, q.Action.ID = "", ""
	}
	if v&theResource != 0 {
		q.Resource.Type, q.Resource.ID = "", ""
	}
	return q
}

// about are the statements that are asked about a form: those that can match it or fail at
// it and, if something is replaced, only those that restrict and that depend on all of that.
// To others, the form is the same as one in which less is replaced.
func (s *Set) about(f *form) []*statement {
	all := s.candidates(&f.Question)
	if f.replaced == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(st *statement) bool { return !st.restricts() || f.replaced&^st.uses != 0 })
}

// restricts reports whether a statement can take something away from the caller: a permit
// does by what it obliges to.
func (s *statement) restricts() bool {
	return s.Effect != Permit || len(s.Obligations) > 0 && s.source.Mode != Shadow
}

// restrict adds what statements say about another form of the question.
func (f *found) restrict(other found) {
	f.forbids = union(f.forbids, other.forbids)
	f.alsoApprovals = union(f.alsoApprovals, other.approvals)
	f.alsoPermits = union(f.alsoPermits, other.permits)
	f.failed = append(f.failed, other.failed...)
	f.sort()
	f.failed = slices.CompactFunc(f.failed, func(a, b failure) bool { return a.statement == b.statement })
}

// restrictShadow adds what policies in shadow say about another form. Both lists are in the
// order of the keys.
func restrictShadow(all, others []shade) []shade {
	for _, one := range others {
		i, there := slices.BinarySearchFunc(all, one.key, func(s shade, key string) int { return cmp.Compare(s.key, key) })
		if !there {
			all = slices.Insert(all, i, shade{key: one.key})
		}
		all[i].found.restrict(one.found)
	}
	return all
}

// union has the statements of two lists, each once and in the order of the set.
func union(a, b []*statement) []*statement {
	all := slices.SortedFunc(slices.Values(slices.Concat(a, b)), func(x, y *statement) int { return x.place - y.place })
	return slices.Compact(all)
}

// usesOf finds the variables that decide whether a statement matches. An entity that is
// written in a condition can be any of them.
func usesOf(p *ast.Policy) variables {
	var uses variables
	for v, scope := range map[variables]any{thePrincipal: p.Principal, theAction: p.Action, theResource: p.Resource} {
		if _, all := scope.(ast.ScopeTypeAll); !all {
			uses |= v
		}
	}
	for _, c := range p.Conditions {
		ast.Inspect(ast.NewNode(c.Body), func(e ast.IsNode) bool {
			switch e := e.(type) {
			case ast.NodeTypeVariable:
				uses |= map[types.String]variables{"principal": thePrincipal, "action": theAction, "resource": theResource}[e.Name]
			case ast.NodeValue:
				if _, ok := e.Value.(types.EntityUID); ok {
					uses = everyVariable
				}
			}
			return true
		})
	}
	return uses
}
