package detect

import "github.com/assayhq/assay/internal/agent/evidence/kind"

// stopped holds for a guardrail that stopped something. Which category it names is
// looked for where guardrails write it: never in the input, which may be about anything.
func stopped(categories ...string) []Condition {
	return []Condition{
		is("primitive_type", "guardrail"), is("status", "denied"),
		{[]string{"name", "error.type", "error.message", "output", "attributes"}, ContainsAny, categories},
	}
}

// guardrailRules are about what guardrails stopped. They describe attempts: that the
// guardrail stopped one does not make it less worth knowing.
var guardrailRules = []Rule{
	{
		ID: "guardrail.injection", Kind: kind.PrimitiveStepRuns, About: outcome, Mode: "prompt_injection", Severity: "high",
		Title: "A guardrail stopped instructions that were hidden in data",
		When:  stopped("prompt injection", "jailbreak", "prompt attack", "indirect attack", "instruction override", "xpia", "llm01"),
	},
	{
		// Alone, the word is a category. Within a text it may be that of a database.
		ID: "guardrail.injection_by_category", Kind: kind.PrimitiveStepRuns, About: outcome, Mode: "prompt_injection", Severity: "high",
		Title: "A guardrail stopped instructions that were hidden in data",
		When: []Condition{
			is("primitive_type", "guardrail"), is("status", "denied"),
			{[]string{"error.type", "output.category", "attributes.category"}, OneOf, []string{"injection", "Injection", "INJECTION"}},
		},
	},
	{
		ID: "guardrail.data", Kind: kind.PrimitiveStepRuns, About: outcome, Mode: "data_leak", Severity: "high",
		Title: "A guardrail stopped data that must not leave",
		When: stopped(
			"pii", "personal data", "personally identifiable", "data leak", "data leakage", "data loss", "dlp", "sensitive information", "sensitive data",
			"secret detected", "secrets detected", "secrets", "credential leak", "system prompt leakage",
		),
	},
	{
		ID: "guardrail.unsafe", Kind: kind.PrimitiveStepRuns, About: outcome, Mode: "unsafe_content", Severity: "medium",
		Title: "A guardrail stopped unsafe content",
		When: stopped(
			"unsafe", "unsafe content", "harmful", "toxic", "toxicity", "hate", "hate speech", "violence", "violent", "self harm", "sexual", "harassment", "insults",
			"misconduct", "nsfw", "content filter", "content policy", "content safety", "moderation",
		),
	},
}

// failed holds for a step of a model that failed. Calls of tools have rules of their own,
// and a step that failed because a step within it did is not a failure of its own.
func failed(phrases ...string) []Condition {
	out := []Condition{isOneOf("primitive_type", "model_call", "embedding"), is("status", "failed")}
	if len(phrases) > 0 {
		out = append(out, says(phrases...))
	}
	return out
}

// stepRules are about steps that failed.
var stepRules = []Rule{
	{
		ID: "model.rate_limited", Kind: kind.PrimitiveStepRuns, About: outcome, Mode: "rate_limited", Severity: "medium",
		Title: "A model was asked too often",
		When:  failed(limits...),
	},
	{
		ID: "model.rate_limited_by_code", Kind: kind.PrimitiveStepRuns, About: outcome, Mode: "rate_limited", Severity: "medium",
		Title: "A model was asked too often",
		When:  append(failed(), Condition{[]string{"error.type", "error.code", "error.status"}, Equals, []string{"429"}}),
	},
	{
		// The request was refused, and nothing was forgotten: context_loss would claim
		// that the agent went on without what it knew.
		ID: "model.context_length", Kind: kind.PrimitiveStepRuns, About: outcome, Mode: "other", Severity: "medium",
		Title: "A model was given more than fits its context",
		When: failed(
			"context length", "context window", "maximum context", "prompt is too long", "input is too long", "too many tokens", "maximum number of tokens",
			"token limit", "request too large", "max tokens exceeded",
		),
	},
	{
		ID: "model.content_filter", Kind: kind.PrimitiveStepRuns, About: outcome, Mode: "unsafe_content", Severity: "medium",
		Title: "The provider of a model refused the content",
		When:  failed("content filter", "content filtered", "content management policy", "content policy", "responsible ai policy", "safety settings", "prohibited content", "moderation blocked"),
	},
	{
		ID: "model.format", Kind: kind.PrimitiveStepRuns, About: outcome, Mode: "format_violation", Severity: "medium",
		Title: "The output of a model did not have the form that was asked for",
		When: failed(
			"output parser", "output parsing", "could not parse llm output", "failed to parse output", "failed to parse the output", "json decode error",
			"invalid json", "unexpected model behavior", "model behavior error",
		),
	},
	{
		ID: "model.timed_out", Kind: kind.PrimitiveStepRuns, About: outcome, Mode: "latency_exceeded", Severity: "medium",
		Title: "A model did not answer in time",
		When:  failed(timeouts...),
	},
	{
		ID: "model.failed", Kind: kind.PrimitiveStepRuns, About: outcome, Mode: "other", Severity: "low",
		Title: "A model could not be asked",
		When:  failed(),
	},
	{
		// A framework that stops an agent at a limit shows that the agent did not stop
		// by itself. Whether it went round in circles takes its steps to see.
		ID: "agent.limit", Kind: kind.PrimitiveStepRuns, About: outcome, Mode: "termination_unaware", Severity: "medium",
		Title: "An agent was stopped at its limit of steps",
		When: []Condition{
			isOneOf("primitive_type", "agent_invocation", "workflow"), is("status", "failed"),
			says(
				"recursion limit", "recursion error", "graph recursion", "max iterations", "maximum iterations", "max turns", "maximum turns", "max steps", "maximum number of steps",
				"maximum number of turns", "maximum number of iterations", "iteration limit", "step limit", "turn limit", "usage limit exceeded",
			),
		},
	},
	{
		ID: "step.failed", Kind: kind.PrimitiveStepRuns, About: outcome, Mode: "other", Severity: "low",
		Title: "A step failed",
		When:  []Condition{isOneOf("primitive_type", "retrieval", "rerank", "memory_read", "memory_write", "code_execution"), is("status", "failed")},
	},
}
