package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/internal/effect"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/internal/statedb"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Store is where the records are.
type Store struct{ statedb.DB }

// CompleteTx completes side effects that are about to be stored, and were not dispatched
// before: what they risk and, once they are dispatched, whether that was allowed, whether
// it happened before, and until when it must be verified. Received is when the report came.
//
// A decision is used by the first effect that it allows. All keys are claimed at once, so
// that all callers lock in the same order.
func (s Store) CompleteTx(ctx context.Context, tx postgres.Tx, all []*record.Record, received, expires time.Time) error {
	connectors, err := s.connectorsTx(ctx, tx, all)
	if err != nil {
		return err
	}
	wanted := map[record.Key]statedb.Want{}
	want := func(k record.Key, w statedb.Want) {
		if _, twice := wanted[k]; !twice {
			w.Lasts = true
			wanted[k] = w
		}
	}
	var sent []*record.Record
	for _, r := range all {
		d, err := s.decisionTx(ctx, tx, r)
		if err != nil {
			return err
		}
		effect.Believe(r, &d, connectors[r.ConnectorKey].Values)
		if !effect.Dispatched(r.Values) {
			continue
		}
		sent = append(sent, r)
		if name := effect.Name(r.Values, r.Links); name != (record.Key{}) {
			want(name, statedb.Want{ID: r.ID})
		}
		if effect.Harmless(r.Values) {
			continue
		}
		if effect.Judge(r, &d, received) == effect.Allowed {
			want(use(d.ID), statedb.Want{ID: r.ID, Content: content(r)})
		}
	}
	claims, err := s.ClaimTx(ctx, tx, wanted, expires)
	if err != nil {
		return err
	}
	for _, r := range sent {
		markSpent(r, claims)
	}
	return s.nameTx(ctx, tx, sent, claims)
}

// nameTx notes which effects were sent before under their names. An effect keeps its name
// while it may have happened; if it is known that it did not, the next one has the name.
func (s Store) nameTx(ctx context.Context, tx postgres.Tx, sent []*record.Record, claims map[record.Key]statedb.Claim) error {
	owner, idle, passed := map[record.Key]int64{}, map[int64]bool{}, map[record.Key]int64{}
	var others []int64
	for _, r := range sent {
		name := effect.Name(r.Values, r.Links)
		owner[name], idle[r.ID] = claims[name].ID, effect.Idle(r.Values)
		if owner[name] != r.ID {
			others = append(others, owner[name])
		}
	}
	delete(owner, record.Key{})
	stored, err := s.IdleTx(ctx, tx, others)
	if err != nil {
		return err
	}
	for _, id := range stored {
		idle[id] = true
	}
	for _, r := range sent {
		name := effect.Name(r.Values, r.Links)
		switch first := owner[name]; {
		case first == 0 || first == r.ID:
		case idle[first]:
			owner[name], passed[name] = r.ID, r.ID
		default:
			r.Values[kind.FieldDuplicateOfID] = kind.IntegerValue(first)
		}
	}
	return s.PassTx(ctx, tx, passed)
}

// ReviveTx gives an effect its name back that was said not to have happened and may have
// happened after all. If another one under the name may have happened too, it is that one's
// duplicate.
func (s Store) ReviveTx(ctx context.Context, tx postgres.Tx, before, after *record.Record, expires time.Time) error {
	name := effect.Name(after.Values, after.Links)
	if !effect.Idle(before.Values) || effect.Idle(after.Values) || name == (record.Key{}) {
		return nil
	}
	claims, err := s.ClaimTx(ctx, tx, map[record.Key]statedb.Want{name: {ID: after.ID, Lasts: true}}, expires)
	if err != nil {
		return err
	}
	owner := claims[name].ID
	idle, err := s.IdleTx(ctx, tx, []int64{owner})
	if err != nil {
		return err
	}
	if len(idle) == 0 {
		if owner != after.ID && after.Values[kind.FieldDuplicateOfID] == nil {
			after.Values[kind.FieldDuplicateOfID] = kind.IntegerValue(owner)
		}
		return nil
	}
	return s.PassTx(ctx, tx, map[record.Key]int64{name: after.ID})
}

// UndoTx refuses to call a side effect compensated that nothing undid: what undoes it is an
// entry of its own, and has to be allowed like any other.
func (s Store) UndoTx(ctx context.Context, tx postgres.Tx, before, after *record.Record) error {
	if after.State() != "compensated" || before.State() == "compensated" || effect.Harmless(after.Values) {
		return nil
	}
	undone, err := s.UndoneTx(ctx, tx, after.ID)
	if err == nil && !undone {
		err = effect.ErrNotUndone
	}
	return err
}

// markSpent notes that a side effect that was dispatched may not use its decision, which
// another one has used.
func markSpent(r *record.Record, claims map[record.Key]statedb.Claim) {
	if r.Values.Authorization() != effect.Allowed {
		return
	}
	if c := claims[use(r.Values.PolicyDecisionID())]; !bytes.Equal(c.Content, content(r)) {
		r.Values[kind.FieldAuthorization] = kind.TextValue(effect.Spent)
	}
}

// use is the key that says which effect a decision was used for.
func use(decision int64) record.Key {
	return record.Hashed("use", strconv.FormatInt(decision, 10))
}

// content names the effect that uses a decision. One that the external system cannot
// recognize is different from every other.
func content(r *record.Record) []byte {
	name := effect.Name(r.Values, r.Links)
	if name == (record.Key{}) {
		name = record.Hashed("entry", strconv.FormatInt(r.ID, 10))
	}
	sum := sha256.Sum256(name[:])
	return sum[:]
}

// connectorsTx are the connectors of side effects by their keys.
func (s Store) connectorsTx(ctx context.Context, tx postgres.Tx, all []*record.Record) (map[string]record.Record, error) {
	var keys []string
	for _, r := range all {
		if r.ConnectorKey != "" {
			keys = append(keys, r.ConnectorKey)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return s.Things(ctx, tx, tx.Org, kind.Connectors, keys)
}

// decisionTx is the policy decision about a side effect: the one that it names, or else
// one about the call that caused it. The zero record means that there is none.
func (s Store) decisionTx(ctx context.Context, tx postgres.Tx, r *record.Record) (record.Record, error) {
	id := r.Values.PolicyDecisionID()
	if call := r.Values.InvocationID(); id == 0 && call != "" && r.RuntimeKey != "" {
		var err error
		if id, err = s.DecisionOfTx(ctx, tx, r.RuntimeKey, call); err != nil {
			return record.Record{}, err
		}
	}
	if id == 0 {
		return record.Record{}, nil
	}
	d, err := s.Find(ctx, tx, tx.Org, kind.Must(kind.PolicyDecisions), id)
	if fault.IsNotFound(err) {
		return record.Record{}, nil
	}
	return d, err
}
