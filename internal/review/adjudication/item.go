package adjudication

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/tenancy"
)

// ErrNotFound is returned when the organization has no such item.
var ErrNotFound = fault.New(fault.NotFound, "adjudication_item_not_found", "The adjudication item does not exist.")

// ErrExists is returned when a source has an unresolved item about the subject.
var ErrExists = fault.New(fault.Conflict, "already_exists", "An item of this source about this subject is not resolved yet; details.id names it.")

// ErrConflict is returned when the item has changed since the caller read it.
var ErrConflict = fault.New(fault.Conflict, "version_conflict", "The item has changed since you read it. Read it again and repeat the change.")

// Source says why an item was opened.
type Source string

// The sources.
const (
	SourceManual     Source = "manual"
	SourceJudges     Source = "judge_disagreement"
	SourceAnnotators Source = "annotator_disagreement"
	SourceConfidence Source = "low_confidence"
	SourcePolicy     Source = "policy_denial"
	SourceUser       Source = "user_report"
	SourceReplay     Source = "replay_divergence"
	SourceAudit      Source = "audit" // nothing is wrong; the item was drawn at random
)

var sources = []Source{SourceManual, SourceJudges, SourceAnnotators, SourceConfidence, SourcePolicy, SourceUser, SourceReplay, SourceAudit}

// priority is how urgent items of the source are, unless somebody says otherwise.
func (s Source) priority() Priority {
	if s == SourcePolicy || s == SourceUser {
		return PriorityHigh
	}
	return PriorityNormal
}

// Priority says how urgent an item is.
type Priority string

// The priorities.
const (
	PriorityLow      Priority = "low"
	PriorityNormal   Priority = "normal"
	PriorityHigh     Priority = "high"
	PriorityCritical Priority = "critical"
)

var priorities = []Priority{PriorityLow, PriorityNormal, PriorityHigh, PriorityCritical}

// points are what a priority counts in days of waiting. A disagreement adds up to
// disagreementPoints.
var points = map[Priority]float64{PriorityLow: 10, PriorityNormal: 30, PriorityHigh: 50, PriorityCritical: 70}

const disagreementPoints = 20

// Item is an answer about which somebody has to decide.
type Item struct {
	ID           int64
	Source       Source
	Status       Status
	Priority     Priority
	Disagreement float64
	Subject      Subject
	Title        string
	Question     string
	Context      jsontext.Value // an object
	Candidates   []Candidate
	// Content is nil where it was not read.
	Content     *dataset.Content
	Digest      dataset.Digest // of what is assessed
	FailureMode string
	Assignee    *uuid.UUID
	AssignedBy  *principal.Actor
	AssignedAt  *time.Time
	DueAt       *time.Time
	Tags        []string
	Notes       string
	Reason      string // of the last dismissal, reopening or closing
	CreatedBy   principal.Actor
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Changes     int64

	Decisions []Decision   // newest first; the first one stands unless it is superseded
	Truth     *GroundTruth // the active one
	Entries   []Entry      // in the order in which they were made
}

// Revision counts changes of the item.
func (i Item) Revision() int64 { return i.Changes }

// rank is the item's place in the queue: when it was opened, less a day for each
// point. Earlier comes first. Whatever waits a day longer is a point ahead, so the
// order of two items does not change by itself, and pages can follow an index.
func (i Item) rank() time.Time {
	p := points[i.Priority] + disagreementPoints*i.Disagreement
	return i.CreatedAt.Add(-time.Duration(p * float64(24*time.Hour))).Truncate(time.Millisecond)
}

// priorityScore is the item's points from 0 to 100: those of its priority and of its
// disagreement, and one for each day since it was opened.
func (i Item) priorityScore(now time.Time) float64 {
	days := now.Sub(i.rank()).Hours() / 24
	return float64(int(100*min(max(days, 0), 100))) / 100
}

// decision is the one that stands, or nil.
func (i Item) decision() *Decision {
	if len(i.Decisions) == 0 || i.Decisions[0].Superseded != nil {
		return nil
	}
	return &i.Decisions[0]
}

// Opening asks for an item.
type Opening struct {
	Source     Source
	Subject    Subject
	Priority   Priority // empty for that of the source
	Title      string
	Question   string
	Context    jsontext.Value
	Candidates []Candidate // nil for what is recorded about the subject
	DueAt      *time.Time
	Tags       []string
	Notes      string
}

// Prepared is an item whose subject was read, which happens before the transaction.
type Prepared struct{ item Item }

