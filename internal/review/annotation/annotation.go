package annotation

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/label"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Faults of annotations.
var (
	ErrNotFound        = fault.New(fault.NotFound, "annotation_not_found", "The annotation does not exist.")
	ErrAlreadyAnswered = fault.New(fault.Conflict, "already_answered", "You have answered the item already. Change the annotation in details.annotationId instead.")
	ErrNotAnswered     = fault.New(fault.NotFound, "annotation_not_found", "You have not answered the item.")
	ErrNotYours        = fault.New(fault.Forbidden, "not_your_annotation", "The annotation belongs to another person. Only the person who gave an answer can change it.")
	ErrAnswersOpen     = fault.New(fault.Conflict, "answers_open", "The item of the blind task is complete and its answers can be read, so they can no longer be changed.")
	ErrTaskDeleted     = fault.New(fault.Conflict, "task_deleted", "The task of the annotation was deleted, so the annotation can no longer be changed. It can be deleted.")
	ErrAdjudicated     = fault.New(fault.Conflict, "item_adjudicated", "An adjudication used the answers to the item, so they can no longer be changed.")
)

// Annotation is what a person says about something.
type Annotation struct {
	ID         int64
	Task, Item int64 // zero if it belongs to no task
	Subject
	Person uuid.UUID
	// Asserted is true if somebody else made the key that the person used.
	Asserted   bool
	Status     Status
	Answer     label.Answer
	DurationMS *int64
	// Open says that others may read it.
	Open bool
	// Nonce keeps the digests of the audit log from being guessed: answers are short.
	Nonce                uuid.UUID
	CreatedAt, UpdatedAt time.Time
	Version              int64
}

// Revision counts changes of the annotation.
func (a Annotation) Revision() int64 { return a.Version }

// Earlier is what an annotation said before it was changed.
type Earlier struct {
	Version    int64
	Status     Status
	Answer     label.Answer
	DurationMS *int64
	ReplacedAt time.Time
}

// Filter selects annotations; an empty field matches everything.
type Filter struct {
	// Reader is who asks; nobody, if no person does.
	Reader              *uuid.UUID
	Run, TestCase, Task int64
	Trace               string // its id or its number
	Person              *uuid.UUID
	Below               int64
	Limit, Offset       int
	// Count asks for the number of annotations on all pages.
	Count bool

	trace *span.TraceID // that Trace names
}

// List returns a page of the annotations that the reader may see, newest first, and
// whether others follow it.
func (s *Service) List(ctx context.Context, org principal.OrgID, f Filter) (all []Annotation, more bool, total int64, err error) {
	if f.Trace != "" {
		id, err := s.traces.Resolve(ctx, org, f.Trace)
		if fault.IsNotFound(err) {
			return nil, false, 0, nil
		}
		if err != nil {
			return nil, false, 0, err
		}
		f.trace = &id
	}
	return s.store.list(ctx, org, f)
}

// Find returns an annotation that the reader may see, and what it said before.
func (s *Service) Find(ctx context.Context, org principal.OrgID, reader *uuid.UUID, id int64) (Annotation, []Earlier, error) {
	a, err := s.store.find(ctx, s.db.Org(org), org, reader, id)
	if err != nil {
		return a, nil, err
	}
	earlier, err := s.store.revisions(ctx, org, id)
	return a, earlier, err
}

// AddTx keeps what a person says. About an item of a task it counts as their answer,
// if it is submitted.
func (s *Service) AddTx(ctx context.Context, tx postgres.Tx, a Annotation, at string) (Annotation, error) {
	a.CreatedAt = s.now()
	a.UpdatedAt, a.Nonce, a.Open = a.CreatedAt, uuid.New(), a.Status == StatusSubmitted
	var t Task
	var before, after Item
	if a.Item != 0 {
		var err error
		if t, before, err = s.lockTx(ctx, tx, a.Task, a.Item); err != nil {
			return a, err
		}
		own, err := s.store.ownTx(ctx, tx, a.Item, a.Person)
		if err != nil {
			return a, err
		}
		if own != nil {
			return a, ErrAlreadyAnswered.With("annotationId", own.ID)
		}
		a.Task, a.Subject, a.Open = t.ID, before.Subject, a.Open && !t.Blind
		a.Answer.Scale = cmp.Or(a.Answer.Scale, t.Schema.Scale())
		if after, err = s.occupyTx(ctx, tx, t, before, a, at); err != nil {
			return a, err
		}
	} else {
		a.Answer.Scale = cmp.Or(a.Answer.Scale, label.Schema{}.Scale())
		if err := a.Answer.Check(at); err != nil {
			return a, err
		}
	}
	var err error
	if a.ID, a.Version, err = s.store.insertTx(ctx, tx, a); err != nil {
		return a, err
	}
	if err := s.recordTx(ctx, tx, saved(nil, &a), nil, &a); err != nil {
		return a, err
	}
	if a.Item != 0 && a.Status == StatusSubmitted {
		return s.answeredTx(ctx, tx, t, before, after, a)
	}
	return a, nil
}

