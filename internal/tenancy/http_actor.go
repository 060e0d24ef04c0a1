package tenancy

import (
	"context"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Actors are actors as responses show them, in the same order, with the names
// that they have now. Every domain that shows who did something asks here.
func (s *Service) Actors(ctx context.Context, org principal.OrgID, actors ...principal.Actor) ([]httpapi.Actor, error) {
	names, err := s.names(ctx, org, actors)
	return toActors(actors, names), err
}

// ActorsTx is Actors within a transaction, for the response to a change.
func (s *Service) ActorsTx(ctx context.Context, tx postgres.Tx, actors ...principal.Actor) ([]httpapi.Actor, error) {
	names, err := s.namesTx(ctx, tx, actors)
	return toActors(actors, names), err
}

func toActors(actors []principal.Actor, names map[principal.Actor]string) []httpapi.Actor {
	out := make([]httpapi.Actor, len(actors))
	for i, a := range actors {
		out[i] = httpapi.ToActor(a, names[principal.Actor{Type: a.Type, ID: a.ID}])
	}
	return out
}
