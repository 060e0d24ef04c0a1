package tenancy

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
)

func (s *Service) registerMembers(e *httpapi.Edge) {
	const tag = "Members"
	httpapi.Register(e, httpapi.Op{
		ID: "listMembers", Method: http.MethodGet, Path: "/api/organizations/current/members", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary: "List members",
	}, s.getMembers)
	httpapi.Register(e, httpapi.Op{
		ID: "inviteMember", Method: http.MethodPost, Path: "/api/organizations/current/members", Tag: tag, Scope: principal.AdminOrg, Status: 201, Strict: true,
		Summary: "Invite a member",
	}, s.postMember)
	httpapi.Register(e, httpapi.Op{
		ID: "getMember", Method: http.MethodGet, Path: "/api/organizations/current/members/{userId}", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary: "Get a member",
	}, s.getMember)
	httpapi.Register(e, httpapi.Op{
		ID: "updateMember", Method: http.MethodPatch, Path: "/api/organizations/current/members/{userId}", Tag: tag, Scope: principal.AdminOrg, Status: 200, Strict: true, OptionalBody: true,
		Summary:     "Change a member's name or role",
		Description: "A smaller role narrows the member's personal keys at once. The last owner stays one: 403 `last_owner`.",
	}, s.patchMember)
	httpapi.Register(e, httpapi.Op{
		ID: "removeMember", Method: http.MethodDelete, Path: "/api/organizations/current/members/{userId}", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary:     "Remove a member",
		Description: "Their personal keys end at once; service keys stay.",
	}, s.deleteMember)
}

// MemberPath is the path of a member.
type MemberPath struct {
	UserID string `path:"userId" maxLength:"64" doc:"The member."`
}

type listMembersInput struct{ httpapi.Page }

type inviteInput struct{ Body inviteBody }

type inviteBody struct {
	Email string   `json:"email" format:"email" maxLength:"320" example:"ada@example.com"`
	Name  string   `json:"name,omitempty" maxLength:"200"`
	Role  roleText `json:"role"`
}

type updateMemberInput struct {
	MemberPath
	Body updateMemberBody
}

type updateMemberBody struct {
	Name httpapi.Patch[memberName] `json:"name,omitzero"`
	Role httpapi.Patch[roleText]   `json:"role,omitzero"`
}

type memberBody struct {
	UserID    string         `json:"user_id" format:"uuid"`
	Email     string         `json:"email"`
	Name      string         `json:"name"`
	Role      principal.Role `json:"role" enum:"owner,admin,member,annotator,viewer"`
	Status    MemberStatus   `json:"status" enum:"invited,active"`
	CreatedAt httpapi.Time   `json:"created_at"`
}

type memberOutput struct {
	Location string `header:"Location"`
	Body     memberBody
}

type listMembersOutput struct{ Body listMembersBody }

type listMembersBody struct {
	Members []memberBody `json:"members"`
	httpapi.Paging
}

func (s *Service) getMembers(ctx context.Context, in *listMembersInput) (*listMembersOutput, error) {
	members, total, err := s.Members(ctx, principal.From(ctx).Org, in.Limit, in.Offset)
	if err != nil {
		return nil, err
	}
	out := listMembersOutput{Body: listMembersBody{Members: make([]memberBody, len(members)), Paging: in.Page.Paging(len(members), total)}}
	for i, m := range members {
		out.Body.Members[i] = toMemberBody(m)
	}
	return &out, nil
}

func (s *Service) postMember(ctx context.Context, in *inviteInput) (*memberOutput, error) {
	return commit(ctx, s, func(tx postgres.Tx) (*memberOutput, error) {
		m, err := s.InviteTx(ctx, tx, Member{Email: in.Body.Email, Name: in.Body.Name, Role: principal.Role(in.Body.Role)})
		if err != nil {
			return nil, err
		}
		return &memberOutput{Location: "/api/organizations/current/members/" + m.UserID.String(), Body: toMemberBody(m)}, nil
	})
}

func (s *Service) getMember(ctx context.Context, in *MemberPath) (*memberOutput, error) {
	user, err := parseUser(in.UserID)
	if err != nil {
		return nil, err
	}
	m, err := s.Member(ctx, principal.From(ctx).Org, user)
	if err != nil {
		return nil, err
	}
	return &memberOutput{Body: toMemberBody(m)}, nil
}

func (s *Service) patchMember(ctx context.Context, in *updateMemberInput) (*memberOutput, error) {
	user, err := parseUser(in.UserID)
	if err != nil {
		return nil, err
	}
	return commit(ctx, s, func(tx postgres.Tx) (*memberOutput, error) {
		m, err := s.UpdateMemberTx(ctx, tx, user, func(m *Member) {
			if in.Body.Name.Sent {
				m.Name = string(in.Body.Name.Value)
			}
			if in.Body.Role.Sent && !in.Body.Role.Null {
				m.Role = principal.Role(in.Body.Role.Value)
			}
		})
		if err != nil {
			return nil, err
		}
		return &memberOutput{Body: toMemberBody(m)}, nil
	})
}

func (s *Service) deleteMember(ctx context.Context, in *MemberPath) (*httpapi.DeletedOutput[string], error) {
	user, err := parseUser(in.UserID)
	if err != nil {
		return nil, err
	}
	return commit(ctx, s, func(tx postgres.Tx) (*httpapi.DeletedOutput[string], error) {
		if err := s.RemoveMemberTx(ctx, tx, user); err != nil {
			return nil, err
		}
		return httpapi.NewDeleted(user.String()), nil
	})
}

func toMemberBody(m Member) memberBody {
	return memberBody{UserID: m.UserID.String(), Email: m.Email, Name: m.Name, Role: m.Role, Status: m.Status, CreatedAt: httpapi.Time(m.CreatedAt)}
}

type (
	roleText   string
	memberName string
)

// Schema lists the roles.
func (roleText) Schema(huma.Registry) *huma.Schema {
	known := make([]any, len(principal.Roles))
	for i, r := range principal.Roles {
		known[i] = string(r)
	}
	return &huma.Schema{Type: huma.TypeString, Enum: known}
}

// Schema bounds a person's name.
func (memberName) Schema(huma.Registry) *huma.Schema {
	most := 200
	return &huma.Schema{Type: huma.TypeString, MaxLength: &most}
}
