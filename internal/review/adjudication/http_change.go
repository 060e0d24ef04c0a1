package adjudication

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

type updateInput struct {
	Path
	httpapi.IfMatch
	Body updateBody
}

type updateBody struct {
	Priority          httpapi.Set[Priority]       `json:"priority,omitzero" doc:"New priority."`
	DueAt             httpapi.Patch[httpapi.Time] `json:"dueAt,omitzero" doc:"When the decision is due; null removes it."`
	Tags              httpapi.Patch[httpapi.Tags] `json:"tags,omitzero" doc:"New tags, replacing all existing ones; null removes them."`
	Notes             httpapi.Patch[string]       `json:"notes,omitzero" maxLength:"10000" doc:"New notes; null removes them."`
	Title             httpapi.Patch[string]       `json:"title,omitzero" maxLength:"200" doc:"New title; null removes it."`
	Status            httpapi.Set[Status]         `json:"status,omitzero" enum:"open,closed,dismissed" doc:"dismissed takes the item out of the queue, open reopens it, closed closes it without ground truth. Requires reason."`
	Reason            string                      `json:"reason,omitempty" maxLength:"10000" doc:"Why the status changes."`
	RevokeGroundTruth bool                        `json:"revokeGroundTruth,omitempty" doc:"Revokes the ground truth of the item that is reopened."`
	ExpectedVersion   int64                       `json:"expectedVersion,omitzero" minimum:"1" doc:"The version to change, as an alternative to If-Match."`
}

// Check refuses a change of status without a reason.
func (b *updateBody) Check(context.Context) error {
	switch {
	case b.Status.Sent && b.Reason == "":
		return fault.Invalid("body", "/reason", "required", "is required with status")
	case !b.Status.Sent && b.Reason != "":
		return fault.Invalid("body", "/status", "required", "is required with reason")
	case b.RevokeGroundTruth && (!b.Status.Sent || b.Status.Value != StatusOpen):
		return fault.Invalid("body", "/status", "required", "must be open with revokeGroundTruth")
	}
	return nil
}

func (s *Service) patchItem(ctx context.Context, in *updateInput) (*httpapi.Output[itemBody], error) {
	b := in.Body
	expected, err := in.Expected(b.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	p := Patch{Expected: expected, Edit: b.apply, Reason: b.Reason, RevokeTruth: b.RevokeGroundTruth}
	if b.Status.Sent {
		p.To = b.Status.Value
	}
	return s.do(ctx, func(tx postgres.Tx) (Item, error) { return s.PatchTx(ctx, tx, in.ID, p) })
}

// apply makes the sent changes.
func (b updateBody) apply(i *Item) {
	b.Priority.Apply(&i.Priority)
	b.Notes.Apply(&i.Notes)
	b.Title.Apply(&i.Title)
	setTime(b.DueAt)(&i.DueAt)
	if b.Tags.Sent {
		i.Tags = httpapi.OrEmpty(b.Tags.Value)
	}
}

// setTime changes a time if it was sent.
func setTime(p httpapi.Patch[httpapi.Time]) func(**time.Time) {
	return func(t **time.Time) {
		if !p.Sent {
			return
		}
		*t = nil
		if !p.Null {
			*t = new(time.Time(p.Value).Truncate(time.Millisecond))
		}
	}
}

// do makes a change of an item and answers with the item.
func (s *Service) do(ctx context.Context, fn func(postgres.Tx) (Item, error)) (*httpapi.Output[itemBody], error) {
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.Output[itemBody], error) {
		i, err := fn(tx)
		if err != nil {
			return nil, err
		}
		body, err := s.bodyTx(ctx, tx, i)
		return &httpapi.Output[itemBody]{ETag: httpapi.ETag(i.Changes), Body: body}, err
	})
}

type assignInput struct {
	Path
	Body assignBody
}

type assignBody struct {
	AssigneeID httpapi.Patch[string]       `json:"assigneeId,omitzero" maxLength:"64" doc:"User id of the member who is to decide; null releases the item. Required."`
	DueAt      httpapi.Patch[httpapi.Time] `json:"dueAt,omitzero" doc:"When the decision is due; null removes it."`
}

// Check refuses a body that does not say to whom.
func (b *assignBody) Check(context.Context) error {
	if !b.AssigneeID.Sent {
		return fault.Invalid("body", "/assigneeId", "required", "is required; null releases the item")
	}
	return nil
}

func (s *Service) postAssign(ctx context.Context, in *assignInput) (*httpapi.Output[itemBody], error) {
	a := Assignment{DueAt: setTime(in.Body.DueAt)}
	if id := in.Body.AssigneeID; !id.Null {
		user, err := uuid.Parse(id.Value)
		if err != nil {
			return nil, fault.Invalid("body", "/assigneeId", "unknown_reference", "is not a member of the organization")
		}
		a.To = &user
	}
	return s.do(ctx, func(tx postgres.Tx) (Item, error) { return s.AssignTx(ctx, tx, in.ID, a) })
}

type decisionInput struct {
	Path
	Body decideBody
}

type decideBody struct {
	Decision       Verdict      `json:"decision" doc:"pass, fail or needs_revision, on which ground truth can rest; not_applicable or inconclusive, on which none can."`
	Rationale      string       `json:"rationale" minLength:"10" maxLength:"10000" doc:"Why; at least 10 characters."`
	Label          string       `json:"label,omitempty" maxLength:"200" doc:"Label of the answer, such as one of a judge's scale."`
	Score          *float64     `json:"score,omitempty" minimum:"0" maximum:"1" doc:"Score of the answer."`
	ExpectedOutput httpapi.JSON `json:"expectedOutput,omitzero" doc:"What would have been right: any JSON value."`
	FailureMode    string       `json:"failureMode,omitempty" maxLength:"64" doc:"How the answer fails."`
	Confidence     *float64     `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"How sure you are."`
	Override       bool         `json:"override,omitempty" doc:"Decides an item that is assigned to another member."`
}

func (s *Service) postDecision(ctx context.Context, in *decisionInput) (*httpapi.Output[itemBody], error) {
	b, caller := in.Body, principal.From(ctx)
	assessed, err := s.Assessed(ctx, caller.Org, in.ID, *caller.User)
	if err != nil {
		return nil, err
	}
	d := Decision{
		Verdict: b.Decision, Rationale: b.Rationale, Label: b.Label, Score: b.Score, Expected: value(b.ExpectedOutput), FailureMode: b.FailureMode, Confidence: b.Confidence, Override: b.Override,
	}
	return s.do(ctx, func(tx postgres.Tx) (Item, error) { return s.DecideTx(ctx, tx, in.ID, d, assessed) })
}

// value is a value of a request; null is none.
func value(v httpapi.JSON) jsontext.Value {
	if string(v) == "null" {
		return nil
	}
	return jsontext.Value(v)
}
