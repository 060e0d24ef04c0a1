package tenancy

import (
	"context"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// names are the names that actors have now.
func (s *Service) names(ctx context.Context, org principal.OrgID, actors []principal.Actor) (map[principal.Actor]string, error) {
	return s.store.nameActors(ctx, s.db.Org(org), org, actors)
}

func (s *Service) namesTx(ctx context.Context, tx postgres.Tx, actors []principal.Actor) (map[principal.Actor]string, error) {
	return s.store.nameActors(ctx, tx, tx.Org, actors)
}
