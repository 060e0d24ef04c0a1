package detect

import (
	"slices"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// replied holds for a call that came back with an error: it failed, or its runtime says
// that it succeeded while the tool says otherwise. A call that was denied or cancelled
// went as it should.
var replied = []Condition{
	isOneOf("status", "failed", "succeeded"),
	{[]string{"status", "is_error"}, OneOf, []string{"failed", "true"}},
}

func when(first []Condition, more ...Condition) []Condition { return slices.Concat(first, more) }

// timeouts is how errors say that time was up.
var timeouts = []string{
	"timed out", "timeout error", "time out error", "deadline exceeded", "etimedout", "read timeout", "connect timeout", "connection timeout", "request timeout",
	"gateway timeout", "operation timeout", "timeout expired", "timeout exceeded", "timeout of",
}

// limits is how errors say that there were too many requests. The bare number is too
// often that of something else.
var limits = []string{
	"rate limit", "rate limited", "ratelimit", "rate limits", "rate limiting", "too many requests", "http 429", "status 429", "status code 429", "code 429", "error 429", "429 error",
	"throttled", "throttling", "quota exceeded", "resource exhausted", "exceeded your current quota",
}

// toolRules are about calls of tools.
var toolRules = []Rule{
	{
		ID: "tool.timed_out_with_effect", Kind: kind.ToolInvocationEvidence, About: outcome, Mode: "tool_timeout", Severity: "high",
		Title: "A tool that changes something did not reply in time; whether it did is unknown",
		When:  []Condition{is("status", "timed_out"), isOneOf("side_effect_class", mutating...)},
	},
	{
		ID: "tool.timed_out", Kind: kind.ToolInvocationEvidence, About: outcome, Mode: "tool_timeout", Severity: "medium",
		Title: "A tool did not reply in time",
		When:  []Condition{is("status", "timed_out")},
	},
	{
		// Servers report an unknown tool as -32601, or as -32602 with a message; hence
		// before the rule about arguments.
		ID: "tool.unknown", Kind: kind.ToolInvocationEvidence, About: outcome, Mode: "hallucinated_tool", Severity: "medium",
		Title: "The agent called a tool that does not exist",
		When: when(replied, replies(
			"32601", "method not found", "unknown tool", "no such tool", "no tool named", "no tool with name", "tool not found", "tool {tool} not found",
			"tool {tool} does not exist", "tool {tool} is not registered", "{tool} is not a valid tool", "{tool} is not a known tool", "tool does not exist", "unknown function", "unknown method",
			"function {tool} not found", "function {tool} does not exist",
		)),
	},
	{
		ID: "tool.rate_limited", Kind: kind.ToolInvocationEvidence, About: outcome, Mode: "rate_limited", Severity: "medium",
		Title: "A tool was called too often",
		When:  when(replied, replies(limits...)),
	},
	{
		ID: "tool.rate_limited_by_code", Kind: kind.ToolInvocationEvidence, About: outcome, Mode: "rate_limited", Severity: "medium",
		Title: "A tool was called too often",
		When:  when(replied, Condition{[]string{"error.type", "error.code", "error.status", "result.status", "result.status_code"}, Equals, []string{"429"}}),
	},
	{
		ID: "tool.invalid_arguments", Kind: kind.ToolInvocationEvidence, About: outcome, Mode: "invalid_arguments", Severity: "medium",
		Title: "A tool was called with arguments that it does not accept",
		When: when(replied, replies(
			"32602", "invalid params", "invalid parameter", "invalid parameters", "invalid argument", "invalid arguments", "validation error", "validation errors",
			"validation failed", "failed validation", "schema validation", "does not match schema", "does not match the schema", "schema mismatch", "missing required",
			"required property", "required parameter", "required argument", "field required", "additional properties", "unexpected keyword argument", "unrecognized keys",
			"input should be", "must have required property", "bad arguments", "invalid input",
		)),
	},
	{
		ID: "tool.reported_timeout", Kind: kind.ToolInvocationEvidence, About: outcome, Mode: "tool_timeout", Severity: "medium",
		Title: "A tool ran out of time",
		When:  when(replied, replies(timeouts...)),
	},
	{
		ID: "tool.timeout_by_type", Kind: kind.ToolInvocationEvidence, About: outcome, Mode: "tool_timeout", Severity: "medium",
		Title: "A tool ran out of time",
		When:  when(replied, Condition{[]string{"error.type", "error.code"}, OneOf, []string{"timeout", "Timeout", "TIMEOUT", "408", "504"}}),
	},
	{
		// One record does not show whether the agent dealt with the error, so this is
		// a low one until a person or a judge says more.
		ID: "tool.failed", Kind: kind.ToolInvocationEvidence, About: outcome, Mode: "tool_error_unhandled", Severity: "low",
		Title: "A tool failed",
		When:  replied,
	},
}

// ledgerRules are about what was done to the world.
var ledgerRules = []Rule{
	{
		ID: "effect.conflicting", Kind: kind.SideEffectLedger, About: outcome, Mode: "conflicting_side_effect", Severity: "high",
		Title: "A side effect is not what it was reported to be",
		When:  []Condition{is("state", "conflicting")},
	},
	{
		ID: "effect.not_undone", Kind: kind.SideEffectLedger, About: outcome, Mode: "other", Severity: "high",
		Title: "A side effect could not be undone",
		When:  []Condition{is("state", "compensation_failed")},
	},
	{
		ID: "effect.duplicate", Kind: kind.SideEffectLedger, About: repeated, Mode: "duplicate_side_effect", Severity: "high",
		Title: "A side effect was dispatched twice",
		When:  []Condition{exists("duplicate_of_id")},
	},
	{
		// The platform compares the effect with the decision when it is dispatched.
		ID: "effect.unauthorized", Kind: kind.SideEffectLedger, About: permitted, Mode: "policy_violation", Severity: "high",
		Title: "A side effect was dispatched that no policy decision of this platform allows",
		When:  []Condition{isOneOf("authorization", "none", "denied", "claimed", "expired", "other", "spent")},
	},
	{
		ID: "effect.overdue", Kind: kind.SideEffectLedger, About: verified, Mode: "unverified_side_effect", Severity: "high",
		Title: "A side effect was not verified in time",
		When:  []Condition{is("overdue", "true")},
	},
}
