package approval

import (
	"context"
	"net/http"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

const tag = "Agent evidence"

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	httpapi.Register(e, httpapi.Op{
		ID: "updateApproval", Method: http.MethodPatch, Path: "/api/agent-evidence/approvals/{id}", Tag: tag, Scope: principal.AdminOrg, Status: 200, OptionalBody: true, Strict: true, Person: true,
		Summary: "Decide on an approval",
		Description: "Approves or rejects a request, takes it back, or narrows it. Deciding, and narrowing the amount while you approve, need a person: anyone else gets 403 `not_a_person`. " +
			"403 `not_an_approver` if you are in none of the `approver_groups`; 403 `self_approval` if you asked for the action, as the organization's separation of duties counts it. 409 if the approval has been decided, has expired, or you have voted before. " +
			"One vote against rejects. An approval is not permission: the caller evaluates the action again and presents it. An empty body changes nothing.",
	}, s.patchApproval)
}

// Path is the path of an approval.
type Path struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The id of the approval."`
}

type updateInput struct {
	Path
	httpapi.IfMatch
	Body updateBody
}

type updateBody struct {
	Decision        string          `json:"decision,omitempty" enum:"approved,rejected,approve,reject" doc:"Your vote."`
	Comment         string          `json:"comment,omitempty" maxLength:"10000" doc:"Why; required to reject and to revoke."`
	Constraints     constraintsBody `json:"constraints,omitzero" doc:"Narrows what is approved."`
	ExpiresAt       httpapi.Time    `json:"expiresAt,omitzero" doc:"Shortens the time in which it can be decided and used."`
	State           string          `json:"state,omitempty" enum:"cancelled,revoked" doc:"cancelled takes back a request that is pending, revoked an agreement."`
	ExpectedVersion int64           `json:"expectedVersion,omitzero" minimum:"1" doc:"The version to change, as an alternative to If-Match."`
}

type constraintsBody struct {
	MaxAmount string `json:"maxAmount,omitempty" maxLength:"64" doc:"The action may be repeated with any amount up to this one, such as 100.00, and otherwise as it was asked for."`
}

// Check refuses what does not go together.
func (b *updateBody) Check(context.Context) error {
	switch {
	case b.Decision != "" && b.State != "":
		return fault.Invalid("body", "/state", "mutually_exclusive", "cannot be sent with decision")
	case b.rejects() && b.Comment == "":
		return fault.Invalid("body", "/comment", "required", "is required to reject")
	case b.State == revoked && b.Comment == "":
		return fault.Invalid("body", "/comment", "required", "is required to revoke")
	case b.Constraints != (constraintsBody{}) && (b.Decision == "" || b.rejects()):
		return fault.Invalid("body", "/constraints", "mutually_exclusive", "can only be sent with an approving vote")
	case b.Comment != "" && b.Decision == "" && b.State == "":
		return fault.Invalid("body", "/decision", "required", "is required with comment, or state")
	}
	return nil
}

func (b *updateBody) rejects() bool { return b.Decision == rejected || b.Decision == "reject" }

// InPerson implements httpapi.InPerson: people decide. Taking an approval back, or giving it
// less time, only makes it weaker, and may be automated.
func (in *updateInput) InPerson() bool {
	return in.Body.Decision != "" || in.Body.Constraints != (constraintsBody{})
}

type approvalOutput struct {
	ETag string `header:"ETag" doc:"The approval's version, to be sent as If-Match."`
	Body evidence.ApprovalBody
}

func (s *Service) patchApproval(ctx context.Context, in *updateInput) (*approvalOutput, error) {
	b := in.Body
	expected, err := in.Expected(b.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	c := Change{Comment: b.Comment, State: b.State, MaxAmount: b.Constraints.MaxAmount, ExpiresAt: time.Time(b.ExpiresAt), Expected: expected}
	switch {
	case b.rejects():
		c.Decision = rejected
	case b.Decision != "":
		c.Decision = approved
	}
	if c, err = s.clean(ctx, c); err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*approvalOutput, error) {
		r, err := s.ChangeTx(ctx, tx, in.ID, c)
		if err != nil {
			return nil, err
		}
		return &approvalOutput{ETag: httpapi.ETag(r.Version), Body: evidence.ToApprovalBody(&r)}, nil
	})
}
