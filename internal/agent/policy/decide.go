package policy

import (
	"context"
	"slices"

	"github.com/assayhq/assay/internal/agent/approval"
	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// The codes of reasons that the engine does not give.
const (
	runtimeSuspended      = "runtime_suspended"
	connectorBlocked      = "connector_blocked"
	obligationUnsupported = "obligation_unsupported"
)

// answer is a decision on its way to the record.
type answer struct {
	engine.Verdict
	set        string // digest of the policies
	class      string
	reversible string
	parties    evidence.Parties
	approval   int64
}

// decideTx asks the policies as they are now about the action as it is now. First is a read
// that goes along, or nil.
func (s *Service) decideTx(ctx context.Context, tx postgres.Tx, a *Ask, with *compiled, first func(postgres.Querier) error) (answer, error) {
	q, set := &a.Question, with.set
	var reads []func(postgres.Querier) error
	if first != nil {
		reads = append(reads, first)
	}
	parties, err := s.lookTx(ctx, tx, a, with, reads...)
	if err != nil {
		return answer{}, err
	}
	out := answer{parties: parties, set: set.Digest()}
	out.class, out.reversible = parties.Tool(q.ToolName)
	known(q, out)
	if stopped := stop(parties); stopped != (engine.Reason{}) {
		out.Verdict = engine.Verdict{Decision: engine.Deny, Reasons: []engine.Reason{stopped}}
		return out, nil
	}
	if facts := set.Facts(*q); len(facts) > 0 {
		if q.History, err = s.factsTx(ctx, tx, a, with, parties, facts); err != nil {
			return answer{}, err
		}
	}
	out.Verdict = set.Evaluate(*q)
	a.act.Requirements = requirements(out.Approval)
	if out.Decision == engine.NeedsApproval && a.Approval != 0 && !a.DryRun {
		if err := s.presentTx(ctx, tx, a, set, &out); err != nil {
			return answer{}, err
		}
	}
	out.support(a.Supported)
	return out, nil
}

// lookTx reads the parties of an action, and makes sure that the policies are those of the
// organization. The other reads need no round trip of their own.
func (s *Service) lookTx(ctx context.Context, tx postgres.Tx, a *Ask, with *compiled, others ...func(postgres.Querier) error) (evidence.Parties, error) {
	var revision int64
	parties, err := s.evidence.PartiesTx(ctx, tx, a.runtime, a.connector, append(others, func(on postgres.Querier) (err error) {
		revision, _, err = s.store.revision(ctx, on, tx.Org)
		return err
	})...)
	if err == nil && revision != with.revision {
		err = errStale
	}
	return parties, err
}

// presentTx decides again with the approval that the caller presents, if it covers the
// action. It is not used for an action that would be denied all the same.
func (s *Service) presentTx(ctx context.Context, tx postgres.Tx, a *Ask, set *engine.Set, out *answer) error {
	q := a.Question
	q.ApprovalSatisfied = true
	with := *out
	with.Verdict = set.Evaluate(q)
	with.support(a.Supported)
	if with.Decision != engine.Allow {
		*out = with
		return nil
	}
	no, err := s.approvals.UseTx(ctx, tx, a.Approval, a.act)
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

// known completes a question with what is known about the parties.
func known(q *engine.Question, out answer) {
	q.SideEffectClass, q.Reversibility = out.class, out.reversible
	q.ConnectorState, q.ConnectorTrust = out.parties.Connector.Values.Text("state"), out.parties.Connector.Values.Text("trust_level")
	if e := out.parties.Runtime.Values.Text("environment"); e != "" {
		q.Environment = e
	}
}

// stop is why nothing is asked: somebody has stopped the runtime or the connector.
func stop(p evidence.Parties) engine.Reason {
	switch state := p.Runtime.Values.Text("state"); state {
	case "suspended", "retired":
		return engine.Reason{Code: runtimeSuspended, Message: "the runtime is " + state}
	}
	switch state := p.Connector.Values.Text("state"); state {
	case "blocked", "retired":
		return engine.Reason{Code: connectorBlocked, Message: "the connector is " + state}
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
