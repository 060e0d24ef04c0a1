package engine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
)

// Effect is what a statement does to an action that it matches.
type Effect string

// The effects.
const (
	Permit          Effect = "permit"
	Forbid          Effect = "forbid"
	RequireApproval Effect = "require_approval"
)

// Statement is one permit or forbid of a policy.
type Statement struct {
	ID          string
	Effect      Effect
	Reason      string
	Requirement Requirement // of a statement that requires an approval
	Obligations []Obligation

	cedar *cedar.Policy
	need  need
	uses  variables
	reads reads
	cost  cost
}

// Policy is a parsed text.
type Policy struct {
	Statements []Statement
	Facts      map[string]Fact // by name
}

// Parse reads the text of a policy. The problems are in the order of the text; the
// policy is only of use if there are none.
func Parse(text string) (Policy, []Problem) {
	if len(text) > MaxText {
		return Policy{}, []Problem{{Line: 1, Column: 1, Message: fmt.Sprintf("the text has %d bytes; a policy has at most %d", len(text), MaxText)}}
	}
	if !utf8.ValidString(text) {
		return Policy{}, []Problem{{Line: 1, Column: 1, Message: "the text is not valid UTF-8"}}
	}
	o, deep := outlined(text)
	if deep != nil {
		return Policy{}, []Problem{*deep}
	}
	if n := len(o.statements); n > MaxStatements {
		return Policy{}, []Problem{o.statements[MaxStatements].start.problem("the text has %d statements; a policy has at most %d", n, MaxStatements)}
	}
	if len(o.statements) == 0 {
		return Policy{}, []Problem{{Line: 1, Column: 1, Message: "the text has no statement; write at least one permit or forbid"}}
	}
	list, err := cedar.NewPolicyListFromBytes("", []byte(text))
	if err != nil {
		return Policy{}, []Problem{o.explain(err)}
	}
	return o.read(list)
}

// read turns parsed statements into ours.
func (o outline) read(list cedar.PolicyList) (Policy, []Problem) {
	if len(list) != len(o.statements) {
		return Policy{}, []Problem{{Line: 1, Column: 1, Message: "the text cannot be split into statements; end each with a semicolon"}}
	}
	var problems []Problem
	out := Policy{Statements: make([]Statement, len(list)), Facts: map[string]Fact{}}
	ids := map[string]bool{}
	for i, one := range list {
		n := notes{at: o.statements[i], known: one.Annotations(), facts: out.Facts}
		effect := Permit
		if one.Effect() == cedar.Forbid {
			effect = Forbid
		}
		s := n.statement("rule"+strconv.Itoa(i+1), effect)
		if ids[s.ID] {
			n.refuse("id", "another statement of this policy has the id %q", s.ID)
		}
		ids[s.ID] = true
		s.cedar = one
		tree := (*ast.Policy)(one.AST())
		if other, ok := notAction(tree.Action); ok {
			n.problems = append(n.problems, o.statements[i].start.problem("the action of this statement is %s, which is not of type Action", other))
		}
		s.need, s.uses, s.reads, s.cost = needed(tree), usesOf(tree), readsOf(tree), costOf(tree)
		out.Statements[i] = s
		problems = append(problems, n.problems...)
	}
	return out, problems
}

// notAction finds an entity in the scope of the action that is not an action. Such a
// statement never matches; Cedar's reference refuses it.
func notAction(scope ast.IsActionScopeNode) (types.EntityUID, bool) {
	var all []types.EntityUID
	switch s := scope.(type) {
	case ast.ScopeTypeEq:
		all = append(all, s.Entity)
	case ast.ScopeTypeIn:
		all = append(all, s.Entity)
	case ast.ScopeTypeInSet:
		all = s.Entities
	}
	for _, e := range all {
		if e.Type != "Action" && !strings.HasSuffix(string(e.Type), "::Action") {
			return e, true
		}
	}
	return types.EntityUID{}, false
}

var (
	parserError = regexp.MustCompile(`(?s)^parser error: (?:parse|scan) error at (?:[^ ]*:)?(\d+):(\d+) ("(?:[^"\\]|\\.)*"): (.*)$`)
	exactly     = regexp.MustCompile(`(?s)^(?:exact )?got (.*) want (.*)$`)
)

// explain turns an error of Cedar's parser into a problem. The parser reports the token
// after the one that it could not use.
func (o outline) explain(err error) Problem {
	m := parserError.FindStringSubmatch(err.Error())
	if m == nil {
		return Problem{Line: 1, Column: 1, Message: strings.TrimPrefix(err.Error(), "parser error: ")}
	}
	line, _ := strconv.Atoi(m[1])
	column, _ := strconv.Atoi(m[2])
	at := token{line: line, column: column}
	message := m[4]
	if !strings.HasPrefix(message, "got ") && !strings.HasPrefix(message, "exact got  want") {
		at = o.before(at)
	}
	found := "the end of the text"
	if at.text != "" {
		found = strconv.Quote(at.text)
	}
	if parts := exactly.FindStringSubmatch(message); parts != nil {
		if parts[1] != "" {
			found = strconv.Quote(parts[1])
		}
		return at.problem("found %s where %q is expected", found, parts[2])
	}
	switch message {
	case "invalid primary", "unexpected token":
		return at.problem("%s cannot stand here", found)
	}
	return at.problem("%s, at %s", message, found)
}

// before is the last token before a position.
func (o outline) before(at token) token {
	for i := len(o.tokens) - 1; i >= 0; i-- {
		t := o.tokens[i]
		if t.line < at.line || t.line == at.line && t.column < at.column {
			return t
		}
	}
	return at
}