// occupyTx gives an answer its slot of the item: the one that the person holds, or a
// free one. A draft has none. Who answers an item no longer skips it.
func (s *Service) occupyTx(ctx context.Context, tx postgres.Tx, t Task, i Item, a Annotation, at string) (Item, error) {
	if err := t.open(a.Person); err != nil {
		return i, err
	}
	if i.Status.Complete() {
		return i, itemMoves.In(ErrItemComplete, i.Status)
	}
	if a.Status != StatusSubmitted {
		return i, a.Answer.Check(at)
	}
	if err := a.Answer.CheckFor(t.Type, t.Schema, at); err != nil {
		return i, err
	}
	let, err := s.store.dropLeaseTx(ctx, tx, i.ID, a.Person)
	if err != nil {
		return i, err
	}
	if i.Held -= let; i.Submitted+i.Held >= i.Required {
		expired, err := s.store.dropExpiredTx(ctx, tx, i.ID, s.now())
		if err != nil {
			return i, err
		}
		i.Held -= expired
	}
	if i.Submitted+i.Held >= i.Required {
		return i, ErrItemHeld
	}
	skipped, err := s.store.unskipOwnTx(ctx, tx, i.ID, a.Person)
	if err != nil {
		return i, err
	}
	i.Submitted, i.Skipped = i.Submitted+1, i.Skipped-skipped
	return i, nil
}

// answeredTx compares the answers to an item, once it has enough of them, and returns
// the annotation as it is then.
func (s *Service) answeredTx(ctx context.Context, tx postgres.Tx, t Task, before, after Item, a Annotation) (Annotation, error) {
	after.Agreement = nil
	if after.answered() {
		all, err := s.store.submittedTx(ctx, tx, after.ID)
		if err != nil {
			return a, err
		}
		answers := make([]label.Answer, len(all))
		for i, one := range all {
			answers[i] = one.Answer.Plain(t.Type, t.Schema)
		}
		after.Agreement = label.Agreement(t.Schema, answers)
	}
	after, err := s.saveTx(ctx, tx, t, before, after)
	if a.Status == StatusSubmitted {
		a.Open = !t.Blind || after.answered()
	}
	return a, err
}

// Change is what a person changes of their annotation; what is nil stays.
type Change struct {
	Edit   func(*label.Answer)
	Status Status // empty if it stays
	// DurationMS is added to the time that was spent so far.
	DurationMS *int64
}

// UpdateTx changes an annotation of a person's own. What it said before is kept.
func (s *Service) UpdateTx(ctx context.Context, tx postgres.Tx, id, expected int64, person uuid.UUID, c Change) (Annotation, error) {
	a, err := s.store.find(ctx, tx, tx.Org, &person, id)
	if err != nil {
		return a, err
	}
	if a.Person != person {
		return a, ErrNotYours
	}
	// Whatever changes the counts of an item locks the item first, then the answer.
	var t Task
	var i Item
	if a.Item != 0 {
		t, i, err = s.lockTx(ctx, tx, a.Task, a.Item)
		if errors.Is(err, ErrTaskNotFound) {
			err = ErrTaskDeleted
		}
		if err != nil {
			return a, err
		}
	}
	return change.Update(change.Edit[Annotation]{
		Expected: expected, Conflict: ErrVersionConflict,
		Lock:  func() (Annotation, error) { return s.store.lockAnnotationTx(ctx, tx, &person, id) },
		Apply: func(a *Annotation) error { c.apply(a); return nil },
		Save: func(before Annotation, after *Annotation) error {
			if before.Status != after.Status {
				if err := moves.Check(ErrTransition, before.Status, after.Status); err != nil {
					return err
				}
			}
			return s.saveAnswerTx(ctx, tx, t, i, before, after)
		},
		Audit: func(before, after Annotation) error {
			return s.recordTx(ctx, tx, saved(&before, &after), &before, &after)
		},
	})
}

func (c Change) apply(a *Annotation) {
	if c.Edit != nil {
		a.Answer.Labels = maps.Clone(a.Answer.Labels) // it is shared with what was stored before
		c.Edit(&a.Answer)
	}
	if c.Status != "" {
		a.Status = c.Status
	}
	if c.DurationMS != nil {
		total := *c.DurationMS
		if a.DurationMS != nil {
			total += *a.DurationMS
		}
		a.DurationMS = &total
	}
}

