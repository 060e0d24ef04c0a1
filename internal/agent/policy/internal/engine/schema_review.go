package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/assayhq/assay/internal/core/fault"
)

// Codes of remarks.
const (
	UnknownAttribute = "unknown_attribute"
	UnknownFact      = "unknown_fact"
	UnknownValue     = "unknown_value"
	UnknownType      = "unknown_type"
	UnknownAction    = "unknown_action"
	UnknownConnector = "unknown_connector"
	UnknownTool      = "unknown_tool"
	UnknownRuntime   = "unknown_runtime"
	GuardedFact      = "guarded_fact"
	WrongType        = "wrong_type"
)

// RemarkCodes are all of them.
var RemarkCodes = []string{UnknownAttribute, UnknownFact, UnknownValue, UnknownType, UnknownAction, UnknownConnector, UnknownTool, UnknownRuntime, GuardedFact, WrongType}

const (
	// maxRemarks is how many remarks a review makes.
	maxRemarks = 50
	// maxCompared is how many names a review compares: some milliseconds, and less than a tenth
	// of a second if all are long and nearly the same.
	maxCompared = 5000
	// maxMentions is how many connectors, and runtimes, of a policy are looked up.
	maxMentions = 200
)

// Remark is about a name in a policy that is not known, or about a use of one that cannot work. What
// can never match, is nearly the name of something else, or hides that a fact is unknown is refused;
// what somebody may send or register is not.
type Remark struct {
	Problem
	Code    string
	Refused bool
}

// Review looks for names in a policy that are not known, and for uses of them that cannot work. What
// its tests send is known to be sent. Without names, those of connectors, tools and runtimes are not
// looked at. A text that is not a policy has no remarks.
func Review(text string, tests []Case, names *Names) []Remark {
	r := &reviewer{names: names, sent: sentBy(tests), seen: map[string]bool{}}
	if names != nil {
		r.keys, r.runtimes = slices.Sorted(maps.Keys(names.Tools)), slices.Sorted(maps.Keys(names.Runtimes))
		for _, key := range r.keys {
			r.tools = append(r.tools, names.Tools[key]...)
		}
	}
	r.read(text)
	return r.remarks
}

// MentionsOf are the connectors and runtimes that a policy names.
func MentionsOf(text string) Mentions {
	r := &reviewer{sent: sentBy(nil), seen: map[string]bool{}}
	r.read(text)
	return r.mentions
}

// sent is what the tests of a policy send.
type sent struct{ attributes, types, actions map[string]bool }

// sentBy reads tests. What the platform provides is among it.
func sentBy(tests []Case) sent {
	s := sent{attributes: map[string]bool{}, types: map[string]bool{}, actions: map[string]bool{ToolCall: true}}
	for _, a := range Context {
		s.attributes[a.Name] = true
	}
	for _, a := range EntityTypes {
		s.types[a.Name] = true
	}
	for _, t := range tests {
		p, err := t.Question.prepare()
		if err != nil {
			continue
		}
		for name := range p.context {
			s.attributes[string(name)] = true
		}
		s.types[string(p.request.Principal.Type)], s.types[string(p.request.Resource.Type)] = true, true
		s.actions[string(p.request.Action.ID)] = true
	}
	return s
}

// reviewer is a review under way.
type reviewer struct {
	names    *Names
	keys     []string // of connectors
	tools    []string // of all of them
	runtimes []string
	sent     sent
	facts    map[string]Fact
	mentions Mentions
	compared int
	seen     map[string]bool
	remarks  []Remark

	// Of the statement that is looked at.
	passage    passage
	connectors []string // one of which the action uses; none if any
}

func (r *reviewer) read(text string) {
	p, problems := Parse(text)
	if len(problems) > 0 {
		return
	}
	o, _ := outlined(text)
	r.facts = p.Facts
	for i, passage := range o.passages() {
		s := &p.Statements[i]
		r.passage, r.connectors = passage, s.need.texts[connectorKey]
		tree := (*ast.Policy)(s.cedar.AST())
		r.scope(tree.Principal)
		r.scope(tree.Action)
		r.scope(tree.Resource)
		for _, c := range tree.Conditions {
			ast.Inspect(ast.NewNode(c.Body), r.node)
			if tree.Effect == ast.EffectForbid {
				r.guards(c.Body, c.Condition == ast.ConditionWhen)
			}
		}
		r.parameters(s.Obligations)
		for _, one := range outsideBrackets(string(s.cedar.Annotations()[history]), ';') {
			name, _, _ := strings.Cut(one, "=")
			f := p.Facts[strings.TrimSpace(name)]
			r.tool(f.Connector+"/"+f.Tool, passage.annotation(history))
		}
	}
}

