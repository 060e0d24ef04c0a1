package statedb

import (
	"bytes"
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/agent/evidence/internal/db"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// EffectCount is how many side effects of a trace are alike.
type EffectCount struct {
	Trace        span.TraceID
	State, Class string
	Overdue      bool
	Looked       bool // somebody has verified them
	Number       int
}

// Effects counts the side effects of traces.
func (s DB) Effects(ctx context.Context, org principal.OrgID, traces []span.TraceID) ([]EffectCount, error) {
	p := db.CountEffectsParams{OrgID: org}
	for _, id := range traces {
		p.Traces = append(p.Traces, bytes.Clone(id[:]))
	}
	rows, err := db.New(s.db.Org(org)).CountEffects(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("count side effects: %w", err)
	}
	out := make([]EffectCount, len(rows))
	for i, r := range rows {
		out[i] = EffectCount{State: r.State, Class: r.Class, Overdue: r.Overdue, Looked: r.Looked, Number: int(r.Number)}
		copy(out[i].Trace[:], r.TraceID)
	}
	return out, nil
}

// UndoneTx reports whether a side effect that was allowed undoes another one.
func (s DB) UndoneTx(ctx context.Context, tx postgres.Tx, id int64) (bool, error) {
	undone, err := db.New(tx).HasUndo(ctx, db.HasUndoParams{OrgID: tx.Org, EffectID: id})
	if err != nil {
		return false, fmt.Errorf("find what undoes a side effect: %w", err)
	}
	return undone, nil
}
