package approval

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/evidence"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/tenancy"
)

// Change is what a caller wants of an approval.
type Change struct {
	// Decision is approved or rejected; empty if the caller does not vote.
	Decision string
	Comment  string
	// State is cancelled or revoked; empty if it stays.
	State string
	// MaxAmount narrows what is approved; empty leaves it as it is.
	MaxAmount string
	// ExpiresAt shortens the time; zero leaves it.
	ExpiresAt time.Time
	Expected  int64
}

// ChangeTx decides on an approval, takes it back or narrows it.
func (s *Service) ChangeTx(ctx context.Context, tx postgres.Tx, id int64, c Change) (evidence.Record, error) {
	r, err := s.evidence.LockTx(ctx, tx, evidence.Approvals, id)
	if fault.IsNotFound(err) {
		return evidence.Record{}, ErrNotFound
	}
	if err != nil {
		return evidence.Record{}, err
	}
	if c.Expected != 0 && c.Expected != r.Version {
		return evidence.Record{}, evidence.ErrVersionConflict.With("currentVersion", r.Version)
	}
	set := evidence.Values{}
	if over(&r, s.now()) && (c.Decision != "" || c.State != "") {
		return evidence.Record{}, ErrExpired
	}
	if c.Decision != "" {
		if err := s.voteTx(ctx, tx, &r, c, set); err != nil {
			return evidence.Record{}, err
		}
	}
	if c.State != "" {
		set["state"] = evidence.Text(c.State)
		if c.Comment != "" {
			set["comment"] = evidence.Text(c.Comment)
		}
	}
	if err := narrow(&r, c, set); err != nil {
		return evidence.Record{}, err
	}
	if len(set) == 0 {
		return r, nil
	}
	if !c.ExpiresAt.IsZero() {
		if err := s.evidence.EndTx(ctx, tx, id, c.ExpiresAt); err != nil {
			return evidence.Record{}, err
		}
	}
	return s.evidence.MoveTx(ctx, tx, r, set)
}

// over reports whether the time of an approval that could still be used is over.
func over(r *evidence.Record, now time.Time) bool {
	return (r.State() == pending || r.State() == approved) && !r.Values.Time("expires_at").After(now)
}

// voteTx counts the caller's vote.
func (s *Service) voteTx(ctx context.Context, tx postgres.Tx, r *evidence.Record, c Change, set evidence.Values) error {
	if r.State() != pending {
		return r.Kind.Moves.Check(ErrNotPending, r.State(), c.Decision)
	}
	caller := principal.From(ctx)
	all := requirements(r)
	if !slices.ContainsFunc(all, func(q Requirement) bool { return q.has(caller.User.String(), caller.Role) }) {
		return ErrNotApprover
	}
	separation, err := s.separationTx(ctx, tx)
	if err != nil {
		return err
	}
	mine, err := s.tenancy.PeopleTx(ctx, tx)
	if err != nil {
		return err
	}
	yes := c.Decision == approved
	if yes { // anybody may say no
		asked, err := s.askedTx(ctx, tx, hands{mine, []int64{caller.Key}}, separation, askers(r))
		if err != nil {
			return err
		}
		if asked {
			return ErrSelfApproval
		}
	}
	if err := s.onceTx(ctx, tx, r.ID, mine, separation); err != nil {
		return err
	}
	if err := s.store.voteTx(ctx, tx, r.ID, cast{*caller.User, yes, mine}, separation, s.now()); err != nil {
		return err
	}
	added := vote{
		Actor: voter{"user", *caller.User, caller.Key, caller.Asserted}, Role: caller.Role, Decision: c.Decision, Comment: c.Comment,
		At: evidence.Time(s.now()), Separation: separation,
	}
	if set["votes"], err = json.Marshal(append(votesOf(r), added)); err != nil {
		return err
	}
	standing, err := s.standingTx(ctx, tx, votesOf(r))
	if err != nil {
		return err
	}
	if !yes || met(all, append(standing, added)) {
		set["state"], set["decision"], set["decided_at"] = evidence.Text(c.Decision), evidence.Text(c.Decision), evidence.Time(s.now())
	}
	return nil
}

// onceTx refuses a vote of somebody who has voted before. Under key_owner, whoever made
// the keys of two voters counts as both of them.
func (s *Service) onceTx(ctx context.Context, tx postgres.Tx, id int64, mine []uuid.UUID, separation string) error {
	votes, err := s.store.votesTx(ctx, tx, id)
	if err != nil {
		return err
	}
	for _, v := range votes {
		switch {
		case v.user == mine[0]:
			return ErrVotedBefore
		case separation == tenancy.SeparationKeyOwner && shared(v.people, mine):
			return ErrSameHand
		}
	}
	return nil
}

// narrow makes an approval smaller: less money, less time.
func narrow(r *evidence.Record, c Change, set evidence.Values) error {
	if (c.MaxAmount != "" || !c.ExpiresAt.IsZero()) && r.State() != pending && r.State() != approved {
		return ErrNotPending
	}
	if c.MaxAmount != "" {
		limit, ok := evidence.Amount(c.MaxAmount)
		if !ok {
			return fault.Invalid("body", "/constraints/maxAmount", "pattern", "must be an amount from 0, such as 100.00")
		}
		asked, ok := evidence.Amount(r.Values.Text("amount"))
		if !ok {
			return fault.Invalid("body", "/constraints/maxAmount", "not_applicable", "cannot be set: the action has no amount")
		}
		if was, ok := evidence.Amount(r.Values.Within("constraints").Text("max_amount")); ok && was.Cmp(asked) < 0 {
			asked = was
		}
		if limit.Cmp(asked) > 0 {
			return fault.Invalid("body", "/constraints/maxAmount", "max", "must be at most what was asked for or set before: an approver can only narrow")
		}
		set["constraints"] = evidence.Values{"max_amount": evidence.Text(c.MaxAmount)}.JSON()
	}
	if !c.ExpiresAt.IsZero() {
		if c.ExpiresAt.After(r.Values.Time("expires_at")) {
			return fault.Invalid("body", "/expiresAt", "max", "must not be later than it is: an approver can only shorten the time")
		}
		set["expires_at"] = evidence.Time(c.ExpiresAt)
	}
	return nil
}
