package statedb

import (
	"context"
	"fmt"

	"github.com/assayhq/assay/internal/agent/evidence/internal/db"
	"github.com/assayhq/assay/internal/core/principal"
)

// MovedByPeople are those of some records that a person has moved to one of some states, which
// they have not left since.
func (s DB) MovedByPeople(ctx context.Context, org principal.OrgID, ids []int64, states []string) ([]int64, error) {
	found, err := db.New(s.db.Org(org)).ListMovers(ctx, db.ListMoversParams{OrgID: org, Ids: ids, States: states})
	if err != nil {
		return nil, fmt.Errorf("read who moved records: %w", err)
	}
	var moved []int64
	for _, m := range found {
		if principal.ParseActor(m.Creator).InPerson() {
			moved = append(moved, m.ID)
		}
	}
	return moved, nil
}
