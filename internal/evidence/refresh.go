package evidence

import (
	"bytes"
	"context"
	"maps"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/evidence/internal/kind"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

// refreshTx applies a report to a thing that is there already. What was decided about
// it stays: no report lifts a suspension or makes a connector trusted.
func (s *Service) refreshTx(ctx context.Context, tx postgres.Tx, before Record, r *report) (Record, error) {
	after := before
	after.Values = maps.Clone(before.Values)
	after.UpdatedAt = s.now()
	switch before.Kind.Name {
	case "failures":
		return s.recurTx(ctx, tx, before, after, r)
	case "runtimes", "connectors":
	default:
		return before, nil // the same report again
	}
	for name, value := range r.draft.Values {
		if name == "tools" {
			value = reviewed(before.Values, value)
		}
		after.Values[name] = value
	}
	if before.Kind.Name == "runtimes" {
		after.Values["last_seen_at"] = kind.TimeValue(after.UpdatedAt)
	}
	drift := before.Kind.Name == "connectors" && drifted(before.Values, r.draft.Values)
	if drift && before.State() == "approved" {
		after.Values["state"] = kind.TextValue("under_review")
	}
	if same(before.Values, after.Values, "last_seen_at") {
		// Being heard of is not a change; it is noted once a minute.
		if before.Kind.Name == "connectors" || after.UpdatedAt.Sub(before.Values.Time("last_seen_at")) < time.Minute {
			return before, nil
		}
		return after, s.store.touchTx(ctx, tx, after)
	}
	if err := s.saveTx(ctx, tx, before, &after, "updated"); err != nil || !drift {
		return after, err
	}
	_, err := s.putTx(ctx, tx, []*report{driftFailure(after)})
	return after, err
}

// driftFailure says that a connector is not what it was.
func driftFailure(r Record) *report {
	name := r.Values.Text("connector_key")
	one := &report{origin: Platform, links: Links{ConnectorID: r.ID, ConnectorKey: name}, draft: kind.Draft{Kind: kind.Must("failures"), Values: kind.Values{
		"failure_key": kind.TextValue("manifest_drift:" + name), "failure_mode": kind.TextValue("manifest_drift"), "severity": kind.TextValue("high"),
		"title": kind.TextValue("The tools of " + name + " have changed"), "detected_by": kind.TextValue("rule"),
	}}}
	one.identity = identify(one.draft, one.links, "")
	return one
}

// drifted reports whether a connector says something else about its tools than before.
func drifted(before, reported kind.Values) bool {
	was, is := before.Text("manifest_digest"), reported.Text("manifest_digest")
	return was != "" && is != "" && was != is
}

// saveTx writes a changed thing, keeps what it was, and records the change.
func (s *Service) saveTx(ctx context.Context, tx postgres.Tx, before Record, after *Record, did string) error {
	after.Version = before.Version + 1
	if err := s.store.moveTx(ctx, tx, before, *after, principal.ActorOf(ctx)); err != nil {
		return err
	}
	return s.auditTx(ctx, tx, did, &before, after)
}

// recurTx counts another occurrence of a failure. One that was fixed is open again.
func (s *Service) recurTx(ctx context.Context, tx postgres.Tx, before, after Record, r *report) (Record, error) {
	at := r.occurred
	if at.IsZero() {
		at = after.UpdatedAt
	}
	after.Values["occurrences"] = kind.IntegerValue(before.Values.Integer("occurrences") + 1)
	if at.After(before.Values.Time("last_seen_at")) {
		after.Values["last_seen_at"] = kind.TimeValue(at)
	}
	if was := before.State(); was != "fixed" && was != "verified" {
		return after, s.store.touchTx(ctx, tx, after)
	}
	after.Values["state"], after.Values["regressed"] = kind.TextValue("open"), jsontext.Value("true")
	return after, s.saveTx(ctx, tx, before, &after, "regressed")
}

// same reports whether values are the same but for some.
func same(a, b kind.Values, but ...string) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	for _, name := range but {
		delete(a, name)
		delete(b, name)
	}
	return maps.EqualFunc(a, b, func(x, y jsontext.Value) bool { return bytes.Equal(x, y) })
}

// reviewed are the tools that a connector reports, with the classes that people gave
// those of a connector they have reviewed.
func reviewed(before kind.Values, reported jsontext.Value) jsontext.Value {
	if t := before.Text("trust_level"); t != "reviewed" && t != "trusted" {
		return reported
	}
	var old, now []kind.Values
	if json.Unmarshal(before["tools"], &old) != nil || json.Unmarshal(reported, &now) != nil {
		return reported
	}
	known := map[string]kind.Values{}
	for _, t := range old {
		known[t.Text("name")] = t
	}
	for _, t := range now {
		was, ok := known[t.Text("name")]
		for _, field := range []string{"side_effect_class", "reversibility"} {
			if v := was[field]; ok && v != nil {
				t[field] = v
			}
		}
	}
	text, err := json.Marshal(now, json.Deterministic(true))
	if err != nil {
		return reported
	}
	return text
}
