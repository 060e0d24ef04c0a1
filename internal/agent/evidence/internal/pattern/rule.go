package pattern

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Effect is what a rule does to an action that it matches.
type Effect string

// The effects.
const (
	Permit          Effect = "permit"
	Forbid          Effect = "forbid"
	RequireApproval Effect = "require_approval"
)

// Attributes are the attributes of the context that policies of templates read, with
// their Cedar types. The first five are always present; arguments are the arguments of
// the call as a record, which may be empty.
var Attributes = map[string]string{
	"side_effect_class": "String",
	"reversibility":     "String",
	"connector_key":     "String",
	"tool_name":         "String",
	"arguments":         "Record",

	// amount and currency are arguments.amount, a text such as "240.00", and
	// arguments.currency.
	"amount":   "decimal",
	"currency": "String",
	// delegation is what the caller itself was given: {"scopes": Set<String>}.
	"delegation": "Record",
	// injection_suspected is what a guardrail says about what the agent has read.
	"injection_suspected": "Boolean",
}

// approvers are the roles that decide on approvals by default.
func approvers() []string { return []string{"owner", "admin"} }

func permit(id, why, when string) Rule {
	return Rule{ID: id, Effect: Permit, Why: why, Policy: policy("permit", when, annotation{"id", id})}
}

// permitTools permits tools of a connector by name and class. Naming the class makes
// sure that a tool which is reviewed and found to do more is no longer permitted.
func permitTools(id, why, connector, class string, tools ...string) Rule {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = strconv.Quote(t)
	}
	return permit(id, why, strings.Join([]string{
		"context.connector_key == " + strconv.Quote(connector),
		"[" + strings.Join(names, ", ") + "].contains(context.tool_name)",
		"context.side_effect_class == " + strconv.Quote(class),
	}, " &&\n  "))
}

func forbid(id, why, when string) Rule {
	return Rule{ID: id, Effect: Forbid, Why: why, Policy: policy("forbid", when, annotation{"id", id}, annotation{"reason", why})}
}

// approve asks for an approval: a forbid that an approval lifts.
func approve(id, why string, minApprovals int, when string) Rule {
	return Rule{ID: id, Effect: RequireApproval, Why: why, Policy: policy(
		"forbid", when, annotation{"id", id}, annotation{"effect", string(RequireApproval)}, annotation{"reason", why},
		annotation{"approver_groups", strings.Join(approvers(), ",")}, annotation{"min_approvals", strconv.Itoa(minApprovals)},
	)}
}

// obliged adds what the caller must do with an action that the rule permits.
func obliged(r Rule, obligations ...string) Rule {
	r.Policy = annotation{"obligations", strings.Join(obligations, ",")}.String() + r.Policy
	return r
}

// annotation is a note on a policy that engines hand back with their decision.
type annotation struct{ name, value string }

func (a annotation) String() string { return "@" + a.name + "(" + strconv.Quote(a.value) + ")\n" }

// policy is the text of a policy about calls of tools.
func policy(effect, when string, notes ...annotation) string {
	var b strings.Builder
	for _, n := range notes {
		b.WriteString(n.String())
	}
	b.WriteString(effect)
	b.WriteString(" (principal, action == Action::\"tool.call\", resource)\nwhen {\n  ")
	b.WriteString(when)
	b.WriteString("\n};\n")
	return b.String()
}

// point is the approval point that belongs to a rule of approve.
func point(step, rule, when string, minApprovals int) ApprovalPoint {
	return ApprovalPoint{Step: step, Rule: rule, When: when, Groups: approvers(), MinApprovals: minApprovals}
}

// undo is a compensation.
func undo(tool, arguments string) *Compensation {
	return &Compensation{ToolName: tool, Arguments: jsontext.Value(arguments)}
}

// args are arguments of a call.
func args(text string) jsontext.Value { return jsontext.Value(text) }

// gate is a gate that must be passed.
func gate(key, kind, params string) Gate {
	return Gate{Key: key, Type: kind, Params: jsontext.Value(params), Required: true}
}

// decided asserts what the policies say about a step.
func decided(step, decision string) Assertion {
	return Assertion{Type: "decision_is", StepKey: step, Decision: decision}
}

// atMost asserts how many effects of a class there are.
func atMost(class string, n int) Assertion {
	return Assertion{Type: "max_effects", Class: class, N: &n}
}
