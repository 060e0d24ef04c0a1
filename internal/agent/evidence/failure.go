package evidence

import (
	"strconv"

	"github.com/assayhq/assay/internal/agent/evidence/internal/detect"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// Keys of failures that only the platform gives.
const (
	fingerprintPrefix = "fp_"
	driftPrefix       = "manifest_drift:"
)

// fingerprint is the key of a failure that was reported without one.
func fingerprint(v kind.Values, l Links) string {
	text := v.Text("description")
	if text == "" {
		text = v.Text("title")
	}
	return detect.Fingerprint(v.Text("failure_mode"), l.RuntimeKey, v.Text("tool_name"), text)
}

// failures are the reports of failures that a record shows and did not show before.
func failures(before kind.Values, r *Record) (out []*report) {
	for _, f := range detect.Failures(r.Kind, before, r.Values) {
		name := detect.Fingerprint(f.Mode, r.RuntimeKey, f.Tool, f.Message)
		v := kind.Values{
			"failure_key": kind.TextValue(name), "failure_mode": kind.TextValue(f.Mode),
			"severity": kind.TextValue(f.Severity), "title": kind.TextValue(f.Title), "detected_by": kind.TextValue("rule"),
		}
		set := func(name, text string) {
			if text != "" {
				v[name] = kind.TextValue(text)
			}
		}
		set("description", f.Message)
		set("tool_name", f.Tool)
		set("invocation_id", r.Values.Text("invocation_id"))
		if ref := referring[r.Kind.Name]; ref != "" {
			v[ref] = kind.IntegerValue(r.ID)
		}
		one := &report{linked: linked{parsed: parsed{draft: kind.Draft{Kind: kind.Must("failures"), Values: v}, origin: record.Platform, occurred: r.OccurredAt}, links: r.Links}, number: r.Number}
		one.identity = record.Identify(one.draft, r.Links, "")
		one.Once = record.Hashed("found", strconv.FormatInt(r.ID, 10), f.Mode)
		out = append(out, one)
	}
	return out
}

// driftFailure says that a connector is not what it was.
func driftFailure(r Record) *report {
	name := r.Values.Text("connector_key")
	return newReport("failures", kind.Values{
		"failure_key": kind.TextValue(driftPrefix + name), "failure_mode": kind.TextValue("manifest_drift"), "severity": kind.TextValue("high"),
		"title": kind.TextValue(name + " has changed since it was reviewed"), "detected_by": kind.TextValue("rule"),
	}, record.Platform, Links{ConnectorID: r.ID, ConnectorKey: name})
}

// referring are the fields of a failure that name what it was found in.
var referring = map[kind.Name]string{
	"primitive-step-runs": "primitive_step_run_id", "tool-invocation-evidence": "tool_invocation_evidence_id",
	"policy-decisions": "policy_decision_id", "side-effect-ledger": "side_effect_ledger_id", "eval-explanations": "eval_explanation_id",
}
