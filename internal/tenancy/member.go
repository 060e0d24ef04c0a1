package tenancy

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Faults of members.
var (
	ErrMemberNotFound = fault.New(fault.NotFound, "member_not_found", "The member does not exist.")
	ErrMemberExists   = fault.New(fault.Conflict, "already_exists", "A member with this e-mail address already exists.")
	ErrLastOwner      = fault.New(fault.Forbidden, "last_owner", "An organization needs at least one owner. Give another member the role owner first.")
	ErrOwnersOnly     = fault.New(fault.Forbidden, "owners_only", "Only an owner, or a service key created by an owner, can manage owners.")
)

// MemberStatus says whether a member has come in yet: has accepted an invitation, or
// made a request with a personal key. Who speaks for them with X-On-Behalf-Of is
// somebody else.
type MemberStatus string

// The statuses of members.
const (
	MemberInvited MemberStatus = "invited"
	MemberActive  MemberStatus = "active"
)

// Member is a person in an organization.
type Member struct {
	UserID    uuid.UUID
	Email     string
	Name      string
	Role      principal.Role
	Status    MemberStatus
	CreatedAt time.Time
	// Version counts changes of the member.
	Version int64
}

// MemberFilter selects members; an empty field matches everything, and a list
// matches any of its values.
type MemberFilter struct {
	Status                      []MemberStatus
	Role                        []principal.Role
	Search                      string
	CreatedAfter, CreatedBefore *time.Time
	// Below continues after a member.
	Below         MemberPlace
	Limit, Offset int
	// Count asks for the number of members on all pages.
	Count bool
}

// MemberPlace is where a member stands in the list, which is newest first.
type MemberPlace struct {
	CreatedAt time.Time
	UserID    uuid.UUID
}

// Members returns a page of members, newest first, with one member more than the
// limit if there is a next page.
func (s *Service) Members(ctx context.Context, org principal.OrgID, f MemberFilter) ([]Member, int64, error) {
	return s.store.members(ctx, org, f)
}

// Member returns one member.
func (s *Service) Member(ctx context.Context, org principal.OrgID, user uuid.UUID) (Member, error) {
	return s.store.member(ctx, s.db.Org(org), org, user)
}

// MemberTx returns one member.
func (s *Service) MemberTx(ctx context.Context, tx postgres.Tx, user uuid.UUID) (Member, error) {
	return s.store.member(ctx, tx, tx.Org, user)
}

// RolesTx returns the roles that people have now. Those who are not members have none.
func (s *Service) RolesTx(ctx context.Context, tx postgres.Tx, users ...uuid.UUID) (map[uuid.UUID]principal.Role, error) {
	return s.store.rolesTx(ctx, tx, users)
}

// Named returns the members that texts name, by their ids or their e-mail addresses, also
// those who have left.
func (s *Service) Named(ctx context.Context, org principal.OrgID, names ...string) ([]uuid.UUID, error) {
	var asked []string
	for _, n := range names {
		if n = strings.ToLower(strings.TrimSpace(n)); n != "" {
			asked = append(asked, n)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	return s.store.named(ctx, org, asked)
}

// InviteTx adds a member who has not come in yet.
func (s *Service) InviteTx(ctx context.Context, tx postgres.Tx, m Member) (Member, error) {
	if m.Role == principal.Owner && !mayTouchOwners(ctx) {
		return Member{}, ErrOwnersOnly
	}
	m.Status = MemberInvited
	return s.addMemberTx(ctx, tx, m)
}

func (s *Service) addMemberTx(ctx context.Context, tx postgres.Tx, m Member) (Member, error) {
	m.UserID = uuid.Must(uuid.NewV7())
	m.CreatedAt, m.Version = s.now(), 1
	if err := s.store.insertMemberTx(ctx, tx, m); err != nil {
		return Member{}, err
	}
	return m, s.log.AuditTx(ctx, tx, change.Entry{Event: eventMemberAdded, ID: m.UserID.String(), After: m})
}

// UpdateMemberTx changes a member's name or role. The last owner stays one. A
// nonzero expected version must be the current one.
func (s *Service) UpdateMemberTx(ctx context.Context, tx postgres.Tx, user uuid.UUID, expected int64, edit func(*Member)) (Member, error) {
	var owners int64
	return change.Update(change.Edit[Member]{
		Expected: expected, Conflict: ErrVersionConflict,
		Lock: func() (m Member, err error) {
			m, owners, err = s.lockMemberTx(ctx, tx, user)
			return m, err
		},
		Apply: func(m *Member) error { edit(m); return nil },
		Save: func(before Member, after *Member) error {
			if (before.Role == principal.Owner || after.Role == principal.Owner) && !mayTouchOwners(ctx) {
				return ErrOwnersOnly
			}
			if before.Role == principal.Owner && after.Role != principal.Owner && owners == 1 {
				return ErrLastOwner
			}
			after.Version = before.Version + 1
			return s.store.updateMemberTx(ctx, tx, *after)
		},
		Audit: func(before, after Member) error {
			return s.log.AuditTx(ctx, tx, change.Entry{Event: eventMemberUpdated, ID: user.String(), Before: before, After: after})
		},
	})
}

// RemoveMemberTx takes a member out, ends their personal keys and deletes their
// personal views. Service keys and views of the organization stay, whoever made
// them.
func (s *Service) RemoveMemberTx(ctx context.Context, tx postgres.Tx, user uuid.UUID) error {
	m, owners, err := s.lockMemberTx(ctx, tx, user)
	if err != nil {
		return err
	}
	if m.Role == principal.Owner {
		if !mayTouchOwners(ctx) {
			return ErrOwnersOnly
		}
		if owners == 1 {
			return ErrLastOwner
		}
	}
	if err := s.store.removeMemberTx(ctx, tx, user, s.now()); err != nil {
		return err
	}
	revoked, err := s.store.revokeKeysOfTx(ctx, tx, user, s.now())
	if err != nil {
		return err
	}
	if err := s.auditRevokedTx(ctx, tx, revoked); err != nil {
		return err
	}
	if err := (views{s}).deleteOfTx(ctx, tx, user); err != nil {
		return err
	}
	return s.log.AuditTx(ctx, tx, change.Entry{Event: eventMemberRemoved, ID: user.String(), Before: m})
}

// lockMemberTx reads a member and counts the owners. Changes of one
// organization's members happen one after the other, so the count holds.
func (s *Service) lockMemberTx(ctx context.Context, tx postgres.Tx, user uuid.UUID) (Member, int64, error) {
	if _, err := s.store.lockOrganizationTx(ctx, tx); err != nil {
		return Member{}, 0, err
	}
	m, err := s.store.member(ctx, tx, tx.Org, user)
	if err != nil {
		return Member{}, 0, err
	}
	owners, err := s.store.ownersTx(ctx, tx)
	return m, owners, err
}

// mayTouchOwners reports whether the caller may decide about owners: an owner,
// a service key that one made, or the operator of the deployment.
func mayTouchOwners(ctx context.Context) bool {
	caller := principal.From(ctx)
	return caller.Operator() || caller.OverOwners
}
