package approval

import (
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy"
)

// Refusal is why an approval does not cover an action. The zero value means that it does.
type Refusal struct {
	Code, Message string
}

// UseTx uses an approval for an action, once, if it covers it. The use is part of the
// transaction: it counts if and only if the decision that rests on it is stored.
//
// An approval that is not used is not locked: whoever is refused asks for another one next,
// and holds nothing that others wait for.
func (s *Service) UseTx(ctx context.Context, tx postgres.Tx, id int64, a Action) (Refusal, error) {
	r, err := s.evidence.FindTx(ctx, tx, kind.Approvals, id)
	if fault.IsNotFound(err) {
		return Refusal{"approval_unknown", "there is no approval with this id"}, nil
	}
	if err != nil {
		return Refusal{}, err
	}
	// Nobody votes on an approval that is approved, so these are all votes.
	standing, err := s.standingTx(ctx, tx, votesOf(&r))
	if err != nil {
		return Refusal{}, err
	}
	if no := s.usable(&r, a, standing); no != (Refusal{}) {
		return no, nil
	}
	if r, err = s.evidence.LockTx(ctx, tx, kind.Approvals, id); err != nil {
		return Refusal{}, err
	}
	if no := s.usable(&r, a, standing); no != (Refusal{}) {
		return no, nil
	}
	own, err := s.ownTx(ctx, tx, &r, a)
	if err != nil {
		return Refusal{}, err
	}
	if own {
		return Refusal{"self_approval", "an approver of this action also requested it"}, nil
	}
	uses := r.Values.Uses() + 1
	set := kind.Values{kind.FieldUses: kind.IntegerValue(uses)}
	if uses >= r.Values.MaxUses() {
		set[kind.FieldState] = kind.TextValue(consumed)
	}
	_, err = s.evidence.MoveTx(ctx, tx, r, set)
	return Refusal{}, err
}

// usable compares an approval as it is with an action. Standing are the votes that count now.
func (s *Service) usable(r *evidence.Record, a Action, standing []vote) Refusal {
	at := s.now()
	switch {
	case over(r, at) || r.State() == approved && outlived(a.Requirements, r, at):
		return Refusal{"approval_expired", "the approval has expired"}
	case r.State() != approved:
		return Refusal{"approval_" + r.State(), "the approval is " + r.State()}
	case !evidence.Seen(r):
		return Refusal{"approval_unseen", "the approval was requested with a digest only, so its approvers did not see the action. Name the policy decision in the request"}
	}
	if no := covers(r, a); no != (Refusal{}) {
		return no
	}
	if !met(slices.Concat(requirements(r), a.Requirements), standing) {
		return Refusal{"approval_insufficient", "too few of those who agreed may decide now: the policies ask for more or for other approvers, or an approver has left or has another role"}
	}
	return Refusal{}
}

// covers compares an action with the one that was approved.
func covers(r *evidence.Record, a Action) Refusal {
	limit, narrowed := evidence.Amount(r.Values.Constraints().MaxAmount())
	if !narrowed {
		if r.Values.InputDigest() != a.Digest {
			return Refusal{"approval_other_action", "the approval is for another action: changed arguments need a new one"}
		}
		return Refusal{}
	}
	if r.Values.FrameDigest() != a.Frame {
		return Refusal{"approval_other_action", "the approval is for another action: only its amount may differ"}
	}
	if amount, ok := evidence.Amount(a.Amount); !ok || amount.Cmp(limit) > 0 {
		return Refusal{"approval_exceeded", "the amount is more than the approval's max_amount"}
	}
	return Refusal{}
}

// ownTx reports whether somebody who approved an action asks for it now, or has asked for it
// while others still voted.
func (s *Service) ownTx(ctx context.Context, tx postgres.Tx, r *evidence.Record, a Action) (bool, error) {
	separation, err := s.separationTx(ctx, tx)
	if err != nil || separation == tenancy.SeparationOff {
		return false, err
	}
	votes, err := s.store.votesTx(ctx, tx, r.ID)
	if err != nil {
		return false, err
	}
	var approvers []uuid.UUID
	for _, v := range votes {
		if v.approved {
			approvers = append(approvers, v.people...)
		}
	}
	now := evidence.AskerOf(ctx, a.Request)
	return s.askedTx(ctx, tx, approvers, separation, append(askers(r.Values[kind.FieldRequesters]), now))
}

// Handlers end approvals whose time is over.
func (s *Service) Handlers() map[string]change.Handler {
	return map[string]change.Handler{evidence.TopicApprovalDue: s.due}
}

// due ends an approval if it was not used up before its time was over.
func (s *Service) due(ctx context.Context, m change.Message) error {
	id, err := strconv.ParseInt(m.Subject, 10, 64)
	if err != nil {
		return err
	}
	return postgres.InTx(ctx, s.db, m.Org, func(tx postgres.Tx) error {
		r, err := s.evidence.LockTx(ctx, tx, kind.Approvals, id)
		if fault.IsNotFound(err) {
			return nil
		}
		if err != nil || !over(&r, s.now()) {
			return err
		}
		_, err = s.evidence.MoveTx(ctx, tx, r, kind.Values{kind.FieldState: kind.TextValue(expired)})
		return err
	})
}
