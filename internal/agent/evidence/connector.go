package evidence

import (
	"context"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/internal/review"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ErrNotReady is returned for approving a connector without a readiness report that passed.
var ErrNotReady = fault.New(fault.Conflict, "connector_not_ready", "The connector has no readiness report that passed. Say in override.justification why it is approved all the same.")

func init() {
	hooked[kind.Connectors] = hooks{begin: beginConnector, refresh: described, edit: editConnector, move: (*things).readyTx}
}

func beginConnector(_ context.Context, r *Record) {
	r.Values[kind.FieldTrustLevel] = kind.TextValue("untrusted")
	if r.Values[kind.FieldTools] != nil {
		r.Values[kind.FieldTools] = review.Classes(nil, r.Values)
	}
}

// described adds what a connector says about itself. It is reviewed again if it is not what it was.
func described(before, after Record, r *report) refreshed {
	record.Revise(before.Values, after.Values, review.Kept(before.Values, r.draft.Values))
	switch {
	case record.Same(before.Values, after.Values):
		return refreshed{after: before}
	case !review.Drifted(before.Values, after.Values):
		return refreshed{after: after, did: happened(&before, &after)}
	}
	if before.State() == "approved" {
		after.Values[kind.FieldState] = kind.TextValue("under_review")
	}
	after.Values[kind.FieldTrustLevel] = kind.TextValue("untrusted")
	return refreshed{after: after, did: eventDrifted, found: []*report{driftFailure(after)}}
}

// driftFailure says that a connector is not what it was.
func driftFailure(r Record) *report {
	name := r.Values.ConnectorKey()
	return newReport(kind.Failures, kind.Values{
		kind.FieldFailureKey: kind.TextValue(driftPrefix + name), kind.FieldFailureMode: kind.TextValue("manifest_drift"),
		kind.FieldSeverity: kind.TextValue("high"), kind.FieldTitle: kind.TextValue(name + " has changed since it was reviewed"), kind.FieldDetectedBy: kind.TextValue("rule"),
	}, record.Platform, Links{ConnectorID: r.ID, ConnectorKey: name})
}

// editConnector keeps what the connector says about tools that somebody has said something about.
func editConnector(was kind.Values, r *Record, e edit) error {
	if e.draft.Values[kind.FieldTools] != nil {
		r.Values[kind.FieldTools] = review.Edited(was, e.draft.Values)
	}
	return nil
}

// readyTx refuses to approve a connector whose newest readiness report is not there, has
// failed, or is about another manifest, unless a person says why it may be.
func (s *things) readyTx(ctx context.Context, tx postgres.Tx, before, after *Record, e edit) error {
	if after.State() != "approved" || before.State() == "approved" {
		return nil
	}
	if e.override != "" {
		after.Values[kind.FieldOverride] = kind.Values{
			kind.FieldJustification: kind.TextValue(e.override), kind.FieldBy: kind.TextValue(principal.ActorOf(ctx).String()),
			kind.FieldAt: kind.TimeValue(s.now()),
		}.JSON()
		return nil
	}
	delete(after.Values, kind.FieldOverride)
	id := after.Values.LatestReadinessReportID()
	if id == 0 {
		return ErrNotReady
	}
	report, there, err := s.lockTx(ctx, tx, kind.Must(kind.ConnectorReadinessReports), id)
	if err != nil {
		return err
	}
	expired := !report.Values.ExpiresAt().IsZero() && report.Values.ExpiresAt().Before(s.now())
	if !there || expired || report.State() == "failed" || report.Values.ManifestDigest() != after.Values.ManifestDigest() {
		return ErrNotReady
	}
	return nil
}