// remark notes what was found, once.
func (r *reviewer) remark(at token, code, name string, refused bool, format string, args ...any) {
	id := code + " " + name
	if r.seen[id] || len(r.remarks) == maxRemarks {
		return
	}
	r.seen[id] = true
	r.remarks = append(r.remarks, Remark{Problem: at.problem(format, args...), Code: code, Refused: refused})
}

// meant proposes a name.
func meant(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", name)
}

// scope looks at the entities and types of a scope.
func (r *reviewer) scope(s ast.IsScopeNode) {
	switch s := s.(type) {
	case ast.ScopeTypeEq:
		r.entity(s.Entity)
	case ast.ScopeTypeIn:
		r.entity(s.Entity)
	case ast.ScopeTypeInSet:
		for _, e := range s.Entities {
			r.entity(e)
		}
	case ast.ScopeTypeIs:
		r.entityType(string(s.Type))
	case ast.ScopeTypeIsIn:
		r.entityType(string(s.Type))
		r.entity(s.Entity)
	}
}

// node looks at a part of a condition.
func (r *reviewer) node(e ast.IsNode) bool {
	r.order(e)
	switch e := e.(type) {
	case ast.NodeTypeAccess:
		r.attribute(e.StrOpNode)
	case ast.NodeTypeHas:
		r.attribute(e.StrOpNode)
	case ast.NodeTypeEquals:
		r.compare(e.BinaryNode)
	case ast.NodeTypeNotEquals:
		r.compare(e.BinaryNode)
	case ast.NodeTypeContains:
		if list, ok := e.Left.(ast.NodeTypeSet); ok {
			for _, one := range list.Elements {
				r.compare(ast.BinaryNode{Left: e.Right, Right: one})
			}
		}
	case ast.NodeTypeIs:
		r.entityType(string(e.EntityType))
	case ast.NodeTypeIsIn:
		r.entityType(string(e.EntityType))
	case ast.NodeValue:
		if uid, ok := e.Value.(types.EntityUID); ok {
			r.entity(uid)
		}
	}
	return true
}

// attribute looks at an attribute of the context, or of what is in it.
func (r *reviewer) attribute(of ast.StrOpNode) {
	name := string(of.Value)
	if isContext(of.Arg) {
		r.provided(name)
		return
	}
	parent, ok := attributeOf(of.Arg)
	switch {
	case !ok:
	case parent == history:
		if _, ok := r.facts[name]; !ok {
			near := r.nearest(name, slices.Sorted(maps.Keys(r.facts)))
			r.remark(r.passage.attribute(name), UnknownFact, name, true, "no @history of this policy defines the fact %q%s", name, meant(near))
		}
	case always[parent]:
		r.remark(r.passage.attribute(name), UnknownAttribute, string(parent)+"."+name, true, "context.%s is a text, and has no attribute %q", parent, name)
	}
}

// guards refuses to ask whether there is a fact where the answer no lets an action pass: in what a
// forbid asks for, and not in what it makes an exception of. Hides says which of them it is.
func (r *reviewer) guards(e ast.IsNode, hides bool) {
	switch e := e.(type) {
	case ast.NodeTypeNot:
		r.guards(e.Arg, !hides)
	case ast.NodeTypeAnd:
		r.guards(e.Left, hides)
		r.guards(e.Right, hides)
	case ast.NodeTypeOr:
		r.guards(e.Left, hides)
		r.guards(e.Right, hides)
	case ast.NodeTypeIfThenElse:
		if v, ok := e.Else.(ast.NodeValue); !ok || v.Value != types.Boolean(hides) {
			r.guards(e.If, hides)
		}
		r.guards(e.Then, hides)
		r.guards(e.Else, hides)
	default:
		if !hides {
			return
		}
		ast.Inspect(ast.NewNode(e), func(e ast.IsNode) bool {
			if has, ok := e.(ast.NodeTypeHas); ok {
				r.guard(has.StrOpNode)
			}
			return true
		})
	}
}

// guard refuses to ask whether there is a fact. One that is unknown is absent, so that a forbid that
// reads it fails and denies; has would let the action pass instead.
func (r *reviewer) guard(of ast.StrOpNode) {
	name := string(of.Value)
	parent, ok := attributeOf(of.Arg)
	if _, fact := r.facts[name]; !ok || !fact || parent != history {
		return
	}
	r.remark(r.passage.guard(name), GuardedFact, name, true,
		"the fact %q is absent when it is unknown, and has would hide that: write context.history.%s without has, so that a forbid that reads it denies", name, name)
}

