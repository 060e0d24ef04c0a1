package evidence

import (
	"context"
	"strconv"
	"strings"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// beforeInsert is what kinds do with a record before it is stored for the first time.
var beforeInsert = map[kind.Name]func(*things, context.Context, postgres.Tx, *Record) error{
	Effects: (*things).insertEffectTx, Approvals: (*things).insertApprovalTx,
}

// insertTx makes a record.
func (s *things) insertTx(ctx context.Context, tx postgres.Tx, r *Record) error {
	if complete := beforeInsert[r.Kind.Name]; complete != nil {
		if err := complete(s, ctx, tx, r); err != nil {
			return err
		}
	}
	return s.store.InsertTx(ctx, tx, *r)
}

// saveTx writes a thing that a report has changed, and keeps what it was.
func (s *things) saveTx(ctx context.Context, tx postgres.Tx, before Record, after *Record) error {
	after.Version = before.Version + 1
	return s.store.MoveTx(ctx, tx, before, *after, principal.ActorOf(ctx))
}

// auditTx records what was done to a thing that lasts.
func (s *things) auditTx(ctx context.Context, tx postgres.Tx, did string, before, after *Record) error {
	r := after
	if r == nil {
		r = before
	}
	noun := "evidence_" + strings.ReplaceAll(r.Kind.One, " ", "_")
	e := change.Entry{Action: noun + "." + did, Resource: noun, ID: strconv.FormatInt(r.ID, 10)}
	if before != nil {
		e.Before = *before
	}
	if after != nil {
		e.After = *after
	}
	return s.log.AuditTx(ctx, tx, e)
}
