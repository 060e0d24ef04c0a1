package engine

import "github.com/cedar-policy/cedar-go/x/exp/ast"

// cost is what a statement costs at worst.
type cost struct {
	steps    int // parts of expressions
	patterns int // bytes of patterns, each compared with a text
	values   int // values of the question that are compared with others, or put together
	lists    int // comparisons of each element of a list with each of another
	elements int // comparisons of one value with each element of a list
}

func costOf(p *ast.Policy) cost {
	var c cost
	for _, one := range p.Conditions {
		ast.Inspect(ast.NewNode(one.Body), func(e ast.IsNode) bool {
			c.steps++
			switch e := e.(type) {
			case ast.NodeTypeLike:
				c.patterns += len(e.Value.MarshalCedar())
			case ast.NodeTypeEquals:
				c.pair(e.BinaryNode)
			case ast.NodeTypeNotEquals:
				c.pair(e.BinaryNode)
			case ast.NodeTypeContains:
				c.contains(e.BinaryNode)
			case ast.NodeTypeContainsAll:
				c.pair(e.BinaryNode)
			case ast.NodeTypeContainsAny:
				c.pair(e.BinaryNode)
			case ast.NodeTypeExtensionCall:
				c.parse(e)
			case ast.NodeTypeSet:
				for _, one := range e.Elements {
					c.lists += c.part(one) // it is compared with what is in the set
				}
			case ast.NodeTypeRecord:
				for _, one := range e.Elements {
					c.part(one.Value)
				}
			}
			return true
		})
	}
	return c
}

// pair counts a comparison, unless one side is a value in the policy: it is short. A set
// in the policy has no more elements than parts.
func (c *cost) pair(b ast.BinaryNode) {
	if constant(b.Left) || constant(b.Right) {
		return
	}
	c.values++
	if n := written(b.Left) + written(b.Right); n > 0 {
		c.elements += n
	} else {
		c.lists++
	}
}

// contains counts the search for a value in a set. The parts of one in the policy are counted
// as such.
func (c *cost) contains(b ast.BinaryNode) {
	if !constant(b.Right) {
		c.values++
	}
	if written(b.Left) == 0 {
		c.elements++
	}
}

// parse counts the reading of a text of the question, which also is in the error if it
// cannot be read.
func (c *cost) parse(e ast.NodeTypeExtensionCall) {
	if len(e.Args) == 1 {
		c.part(e.Args[0])
	}
}

// part counts a part that is not a value in the policy, and returns how many that are.
func (c *cost) part(e ast.IsNode) int {
	if constant(e) {
		return 0
	}
	c.values++
	return 1
}

// constant reports whether a part is a value in the policy.
func constant(e ast.IsNode) bool {
	_, ok := e.(ast.NodeValue)
	return ok
}

// written is how many parts a set in the policy has; 0 for anything else.
func written(e ast.IsNode) (n int) {
	if _, ok := e.(ast.NodeTypeSet); ok {
		ast.Inspect(ast.NewNode(e), func(ast.IsNode) bool { n++; return true })
	}
	return n
}

// costs is what a statement can cost at a question.
func (s *statement) costs(p *prepared) int {
	values := s.cost.values
	if len(s.source.facts) > 0 { // its history makes a context of its own
		values++
	}
	pairs := s.cost.lists*p.lists.pairs + s.cost.elements*p.lists.elements
	return s.cost.steps*stepCost + s.cost.patterns*p.longest + values*p.bytes + pairs*pairCost
}
