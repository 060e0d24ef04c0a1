package tenancy

import (
	"context"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy/internal/db"
)

func invitersTx(ctx context.Context, tx postgres.Tx, members []uuid.UUID) (Inviters, error) {
	rows, err := db.New(tx).ListInviters(ctx, db.ListInvitersParams{OrgID: tx.Org, Members: members})
	if err != nil {
		return nil, postgres.Wrap(err, "find inviters")
	}
	all := make(Inviters, len(rows))
	for _, r := range rows {
		all[r.UserID] = *r.InvitedBy
	}
	return all, nil
}
