package policy

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/agent/policy/internal/db"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// revision is how often the active policies have changed; false before the organization
// has any.
func (s store) revision(ctx context.Context, q db.DBTX, org principal.OrgID) (int64, bool, error) {
	n, err := db.New(q).FindRevision(ctx, org)
	return postgres.Optional(n, err, "find policy revision")
}

// insertSetTx begins to count, and reports whether nobody had.
func (s store) insertSetTx(ctx context.Context, tx postgres.Tx) (bool, error) {
	n, err := db.New(tx).InsertSet(ctx, tx.Org)
	return n == 1, postgres.Wrap(err, "insert policy set")
}

func (s store) lockSetTx(ctx context.Context, tx postgres.Tx) error {
	if _, err := db.New(tx).LockSet(ctx, tx.Org); err != nil {
		return fmt.Errorf("lock policy set: %w", err)
	}
	return nil
}

func (s store) bumpSetTx(ctx context.Context, tx postgres.Tx) error {
	return postgres.Wrap(db.New(tx).BumpSet(ctx, tx.Org), "bump policy set")
}

// active returns the policies that decide, with their revision.
func (s store) active(ctx context.Context, q db.DBTX, org principal.OrgID) (revision int64, out []engine.Source, err error) {
	rows, err := db.New(q).ListActive(ctx, org)
	if err != nil {
		return 0, nil, fmt.Errorf("list active policies: %w", err)
	}
	for _, r := range rows {
		revision = r.Revision
		if r.Key == nil {
			continue // there is none
		}
		spec, err := decode(*r.Mode, *r.Source, r.AppliesTo, []byte("[]"))
		if err != nil {
			return 0, nil, err
		}
		out = append(out, Policy{Key: *r.Key, Number: *r.PolicyVersion, Spec: spec}.source())
	}
	return revision, out, nil
}
