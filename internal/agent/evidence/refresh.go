package evidence

import (
	"maps"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/internal/review"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	catalogue "github.com/assayhq/assay/internal/change/event"
)

// heardEvery is how often it is noted that a runtime was heard of.
const heardEvery = time.Minute

// refreshed is a thing after a report, how the report changed it, and the failures that this
// shows. What is only noted is no change: a failure has occurred again, or a runtime was heard
// of.
type refreshed struct {
	after Record
	did   catalogue.Type
	noted bool
	found []*report
}

// refresh applies a report to a thing that is there already. What was decided about the thing
// stays: no report lifts a suspension or makes a connector trusted.
func refresh(before Record, r *report, now time.Time) refreshed {
	after, said := before, r.draft.Values
	after.Values, after.UpdatedAt = maps.Clone(before.Values), now
	switch {
	case r.policy&fillOnly != 0: // what it was some time ago, or it counted then
		return refreshed{after: before}
	case before.Kind.Name == "failures":
		return recur(before, after, r)
	case before.Kind.Name == "connectors":
		said = review.Kept(before.Values, said)
	case before.Kind.Name != "runtimes":
		return refreshed{after: before} // the same report again
	case before.Values.Text("environment") != "":
		// Policies depend on it: a runtime does not choose which ones it is under.
		said = maps.Clone(said)
		delete(said, "environment")
	}
	record.Revise(before.Values, after.Values, said)
	out := refreshed{after: after, did: happened(&before, &after)}
	switch same := record.Same(before.Values, after.Values, "last_seen_at"); {
	case before.Kind.Name == "runtimes":
		after.Values["last_seen_at"] = kind.TimeValue(now)
		if same {
			out.did, out.noted = catalogue.Type{}, true
		}
		if same && now.Sub(before.Values.Time("last_seen_at")) < heardEvery {
			out = refreshed{after: before}
		}
	case same:
		out = refreshed{after: before}
	case review.Drifted(before.Values, after.Values):
		if before.State() == "approved" {
			after.Values["state"] = kind.TextValue("under_review")
		}
		after.Values["trust_level"] = kind.TextValue("untrusted")
		out.found, out.did = []*report{driftFailure(after)}, eventDrifted
	}
	return out
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
		return refreshed{after: after, noted: true}
	}
	after.Values["state"], after.Values["regressed"] = kind.TextValue("open"), jsontext.Value("true")
	return refreshed{after: after, did: eventRegressed}
}
