package policy

import (
	"context"

	"github.com/assayhq/assay/internal/agent/approval"
	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// presentWorld is the world as it is in a transaction. What a decision uses in it is used if and
// only if the decision is recorded.
type presentWorld struct {
	*Service
	tx    postgres.Tx
	asked *asked
	with  *compiled
	first func(postgres.Querier) error // a read that goes along, or nil

	parties evidence.Parties // once they are known
}

func (w *presentWorld) known(ctx context.Context) (known, error) {
	var reads []func(postgres.Querier) error
	if w.first != nil {
		reads = append(reads, w.first)
	}
	var err error
	w.parties, err = w.look(ctx, reads...)
	return w.asked.knownOf(w.parties), err
}

// knownOf is what the parties of an action say.
func (a *asked) knownOf(p evidence.Parties) known {
	k := known{
		runtimeState: p.Runtime.Values.State(), environment: p.Runtime.Values.Environment(),
		connectorState: p.Connector.Values.State(), connectorTrust: p.Connector.Values.TrustLevel(),
	}
	k.class, k.reversible = p.Tool(a.question.ToolName)
	return k
}

// look reads the parties of an action, and makes sure that the policies are those of the
// organization. The other reads need no round trip of their own.
func (w *presentWorld) look(ctx context.Context, others ...func(postgres.Querier) error) (evidence.Parties, error) {
	var revision int64
	parties, err := w.evidence.PartiesTx(ctx, w.tx, w.asked.runtime, w.asked.connector, append(others, func(on postgres.Querier) (err error) {
		revision, _, err = w.store.revision(ctx, on, w.tx.Org)
		return err
	})...)
	if err == nil && revision != w.with.revision {
		err = errStale
	}
	return parties, err
}

// history finds out what policies want to know about the past of the one who acts. Two
// questions about the same actor are then decided one after the other, so that both cannot
// be the last one that is allowed. It fails with errStale if a party or the policies changed
// while this one waited: a stop holds for the questions that wait, too.
func (w *presentWorld) history(ctx context.Context, facts []engine.Fact) (map[engine.Fact]engine.FactValue, error) {
	a := w.asked
	if err := w.store.lockActorTx(ctx, w.tx, a.actor); err != nil {
		return nil, err
	}
	at := w.now()
	out := make(map[engine.Fact]engine.FactValue, len(facts))
	open := make([]pastQuestion, len(facts))
	for i, f := range facts {
		out[f] = engine.FactValue{Sum: "0"}
		// Until later than now: the clock of another server may be ahead.
		open[i] = pastQuestion{actor: a.actor, fact: f, since: at.Add(-f.Window), until: at.Add(engine.MaxWindow)}
		open[i].fact.Connector, open[i].fact.Tool = a.clean.Text(f.Connector), a.clean.Text(f.Tool) // as they are stored
	}
	var found map[int]engine.FactValue
	now, err := w.look(ctx, func(on postgres.Querier) (err error) {
		found, err = w.store.facts(ctx, on, w.tx.Org, open)
		return err
	})
	if err != nil {
		return nil, err
	}
	if now.Runtime.Version != w.parties.Runtime.Version || now.Connector.Version != w.parties.Connector.Version {
		return nil, errStale
	}
	for i, v := range found {
		out[facts[i]] = v
	}
	return out, nil
}

func (w *presentWorld) use(ctx context.Context, id int64, act approval.Action) (approval.Refusal, error) {
	return w.approvals.UseTx(ctx, w.tx, id, act)
}
