package policy

import (
	"context"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/agent/approval"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
)

// The codes of reasons that the engine does not give.
const (
	runtimeSuspended      = "runtime_suspended"
	connectorBlocked      = "connector_blocked"
	obligationUnsupported = "obligation_unsupported"
)

// world is what a decision meets beside the request. The present is one, where what a
// decision uses is used; the past that a back-test recalls is another.
type world interface {
	// known returns what is known about the parties of the action.
	known(context.Context) (known, error)
	// history answers what the policies ask about the actor's past: every fact has a value.
	history(context.Context, []engine.Fact) (map[engine.Fact]engine.FactValue, error)
	// use uses an approval for an action, or says why it does not cover it. It is asked at
	// most once, and only for an action that is allowed with the approval.
	use(ctx context.Context, id int64, act approval.Action) (approval.Refusal, error)
}

// known is what is known about the runtime and the connector of an action.
type known struct {
	class, reversible              string // of what the tool does
	runtimeState, environment      string // of the runtime
	connectorState, connectorTrust string
}

// answer is a decision on its way to the record.
type answer struct {
	engine.Verdict
	known
	set      string // digest of the policies
	approval int64  // that was used, or asked for
}

// decide asks a set of policies about an action in a world. What it learns on the way is left
// in a.
func decide(ctx context.Context, set *engine.Set, a *asked, w world) (answer, error) {
	k, err := w.known(ctx)
	if err != nil {
		return answer{}, err
	}
	out := answer{known: k, set: set.Digest()}
	k.complete(&a.question)
	if stopped := k.stopped(); stopped != (engine.Reason{}) {
		out.Verdict = engine.Verdict{Decision: engine.Deny, Reasons: []engine.Reason{stopped}}
		return out, nil
	}
	if facts := set.Facts(a.question); len(facts) > 0 {
		if a.question.History, err = w.history(ctx, facts); err != nil {
			return answer{}, err
		}
	}
	out.Verdict = set.Evaluate(a.question)
	a.act.Requirements = requirements(out.Approval)
	if out.Decision == engine.NeedsApproval && a.Approval != 0 && !a.DryRun {
		if err := present(ctx, set, a, w, &out); err != nil {
			return answer{}, err
		}
	}
	out.support(a.Supported)
	return out, nil
}

// present decides again with the approval that the caller presents, if it covers the
// action. It is not used for an action that would be denied all the same.
func present(ctx context.Context, set *engine.Set, a *asked, w world, out *answer) error {
	q := a.question
	q.ApprovalSatisfied = true
	with := *out
	with.Verdict = set.Evaluate(q)
	with.support(a.Supported)
	if with.Decision != engine.Allow {
		*out = with
		return nil
	}
	no, err := w.use(ctx, a.Approval, a.act)
	if err != nil {
		return err
	}
	if no != (approval.Refusal{}) {
		out.Reasons = append(out.Reasons, engine.Reason{Code: no.Code, Message: no.Message})
		return nil
	}
	with.approval = a.Approval
	*out = with
	return nil
}

// complete puts what is known about the parties into a question.
func (k known) complete(q *engine.Question) {
	q.SideEffectClass, q.Reversibility = k.class, k.reversible
	q.ConnectorState, q.ConnectorTrust = k.connectorState, k.connectorTrust
	if k.environment != "" {
		q.Environment = k.environment
	}
}

// stopped is why nothing is asked: somebody has stopped the runtime or the connector.
func (k known) stopped() engine.Reason {
	switch k.runtimeState {
	case "suspended", "retired":
		return engine.Reason{Code: runtimeSuspended, Message: "the runtime is " + k.runtimeState}
	}
	switch k.connectorState {
	case "blocked", "retired":
		return engine.Reason{Code: connectorBlocked, Message: "the connector is " + k.connectorState}
	}
	return engine.Reason{}
}

// support denies what the caller could not do as it must. People are not asked about it either.
func (a *answer) support(supported []string) {
	if supported == nil || a.Decision == engine.Deny {
		return
	}
	for _, o := range a.Obligations {
		if !slices.Contains(supported, o.Type) {
			a.Decision = engine.Deny
			a.Reasons = append(a.Reasons, engine.Reason{Code: obligationUnsupported, Message: "the caller cannot honour the obligation " + o.Type})
		}
	}
	if a.Decision == engine.Deny {
		a.Obligations = nil
	}
}

// requirements are what the policies demand of an approval.
func requirements(a engine.Approval) []approval.Requirement {
	out := make([]approval.Requirement, len(a.Requirements))
	for i, r := range a.Requirements {
		out[i] = approval.Requirement{Rule: r.PolicyKey + "/" + r.RuleID, Groups: r.Groups, Min: r.Min, ExpiresIn: int64(r.ExpiresIn / time.Second)}
	}
	return out
}
