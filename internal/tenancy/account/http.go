package account

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy"
)

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(httpapi.Schemas{"Invitation": invitationBody{}})
	httpapi.Register(e, httpapi.Op{
		ID: "createInvitation", Method: http.MethodPost, Path: "/api/organizations/current/members/{userId}/invitation", Tag: "Members", Scope: principal.AdminOrg, Status: 200, Person: true,
		Summary: "Make an invitation",
		Description: "Makes a link with which a member who has not come in yet chooses a password. It works once, for seven days, and in place of earlier ones. `url` is shown in this response only: give it to that person only. " +
			"It needs a person: anyone else gets 403 `not_a_person`. 409 `already_accepted` if the member has come in.",
	}, s.postInvitation)
}

type invitationPath struct {
	UserID string `path:"userId" maxLength:"64" doc:"The id of the member."`
}

type invitationBody struct {
	ID        string       `json:"id" format:"uuid" doc:"Id of the member."`
	URL       string       `json:"url" doc:"The link, which is shown once; the response to a repeated request has it redacted. It is a path of this server unless ASSAY_PAGES_ORIGIN is set."`
	ExpiresAt httpapi.Time `json:"expires_at" doc:"Until when it can be accepted."`
}

// Noun is what documents call it.
func (invitationBody) Noun() string { return "invitation" }

type invitationOutput struct{ Body invitationBody }

// WithoutSecrets is what is remembered of the answer: nobody reads the link again.
func (o *invitationOutput) WithoutSecrets() any {
	c := *o
	c.Body.URL = "•••"
	return &c
}

func (s *Service) postInvitation(ctx context.Context, in *invitationPath) (*invitationOutput, error) {
	member, err := uuid.Parse(in.UserID)
	if err != nil {
		return nil, tenancy.ErrMemberNotFound
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*invitationOutput, error) {
		made, err := s.InviteTx(ctx, tx, member)
		if err != nil {
			return nil, err
		}
		return &invitationOutput{invitationBody{ID: made.Member.String(), URL: made.Link.Reveal(), ExpiresAt: httpapi.Time(made.ExpiresAt)}}, nil
	})
}
