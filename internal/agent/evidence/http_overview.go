package evidence

import (
	"context"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

type overviewBody struct {
	Kinds     []kindBody    `json:"kinds" volatile:"true" doc:"The kinds of evidence."`
	Attention attentionBody `json:"attention" volatile:"true" doc:"What needs attention. Of each state at most 10,000 records are counted."`
}

type kindBody struct {
	Resource string                     `json:"resource" doc:"Name of the kind."`
	About    string                     `json:"about" doc:"What a record of the kind is."`
	Count    int64                      `json:"count" doc:"Number of records; see precision."`
	Last24H  int64                      `json:"last_24h" doc:"Number of records of the last 24 hours; see precision."`
	Precise  record.Precision           `json:"precision" enum:"exact,at_least,about" doc:"How the numbers are meant. They are exact up to 100,000 records. Of more there are at least so many, where counting stopped, or about so many."`
	LatestAt httpapi.Null[httpapi.Time] `json:"latest_at" doc:"When the newest record was made."`
	Filters  []string                   `json:"filters" doc:"List parameters that apply to the kind."`
	Writable bool                       `json:"writable" doc:"Whether records can be posted."`
	States   []string                   `json:"states" doc:"Values of its state, status or decision."`
}

type attentionBody struct {
	PendingApprovals       int64          `json:"pending_approvals" doc:"Approvals that wait for a decision."`
	ExpiringApprovals      int64          `json:"expiring_approvals" doc:"Those of them that expire within two hours."`
	UnverifiedSideEffects  int64          `json:"unverified_side_effects" doc:"Side effects that were acknowledged, or may have happened, and were not verified."`
	ConflictingSideEffects int64          `json:"conflicting_side_effects" doc:"Side effects of which something else was found than expected."`
	OpenFailures           severitiesBody `json:"open_failures_by_severity" doc:"Failures that are open or triaged."`
	UnmappedRawEvents      int64          `json:"unmapped_raw_events" doc:"Events that were kept and not understood."`
	ConnectorsUnderReview  int64          `json:"connectors_under_review" doc:"Connectors that wait for a review."`
	SuspendedRuntimes      int64          `json:"suspended_runtimes" doc:"Runtimes that are stopped."`
}

type severitiesBody struct {
	Low      int64 `json:"low" doc:"Failures of low severity."`
	Medium   int64 `json:"medium" doc:"Failures of medium severity."`
	High     int64 `json:"high" doc:"Failures of high severity."`
	Critical int64 `json:"critical" doc:"Critical failures."`
}

func (s *Service) getOverview(ctx context.Context, _ *struct{}) (*httpapi.Body[overviewBody], error) {
	kinds, a, err := s.Overview(ctx, principal.From(ctx).Org)
	if err != nil {
		return nil, err
	}
	var out httpapi.Body[overviewBody]
	out.Body.Kinds = make([]kindBody, len(kinds))
	for i, k := range kinds {
		out.Body.Kinds[i] = toKindBody(k)
	}
	f := a.OpenFailures
	out.Body.Attention = attentionBody{
		PendingApprovals: a.PendingApprovals, ExpiringApprovals: a.ExpiringApprovals, UnverifiedSideEffects: a.UnverifiedEffects, ConflictingSideEffects: a.ConflictingEffects,
		OpenFailures: severitiesBody{f["low"], f["medium"], f["high"], f["critical"]}, UnmappedRawEvents: a.UnmappedEvents,
		ConnectorsUnderReview: a.ConnectorsUnderReview, SuspendedRuntimes: a.SuspendedRuntimes,
	}
	return &out, nil
}

func toKindBody(k KindCount) kindBody {
	b := kindBody{
		Resource: string(k.Kind.Name), About: k.Kind.About, Count: k.Records, Last24H: k.LastDay, Precise: k.Precision, Filters: listParameters(k.Kind), Writable: k.Kind.Postable(),
		States: httpapi.OrEmpty(k.Kind.States()),
	}
	if !k.Latest.IsZero() && k.Records > 0 {
		b.LatestAt = httpapi.NullTime(&k.Latest)
	}
	return b
}

// listParameters are the filters of a kind.
func listParameters(k *kind.Kind) []string {
	out := k.Selects()
	if k.Lifecycle == kind.FieldState || k.Lifecycle == kind.FieldStatus {
		out = append(out, "state", "status")
	}
	return append(out, "createdAfter", "createdBefore")
}