// saveAnswerTx stores a changed annotation and what follows for its item.
func (s *Service) saveAnswerTx(ctx context.Context, tx postgres.Tx, t Task, i Item, before Annotation, after *Annotation) (err error) {
	if before.Status == StatusDiscarded {
		return moves.In(ErrTransition, before.Status)
	}
	item, counts := i, after.Item != 0 && (before.Status == StatusSubmitted || after.Status == StatusSubmitted)
	switch {
	case after.Item == 0:
		err = after.Answer.Check("")
	case before.Status == StatusSubmitted:
		if err = changeable(t, i); err != nil {
			break
		}
		if after.Status == StatusDiscarded {
			item.Submitted--
			break
		}
		if t.Status != TaskActive && t.Status != TaskCompleted {
			err = taskMoves.In(ErrNotActive, t.Status)
			break
		}
		err = after.Answer.CheckFor(t.Type, t.Schema, "")
	case after.Status == StatusSubmitted:
		item, err = s.occupyTx(ctx, tx, t, i, *after, "")
	default:
		err = after.Answer.Check("")
	}
	if err != nil {
		return err
	}
	after.UpdatedAt, after.Version = s.now(), before.Version+1
	if after.Status == StatusSubmitted && before.Status == StatusDraft {
		after.Open = after.Item == 0 || !t.Blind
	}
	if err := s.store.updateTx(ctx, tx, before, *after, s.now()); err != nil {
		return err
	}
	if counts {
		*after, err = s.answeredTx(ctx, tx, t, i, item, *after)
	}
	return err
}

// changeable refuses to change a submitted answer that others have seen, or that
// somebody has decided by.
func changeable(t Task, i Item) error {
	switch {
	case i.Status == ItemAdjudicated:
		return ErrAdjudicated
	case t.Blind && i.answered() && i.Submitted > 1:
		return ErrAnswersOpen
	}
	return nil
}

// ReviseTx changes what a person has answered to an item.
func (s *Service) ReviseTx(ctx context.Context, tx postgres.Tx, task, item int64, person uuid.UUID, c Change) (Annotation, error) {
	i, err := s.store.findItem(ctx, tx, tx.Org, item)
	if err == nil && i.Task != task {
		err = ErrItemNotFound
	}
	if err != nil {
		return Annotation{}, err
	}
	own, err := s.store.ownTx(ctx, tx, item, person)
	if err != nil {
		return Annotation{}, err
	}
	if own == nil {
		return Annotation{}, ErrNotAnswered
	}
	a, err := s.UpdateTx(ctx, tx, own.ID, 0, person, c)
	if errors.Is(err, ErrTaskDeleted) { // whose path leads nowhere
		err = ErrTaskNotFound
	}
	return a, err
}

// discardDraftTx takes back what a person has drafted about an item, and refuses if
// they have answered it. The item is locked.
func (s *Service) discardDraftTx(ctx context.Context, tx postgres.Tx, item int64, person uuid.UUID) error {
	own, err := s.store.ownTx(ctx, tx, item, person)
	switch {
	case err != nil || own == nil:
		return err
	case own.Status != StatusDraft:
		return ErrAlreadyAnswered.With("annotationId", own.ID)
	}
	after := *own
	after.Status, after.UpdatedAt, after.Version = StatusDiscarded, s.now(), own.Version+1
	if err := s.store.updateTx(ctx, tx, *own, after, s.now()); err != nil {
		return err
	}
	return s.recordTx(ctx, tx, eventUpdated, own, &after)
}

// DeleteTx deletes an annotation of a person's own. Its item needs another answer
// then, unless the task was deleted.
func (s *Service) DeleteTx(ctx context.Context, tx postgres.Tx, id int64, person uuid.UUID) error {
	a, err := s.store.find(ctx, tx, tx.Org, &person, id)
	if err != nil {
		return err
	}
	if a.Person != person {
		return ErrNotYours
	}
	var t Task
	var i Item
	gone := false
	if a.Item != 0 {
		t, i, err = s.lockTx(ctx, tx, a.Task, a.Item)
		if gone = errors.Is(err, ErrTaskNotFound); err != nil && !gone {
			return err
		}
	}
	if a, err = s.store.lockAnnotationTx(ctx, tx, &person, id); err != nil {
		return err
	}
	counts := a.Item != 0 && a.Status == StatusSubmitted && !gone
	if counts {
		if err := changeable(t, i); err != nil {
			return err
		}
	}
	if err := s.store.deleteTx(ctx, tx, id, s.now()); err != nil {
		return err
	}
	if err := s.recordTx(ctx, tx, eventDeleted, &a, nil); err != nil {
		return err
	}
	if !counts {
		return nil
	}
	after := i
	after.Submitted--
	_, err = s.answeredTx(ctx, tx, t, i, after, a)
	return err
}

// recordTx records a change of an annotation, and has its scores follow.
func (s *Service) recordTx(ctx context.Context, tx postgres.Tx, happened event.Type, before, after *Annotation) error {
	id := cmp.Or(before, after).ID
	if err := change.RecordTx(ctx, s.log, tx, happened, id, before, after); err != nil {
		return err
	}
	return s.scoreTx(ctx, tx, scoring{Annotation: id})
}
