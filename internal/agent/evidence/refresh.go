package evidence

import (
	"maps"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/internal/review"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// What a report does to a thing without changing it: a failure occurs again, and a runtime
// is heard of. Both are noted on the thing, and nothing else is.
const (
	recurred = "recurred"
	heard    = "heard"
)

// heardEvery is how often it is noted that a runtime was heard of.
const heardEvery = time.Minute

// refreshed is a thing after a report, what the report did to it, and the failures that this
// shows. A report that did nothing is empty.
type refreshed struct {
	after Record
	did   string
	found []*report
}

// refresh applies a report to a thing that is there already. What was decided about the thing
// stays: no report lifts a suspension or makes a connector trusted.
func refresh(before Record, r *report, now time.Time) refreshed {
	after := before
	after.Values = maps.Clone(before.Values)
	after.UpdatedAt = now
	switch {
	case r.policy&fillOnly != 0: // what it was some time ago, or it counted then
	case before.Kind.Name == "failures":
		return recur(before, after, r)
	case before.Kind.Name == "runtimes":
		return refreshRuntime(before, after, maps.Clone(r.draft.Values))
	case before.Kind.Name == "connectors":
		return refreshConnector(before, after, review.Kept(before.Values, r.draft.Values))
	}
	return refreshed{after: before} // the same report again
}

// recur counts another occurrence of a failure. One that was fixed is open again.
func recur(before, after Record, r *report) refreshed {
	at := r.occurred
	if at.IsZero() {
		at = after.UpdatedAt
	}
	after.Values["occurrences"] = kind.IntegerValue(before.Values.Integer("occurrences") + 1)
	if at.After(before.Values.Time("last_seen_at")) {
		after.Values["last_seen_at"] = kind.TimeValue(at)
	}
	if was := before.State(); was != "fixed" && was != "verified" {
		return refreshed{after: after, did: recurred}
	}
	after.Values["state"], after.Values["regressed"] = kind.TextValue("open"), jsontext.Value("true")
	return refreshed{after: after, did: "regressed"}
}

// refreshRuntime takes over what a runtime says about itself. Policies depend on its
// environment: it does not choose which ones it is under.
func refreshRuntime(before, after Record, said kind.Values) refreshed {
	if before.Values.Text("environment") != "" {
		delete(said, "environment")
	}
	record.Revise(before.Values, after.Values, said)
	after.Values["last_seen_at"] = kind.TimeValue(after.UpdatedAt)
	switch {
	case !record.Same(before.Values, after.Values, "last_seen_at"):
		return refreshed{after: after, did: "updated"}
	case after.UpdatedAt.Sub(before.Values.Time("last_seen_at")) < heardEvery:
		return refreshed{after: before}
	}
	return refreshed{after: after, did: heard}
}

// refreshConnector takes over what a connector says about itself. One that is not what it was
// is reviewed again.
func refreshConnector(before, after Record, said kind.Values) refreshed {
	record.Revise(before.Values, after.Values, said)
	if record.Same(before.Values, after.Values, "last_seen_at") {
		return refreshed{after: before}
	}
	out := refreshed{after: after, did: "updated"}
	if review.Drifted(before.Values, after.Values) {
		if before.State() == "approved" {
			after.Values["state"] = kind.TextValue("under_review")
		}
		after.Values["trust_level"] = kind.TextValue("untrusted")
		out.found = []*report{driftFailure(after)}
	}
	return out
}
