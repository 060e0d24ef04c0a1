package engine

import (
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// The attributes of the context that the index knows.
const (
	connectorKey = "connector_key"
	toolName     = "tool_name"
	runtimeKey   = "runtime_key"
	environment  = "environment"
)

// always are attributes that every question has, as texts: comparing one with a text
// cannot fail.
var always = map[types.String]bool{
	connectorKey: true, toolName: true, runtimeKey: true, environment: true,
	"side_effect_class": true, "reversibility": true, "connector_state": true, "connector_trust": true,
}

// need is what a question must be like for a statement to match or to fail. It is
// necessary, not sufficient. A list that is nil stands for everything.
type need struct {
	action   *types.EntityUID
	resource *types.EntityUID
	texts    map[types.String][]string // by attribute of the context
}

// needed finds the need of a statement. Cedar evaluates the scope first, then the
// conditions from left to right, and stops at the first that is false. So a comparison
// counts only as long as nothing before it can fail: what comes after could be an error,
// and an error of a forbid denies.
func needed(p *ast.Policy) need {
	n := need{texts: map[types.String][]string{}}
	if eq, ok := p.Action.(ast.ScopeTypeEq); ok {
		n.action = &eq.Entity
	}
	if eq, ok := p.Resource.(ast.ScopeTypeEq); ok {
		n.resource = &eq.Entity
	}
	for _, c := range p.Conditions {
		if c.Condition != ast.ConditionWhen || !n.conjunct(c.Body) {
			break
		}
	}
	return n
}

// conjunct adds what an expression needs, and reports whether the expression is nothing
// but comparisons that cannot fail.
func (n *need) conjunct(e ast.IsNode) bool {
	switch e := e.(type) {
	case ast.NodeTypeAnd:
		return n.conjunct(e.Left) && n.conjunct(e.Right)
	case ast.NodeTypeEquals:
		if n.compare(e.Left, e.Right) || n.compare(e.Right, e.Left) {
			return true
		}
	case ast.NodeTypeContains:
		return n.contains(e.Left, e.Right)
	}
	return false
}

// compare adds a comparison of an attribute with a text.
func (n *need) compare(attribute, value ast.IsNode) bool {
	name, ok := attributeOf(attribute)
	text, isText := literal(value)
	if !ok || !isText || !always[name] {
		return false
	}
	n.narrow(name, []string{text})
	return true
}

// contains adds a comparison of an attribute with a list of texts.
func (n *need) contains(list, attribute ast.IsNode) bool {
	name, ok := attributeOf(attribute)
	set, isSet := list.(ast.NodeTypeSet)
	if !ok || !isSet || !always[name] {
		return false
	}
	texts := make([]string, len(set.Elements))
	for i, e := range set.Elements {
		text, ok := literal(e)
		if !ok {
			return false
		}
		texts[i] = text
	}
	n.narrow(name, texts)
	return true
}

// narrow keeps the first list of an attribute: it is necessary whatever follows.
func (n *need) narrow(name types.String, texts []string) {
	if _, ok := n.texts[name]; !ok {
		n.texts[name] = texts
	}
}

// attributeOf is the name in context.name.
func attributeOf(e ast.IsNode) (types.String, bool) {
	access, ok := e.(ast.NodeTypeAccess)
	if !ok || !isContext(access.Arg) {
		return "", false
	}
	return access.Value, true
}

func isContext(e ast.IsNode) bool {
	v, ok := e.(ast.NodeTypeVariable)
	return ok && v.Name == "context"
}

func literal(e ast.IsNode) (string, bool) {
	v, ok := e.(ast.NodeValue)
	if !ok {
		return "", false
	}
	s, ok := v.Value.(types.String)
	return string(s), ok
}

// reads is which facts a statement reads.
type reads struct {
	all   bool // it uses the context or the history as a whole
	names map[string]bool
}

func readsOf(p *ast.Policy) reads {
	r := reads{names: map[string]bool{}}
	for _, c := range p.Conditions {
		r.walk(c.Body)
	}
	return r
}

func (r *reads) walk(e ast.IsNode) {
	ast.Inspect(ast.NewNode(e), func(e ast.IsNode) bool {
		var of ast.StrOpNode
		switch e := e.(type) {
		case ast.NodeTypeAccess:
			of = e.StrOpNode
		case ast.NodeTypeHas:
			of = e.StrOpNode
		case ast.NodeTypeVariable:
			r.all = r.all || isContext(e)
			return false
		default:
			return true
		}
		if isContext(of.Arg) {
			_, has := e.(ast.NodeTypeHas)
			r.all = r.all || of.Value == "history" && !has
			return false
		}
		if name, ok := attributeOf(of.Arg); ok && name == "history" {
			r.names[string(of.Value)] = true
			return false
		}
		return true
	})
}
