package approval

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
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
	r, err := s.evidence.LockTx(ctx, tx, kind.Approvals, id)
	if fault.IsNotFound(err) {
		return evidence.Record{}, ErrNotFound
	}
	if err != nil {
		return evidence.Record{}, err
	}
	var by ballot
	if c.Decision != "" {
		if by, err = s.ballotTx(ctx, tx, &r, c.Decision); err != nil {
			return evidence.Record{}, err
		}
	}
	if c.Expected != 0 && c.Expected != r.Version {
		return evidence.Record{}, evidence.ErrVersionConflict.With("currentVersion", r.Version)
	}
	set, at := kind.Values{}, s.now()
	if over(&r, at) && (c.Decision != "" || c.State != "") {
		return evidence.Record{}, ErrExpired
	}
	if c.Decision != "" {
		if err := s.voteTx(ctx, tx, &r, c, by, at, set); err != nil {
			return evidence.Record{}, err
		}
	}
	if c.State != "" {
		set[kind.FieldState] = kind.TextValue(c.State)
		if c.Comment != "" {
			set[kind.FieldComment] = kind.TextValue(c.Comment)
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
	return (r.State() == pending || r.State() == approved) && !r.Values.ExpiresAt().After(now)
}

// ballot is a person who may vote, and the separation of duties that holds for the vote.
type ballot struct {
	person     uuid.UUID
	separation string
	requesters jsontext.Value // all who asked for the action so far
}

// ballotTx refuses a vote of somebody who may not decide, whatever the state of the approval.
func (s *Service) ballotTx(ctx context.Context, tx postgres.Tx, r *evidence.Record, decision string) (b ballot, err error) {
	if err := principal.RequirePerson(ctx); err != nil {
		return b, err
	}
	caller := principal.From(ctx)
	if !slices.ContainsFunc(requirements(r), func(q Requirement) bool { return q.has(caller.User.String(), caller.Role) }) {
		return b, ErrNotApprover
	}
	if b.separation, err = s.separationTx(ctx, tx); err != nil {
		return b, err
	}
	if b.person = *caller.User; decision != approved { // anybody may say no
		return b, nil
	}
	all, err := s.evidence.AskersTx(ctx, tx, r)
	if err != nil {
		return b, err
	}
	if b.requesters, err = json.Marshal(all); err != nil {
		return b, err
	}
	asked, err := s.askedTx(ctx, tx, []uuid.UUID{b.person}, b.separation, askers(b.requesters))
	if asked {
		err = ErrSelfApproval
	}
	return b, err
}

// voteTx counts the caller's vote, which is cast at one moment.
func (s *Service) voteTx(ctx context.Context, tx postgres.Tx, r *evidence.Record, c Change, by ballot, at time.Time, set kind.Values) error {
	if r.State() != pending {
		return r.Kind.Moves.Check(ErrNotPending, r.State(), c.Decision)
	}
	if err := s.onceTx(ctx, tx, r.ID, by); err != nil {
		return err
	}
	caller, yes := principal.From(ctx), c.Decision == approved
	err := s.store.voteTx(ctx, tx, r.ID, cast{by.person, yes, []uuid.UUID{by.person}}, by.separation, at)
	if err != nil {
		return err
	}
	added := vote{
		Actor: voter{"user", by.person, caller.Key, caller.Asserted}, Role: caller.Role, Decision: c.Decision, Comment: c.Comment,
		At: kind.TimeValue(at), Separation: by.separation,
	}
	if set[kind.FieldVotes], err = json.Marshal(append(votesOf(r), added)); err != nil {
		return err
	}
	if yes {
		set[kind.FieldRequesters] = by.requesters // none of them has approved it, when it is used
	}
	standing, err := s.standingTx(ctx, tx, votesOf(r))
	if err != nil {
		return err
	}
	if !yes || met(requirements(r), append(standing, added)) {
		set[kind.FieldState], set[kind.FieldDecision] = kind.TextValue(c.Decision), kind.TextValue(c.Decision)
		set[kind.FieldDecidedAt] = kind.TimeValue(at)
	}
	return nil
}

// onceTx refuses a vote of somebody who has voted before, also as another member: unless duties
// are not separated, two members whom one person may stand behind are one.
func (s *Service) onceTx(ctx context.Context, tx postgres.Tx, id int64, by ballot) error {
	votes, err := s.store.votesTx(ctx, tx, id)
	if err != nil {
		return err
	}
	voters := []uuid.UUID{by.person}
	for _, v := range votes {
		if v.user == by.person {
			return ErrVotedBefore
		}
		voters = append(voters, v.user)
	}
	if len(votes) == 0 || by.separation == tenancy.SeparationOff {
		return nil
	}
	inviters, err := tenancy.InvitersTx(ctx, tx, voters...)
	if err == nil && slices.ContainsFunc(votes, func(v cast) bool { return inviters.OneHand(v.user, by.person) }) {
		err = ErrSameHand
	}
	return err
}

// narrow makes an approval smaller: less money, less time.
func narrow(r *evidence.Record, c Change, set kind.Values) error {
	if (c.MaxAmount != "" || !c.ExpiresAt.IsZero()) && r.State() != pending && r.State() != approved {
		return ErrNotPending
	}
	if c.MaxAmount != "" {
		limit, ok := evidence.Amount(c.MaxAmount)
		if !ok {
			return fault.Invalid("body", "/constraints/maxAmount", "pattern", "must be an amount from 0, such as 100.00")
		}
		asked, ok := evidence.Amount(r.Values.Text(kind.FieldAmount))
		if !ok {
			return fault.Invalid("body", "/constraints/maxAmount", "not_applicable", "cannot be set: the action has no amount")
		}
		if was, ok := evidence.Amount(r.Values.Constraints().MaxAmount()); ok && was.Cmp(asked) < 0 {
			asked = was
		}
		if limit.Cmp(asked) > 0 {
			return fault.Invalid("body", "/constraints/maxAmount", "max", "must be at most what was asked for or set before: an approver can only narrow")
		}
		set[kind.FieldConstraints] = kind.Values{kind.FieldMaxAmount: kind.TextValue(c.MaxAmount)}.JSON()
	}
	if !c.ExpiresAt.IsZero() {
		if c.ExpiresAt.After(r.Values.ExpiresAt()) {
			return fault.Invalid("body", "/expiresAt", "max", "must not be later than it is: an approver can only shorten the time")
		}
		set[kind.FieldExpiresAt] = kind.TimeValue(c.ExpiresAt)
	}
	return nil
}

// clean removes from what a person writes what the organization does not want to have
// stored.
func (s *Service) clean(ctx context.Context, c Change) (Change, error) {
	if c.Comment == "" {
		return c, nil
	}
	cleaner, err := s.evidence.Cleaner(ctx, principal.From(ctx).Org)
	if err != nil {
		return c, err
	}
	c.Comment = cleaner.Text(c.Comment)
	return c, nil
}
