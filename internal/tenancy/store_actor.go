package tenancy

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/tenancy/internal/db"
)

// nameActors finds the names of actors. An actor that is not in the result has
// none.
func (s store) nameActors(ctx context.Context, q db.DBTX, org principal.OrgID, actors []principal.Actor) (map[principal.Actor]string, error) {
	p := db.NameActorsParams{OrgID: org, Users: []uuid.UUID{}, Keys: []int64{}}
	for _, a := range actors {
		switch a.Type {
		case principal.ActorUser:
			if id, err := uuid.Parse(a.ID); err == nil {
				p.Users = append(p.Users, id)
			}
		case principal.ActorServiceKey:
			if id, err := strconv.ParseInt(a.ID, 10, 64); err == nil {
				p.Keys = append(p.Keys, id)
			}
		case principal.ActorSystem:
		}
	}
	names := map[principal.Actor]string{}
	if len(p.Users)+len(p.Keys) == 0 {
		return names, nil
	}
	rows, err := db.New(q).NameActors(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("name actors: %w", err)
	}
	for _, r := range rows {
		names[principal.Actor{Type: principal.ActorType(r.Type), ID: r.ID}] = r.Name
	}
	return names, nil
}