// Prepare reads what an item is to be about.
func (s *Service) Prepare(ctx context.Context, org principal.OrgID, o Opening) (Prepared, error) {
	f, err := s.find(ctx, org, o.Subject)
	if err != nil {
		return Prepared{}, err
	}
	i := Item{
		Source: o.Source, Status: StatusOpen, Priority: cmp.Or(o.Priority, o.Source.priority()), Subject: f.subject, Title: o.Title, Question: o.Question, Context: o.Context,
		Candidates: o.Candidates, Content: &f.content, DueAt: o.DueAt, Tags: o.Tags, Notes: o.Notes,
	}
	if i.Candidates == nil {
		i.Candidates = f.candidates
	}
	i.Disagreement = max(disagreement(i.Candidates), f.apart)
	i.Digest, err = dataset.Assessed(f.content.Input, f.content.Output)
	return Prepared{i}, err
}

// OpenTx opens an item.
func (s *Service) OpenTx(ctx context.Context, tx postgres.Tx, p Prepared) (Item, error) {
	i := p.item
	i.CreatedBy, i.CreatedAt, i.Changes = principal.ActorOf(ctx), s.now(), 1
	i.UpdatedAt = i.CreatedAt
	// A transaction that has met the unique index is over, so the look comes first;
	// the index decides between two that look at the same time.
	other, err := s.store.unresolvedTx(ctx, tx, i)
	if err != nil {
		return Item{}, err
	}
	if other != 0 {
		return Item{}, ErrExists.With("id", other)
	}
	if i.ID, err = s.store.insertTx(ctx, tx, i); err != nil {
		return Item{}, err
	}
	return i, change.RecordTx(ctx, s.log, tx, eventOpened, i.ID, nil, &i)
}

// Unresolved adds to ErrExists which item there is. Two that open the same item at
// the same moment both look before either is there.
func (s *Service) Unresolved(ctx context.Context, org principal.OrgID, p Prepared, err error) error {
	f, ok := fault.From(err)
	if !ok || !errors.Is(f, ErrExists) || f.Details["id"] != nil {
		return err
	}
	other, lookErr := s.store.unresolved(ctx, org, p.item)
	if lookErr != nil || other == 0 {
		return err
	}
	return ErrExists.With("id", other)
}

// Find returns one item with its content.
func (s *Service) Find(ctx context.Context, org principal.OrgID, id int64) (Item, error) {
	return s.store.find(ctx, org, id, true)
}

// Filter selects items; an empty field matches everything.
type Filter struct {
	Status        []Status
	Source        []Source
	Priority      []Priority
	Assignee      *uuid.UUID
	Run           int64
	Trace         string // its id or its number
	FailureMode   string
	Search        string
	CreatedAfter  *time.Time
	CreatedBefore *time.Time
	// After is the place that a page begins after.
	After         Place
	Limit, Offset int
	// Count asks for the number of items on all pages.
	Count bool
}

// Place is where an item stands in the queue.
type Place struct {
	Rank time.Time
	ID   int64
}

// List returns a page of items without their contents, in the order of the queue, with
// one more than the limit if there is a next page.
func (s *Service) List(ctx context.Context, org principal.OrgID, f Filter) ([]Item, int64, error) {
	if f.Trace != "" {
		id, err := s.traces.Resolve(ctx, org, f.Trace)
		if fault.IsNotFound(err) {
			return nil, 0, nil
		}
		if err != nil {
			return nil, 0, err
		}
		f.Trace = id.String()
	}
	return s.store.list(ctx, org, f)
}

// lockTx reads an item with its content and keeps it from changing.
func (s *Service) lockTx(ctx context.Context, tx postgres.Tx, id int64) (Item, error) {
	i, err := s.store.lockTx(ctx, tx, id)
	if err != nil {
		return Item{}, err
	}
	i.Content, err = s.store.content(ctx, tx, tx.Org, id)
	return i, err
}

// moveTx saves an item whose status may have changed. What it is saved over is what
// was locked.
func (s *Service) moveTx(ctx context.Context, tx postgres.Tx, before Item, after *Item) error {
	if before.Status != after.Status {
		if err := transitions.Check(ErrTransition, before.Status, after.Status); err != nil {
			return err
		}
	}
	after.UpdatedAt, after.Changes = s.now(), before.Changes+1
	return s.store.updateTx(ctx, tx, before, *after)
}

// Assignment gives an item to somebody.
type Assignment struct {
	To    *uuid.UUID // nil releases the item
	DueAt func(**time.Time)
}

