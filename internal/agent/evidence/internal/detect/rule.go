package detect

import (
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// Rule derives a failure from a record.
type Rule struct {
	ID   string
	Kind kind.Name
	// About is the question that the rule answers. Of the rules of a kind about the
	// same question, the first that matches counts, so that the more specific ones
	// come first.
	About    string
	Mode     string
	Severity string
	Title    string
	// When are the conditions, all of which must hold.
	When []Condition
}

// Condition is a claim about fields of a record. It holds if it holds for any of them.
type Condition struct {
	// Fields are names of fields; a dot leads to a member, as in error.type.
	Fields []string
	Op     Op
	// Values are what Op compares with. For ContainsAny, {tool} stands for the name
	// of the tool.
	Values []string
}

// rulesOf are the rules by the kind that they are about, in their order.
var rulesOf = func() map[kind.Name][]*Rule {
	out := map[kind.Name][]*Rule{}
	for i := range Rules {
		out[Rules[i].Kind] = append(out[Rules[i].Kind], &Rules[i])
	}
	return out
}()

// phrases are the words of what rules look for in texts, but for what depends on the name of
// a tool.
var phrases = func() map[string][]string {
	out := map[string][]string{}
	for i := range Rules {
		for _, c := range Rules[i].When {
			for _, phrase := range c.Values {
				if c.Op == ContainsAny && !strings.Contains(phrase, "{tool}") {
					out[phrase] = words(phrase)
				}
			}
		}
	}
	return out
}()

// Op compares a field with values.
type Op string

// The ops.
const (
	// Equals holds for the one value. A text is compared as it is, anything else as
	// it is written in JSON.
	Equals Op = "equals"
	// OneOf is Equals for several values.
	OneOf Op = "one_of"
	// ContainsAny holds if the words of a value follow each other in the field. Case
	// makes no difference, nor what separates words: "rate limit" is in
	// "RateLimitError", and "429" is not in "14290".
	ContainsAny Op = "contains_any"
	// Exists holds for a field that is there.
	Exists Op = "exists"
)

// The questions.
const (
	outcome   = "outcome"
	repeated  = "repeated"
	permitted = "permitted"
	verified  = "verified"
)

// mutating are the classes of what changes something, or may do so.
var mutating = []string{"create", "update", "delete", "communicate", "transact", "execute", "administer", "unknown"}

func is(field, value string) Condition { return Condition{[]string{field}, Equals, []string{value}} }

func isOneOf(field string, values ...string) Condition {
	return Condition{[]string{field}, OneOf, values}
}

func exists(field string) Condition { return Condition{[]string{field}, Exists, nil} }

// says is a claim about what an error says.
func says(phrases ...string) Condition {
	return Condition{[]string{"error.type", "error.message", "error.code"}, ContainsAny, phrases}
}

// replies is a claim about what an error says, or the reply of a tool.
func replies(phrases ...string) Condition {
	return Condition{[]string{"error.type", "error.message", "error.code", "result"}, ContainsAny, phrases}
}

// Rules are all rules, in the order in which they are asked.
var Rules = slices.Concat(toolRules, ledgerRules, guardrailRules, stepRules)
