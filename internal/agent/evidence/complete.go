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
// runtimes and connectors that they name. What is not known is added. Producers are what those
// who sent the reports say about themselves: it is noted on their runtimes.
func (s *intake) completeReports(ctx context.Context, org principal.OrgID, reports []linked, producers ...kind.Values) (out []*report, err error) {
	mentioned := map[span.TraceID]bool{}
	for _, r := range reports {
		if r.links.Trace != (span.TraceID{}) {
			mentioned[r.links.Trace] = true
		}
	}
	numbers, err := s.traces.Mention(ctx, org, slices.Collect(maps.Keys(mentioned)))
	if err != nil {
		return nil, err
	}
	for _, r := range reports {
		out = append(out, &report{linked: r, number: numbers[r.links.Trace]})
	}
	var things map[string]Record
	for _, field := range []string{"runtime_key", "connector_key"} {
		if things, err = s.completeLinks(ctx, org, out, field, producers); err != nil {
			return nil, err
		}
		producers = nil // they are runtimes
	}
	for _, r := range out {
		classify(r, things[r.links.ConnectorKey])
	}
	return out, nil
}

// completeLinks finds the runtimes or connectors that reports name by their keys, adds those
// that are not known, and returns them.
func (s *intake) completeLinks(ctx context.Context, org principal.OrgID, reports []*report, field string, producers []kind.Values) (map[string]Record, error) {
	var naming []*report
	names := map[string]*report{}
	k := kind.Must(thingOf[field])
	for _, r := range reports {
		name, id := r.thing(field)
		if *name == "" || record.Own(r.draft.Kind, field) {
			continue
		}
		naming = append(naming, r)
		if names[*name] == nil && (*id == 0 || classless(r)) {
			names[*name] = mentionOf(k, *name)
		}
	}
	wanted := slices.Sorted(maps.Keys(names))
	if len(names) == 0 { // all were received before
		for _, v := range producers {
			wanted = append(wanted, v.Text(k.KeyField))
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	known, err := s.store.Things(ctx, s.db.Org(org), org, k.Name, wanted)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(names, func(name string, _ *report) bool { return known[name].ID != 0 })
	news := slices.Collect(maps.Values(names))
	for _, v := range producers {
		name := v.Text(k.KeyField)
		if one := producerReport(v, known[name], s.now()); one != nil && (known[name].ID != 0 || names[name] != nil) {
			news = append(news, one)
		}
	}
	made, err := s.storeReports(ctx, org, news, nil)
	for name, r := range names {
		known[name] = made[r].Record
	}
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