// AssignTx assigns an item to a member, or releases it.
func (s *Service) AssignTx(ctx context.Context, tx postgres.Tx, id int64, a Assignment) (Item, error) {
	before, err := s.lockTx(ctx, tx, id)
	if err != nil {
		return Item{}, err
	}
	if !before.Status.undecided() {
		return Item{}, transitions.In(ErrTransition, before.Status)
	}
	after := before
	happened := eventAssigned
	if a.To == nil {
		after.Status, after.Assignee, after.AssignedBy, after.AssignedAt = StatusOpen, nil, nil, nil
		happened = eventReleased
	} else {
		if _, err := s.tenancy.MemberTx(ctx, tx, *a.To); err != nil {
			if errors.Is(err, tenancy.ErrMemberNotFound) {
				err = fault.Invalid("body", "/assigneeId", "unknown_reference", "is not a member of the organization")
			}
			return Item{}, err
		}
		after.Status = StatusAssigned
		if before.Assignee == nil || *before.Assignee != *a.To {
			after.Assignee, after.AssignedBy, after.AssignedAt = a.To, new(principal.ActorOf(ctx)), new(s.now())
		}
	}
	a.DueAt(&after.DueAt)
	if same(before, after) {
		return before, nil
	}
	if err := s.moveTx(ctx, tx, before, &after); err != nil {
		return Item{}, err
	}
	return after, change.RecordTx(ctx, s.log, tx, happened, id, &before, &after)
}

// same reports whether an assignment changes nothing.
func same(a, b Item) bool {
	equal := func(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }
	return a.Status == b.Status && equal(a.DueAt, b.DueAt) && equal(a.AssignedAt, b.AssignedAt)
}

// Patch changes an item.
type Patch struct {
	Expected int64
	// Edit changes fields that say nothing about the status.
	Edit func(*Item)
	// To is the new status, if it is to change.
	To     Status
	Reason string
	// RevokeTruth allows to reopen an item that has ground truth.
	RevokeTruth bool
}

// PatchTx changes an item.
func (s *Service) PatchTx(ctx context.Context, tx postgres.Tx, id int64, p Patch) (Item, error) {
	return change.Update(change.Edit[Item]{
		Expected: p.Expected, Conflict: ErrConflict,
		Lock: func() (Item, error) { return s.lockTx(ctx, tx, id) },
		Apply: func(i *Item) error {
			p.Edit(i)
			if p.To == "" || p.To == i.Status {
				return nil
			}
			if err := transitions.Check(ErrTransition, i.Status, p.To); err != nil {
				return err
			}
			i.Reason = p.Reason
			switch p.To {
			case StatusOpen:
				if i.Status == StatusAssigned { // which is released, not reopened
					return transitions.In(ErrTransition, i.Status)
				}
				return s.reopen(i, p)
			case StatusClosed:
				if d := i.decision(); d == nil || d.Verdict.allowsTruth() {
					return ErrNotClosable
				}
			case StatusDismissed, StatusAssigned, StatusDecided:
			}
			i.Status = p.To
			return nil
		},
		Save: func(before Item, after *Item) error {
			if before.Status != after.Status && after.Status == StatusOpen {
				if err := s.reopenTx(ctx, tx, before, after, p.Reason); err != nil {
					return err
				}
			}
			return s.moveTx(ctx, tx, before, after)
		},
		Audit: func(before, after Item) error {
			happened := eventUpdated
			if before.Status != after.Status {
				happened = moved[after.Status]
			}
			return change.RecordTx(ctx, s.log, tx, happened, id, &before, &after)
		},
	})
}

// ErrNotClosable is returned when an item is to be closed by hand whose decision leads
// to ground truth.
var ErrNotClosable = fault.New(fault.Conflict, "precondition_missing", "The decision allows ground truth: create it, which closes the item. Only an inconclusive or not_applicable decision is closed with a reason.")

// ErrTruthExists is returned when an item with ground truth is to be reopened.
var ErrTruthExists = fault.New(fault.Conflict, "in_use", "The item has ground truth. To reopen it, revoke the ground truth in the same request with revokeGroundTruth.")

// reopen takes an item back to the queue.
func (s *Service) reopen(i *Item, p Patch) error {
	if i.Truth != nil && !p.RevokeTruth {
		return ErrTruthExists.With("ground_truth_id", i.Truth.ID)
	}
	i.Status, i.Assignee, i.AssignedBy, i.AssignedAt, i.FailureMode, i.Truth, i.Entries = StatusOpen, nil, nil, nil, "", nil, nil
	i.Decisions = slices.Clone(i.Decisions)
	return nil
}

// reopenTx ends what stood: the decision, and ground truth with its entries.
func (s *Service) reopenTx(ctx context.Context, tx postgres.Tx, before Item, after *Item, reason string) error {
	if before.Truth != nil {
		if err := s.revokeTx(ctx, tx, before, reason); err != nil {
			return err
		}
	}
	if before.decision() == nil {
		return nil
	}
	if err := s.unmarkTx(ctx, tx, before); err != nil {
		return err
	}
	end := Superseded{At: s.now(), By: principal.ActorOf(ctx), Reason: reason}
	after.Decisions[0].Superseded = &end
	return s.store.supersedeDecisionTx(ctx, tx, before.ID, end)
}
