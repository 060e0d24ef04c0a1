package adjudication

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy"
)

// ErrTruthNotFound is returned when the organization has no such ground truth.
var ErrTruthNotFound = fault.New(fault.NotFound, "ground_truth_not_found", "The ground truth does not exist.")

// ErrNoTruth is returned when an item has no decision that ground truth can rest on.
var ErrNoTruth = fault.New(fault.Conflict, "precondition_missing", "The decision is inconclusive or not_applicable, so there is no ground truth. Close the item with a reason, or reopen it.")

// ErrHasTruth is returned when an item gets ground truth that has some.
var ErrHasTruth = fault.New(fault.Conflict, "already_exists", "The item has ground truth. To replace it, name it in supersedes.")

// GroundTruth is what is right about an answer.
type GroundTruth struct {
	ID        int64
	Item      int64
	Decision  int64
	Verdict   Verdict
	TestCase  int64 // zero if the item is not about a result of a run
	Label     string
	Score     *float64
	Expected  jsontext.Value
	Rationale string
	DecidedBy principal.Actor
	CreatedBy principal.Actor
	// Number counts the ground truths that replace each other.
	Number     int
	Supersedes int64
	Status     TruthStatus
	Reason     string // of revoking
	Digest     dataset.Digest
	CreatedAt  time.Time
	EndedAt    *time.Time
}

// passes reports whether the answer is right. Ground truth that supersedes other may say
// the opposite of the decision.
func (t GroundTruth) passes() bool {
	if t.Label == judge.LabelPass || t.Label == judge.LabelFail {
		return t.Label == judge.LabelPass
	}
	return t.Verdict == VerdictPass
}

// Stating asks for ground truth; what is empty comes from the decision.
type Stating struct {
	Label      string
	Score      *float64
	Expected   jsontext.Value
	Rationale  string
	Supersedes int64
	// Assessed says that who states something of their own had assessed the answer before.
	Assessed bool
}

// own reports whether more is stated than what was decided.
func (in Stating) own() bool { return in.Label != "" || in.Score != nil || in.Expected != nil }

// Truth returns one ground truth.
func (s *Service) Truth(ctx context.Context, org principal.OrgID, id int64) (GroundTruth, error) {
	t, err := s.store.truth(ctx, s.db.Org(org), org, id)
	if err != nil {
		return GroundTruth{}, err
	}
	i, err := s.store.find(ctx, org, t.Item, false)
	t.TestCase = i.Subject.TestCase
	return t, err
}

// truth is the ground truth that a request asks for.
func (in Stating) truth(i Item) (GroundTruth, error) {
	d := i.decision()
	switch {
	case i.Status != StatusDecided && i.Status != StatusClosed || d == nil:
		return GroundTruth{}, transitions.In(ErrTransition, i.Status)
	case !d.Verdict.allowsTruth():
		return GroundTruth{}, ErrNoTruth
	case i.Truth != nil && in.Supersedes == 0:
		return GroundTruth{}, ErrHasTruth.With("id", i.Truth.ID)
	case in.Supersedes != 0 && (i.Truth == nil || i.Truth.ID != in.Supersedes):
		return GroundTruth{}, fault.Invalid("body", "/supersedes", "unknown_reference", "is not the active ground truth of this item")
	}
	t := GroundTruth{
		Item: i.ID, Decision: d.ID, Verdict: d.Verdict, TestCase: i.Subject.TestCase, Label: in.Label, Score: in.Score, Expected: in.Expected, Rationale: cmp.Or(in.Rationale, d.Rationale),
		DecidedBy: d.By, Number: 1, Status: TruthActive, Digest: i.Digest,
	}
	if in.Label == "" && in.Score == nil {
		t.Label, t.Score = cmp.Or(d.Label, d.Verdict.label()), d.Score
	}
	if t.Expected == nil {
		t.Expected = d.Expected
	}
	if i.Truth != nil {
		t.Number, t.Supersedes = i.Truth.Number+1, i.Truth.ID
	}
	return t, nil
}

