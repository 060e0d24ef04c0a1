package policy

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/assayhq/assay/internal/agent/policy/internal/db"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// lockActorTx lets one transaction at a time decide about an actor. The statement that
// follows waits for the others, and sees what they did.
func (s store) lockActorTx(ctx context.Context, tx postgres.Tx, actor string) error {
	sum := sha256.Sum256([]byte("policy\x00" + tx.Org.String() + "\x00" + actor))
	return postgres.Wrap(db.New(tx.Later()).LockActor(ctx, int64(binary.BigEndian.Uint64(sum[:]))), "lock actor")
}

// pastQuestion asks for a fact about an actor between two times. What a decision allowed is not
// part of its own past.
type pastQuestion struct {
	decision     int64
	actor        string
	fact         engine.Fact
	since, until time.Time
}

// facts answers questions, by their positions. One that is missing is zero.
func (s store) facts(ctx context.Context, q db.DBTX, org principal.OrgID, open []pastQuestion) (map[int]engine.FactValue, error) {
	p := db.ListFactsParams{OrgID: org}
	for i, one := range open {
		most := int32(engine.MaxCount + 1)
		if one.fact.Measure == engine.Formerly {
			most = 1
		}
		p.Most = append(p.Most, most)
		p.Positions, p.Decisions, p.Actors = append(p.Positions, int32(i)), append(p.Decisions, one.decision), append(p.Actors, one.actor)
		p.Connectors, p.Tools, p.Arguments = append(p.Connectors, one.fact.Connector), append(p.Tools, one.fact.Tool), append(p.Arguments, one.fact.Argument)
		p.Since, p.Until = append(p.Since, one.since), append(p.Until, one.until)
	}
	rows, err := db.New(q).ListFacts(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("compute facts: %w", err)
	}
	out := make(map[int]engine.FactValue, len(rows))
	for _, r := range rows {
		out[int(r.Position)] = factValue(r.Number, r.Total, r.Unknown)
	}
	return out, nil
}

// factValue is what a fact was found to be. A sum that is not known is empty, and a count that
// is not known is larger than counts can be.
func factValue(number int64, total string, unknown bool) engine.FactValue {
	if unknown || number > engine.MaxCount {
		total = ""
	}
	return engine.FactValue{Count: number, Sum: total, Formerly: number > 0}
}

// rememberTx notes an action that was allowed.
func (s store) rememberTx(ctx context.Context, tx postgres.Tx, a action) error {
	err := db.New(tx.Later()).InsertAction(ctx, db.InsertActionParams{
		OrgID: tx.Org, DecisionID: a.decision, Actor: a.actor, Connector: a.connector, Tool: a.tool, Numbers: a.numbers, At: a.at,
	})
	return postgres.Wrap(err, "remember action")
}

// sweepActions forgets actions that are older than any policy can ask about.
func (s store) sweepActions(ctx context.Context, before time.Time) (gone int64, err error) {
	q := db.New(s.db.Claim("app.sweep", "policy_actions"))
	for {
		n, err := q.DeleteOldActions(ctx, before)
		if err != nil {
			return gone, fmt.Errorf("forget actions: %w", err)
		}
		if gone += n; n < 10_000 { // as many as the statement deletes
			return gone, nil
		}
	}
}
