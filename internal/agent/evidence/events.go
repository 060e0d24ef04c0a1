package evidence

import (
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	catalogue "github.com/assayhq/assay/internal/change/event"
)

var (
	runtimeNoun       = catalogue.Of("evidence_runtime", "EvidenceRuntimes")
	connectorNoun     = catalogue.Of("evidence_connector", "EvidenceConnectors")
	failureNoun       = catalogue.Of("evidence_failure", "EvidenceFailures")
	benchmarkNoun     = catalogue.Of("evidence_benchmark", "EvidenceBenchmarks")
	decisionNoun      = catalogue.Of("evidence_policy_decision", "EvidencePolicyDecisions")
	approvalNoun      = catalogue.Of("evidence_approval", "EvidenceApprovals")
	effectNoun        = catalogue.Of("evidence_side_effect", "EvidenceSideEffectLedger")
	normalizationNoun = catalogue.Of("evidence_normalization", "EvidenceNormalization")
)

var (
	eventNormalization = normalizationNoun.Event("evidence_normalization.created", "A normalization of stored events was started.")
	eventDrifted       = connectorNoun.Public("evidence_connector.updated", "connector.drifted", "A connector reported tools that differ from those that it had.")
	eventRegressed     = failureNoun.Public("evidence_failure.regressed", "failure.regressed", "A failure that was fixed has happened again.")
)

// changes are the events of a kind of record that lasts. A record that is created in a state
// of born, or changes to one of moved, has the event of the state.
type changes struct {
	created, updated catalogue.Type
	born, moved      map[string]catalogue.Type
}

// lasting has every kind whose changes are in the audit log. Some are never changed.
var lasting = map[kind.Name]changes{
	kind.Runtimes: {
		created: runtimeNoun.Event("evidence_runtime.created", "A runtime was seen for the first time."),
		updated: runtimeNoun.Event("evidence_runtime.updated", "A runtime was changed, or reported something new about itself."),
		moved: map[string]catalogue.Type{
			"suspended": runtimeNoun.Public("evidence_runtime.updated", "runtime.suspended", "A runtime was suspended."),
		},
	},
	kind.Connectors: {
		created: connectorNoun.Event("evidence_connector.created", "A connector was seen for the first time."),
		updated: connectorNoun.Event("evidence_connector.updated", "A connector was changed, or reported something new about itself."),
	},
	kind.Failures: {
		created: failureNoun.Public("evidence_failure.created", "failure.opened", "A failure was recorded for the first time."),
		updated: failureNoun.Event("evidence_failure.updated", "A failure was changed."),
	},
	kind.Benchmarks: {
		created: benchmarkNoun.Event("evidence_benchmark.created", "The result of a benchmark was recorded."),
	},
	kind.PolicyDecisions: {
		created: decisionNoun.Event("evidence_policy_decision.created", "A policy decision was recorded."),
		born: map[string]catalogue.Type{
			"deny": decisionNoun.Public("evidence_policy_decision.created", "policy.decision.denied", "A policy decision that denies an action was recorded."),
		},
	},
	kind.Approvals: {
		created: approvalNoun.Public("evidence_approval.created", "approval.requested", "An approval was requested."),
		updated: approvalNoun.Event("evidence_approval.updated", "An approval was changed: voted on, used, cancelled or revoked."),
		moved: map[string]catalogue.Type{
			"approved": approvalNoun.Public("evidence_approval.updated", "approval.approved", "An approval was given."),
			"rejected": approvalNoun.Public("evidence_approval.updated", "approval.rejected", "An approval was refused."),
			"expired":  approvalNoun.Public("evidence_approval.updated", "approval.expired", "An approval expired before it was decided or used up."),
			"consumed": approvalNoun.Public("evidence_approval.updated", "approval.consumed", "An approval was used as often as it allows."),
		},
	},
	kind.SideEffectLedger: {
		created: effectNoun.Event("evidence_side_effect.created", "A side effect was recorded."),
		updated: effectNoun.Event("evidence_side_effect.updated", "A side effect was changed: its state, or what is known about it."),
		born: map[string]catalogue.Type{
			"unknown": effectNoun.Public("evidence_side_effect.created", "side_effect.unknown", "It is unknown whether a side effect took place."),
		},
		moved: map[string]catalogue.Type{
			"unknown":     effectNoun.Public("evidence_side_effect.updated", "side_effect.unknown", "It is unknown whether a side effect took place."),
			"conflicting": effectNoun.Public("evidence_side_effect.updated", "side_effect.conflicting", "A side effect differs from what was reported."),
			"compensated": effectNoun.Public("evidence_side_effect.updated", "side_effect.compensated", "A side effect was undone."),
		},
	},
}

// happened is the event of a record that was created, or changed from what it was before.
func happened(before, after *Record) catalogue.Type {
	of, states := lasting[after.Kind.Name], map[string]catalogue.Type(nil)
	usual := of.updated
	switch {
	case before == nil:
		usual, states = of.created, of.born
	case before.State() != after.State():
		states = of.moved
	}
	if special, ok := states[after.State()]; ok {
		return special
	}
	return usual
}
