package tenancy

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

func (s *Service) registerMembers(e *httpapi.Edge) {
	const tag = tagMembers
	httpapi.Register(e, httpapi.Op{
		ID: "listMembers", Method: http.MethodGet, Path: membersPath, Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary:     "List members",
		Description: "Returns the organization's members, newest first. Filters are combined with AND.",
	}, s.getMembers)
	httpapi.Register(e, httpapi.Op{
		ID: "inviteMember", Method: http.MethodPost, Path: membersPath, Tag: tag, Scope: principal.AdminOrg, Status: 201, Strict: true,
		Summary:     "Invite a member",
		Description: "Adds a member with the status `invited`. Only owners can invite an owner: 403 `owners_only`.",
	}, s.postMember)
	httpapi.Register(e, httpapi.Op{
		ID: "getMember", Method: http.MethodGet, Path: membersPath + "/{userId}", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary:     "Get a member",
		Description: "Returns one member of the organization.",
	}, s.getMember)
	httpapi.Register(e, httpapi.Op{
		ID: "updateMember", Method: http.MethodPatch, Path: membersPath + "/{userId}", Tag: tag, Scope: principal.AdminOrg, Status: 200, Strict: true, OptionalBody: true,
		Summary:     "Update a member",
		Description: "Changes a member's name or role. A lesser role limits the member's personal keys at once. The last owner cannot get another role: 403 `last_owner`.",
	}, s.patchMember)
	httpapi.Register(e, httpapi.Op{
		ID: "removeMember", Method: http.MethodDelete, Path: membersPath + "/{userId}", Tag: tag, Scope: principal.AdminOrg, Status: 200,
		Summary:     "Remove a member",
		Description: "Removes the member, revokes their personal keys at once and deletes their personal views. Service keys that they created stay valid.",
	}, s.deleteMember)
}

const membersPath = "/api/organizations/current/members"

// MemberPath is the path of a member.
type MemberPath struct {
	UserID string `path:"userId" maxLength:"64" doc:"The id of the member."`
}

type listMembersInput struct {
	httpapi.CursorPage
	Status []MemberStatus `query:"status,explode" doc:"Only members with this status. Repeat the parameter to match any of several."`
	Role   []roleText     `query:"role,explode" doc:"Only members with this role. Repeat the parameter to match any of several."`
	Search string         `query:"search" maxLength:"320" doc:"Only members whose name or e-mail address contains this text, ignoring case."`
	httpapi.Created
}

type inviteBody struct {
	Email string   `json:"email" format:"email" maxLength:"320" example:"ada@example.com" doc:"E-mail address, unique among the organization's members."`
	Name  string   `json:"name,omitempty" maxLength:"200" doc:"Name of the person."`
	Role  roleText `json:"role" doc:"What the person may do."`
}

type updateMemberInput struct {
	MemberPath
	httpapi.IfMatch
	Body updateMemberBody
}

type updateMemberBody struct {
	Name            httpapi.Patch[string] `json:"name,omitzero" maxLength:"200" doc:"New name; null removes it."`
	Role            httpapi.Set[roleText] `json:"role,omitzero" doc:"New role."`
	ExpectedVersion int64                 `json:"expectedVersion,omitzero" minimum:"1" doc:"The version to change, as an alternative to If-Match."`
}

type memberBody struct {
	ID        string       `json:"id" format:"uuid" doc:"Id of the member; actors and X-On-Behalf-Of use the same id."`
	Email     string       `json:"email" doc:"E-mail address."`
	Name      *string      `json:"name" doc:"Name of the person."`
	Role      roleText     `json:"role" doc:"What the member may do."`
	Status    MemberStatus `json:"status" volatile:"true" doc:"Whether the member has accepted the invitation."`
	CreatedAt httpapi.Time `json:"created_at" doc:"When the member was added."`
	Version   int64        `json:"version" doc:"Counts changes of the member; see If-Match."`
}

// Noun is what documents call it.
func (memberBody) Noun() string { return "member" }

type listMembersBody struct {
	Members []memberBody `json:"members" doc:"The members of this page, newest first."`
	httpapi.CursorPaging
}

// memberCursor orders members by when they were added, and those of one moment
// by their ids.
const memberCursor = httpapi.Cursor[uuid.UUID]("members")

func toMemberCursor(m Member) string {
	return memberCursor.Text(httpapi.Place[uuid.UUID]{At: m.CreatedAt.UnixMicro(), Tie: m.UserID})
}

