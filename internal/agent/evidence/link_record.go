package evidence

import (
	"context"
	"maps"
	"slices"

	"github.com/assayhq/assay/internal/agent/evidence/internal/statedb"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
)

// linkRecords checks that the records exist that reports refer to.
func (s *intake) linkRecords(ctx context.Context, org principal.OrgID, reports []linked) error {
	wanted := map[int64]bool{}
	var kinds []kind.Name
	each := func(do func(r *linked, f *kind.Field, id int64)) {
		for _, r := range sound(reports) {
			for _, list := range [][]kind.Field{r.draft.Kind.Fields, kind.Common} {
				for i := range list {
					if f := &list[i]; f.Type == kind.Ref && len(r.draft.Values[f.Name]) > 0 {
						do(r, f, r.draft.Values.Integer(f.Name))
					}
				}
			}
		}
	}
	each(func(_ *linked, f *kind.Field, id int64) {
		wanted[id] = true
		if kind.Must(f.Of).Class == kind.Stream {
			kinds = append(kinds, f.Of)
		}
	})
	if len(wanted) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(wanted))
	found, err := s.store.Targets(ctx, org, ids)
	if err != nil {
		return err
	}
	streamed, err := s.store.stream.Kinds(ctx, org, kinds, ids)
	if err != nil {
		return err
	}
	for id, name := range streamed {
		found[id] = statedb.Target{Kind: name}
	}
	each(func(r *linked, f *kind.Field, id int64) {
		other, ok := found[id]
		switch {
		case !ok || other.Kind != f.Of:
			r.refuse("/"+f.Name, "unknown_reference", "there is no "+kind.Must(f.Of).One+" with this id")
		case f.Name == kind.FieldRuntimeID:
			r.links.RuntimeID = id
			r.same(kind.FieldRuntimeKey, &r.links.RuntimeKey, other)
		case f.Name == kind.FieldConnectorID:
			r.links.ConnectorID = id
			r.same(kind.FieldConnectorKey, &r.links.ConnectorKey, other)
		}
	})
	return nil
}

// same sets the key of a thing that is given by its id.
func (r *linked) same(field string, key *string, thing statedb.Target) {
	if *key != "" && *key != thing.Name {
		r.refuse("/"+field, "mutually_exclusive", "is the key of another record than the id that is given")
	}
	*key = thing.Name
}
