package kind

import (
	"slices"

	"github.com/assayhq/assay/internal/core/state"
)

// FailureModes are the ways in which agents fail, by group.
var FailureModes = slices.Concat(
	[]string{"task_spec_violation", "role_violation", "step_repetition", "context_loss", "termination_unaware"},
	[]string{"conversation_reset", "clarification_missed", "task_derailment", "information_withheld", "input_ignored", "reasoning_action_mismatch"},
	[]string{"premature_termination", "verification_missing", "verification_incorrect"},
	[]string{"wrong_tool", "hallucinated_tool", "invalid_arguments", "tool_error_unhandled", "tool_timeout", "tool_result_misread"},
	[]string{
		"policy_violation", "approval_bypass", "duplicate_side_effect", "unverified_side_effect", "conflicting_side_effect",
		"irreversible_without_approval", "scope_creep", "prompt_injection", "data_leak", "manifest_drift",
	},
	[]string{"hallucination", "ungrounded_answer", "wrong_refusal", "format_violation", "unsafe_content"},
	[]string{"latency_exceeded", "cost_exceeded", "loop", "rate_limited"},
	[]string{"other"},
)

// Primitives are the types of steps.
var Primitives = []string{
	"model_call", "embedding", "tool_call", "retrieval", "rerank", "memory_read", "memory_write", "agent_invocation", "handoff", "workflow",
	"plan", "guardrail", "policy_check", "human_approval", "user_input", "evaluation", "code_execution", "response", "other",
}

// SideEffects are the classes of what an action does to the world, the least first.
var SideEffects = []string{"none", "read", "create", "update", "delete", "communicate", "transact", "execute", "administer", "unknown"}

var (
	severities      = []string{"low", "medium", "high", "critical"}
	reversibilities = []string{"reversible", "compensable", "irreversible", "unknown"}
	decisions       = []string{"allow", "deny", "require_approval"}
)

type moves = state.Moves[string]

func sideEffectClass(doc string) Field {
	return Field{Name: "side_effect_class", Type: Enum, Enum: SideEffects, Doc: doc}
}

// errorFields are the members of an error.
var errorFields = []Field{{Name: "type", Type: Text, Max: maxName}, {Name: "message", Type: Text}}

// usageFields are the members of what a model used.
var usageFields = []Field{{Name: "input_tokens", Type: Integer}, {Name: "output_tokens", Type: Integer}, {Name: "total_tokens", Type: Integer}}
