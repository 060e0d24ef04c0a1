package evidence

import (
	"context"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// insertTx makes a record, and says so.
func (s *things) insertTx(ctx context.Context, tx postgres.Tx, r *Record) error {
	if err := s.insertEffectTx(ctx, tx, r); err != nil {
		return err
	}
	if err := s.insertApprovalTx(ctx, tx, r); err != nil {
		return err
	}
	if err := s.store.InsertTx(ctx, tx, *r); err != nil {
		return err
	}
	return s.auditTx(ctx, tx, "created", nil, r)
}

// saveTx writes a thing that a report has changed. Of a real change it keeps what the thing
// was, and records it.
func (s *things) saveTx(ctx context.Context, tx postgres.Tx, before Record, after *Record, did string, seen *occurrences) error {
	switch did {
	case "":
		return nil
	case recurred:
		seen.counted[after.ID] = true
		return nil
	case heard:
		return s.store.TouchTx(ctx, tx, after.Kind, *after)
	}
	after.Version = before.Version + 1
	if err := s.store.MoveTx(ctx, tx, before, *after, principal.ActorOf(ctx)); err != nil {
		return err
	}
	return s.auditTx(ctx, tx, did, &before, after)
}
