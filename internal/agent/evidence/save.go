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

// saveTx stores a thing that is new or has changed, with what it was before, and records what
// was done to it.
func (s *things) saveTx(ctx context.Context, tx postgres.Tx, did string, before, after *Record) (err error) {
	if before != nil {
		after.Version = before.Version + 1
		err = s.store.MoveTx(ctx, tx, *before, *after, principal.ActorOf(ctx))
	} else {
		if complete := beforeInsert[after.Kind.Name]; complete != nil {
			err = complete(s, ctx, tx, after)
		}
		if err == nil {
			err = s.store.InsertTx(ctx, tx, *after)
		}
	}
	if err != nil {
		return err
	}
	return s.auditTx(ctx, tx, did, before, after)
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
