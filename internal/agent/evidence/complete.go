package evidence

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/internal/clean"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/internal/review"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/span"
	"github.com/assayhq/assay/internal/tenancy/redact"
)

// completeReports gives the traces that reports mention their numbers, and finds the
// runtimes and connectors that they name. What is not known is added. Producers are what those
// who sent the reports say about themselves: it is noted on their runtimes.
func (s *intake) completeReports(
	ctx context.Context, org principal.OrgID, reports []linked, producers ...kind.Values,
) (out []*report, err error) {
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
	for _, name := range []kind.Name{kind.Runtimes, kind.Connectors} {
		if things, err = s.completeLinks(ctx, org, out, kind.Must(name), producers); err != nil {
			return nil, err
		}
		producers = nil // they are runtimes
	}
	for _, r := range out {
		if classless(r) {
			class := review.Class(r.draft.Values, things[r.links.ConnectorKey].Values)
			r.draft.Values[kind.FieldSideEffectClass] = kind.TextValue(class)
		}
	}
	return out, nil
}

// completeLinks finds the runtimes or connectors that reports name by their keys, adds those
// that are not known, and returns them.
func (s *intake) completeLinks(ctx context.Context, org principal.OrgID, reports []*report, k *kind.Kind, producers []kind.Values) (map[string]Record, error) {
	var naming []*report
	names := map[string]*report{}
	for _, r := range reports {
		name, id := r.thing(k)
		if *name == "" || r.draft.Kind.KeyField == k.KeyField {
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
		if name, id := r.thing(k); *id == 0 {
			*id = known[*name].ID
		}
	}
	return known, err
}

// says is what a producer says about itself.
func (p Producer) says(red *redact.Redactor) kind.Values {
	v := kind.Values{}
	for name, text := range map[string]string{
		kind.FieldRuntimeKey: p.RuntimeKey, kind.FieldName: p.Name, kind.FieldAgentVersion: p.Version, kind.FieldEnvironment: p.Environment,
	} {
		if text != "" {
			v[name] = kind.TextValue(clean.Text(red, text))
		}
	}
	return v
}

// producerReport is what a producer says that is not known of its runtime, or now and then that
// the runtime was heard of; nil if neither. The environment stays as it is.
func producerReport(said kind.Values, was Record, now time.Time) *report {
	v := maps.Clone(said)
	if was.Values.Environment() != "" {
		delete(v, kind.FieldEnvironment)
	}
	news := slices.ContainsFunc(slices.Collect(maps.Keys(v)), func(name string) bool { return name != kind.FieldRuntimeKey && !bytes.Equal(v[name], was.Values[name]) })
	if !news && (was.ID == 0 || now.Sub(was.Values.LastSeenAt()) < heardEvery) {
		return nil
	}
	return newReport(kind.Runtimes, v, record.Ingested, Links{})
}

// thing is the key and the id of what a report names of a kind.
func (r *report) thing(k *kind.Kind) (name *string, id *int64) {
	if k.Name == kind.Runtimes {
		return &r.links.RuntimeKey, &r.links.RuntimeID
	}
	return &r.links.ConnectorKey, &r.links.ConnectorID
}

// classless reports whether a report of a call does not say what the call does to the
// world.
func classless(r *report) bool {
	v := r.draft.Values
	return r.draft.Kind.Name == kind.ToolInvocationEvidence && v[kind.FieldToolName] != nil && v[kind.FieldSideEffectClass] == nil
}
