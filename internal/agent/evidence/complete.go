package evidence

import (
	"context"
	"maps"
	"slices"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// completeReports gives the traces that reports mention their numbers, and finds the
// runtimes and connectors that they name. What is not known is added. It returns the
// runtimes by key.
func (s *intake) completeReports(ctx context.Context, org principal.OrgID, reports []linked) (out []*report, runtimes map[string]Record, err error) {
	mentioned := map[span.TraceID]bool{}
	for _, r := range reports {
		if r.links.Trace != (span.TraceID{}) {
			mentioned[r.links.Trace] = true
		}
	}
	ids := slices.Collect(maps.Keys(mentioned))
	numbers, err := s.traces.Mention(ctx, org, ids)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range reports {
		out = append(out, &report{linked: r, number: numbers[r.links.Trace]})
	}
	things := map[string]map[string]Record{}
	for _, field := range []string{"runtime_key", "connector_key"} {
		if things[field], err = s.completeLinks(ctx, org, out, field); err != nil {
			return nil, nil, err
		}
	}
	for _, r := range out {
		classify(r, things["connector_key"][r.links.ConnectorKey])
	}
	return out, things["runtime_key"], nil
}

// completeLinks finds the runtimes or connectors that reports name by their keys, adds those
// that are not known, and returns them.
func (s *intake) completeLinks(ctx context.Context, org principal.OrgID, reports []*report, field string) (map[string]Record, error) {
	var naming []*report
	names := map[string]bool{}
	for _, r := range reports {
		name, id := r.thing(field)
		if *name == "" || record.Own(r.draft.Kind, field) {
			continue
		}
		naming = append(naming, r)
		if *id == 0 || classless(r) {
			names[*name] = true
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	known, err := s.findOrAdd(ctx, org, kind.Must(thingOf[field]), slices.Sorted(maps.Keys(names)))
	for _, r := range naming {
		if name, id := r.thing(field); *id == 0 {
			*id = known[*name].ID
		}
	}
	return known, err
}

// thingOf is the kind of what a key names.
var thingOf = map[string]kind.Name{"runtime_key": "runtimes", "connector_key": "connectors"}

// thing is the key and the id of what a report names.
func (r *report) thing(field string) (name *string, id *int64) {
	if field == "runtime_key" {
		return &r.links.RuntimeKey, &r.links.RuntimeID
	}
	return &r.links.ConnectorKey, &r.links.ConnectorID
}

// findOrAdd returns things by their keys, and adds those that are not there.
func (s *intake) findOrAdd(ctx context.Context, org principal.OrgID, k *kind.Kind, names []string) (map[string]Record, error) {
	found, err := s.store.Things(ctx, s.db.Org(org), org, k.Name, names)
	if err != nil || len(found) == len(names) {
		return found, err
	}
	unknown := map[string]*report{}
	for _, name := range names {
		if _, ok := found[name]; !ok {
			unknown[name] = mentioned(k, name)
		}
	}
	made, err := s.storeReports(ctx, org, slices.Collect(maps.Values(unknown)), nil)
	for name, r := range unknown {
		found[name] = made[r].Record
	}
	return found, err
}
