package account

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy/account/internal/db"
)

type store struct{ db *postgres.DB }

func (store) inviteTx(ctx context.Context, tx postgres.Tx, member uuid.UUID, hash []byte, by *uuid.UUID, at, expires time.Time) error {
	err := db.New(tx).PutInvitation(ctx, db.PutInvitationParams{
		OrgID: tx.Org, UserID: member, Hash: hash, InvitedBy: by, CreatedAt: at, ExpiresAt: expires,
	})
	return postgres.Wrap(err, "insert invitation")
}

func (s store) invitation(ctx context.Context, t token) (uuid.UUID, time.Time, error) {
	r, err := db.New(s.db.Org(t.org)).FindInvitation(ctx, db.FindInvitationParams{OrgID: t.org, Hash: t.hash})
	return r.UserID, r.ExpiresAt, postgres.Missing(err, "find invitation", ErrInvitation)
}

// acceptTx uses an invitation up: of two who accept it one does.
func (store) acceptTx(ctx context.Context, tx postgres.Tx, member uuid.UUID, hash []byte, password string, at time.Time) error {
	q := db.New(tx)
	by, err := q.TakeInvitation(ctx, db.TakeInvitationParams{OrgID: tx.Org, UserID: member, Hash: hash, At: at})
	if err != nil {
		return postgres.Missing(err, "take invitation", ErrInvitation)
	}
	n, err := q.ActivateMember(ctx, db.ActivateMemberParams{OrgID: tx.Org, UserID: member, InvitedBy: by})
	if err := postgres.Changed(n, err, "activate member", ErrInvitation); err != nil {
		return err
	}
	if err := q.PutAccount(ctx, db.PutAccountParams{OrgID: tx.Org, UserID: member, Password: password, At: at}); err != nil {
		return postgres.Wrap(err, "put account")
	}
	err = q.DeleteSessionsOf(ctx, db.DeleteSessionsOfParams{OrgID: tx.Org, UserID: member, UsedBefore: at, BeganBefore: at})
	return postgres.Wrap(err, "end sessions")
}

func (store) hasAccountTx(ctx context.Context, tx postgres.Tx, member uuid.UUID) (bool, error) {
	n, err := db.New(tx).CountAccounts(ctx, db.CountAccountsParams{OrgID: tx.Org, UserID: member})
	return n > 0, postgres.Wrap(err, "find account of member")
}

// account is the member with an e-mail address and their password; neither if there is no account.
func (s store) account(ctx context.Context, org principal.OrgID, email string) (uuid.UUID, string, error) {
	r, err := db.New(s.db.Org(org)).FindAccount(ctx, db.FindAccountParams{OrgID: org, Email: email})
	if postgres.NoRows(err) {
		return uuid.Nil, "", nil
	}
	return r.UserID, r.Password, postgres.Wrap(err, "find account")
}

func (store) beginTx(ctx context.Context, tx postgres.Tx, member uuid.UUID, hash []byte, at, usedBefore, beganBefore time.Time) error {
	q := db.New(tx)
	err := q.DeleteSessionsOf(ctx, db.DeleteSessionsOfParams{OrgID: tx.Org, UserID: member, UsedBefore: usedBefore, BeganBefore: beganBefore})
	if err != nil {
		return postgres.Wrap(err, "end old sessions")
	}
	return postgres.Wrap(q.InsertSession(ctx, db.InsertSessionParams{OrgID: tx.Org, Hash: hash, UserID: member, At: at}), "insert session")
}

func (s store) session(ctx context.Context, t token) (user uuid.UUID, created, used time.Time, err error) {
	r, err := db.New(s.db.Org(t.org)).FindSession(ctx, db.FindSessionParams{OrgID: t.org, Hash: t.hash})
	return r.UserID, r.CreatedAt, r.UsedAt, postgres.Missing(err, "find session", ErrNoSession)
}

func (s store) touch(ctx context.Context, t token, at time.Time) error {
	return postgres.Wrap(db.New(s.db.Org(t.org)).TouchSession(ctx, db.TouchSessionParams{OrgID: t.org, Hash: t.hash, At: at}), "touch session")
}

func (store) endTx(ctx context.Context, tx postgres.Tx, hash []byte) error {
	return postgres.Wrap(db.New(tx).DeleteSession(ctx, db.DeleteSessionParams{OrgID: tx.Org, Hash: hash}), "end session")
}
