package pattern

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
