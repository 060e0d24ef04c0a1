package evidence

import (
	"context"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/change"
	catalogue "github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// beforeInsert is what kinds do with a record before it is stored for the first time.
var beforeInsert = map[kind.Name]func(*things, context.Context, postgres.Tx, *Record) error{
	Effects: (*things).insertEffectTx, Approvals: (*things).insertApprovalTx,
}

// saveTx stores a thing that is new or has changed, with what it was before, and records what
// happened to it. What happened to a new one depends on what it is stored as.
func (s *things) saveTx(ctx context.Context, tx postgres.Tx, did catalogue.Type, before, after *Record) (err error) {
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
		did = happened(nil, after)
	}
	if err != nil {
		return err
	}
	return change.RecordTx(ctx, s.log, tx, did, after.ID, before, after)
}