// StateTx records ground truth and closes the item. What replaces other ground truth
// takes its place in datasets too; frozen versions keep what they have. Revisions are
// what Revise prepared.
func (s *Service) StateTx(ctx context.Context, tx postgres.Tx, id int64, in Stating, revisions []Revision) (GroundTruth, error) {
	before, err := s.lockTx(ctx, tx, id)
	if err != nil {
		return GroundTruth{}, err
	}
	t, err := in.truth(before)
	if err != nil {
		return GroundTruth{}, err
	}
	if in.Assessed {
		organization, err := s.tenancy.OrganizationTx(ctx, tx)
		switch {
		case err != nil:
			return GroundTruth{}, err
		case organization.Settings.Separation() == tenancy.SeparationKeyOwner:
			return GroundTruth{}, ErrSelfApproval
		}
	}
	t.CreatedBy, t.CreatedAt = principal.ActorOf(ctx), s.now()
	if before.Truth != nil {
		if err := s.endTruthTx(ctx, tx, *before.Truth, TruthSuperseded, ""); err != nil {
			return GroundTruth{}, err
		}
	}
	if t.ID, err = s.store.insertTruthTx(ctx, tx, t); err != nil {
		return GroundTruth{}, err
	}
	if err := change.RecordTx(ctx, s.log, tx, eventTruthCreated, t.ID, nil, &t); err != nil {
		return GroundTruth{}, err
	}
	after := before
	after.Status, after.Truth = StatusClosed, &t
	if after.Entries, err = s.reviseTx(ctx, tx, before, t, revisions); err != nil {
		return GroundTruth{}, err
	}
	if err := s.moveTx(ctx, tx, before, &after); err != nil {
		return GroundTruth{}, err
	}
	happened := eventClosed
	if before.Status == StatusClosed {
		happened = eventUpdated
	}
	return t, change.RecordTx(ctx, s.log, tx, happened, id, &before, &after)
}

// endTruthTx ends ground truth.
func (s *Service) endTruthTx(ctx context.Context, tx postgres.Tx, t GroundTruth, to TruthStatus, reason string) error {
	after := t
	after.Status, after.Reason, after.EndedAt = to, reason, new(s.now())
	if err := s.store.endTruthTx(ctx, tx, after); err != nil {
		return err
	}
	return change.RecordTx(ctx, s.log, tx, truthEnded[to], t.ID, &t, &after)
}

// ErrFrozen is returned when ground truth is to be revoked that a frozen version of a
// dataset rests on.
var ErrFrozen = fault.New(fault.Conflict, "in_use", "A frozen version of a dataset contains an item that rests on this ground truth, and frozen versions never change. State new ground truth that supersedes it instead.")

// revokeTx takes ground truth back: out of the datasets first, which must not have
// frozen it.
func (s *Service) revokeTx(ctx context.Context, tx postgres.Tx, i Item, reason string) error {
	for _, e := range i.Entries {
		frozen, err := s.datasets.FrozenTx(ctx, tx, e.Dataset, e.DatasetItem)
		switch {
		case err != nil && !missing(err):
			return err
		case frozen:
			return ErrFrozen.With("dataset_id", strconv.FormatInt(e.Dataset, 10))
		}
		// An item that another ground truth added as well stays for that one.
		others, err := s.store.entriesOfTx(ctx, tx, e.Dataset, e.DatasetItem)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(others, func(o Entry) bool { return o.Item != i.ID }) {
			if err := s.datasets.RetractItemTx(ctx, tx, e.Dataset, e.DatasetItem); err != nil && !missing(err) {
				return err
			}
		}
		if err := s.store.deleteEntryTx(ctx, tx, e.ID); err != nil {
			return err
		}
	}
	return s.endTruthTx(ctx, tx, *i.Truth, TruthRevoked, reason)
}

// missing reports whether somebody removed an item from a dataset, or the dataset.
func missing(err error) bool {
	return errors.Is(err, dataset.ErrNotFound) || errors.Is(err, dataset.ErrItemNotFound)
}
