package account

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy"
)

// invitationTime is how long an invitation can be accepted.
const invitationTime = 7 * 24 * time.Hour

// What callers are refused with.
var (
	ErrAccepted   = fault.New(fault.Conflict, "already_accepted", "The member has accepted an invitation already. Somebody who has lost their password is removed and invited again, or gets a link from the operator: `assay admin invite`.")
	ErrInvitation = fault.New(fault.NotFound, "invitation_not_found", "The invitation does not exist, was accepted already, or has expired. Ask for a new one.")
)

// Invitation is a link with which a member comes in, once.
type Invitation struct {
	Member    uuid.UUID
	Link      secret.Text // it is shown once
	ExpiresAt time.Time
}

// Invite makes a link for a member, on the operator's word. Whoever has an account gets a new
// password with it.
func (s *Service) Invite(ctx context.Context, org principal.OrgID, member uuid.UUID) (made Invitation, err error) {
	err = postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		made, err = s.InviteTx(ctx, tx, member)
		return err
	})
	return made, err
}

// InviteNamed makes a link for the member with an e-mail address or an id, on the operator's word.
func (s *Service) InviteNamed(ctx context.Context, org principal.OrgID, name string) (Invitation, error) {
	named, err := s.tenancy.Named(ctx, org, name)
	if err != nil {
		return Invitation{}, err
	}
	for _, member := range named {
		if _, err := s.tenancy.Member(ctx, org, member); !fault.IsNotFound(err) {
			return s.Invite(ctx, org, member)
		}
	}
	return Invitation{}, tenancy.ErrMemberNotFound
}

// InviteTx makes a link for a member; an earlier one no longer works. Whoever sees a link could
// use it: only people get to see one, and never one for somebody who has come in.
func (s *Service) InviteTx(ctx context.Context, tx postgres.Tx, member uuid.UUID) (Invitation, error) {
	m, err := s.tenancy.MemberTx(ctx, tx, member)
	if err != nil {
		return Invitation{}, err
	}
	caller := principal.From(ctx)
	if !caller.Operator() {
		if err := principal.RequirePerson(ctx); err != nil {
			return Invitation{}, err
		}
		if m.Role == principal.Owner && !caller.OverOwners {
			return Invitation{}, tenancy.ErrOwnersOnly
		}
		if there, err := s.store.hasAccountTx(ctx, tx, member); err != nil || there {
			return Invitation{}, orElse(err, ErrAccepted)
		}
	}
	t, at := newToken(tx.Org), s.now()
	if err := s.store.inviteTx(ctx, tx, member, t.hash, caller.User, at, at.Add(invitationTime)); err != nil {
		return Invitation{}, err
	}
	made := Invitation{Member: member, Link: secret.Text(s.cfg.link(t.text.Reveal())), ExpiresAt: at.Add(invitationTime)}
	return made, s.recordTx(ctx, tx, eventInvited, m)
}

// Invited is who an invitation is for.
type Invited struct {
	Organization, Email, Name string
	member                    tenancy.Member
}

// Invited returns who an invitation is for, as long as it can be accepted.
func (s *Service) Invited(ctx context.Context, text string) (Invited, error) {
	t, ok := parseToken(text)
	if !ok {
		return Invited{}, ErrInvitation
	}
	user, expires, err := s.store.invitation(ctx, t)
	if err != nil {
		return Invited{}, err
	}
	if !s.now().Before(expires) {
		return Invited{}, ErrInvitation
	}
	m, err := s.tenancy.Member(ctx, t.org, user)
	if err != nil {
		return Invited{}, ErrInvitation
	}
	o, err := s.tenancy.Organization(ctx, t.org)
	if err != nil || o.Status == tenancy.StatusDeleting {
		return Invited{}, ErrInvitation
	}
	return Invited{Organization: o.Name, Email: m.Email, Name: m.Name, member: m}, nil
}

// Accept lets a member in: they choose a password, and a session begins. Sessions from before end.
func (s *Service) Accept(ctx context.Context, text, password string) (Session, error) {
	t, ok := parseToken(text)
	if !ok {
		return Session{}, ErrInvitation
	}
	if err := s.attempt(ctx, hex.EncodeToString(t.hash)); err != nil {
		return Session{}, err
	}
	in, err := s.Invited(ctx, text)
	if err != nil {
		return Session{}, err
	}
	if err := acceptable(password, in.Email); err != nil {
		return Session{}, err
	}
	hash, err := s.hasher.hash(ctx, password)
	if err != nil {
		return Session{}, err
	}
	caller, err := s.caller(ctx, t.org, in.member)
	if err != nil {
		return Session{}, err
	}
	ctx = principal.With(ctx, caller)
	made, err := change.Do(ctx, s.log, func(tx postgres.Tx) (*Session, error) {
		if err := s.store.acceptTx(ctx, tx, in.member.UserID, t.hash, hash, s.now()); err != nil {
			return nil, err
		}
		if err := s.recordTx(ctx, tx, eventAccepted, in.member); err != nil {
			return nil, err
		}
		return s.beginTx(ctx, tx, caller)
	})
	if err != nil {
		return Session{}, err
	}
	return *made, nil
}

func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
