package engine

import (
	"slices"
)

// Attribute is something that every policy can read, and its type in Cedar.
type Attribute struct {
	Name     string
	Type     string
	Optional bool     // it may be absent: ask for it with has
	Values   []string // all that it can be; none if it is free
	About    string
}

// Types of attributes.
const (
	typeText    = "String"
	typeDecimal = "decimal"
	typeRecord  = "Record"
	typeLong    = "Long"
	typeBool    = "Bool"
)

// Context are the attributes of the context that the platform provides. Callers can send
// others, which no list knows.
var Context = []Attribute{
	{Name: connectorKey, Type: typeText, About: "Key of the connector; empty if the question names no tool."},
	{Name: toolName, Type: typeText, About: "Name of the tool; empty if the question names none."},
	{Name: runtimeKey, Type: typeText, About: "Key of the runtime that acts; empty if the question names none."},
	{Name: environment, Type: typeText, About: "Environment of the runtime, or of the question; empty if neither says so."},
	{
		Name: "side_effect_class", Type: typeText, About: "What the tool does to the world, as far as that can be relied on.",
		Values: []string{"none", "read", "create", "update", "delete", "communicate", "transact", "execute", "administer", "unknown"},
	},
	{
		Name: "reversibility", Type: typeText, About: "Whether that can be undone.",
		Values: []string{"reversible", "compensable", "irreversible", "unknown"},
	},
	{
		Name: "connector_state", Type: typeText, About: "What people decided about the connector; empty without one.",
		Values: []string{"", "registered", "under_review", "approved", "blocked", "retired"},
	},
	{
		Name: "connector_trust", Type: typeText, About: "Trust level of the connector; empty if the connector is unknown.",
		Values: []string{"", "untrusted", "reviewed", "trusted"},
	},
	{Name: "arguments", Type: typeRecord, About: "Arguments of the call, whatever they are."},
	{Name: "amount", Type: typeDecimal, Optional: true, About: "The argument of this name, as a decimal."},
	{Name: "currency", Type: typeText, Optional: true, About: "The argument of this name, if it is a text."},
	{Name: history, Type: typeRecord, About: "Facts about the past, by the names that @history gives them."},
}

// history is the attribute that has the facts.
const history = "history"

// EntityTypes are the types that the platform gives to what a question is about. Callers can
// send others.
var EntityTypes = []Attribute{
	{Name: "Runtime", Type: "principal", About: "Who acts, if the question names no other subject. The id is the key of the runtime."},
	{Name: "Action", Type: "action", About: "What is done."},
	{Name: "Tool", Type: "resource", About: "What it is done to, if the question names no other resource. The id is connector/tool."},
}

// ToolCall is the action of a question that names no other.
const ToolCall = "tool.call"

// FactForms are the ways to write a fact, with the types of their values.
var FactForms = []Attribute{
	{Name: "count(connector/tool, 24h)", Type: typeLong, About: "How many calls of the tool were allowed."},
	{Name: "sum(connector/tool, argument, 7d)", Type: typeDecimal, About: "What an argument of the allowed calls adds up to."},
	{Name: "formerly(connector/tool, 30m)", Type: typeBool, About: "Whether a call of the tool was allowed."},
}

// AnnotationForms are the annotations that mean something here; Type says on which statements.
var AnnotationForms = []Attribute{
	{Name: "id", Type: "any", About: "Name of the rule in reasons and tests."},
	{Name: "reason", Type: "any", About: "What the reason says to people."},
	{Name: "effect", Type: "forbid", Values: []string{string(RequireApproval)}, About: "Asks people instead of denying."},
	{Name: "approver_groups", Type: string(RequireApproval), About: "Roles, and ids of members, separated by commas."},
	{Name: "min_approvals", Type: string(RequireApproval), Values: []string{"1", "2", "3", "4", "5"}, About: "How many people must agree."},
	{Name: "expires_in", Type: string(RequireApproval), About: "Seconds until the request ends, at most 30 days."},
	{Name: "obligations", Type: "permit", About: "What the caller must do: types of obligations, with parameters in brackets. Also on statements that require an approval."},
	{Name: "history", Type: "any", About: "Facts that the policy reads: name = form, separated by semicolons."},
}

// provided is the attribute of the context with a name; nil if the platform has none.
func provided(name string) *Attribute {
	if i := slices.IndexFunc(Context, func(a Attribute) bool { return a.Name == name }); i >= 0 {
		return &Context[i]
	}
	return nil
}

// namesOf are the names of attributes.
func namesOf(all []Attribute) []string {
	out := make([]string, len(all))
	for i, a := range all {
		out[i] = a.Name
	}
	return out
}

// Names are those that an organization has for what policies are about, as far as somebody has
// looked them up.
type Names struct {
	// Tools has the tools of each connector by its key; nil if the connector does not say
	// which it has.
	Tools map[string][]string
	// Runtimes are keys.
	Runtimes map[string]bool
	// Partial says that there are others, which no policy mentions by their keys.
	Partial bool
}

// Mentions are what a policy names that an organization may have.
type Mentions struct {
	Connectors, Runtimes []string
	// Tool says that it names a tool without a connector.
	Tool bool
}

// add notes a name once.
func (m *Mentions) add(list *[]string, name string) {
	if name != "" && !slices.Contains(*list, name) && len(*list) < maxMentions {
		*list = append(*list, name)
	}
}

// tool notes the connectors that the id of a tool can begin with: keys may have slashes.
func (m *Mentions) tool(id string) {
	for connector := range Splits(id) {
		m.add(&m.Connectors, connector)
	}
}
