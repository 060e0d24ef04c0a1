package engine

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
)

// Decision is the answer to a question.
type Decision string

// The decisions.
const (
	Allow         Decision = "allow"
	Deny          Decision = "deny"
	NeedsApproval Decision = "require_approval"
)

// The codes of reasons.
const (
	RuleMatched = "rule_matched" // a statement matched
	EngineError = "engine_error" // a forbid could not be evaluated
	NoPermit    = "no_permit"    // nothing permits the action
)

// Reason is why a decision is what it is.
type Reason struct {
	Code          string
	Message       string
	PolicyKey     string
	PolicyVersion int64
	RuleID        string
}

// Shadowed is what would have been decided with a policy that is in shadow.
type Shadowed struct {
	PolicyKey string
	Decision  Decision
}

// Approval is what people must agree to. Every requirement must be met; one person can
// count for several.
type Approval struct {
	Requirements []Requirement
	ExpiresIn    time.Duration // the shortest
}

// Verdict is a decision with its reasons.
type Verdict struct {
	Decision    Decision
	Reasons     []Reason
	Obligations []Obligation
	// Approval is what the matching statements require, whether or not people agreed.
	Approval Approval
	Shadow   []Shadowed
	// Errors are statements that could not be evaluated, of any effect and mode.
	Errors []string
}

// Evaluate answers a question.
func (s *Set) Evaluate(q Question) Verdict { return s.evaluate(q, s.about) }

// evaluate answers a question by the statements about each of its forms, which are in the
// order of the set.
func (s *Set) evaluate(q Question, about func(*form) []*statement) Verdict {
	p, err := q.prepare()
	if err != nil {
		return unanswered(err)
	}
	forms := q.forms()
	for i := range forms {
		forms[i].statements = about(&forms[i])
	}
	unasked, err := afford(p, forms)
	if err != nil {
		return unanswered(err)
	}
	enforced, shadow := s.ask(p, forms[0].statements)
	for _, f := range forms[1:] {
		also, shaded := s.ask(p.as(f.Question), f.statements)
		enforced.restrict(also)
		shadow = restrictShadow(shadow, shaded)
	}
	v := enforced.verdict(q.ApprovalSatisfied)
	for _, one := range shadow {
		decision, _ := decide(q.ApprovalSatisfied, enforced, one.found)
		v.Shadow = append(v.Shadow, Shadowed{PolicyKey: one.key, Decision: decision})
		v.Errors = append(v.Errors, one.found.errorTexts()...)
	}
	v.Errors = append(v.Errors, unasked...)
	return v
}

// unanswered is the verdict about a question that no statement is asked.
func unanswered(err error) Verdict {
	return Verdict{Decision: Deny, Reasons: []Reason{{Code: EngineError, Message: err.Error()}}, Errors: []string{err.Error()}}
}

// found is what statements say about a question.
type found struct {
	forbids, approvals, permits []*statement
	failed                      []failure
	// alsoApprovals and alsoPermits are about other forms of the question. They allow
	// nothing: the former must be met, and the latter oblige.
	alsoApprovals, alsoPermits []*statement
}

type failure struct {
	statement *statement
	message   string
}

func (f failure) String() string {
	return fmt.Sprintf("%s/%s: %s", f.statement.source.Key, f.statement.ID, f.message)
}

func (f found) empty() bool {
	return len(f.forbids)+len(f.approvals)+len(f.permits)+len(f.failed) == 0
}

func (f *found) add(other found) {
	f.forbids = append(f.forbids, other.forbids...)
	f.approvals = append(f.approvals, other.approvals...)
	f.permits = append(f.permits, other.permits...)
	f.failed = append(f.failed, other.failed...)
}

// sort puts failures in the order of the set.
func (f *found) sort() {
	slices.SortStableFunc(f.failed, func(a, b failure) int { return a.statement.place - b.statement.place })
}

func (f found) errorTexts() []string {
	var out []string
	for i, one := range f.failed {
		if i == maxTold {
			return append(out, fmt.Sprintf("and %d more", len(f.failed)-i))
		}
		out = append(out, one.String())
	}
	return out
}

// short is a message that may quote what the question says, without most of that.
func short(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "…"
}

// shade is what one policy in shadow says.
type shade struct {
	key   string
	found found
}

// ask evaluates statements. Policies in shadow that say nothing are left out.
func (s *Set) ask(p *prepared, statements []*statement) (enforced found, shadow []shade) {
	plain := p.in(nil)
	for len(statements) > 0 {
		n := run(statements)
		source, request := statements[0].source, plain
		if len(source.facts) > 0 {
			request = p.in(source.facts)
		}
		said := s.authorize(statements[:n], p.entities, request)
		switch {
		case source.Mode != Shadow:
			enforced.add(said)
		case !said.empty():
			shadow = append(shadow, shade{key: source.Key, found: said})
		}
		statements = statements[n:]
	}
	return enforced, shadow
}

// run is how many statements at the beginning can be evaluated together: they have the
// same history, and all or none of their policies are in shadow.
func run(statements []*statement) int {
	first := statements[0].source
	alone := first.Mode == Shadow || len(first.facts) > 0
	n := slices.IndexFunc(statements, func(s *statement) bool {
		return s.source != first && (alone || s.source.Mode == Shadow || len(s.source.facts) > 0)
	})
	if n < 0 {
		return len(statements)
	}
	return n
}

// authorize evaluates statements with one request. Cedar reports only what decides, so
// permits and forbids are asked apart.
func (s *Set) authorize(statements []*statement, entities types.EntityMap, request cedar.Request) found {
	var out found
	byID := func(id types.PolicyID) *statement {
		i, _ := strconv.Atoi(string(id))
		return s.statements[i]
	}
	for _, effect := range []cedar.Effect{cedar.Forbid, cedar.Permit} {
		_, said := cedar.Authorize(policies{statements, effect}, entities, request)
		for _, r := range said.Reasons {
			switch st := byID(r.PolicyID); st.Effect {
			case Forbid:
				out.forbids = append(out.forbids, st)
			case RequireApproval:
				out.approvals = append(out.approvals, st)
			default:
				out.permits = append(out.permits, st)
			}
		}
		for _, e := range said.Errors {
			out.failed = append(out.failed, failure{statement: byID(e.PolicyID), message: short(e.Message)})
		}
	}
	out.sort()
	return out
}

// policies are the statements with one effect.
type policies struct {
	statements []*statement
	effect     cedar.Effect
}

// All implements cedar.PolicyIterator.
func (p policies) All() iter.Seq2[cedar.PolicyID, *cedar.Policy] {
	return func(yield func(cedar.PolicyID, *cedar.Policy) bool) {
		for _, s := range p.statements {
			if s.cedar.Effect() == p.effect && !yield(s.id, s.cedar) {
				return
			}
		}
	}
}
