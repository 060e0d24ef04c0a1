package evidence

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/internal/detect"
	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
)

// Keys of failures that only the platform gives.
const (
	fingerprintPrefix = "fp_"
	driftPrefix       = "manifest_drift:"
)

func init() {
	hooked[kind.Failures] = hooks{check: checkFailure, link: linkFailure, begin: beginFailure, refresh: recur}
}

func checkFailure(d kind.Draft, need func(path, code, message string)) {
	for _, prefix := range []string{fingerprintPrefix, driftPrefix} {
		if strings.HasPrefix(d.Values.FailureKey(), prefix) {
			need("/failure_key", "pattern", "must not begin with "+prefix+": such keys are given by the platform. Leave it out to have one")
		}
	}
}

func linkFailure(_ context.Context, _ *intake, _ principal.OrgID, r *linked) error {
	if v := r.draft.Values; v[kind.FieldFailureKey] == nil {
		text := cmp.Or(v.Description(), v.Title())
		v[kind.FieldFailureKey] = kind.TextValue(detect.Fingerprint(v.FailureMode(), r.links.RuntimeKey, v.ToolName(), text))
	}
	return nil
}

func beginFailure(_ context.Context, r *Record) {
	v, seen := r.Values, kind.TimeValue(r.OccurredAt)
	v[kind.FieldOccurrences], v[kind.FieldRegressed] = kind.IntegerValue(1), jsontext.Value("false")
	v[kind.FieldFirstSeenAt], v[kind.FieldLastSeenAt] = seen, seen
}

// recur counts another occurrence of a failure. One that was fixed is open again.
func recur(before, after Record, r *report) refreshed {
	at := r.occurred
	if at.IsZero() {
		at = after.UpdatedAt
	}
	after.Values[kind.FieldOccurrences] = kind.IntegerValue(before.Values.Occurrences() + 1)
	if at.After(before.Values.LastSeenAt()) {
		after.Values[kind.FieldLastSeenAt] = kind.TimeValue(at)
	}
	if was := before.State(); was != "fixed" && was != "verified" {
		return refreshed{after: after, noted: true}
	}
	after.Values[kind.FieldState], after.Values[kind.FieldRegressed] = kind.TextValue("open"), jsontext.Value("true")
	return refreshed{after: after, did: eventRegressed}
}

// failures are the reports of failures that a record shows and did not show before.
func failures(before kind.Values, r *Record) (out []*report) {
	for _, f := range detect.Failures(r.Kind, before, r.Values) {
		name := detect.Fingerprint(f.Mode, r.RuntimeKey, f.Tool, f.Message)
		v := kind.Values{
			kind.FieldFailureKey: kind.TextValue(name), kind.FieldFailureMode: kind.TextValue(f.Mode),
			kind.FieldSeverity: kind.TextValue(f.Severity), kind.FieldTitle: kind.TextValue(f.Title), kind.FieldDetectedBy: kind.TextValue("rule"),
		}
		set := func(name, text string) {
			if text != "" {
				v[name] = kind.TextValue(text)
			}
		}
		set(kind.FieldDescription, f.Message)
		set(kind.FieldToolName, f.Tool)
		set(kind.FieldInvocationID, r.Values.InvocationID())
		if ref := referring[r.Kind.Name]; ref != "" {
			v[ref] = kind.IntegerValue(r.ID)
		}
		one := newReport(kind.Failures, v, record.Platform, r.Links)
		one.occurred, one.number = r.OccurredAt, r.Number
		one.Once = record.Hashed("found", strconv.FormatInt(r.ID, 10), f.Mode)
		out = append(out, one)
	}
	return out
}

// referring are the fields of a failure that name what it was found in.
var referring = map[kind.Name]string{
	kind.PrimitiveStepRuns: kind.FieldPrimitiveStepRunID, kind.ToolInvocationEvidence: kind.FieldToolInvocationEvidenceID,
	kind.PolicyDecisions: kind.FieldPolicyDecisionID, kind.SideEffectLedger: kind.FieldSideEffectLedgerID,
	kind.EvalExplanations: kind.FieldEvalExplanationID,
}
