package account

import (
	"context"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/platform/secret"
	"github.com/assayhq/assay/internal/tenancy"
)

// How long a session lasts: without a request, and at most.
const (
	sessionIdle = 12 * time.Hour
	sessionMost = 7 * 24 * time.Hour
)

// What callers are refused with.
var (
	// ErrSignIn does not say what is wrong: not everybody may know who has an account.
	ErrSignIn    = fault.New(fault.Unauthorized, "sign_in_failed", "The organization, the e-mail address or the password is wrong.")
	ErrNoSession = fault.New(fault.Unauthorized, "session_ended", "You are not signed in, or were for too long. Sign in.")
)

// Session is a browser in which somebody has just signed in.
type Session struct {
	Token  secret.Text
	Caller principal.Caller
}

// SignIn begins a session of the member with an e-mail address. The session that the browser had
// before ends.
func (s *Service) SignIn(ctx context.Context, org principal.OrgID, email, password, before string) (Session, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	if err := s.attempt(ctx, org.String()+"/"+email); err != nil {
		return Session{}, err
	}
	user, stored, err := s.store.account(ctx, org, email)
	if err != nil {
		return Session{}, err
	}
	same, err := s.hasher.matches(ctx, password, stored)
	if err != nil {
		return Session{}, err
	}
	if !same {
		return Session{}, ErrSignIn
	}
	m, err := s.tenancy.Member(ctx, org, user)
	if err != nil {
		return Session{}, orElse(unlessMissing(err), ErrSignIn)
	}
	caller, err := s.caller(ctx, org, m)
	if err != nil {
		return Session{}, orElse(unlessMissing(err), ErrSignIn)
	}
	ctx = principal.With(ctx, caller)
	made, err := change.Do(ctx, s.log, func(tx postgres.Tx) (*Session, error) {
		if err := s.endTx(ctx, tx, before); err != nil {
			return nil, err
		}
		if err := s.recordTx(ctx, tx, eventSignedIn, m); err != nil {
			return nil, err
		}
		return s.beginTx(ctx, tx, caller)
	})
	if err != nil {
		return Session{}, err
	}
	return *made, nil
}

// unlessMissing is an error, unless it says that something does not exist.
func unlessMissing(err error) error {
	if fault.IsNotFound(err) {
		return nil
	}
	return err
}

// beginTx begins a session, and forgets those of the member that are over.
func (s *Service) beginTx(ctx context.Context, tx postgres.Tx, caller principal.Caller) (*Session, error) {
	t, at := newToken(tx.Org), s.now()
	err := s.store.beginTx(ctx, tx, *caller.User, t.hash, at, at.Add(-sessionIdle), at.Add(-sessionMost))
	return &Session{Token: t.text, Caller: caller}, err
}

// endTx ends the session of a token, if it is one of this organization.
func (s *Service) endTx(ctx context.Context, tx postgres.Tx, text string) error {
	t, ok := parseToken(text)
	if !ok || t.org != tx.Org {
		return nil
	}
	return s.store.endTx(ctx, tx, t.hash)
}

// SignOut ends the caller's session.
func (s *Service) SignOut(ctx context.Context, text string) error {
	return postgres.InTx(ctx, s.db, principal.From(ctx).Org, func(tx postgres.Tx) error {
		if err := s.endTx(ctx, tx, text); err != nil {
			return err
		}
		m, err := s.tenancy.MemberTx(ctx, tx, *principal.From(ctx).User)
		if err != nil {
			return err
		}
		return s.recordTx(ctx, tx, eventSignedOut, m)
	})
}

// Find returns who has a session. A membership that ended has ended its sessions.
func (s *Service) Find(ctx context.Context, text string) (principal.Caller, error) {
	t, ok := parseToken(text)
	if !ok {
		return principal.Caller{}, ErrNoSession
	}
	user, created, used, err := s.store.session(ctx, t)
	if err != nil {
		return principal.Caller{}, err
	}
	now := s.now()
	if now.Sub(created) >= sessionMost || now.Sub(used) >= sessionIdle {
		return principal.Caller{}, ErrNoSession
	}
	m, err := s.tenancy.Member(ctx, t.org, user)
	if err != nil {
		return principal.Caller{}, orElse(unlessMissing(err), ErrNoSession)
	}
	caller, err := s.caller(ctx, t.org, m)
	if err != nil {
		return principal.Caller{}, orElse(unlessMissing(err), ErrNoSession)
	}
	if now.Sub(used) >= time.Minute {
		err = s.store.touch(ctx, t, now)
	}
	return caller, err
}

// recordTx records what happened to a member's account, of which the member itself shows nothing.
func (s *Service) recordTx(ctx context.Context, tx postgres.Tx, happened event.Type, m tenancy.Member) error {
	return s.log.AuditTx(ctx, tx, change.Entry{Event: happened, ID: m.UserID.String(), Before: m, After: m})
}
