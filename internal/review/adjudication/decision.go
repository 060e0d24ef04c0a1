package adjudication

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy"
)

// Verdict is what a person decides about an answer.
type Verdict string

// The verdicts.
const (
	VerdictPass          Verdict = "pass"
	VerdictFail          Verdict = "fail"
	VerdictRevise        Verdict = "needs_revision"
	VerdictNotApplicable Verdict = "not_applicable"
	VerdictInconclusive  Verdict = "inconclusive"
)

// allowsTruth reports whether ground truth can rest on the verdict.
func (v Verdict) allowsTruth() bool { return v != VerdictNotApplicable && v != VerdictInconclusive }

// label is what the verdict says of the answer: what needs a revision does not pass as
// it is.
func (v Verdict) label() string {
	if v == VerdictPass {
		return judge.LabelPass
	}
	return judge.LabelFail
}

// Decision is what one person decided, and under which rules.
type Decision struct {
	ID          int64
	Verdict     Verdict
	Rationale   string
	Label       string
	Score       *float64
	Expected    jsontext.Value
	FailureMode string
	Confidence  *float64
	By          principal.Actor
	Decider     uuid.UUID
	Independent bool
	Override    bool
	Separation  string
	Overturned  *bool
	At          time.Time
	Superseded  *Superseded // nil while the decision stands
}

// Superseded says how a decision ended.
type Superseded struct {
	At     time.Time
	By     principal.Actor
	Reason string
}

// ErrNotAssignee is returned when an item is decided that is assigned to somebody
// else.
var ErrNotAssignee = fault.New(fault.Forbidden, "not_assignee", "The item is assigned to somebody else. Have it assigned to you, or send override to decide instead of them.")

// ErrSelfApproval is returned when somebody decides about an answer that they assessed,
// where the organization separates the two.
var ErrSelfApproval = fault.New(fault.Forbidden, "self_approval", "You have assessed this answer yourself, and the organization's separation of duties asks for somebody else to decide.")

// Assessed reports whether a person has assessed what an item is about: they are the
// origin of one of its positions, have answered it in a task, or have scored it.
func (s *Service) Assessed(ctx context.Context, org principal.OrgID, id int64, user uuid.UUID) (bool, error) {
	i, err := s.store.find(ctx, org, id, false)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(i.Candidates, func(c Candidate) bool { return c.Origin == personOrigin(user.String()) }) {
		return true, nil
	}
	if answered, err := s.answered(ctx, org, i.Subject, user); err != nil || answered {
		return answered, err
	}
	scores, err := s.said(ctx, org, i.Subject.scored())
	if err != nil {
		return false, err
	}
	for _, one := range scores {
		if one.Source.ID == user.String() {
			return true, nil
		}
	}
	return false, nil
}

// DecideTx records a person's decision about an item. Assessed says whether they had
// assessed the answer before.
func (s *Service) DecideTx(ctx context.Context, tx postgres.Tx, id int64, d Decision, assessed bool) (Item, error) {
	before, err := s.lockTx(ctx, tx, id)
	if err != nil {
		return Item{}, err
	}
	organization, err := s.tenancy.OrganizationTx(ctx, tx)
	if err != nil {
		return Item{}, err
	}
	d.By, d.Decider, d.At = principal.ActorOf(ctx), *principal.From(ctx).User, s.now()
	d.Separation = organization.Settings.Separation()
	d.Independent = !assessed
	another := before.Assignee != nil && *before.Assignee != d.Decider
	switch {
	case !before.Status.undecided():
		return Item{}, transitions.In(ErrTransition, before.Status)
	case another && !d.Override:
		return Item{}, ErrNotAssignee
	case assessed && d.Separation == tenancy.SeparationKeyOwner:
		return Item{}, ErrSelfApproval
	}
	d.Override = d.Override && another
	if passed, ok := judged(before.Candidates); ok && d.Verdict.allowsTruth() {
		d.Overturned = new(passed != (d.Verdict == VerdictPass))
	}
	after := before
	after.Status, after.FailureMode = StatusDecided, d.FailureMode
	if err := s.moveTx(ctx, tx, before, &after); err != nil {
		return Item{}, err
	}
	if d.ID, err = s.store.insertDecisionTx(ctx, tx, id, d); err != nil {
		return Item{}, err
	}
	if err := s.markTx(ctx, tx, before, d); err != nil {
		return Item{}, err
	}
	after.Decisions = append([]Decision{d}, before.Decisions...)
	return after, change.RecordTx(ctx, s.log, tx, eventDecided, id, &before, &after)
}
