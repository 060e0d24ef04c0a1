package evidence

import (
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/internal/review"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// driftFailure says that a connector is not what it was.
func driftFailure(r Record) *report {
	name := r.Values.Text("connector_key")
	return newReport("failures", kind.Values{
		"failure_key": kind.TextValue(driftPrefix + name), "failure_mode": kind.TextValue("manifest_drift"), "severity": kind.TextValue("high"),
		"title": kind.TextValue(name + " has changed since it was reviewed"), "detected_by": kind.TextValue("rule"),
	}, record.Platform, Links{ConnectorID: r.ID, ConnectorKey: name})
}

// classless reports whether a report of a call does not say what the call does to the
// world.
func classless(r *report) bool {
	v := r.draft.Values
	return r.draft.Kind.Name == "tool-invocation-evidence" && v["tool_name"] != nil && v["side_effect_class"] == nil
}

// classify says what a call does to the world, if its report does not.
func classify(r *report, connector Record) {
	if classless(r) {
		r.draft.Values["side_effect_class"] = kind.TextValue(review.Class(r.draft.Values, connector.Values))
	}
}