// provided looks at an attribute of the context.
func (r *reviewer) provided(name string) {
	if r.sent.attributes[name] {
		return
	}
	at := r.passage.attribute(name)
	if near := r.nearest(name, namesOf(Context)); near != "" {
		r.remark(at, UnknownAttribute, name, true, "nothing provides context.%s%s If callers do send it, let a test of the policy send it too", name, meant(near))
		return
	}
	r.remark(at, UnknownAttribute, name, false, "the platform does not provide context.%s: it is only there if the caller sends it, and no test of the policy does", name)
}

// compare looks at a text that an attribute of the context is compared with.
func (r *reviewer) compare(b ast.BinaryNode) {
	r.equal(b)
	for _, sides := range [][2]ast.IsNode{{b.Left, b.Right}, {b.Right, b.Left}} {
		name, ok := attributeOf(sides[0])
		text, isText := literal(sides[1])
		if !ok || !isText {
			continue
		}
		at := r.passage.text(text)
		switch name {
		case connectorKey:
			r.connector(text, at)
		case toolName:
			r.toolName(text, at)
		case runtimeKey:
			r.runtime(text, at)
		default:
			if a := provided(string(name)); a != nil && a.Values != nil && !slices.Contains(a.Values, text) {
				r.remark(at, UnknownValue, a.Name+"="+text, true, "context.%s is never %q%s It is one of %s", a.Name, text, stop(meant(r.nearest(text, a.Values))), quotedList(a.Values))
			}
		}
	}
}

// stop ends a sentence that nothing else ends.
func stop(text string) string {
	if text == "" {
		return "."
	}
	return text
}

// quotedList is a list of values as policies write them.
func quotedList(values []string) string {
	var out []string
	for _, v := range values {
		if v != "" {
			out = append(out, fmt.Sprintf("%q", v))
		}
	}
	return strings.Join(out, ", ")
}

// entity looks at an entity that is written in a policy.
func (r *reviewer) entity(uid types.EntityUID) {
	id := string(uid.ID)
	switch at := r.passage.text(id); {
	case uid.Type == "Action":
		r.action(id, at)
	case strings.HasSuffix(string(uid.Type), "::Action"):
		r.remark(at, UnknownType, string(uid.Type), true, "actions have no namespace: write Action::%q", id)
	case uid.Type == "Tool":
		r.tool(id, at)
	case uid.Type == "Runtime":
		r.runtime(id, at)
	default:
		r.entityType(string(uid.Type))
	}
}

// action looks at the name of an action.
func (r *reviewer) action(name string, at token) {
	if r.sent.actions[name] {
		return
	}
	if near := r.nearest(name, slices.Sorted(maps.Keys(r.sent.actions))); near != "" {
		r.remark(at, UnknownAction, name, true, "there is no action %q%s If callers do send it, let a test of the policy send it too", name, meant(near))
		return
	}
	r.remark(at, UnknownAction, name, false, "the action %q is only there if the caller sends it, and no test of the policy does", name)
}

// entityType looks at a type.
func (r *reviewer) entityType(name string) {
	if r.sent.types[name] {
		return
	}
	at, near := r.passage.entityType(name), r.nearest(name, slices.Sorted(maps.Keys(r.sent.types)))
	if near != "" && !strings.EqualFold(near, name) && strings.ToLower(name) != name { // callers write types in their own case
		r.remark(at, UnknownType, name, true, "there is no type %s%s If callers do send it, let a test of the policy send it too", name, meant(near))
		return
	}
	r.remark(at, UnknownType, name, false, "a subject or a resource is only of the type %s if the caller sends it, and no test of the policy does%s", name, meant(near))
}

// nearest finds the name that was probably meant, as long as there is something to say.
func (r *reviewer) nearest(name string, known []string) string {
	if len(r.remarks) == maxRemarks {
		return ""
	}
	known = known[:min(len(known), maxCompared-r.compared)]
	r.compared += len(known)
	return fault.NearestWithin(name, known, tolerance)
}

// tolerance is how many letters a typo changes at most: few in a short name.
func tolerance(letters int) int {
	switch {
	case letters < 5:
		return 0
	case letters < 9:
		return 1
	default:
		return 2
	}
}
