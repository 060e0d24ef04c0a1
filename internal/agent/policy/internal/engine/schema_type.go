package engine

import (
	"fmt"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// methods compare decimals as operators compare Longs.
var methods = map[string]string{"lessThan": "<", "lessThanOrEqual": "<=", "greaterThan": ">", "greaterThanOrEqual": ">="}

// order refuses comparisons that are an error whatever the question, because the type of an operand
// is known: a forbid would always deny, and a permit never permit.
func (r *reviewer) order(e ast.IsNode) {
	switch e := e.(type) {
	case ast.NodeTypeLessThan:
		r.longs("lessThan", e.BinaryNode)
	case ast.NodeTypeLessThanOrEqual:
		r.longs("lessThanOrEqual", e.BinaryNode)
	case ast.NodeTypeGreaterThan:
		r.longs("greaterThan", e.BinaryNode)
	case ast.NodeTypeGreaterThanOrEqual:
		r.longs("greaterThanOrEqual", e.BinaryNode)
	case ast.NodeTypeExtensionCall:
		operator, compares := methods[string(e.Name)]
		if !compares {
			return
		}
		for _, one := range e.Args {
			if said, kind, at := r.operand(one, "."); kind != "" && kind != typeDecimal {
				r.remark(at(), WrongType, said+operator, true, `%s is a %s, and %s takes decimals: write a decimal as decimal("100.0"), and compare Longs with %s`, said, kind, e.Name, operator)
			}
		}
	}
}

// longs refuses operands that are not Longs. That something is a time, which has the same operators,
// is never known.
func (r *reviewer) longs(method string, b ast.BinaryNode) {
	operator := methods[method]
	for _, one := range []ast.IsNode{b.Left, b.Right} {
		if said, kind, at := r.operand(one, operator); kind != "" && kind != typeLong {
			r.remark(at(), WrongType, said+operator, true, `%s is a %s, and %s takes Longs: compare decimals with .%s(decimal("100.0"))`, said, kind, operator, method)
		}
	}
}

// equal refuses to compare what is never equal, because the types are known and differ. An amount
// that is not a number keeps the type that it was sent with.
func (r *reviewer) equal(b ast.BinaryNode) {
	left, kind, at := r.operand(b.Left, "==")
	right, other, there := r.operand(b.Right, "==")
	if kind == "" || other == "" || kind == other {
		return
	}
	if _, written := b.Left.(ast.NodeValue); written { // the attribute is what the remark is about
		left, kind, at, right, other = right, other, there, left, kind
	}
	if left == "context.amount" && other != typeLong || right == "context.amount" && kind != typeLong {
		return
	}
	r.remark(at(), WrongType, left+"=="+right, true, "%s is a %s and %s a %s, so that they are never equal", left, kind, right, other)
}

// operand is an expression as it is written, its type, and where it stands before another token, which
// takes time to find. The type is empty if it depends on the question.
func (r *reviewer) operand(e ast.IsNode, follows string) (said, kind string, at func() token) {
	switch e := e.(type) {
	case ast.NodeTypeAccess:
		name := string(e.Value)
		at = func() token { return r.passage.operand(name, follows) }
		if parent, ok := attributeOf(e.Arg); ok && parent == history {
			return "context.history." + name, map[Measure]string{Count: typeLong, Sum: typeDecimal, Formerly: typeBool}[r.facts[name].Measure], at
		}
		if a := provided(name); isContext(e.Arg) && a != nil {
			return "context." + name, a.Type, at
		}
	case ast.NodeTypeExtensionCall:
		if e.Name == "decimal" {
			return "decimal(…)", typeDecimal, func() token { return r.passage.word("decimal") }
		}
	case ast.NodeValue:
		switch v := e.Value.(type) {
		case types.Long:
			return v.String(), typeLong, func() token { return r.passage.word(v.String()) }
		case types.String:
			return fmt.Sprintf("%q", string(v)), typeText, func() token { return r.passage.text(string(v)) }
		case types.Boolean:
			return v.String(), typeBool, func() token { return r.passage.word(v.String()) }
		}
	}
	return "", "", nil
}