// fromMemberCursor reads a cursor. Without one every member is below the result.
func fromMemberCursor(text string) (MemberPlace, error) {
	if text == "" {
		return MemberPlace{CreatedAt: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), UserID: uuid.Max}, nil
	}
	p, err := memberCursor.Place(text)
	return MemberPlace{CreatedAt: time.UnixMicro(p.At), UserID: p.Tie}, err
}

func (s *Service) getMembers(ctx context.Context, in *listMembersInput) (*httpapi.Body[listMembersBody], error) {
	below, err := fromMemberCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	f := MemberFilter{
		Status: in.Status, Search: in.Search,
		Below: below, Limit: in.Limit, Offset: in.Offset, Count: in.IncludeTotal,
	}
	for _, role := range in.Role {
		f.Role = append(f.Role, principal.Role(role))
	}
	f.CreatedAfter, f.CreatedBefore = in.Bounds()
	members, total, err := s.Members(ctx, principal.From(ctx).Org, f)
	if err != nil {
		return nil, err
	}
	var out httpapi.Body[listMembersBody]
	members, out.Body.CursorPaging = httpapi.Cut(in.CursorPage, members, total, toMemberCursor)
	out.Body.Members = make([]memberBody, len(members))
	for i, m := range members {
		out.Body.Members[i] = toMemberBody(m)
	}
	return &out, nil
}

func (s *Service) postMember(ctx context.Context, in *httpapi.Body[inviteBody]) (*httpapi.Made[memberBody], error) {
	return commit(ctx, s, func(tx postgres.Tx) (*httpapi.Made[memberBody], error) {
		m, err := s.InviteTx(ctx, tx, Member{Email: in.Body.Email, Name: in.Body.Name, Role: principal.Role(in.Body.Role)})
		if err != nil {
			return nil, err
		}
		return &httpapi.Made[memberBody]{
			ETag: httpapi.ETag(m.Version), Location: membersPath + "/" + m.UserID.String(), Body: toMemberBody(m),
		}, nil
	})
}

func (s *Service) getMember(ctx context.Context, in *MemberPath) (*httpapi.Output[memberBody], error) {
	user, err := parseUser(in.UserID)
	if err != nil {
		return nil, err
	}
	m, err := s.Member(ctx, principal.From(ctx).Org, user)
	if err != nil {
		return nil, err
	}
	return toMemberOutput(m), nil
}

func (s *Service) patchMember(ctx context.Context, in *updateMemberInput) (*httpapi.Output[memberBody], error) {
	user, err := parseUser(in.UserID)
	if err != nil {
		return nil, err
	}
	expected, err := in.Expected(in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	return commit(ctx, s, func(tx postgres.Tx) (*httpapi.Output[memberBody], error) {
		m, err := s.UpdateMemberTx(ctx, tx, user, expected, func(m *Member) {
			in.Body.Name.Apply(&m.Name)
			in.Body.Role.Apply((*roleText)(&m.Role))
		})
		if err != nil {
			return nil, err
		}
		return toMemberOutput(m), nil
	})
}

func (s *Service) deleteMember(ctx context.Context, in *MemberPath) (*httpapi.DeletedOutput[string], error) {
	user, err := parseUser(in.UserID)
	if err != nil {
		return nil, err
	}
	return commit(ctx, s, func(tx postgres.Tx) (*httpapi.DeletedOutput[string], error) {
		return httpapi.NewDeleted(user.String()), s.RemoveMemberTx(ctx, tx, user)
	})
}

func toMemberOutput(m Member) *httpapi.Output[memberBody] {
	return &httpapi.Output[memberBody]{ETag: httpapi.ETag(m.Version), Body: toMemberBody(m)}
}

// Shown is the member as getMember shows it.
func (m Member) Shown() any { return toMemberBody(m) }

// Revision counts changes of the member.
func (m Member) Revision() int64 { return m.Version }

func toMemberBody(m Member) memberBody {
	return memberBody{
		ID: m.UserID.String(), Email: m.Email, Name: httpapi.OrNull(m.Name), Role: roleText(m.Role), Status: m.Status,
		CreatedAt: httpapi.Time(m.CreatedAt), Version: m.Version,
	}
}

// roleText is the role of a member.
type roleText string

// Schema lists the roles.
func (roleText) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(principal.Roles...) }
