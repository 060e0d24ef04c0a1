package annotation

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/change/event"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/label"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Faults of items.
var (
	ErrItemNotFound = fault.New(fault.NotFound, "annotation_item_not_found", "The task does not have this item.")
	ErrItemComplete = fault.New(fault.Conflict, "item_complete", "As many people have answered the item as it needs, or have skipped it.")
	ErrItemHeld     = fault.New(fault.Conflict, "item_held", "Others are answering the item at this moment. Take another one.")
	ErrItemAnswered = fault.New(fault.Conflict, "item_answered", "The item has an answer, so its content can no longer be changed.")
)

const (
	// maxItem is how many bytes an item can have.
	maxItem = 256 << 10
	// PageBytes is where a page of items or of annotations ends, however few there are.
	PageBytes = 8 << 20
)

// Subject is what an item or an annotation is about. An empty field is absent.
type Subject struct {
	Run, TestCase int64
	Trace         *span.TraceID
	Span          string
}

// NewItem is an item to be added.
type NewItem struct {
	Subject
	Content    jsontext.Value
	Suggestion jsontext.Value
	// Gold is the label that a gold question is known to have, and label what answers
	// are compared with it by. Items that are read do not have them.
	Gold  jsontext.Value
	label string
	// Probability is how probable it was that the item was chosen from its source; zero
	// if it was not chosen by chance.
	Probability float64
}

// Item is one thing that people answer.
type Item struct {
	ID, Task int64
	Status   ItemStatus
	NewItem
	// Required is how many people the item needs. Of these have submitted answers and
	// hold it now; who skipped it is none of them.
	Required, Submitted, Held, Skipped int
	Agreement                          *float64
	Adjudication                       int64
	CreatedAt, UpdatedAt               time.Time
	Version                            int64
}

// answered reports whether as many people have answered the item as it needs. Answers
// to a blind task are open then, and not before: an item that was skipped can be
// answered again.
func (i Item) answered() bool { return i.Submitted >= i.Required }

func (i NewItem) size() int { return len(i.Content) + len(i.Suggestion) }

// Lease is the right of a person to answer an item for a while.
type Lease struct {
	Person  uuid.UUID
	Expires time.Time
}

// Skipped is that a person would not answer an item.
type Skipped struct {
	Person uuid.UUID
	Reason string
	At     time.Time
}

// AddItemsTx adds items to a task.
func (s *Service) AddItemsTx(ctx context.Context, tx postgres.Tx, task int64, items []NewItem) ([]Item, Task, error) {
	before, err := s.store.lockTaskTx(ctx, tx, task)
	if err != nil {
		return nil, before, err
	}
	if before.Status == TaskArchived {
		return nil, before, taskMoves.In(ErrNotActive, before.Status)
	}
	if err := before.checkGold(items); err != nil {
		return nil, before, err
	}
	added, after, err := s.insertItemsTx(ctx, tx, before, items)
	if err != nil {
		return nil, before, err
	}
	if err := change.RecordTx(ctx, s.log, tx, eventTaskItemsAdded, task, &before, &after); err != nil {
		return nil, before, err
	}
	after, err = s.followTx(ctx, tx, after)
	return added, after, err
}

// insertItemsTx stores items and counts them. They are returned in the order in which
// they were given, which is not that of their ids if gold questions are among them.
func (s *Service) insertItemsTx(ctx context.Context, tx postgres.Tx, t Task, items []NewItem) ([]Item, Task, error) {
	order := mixed(items)
	queue := make([]NewItem, len(items))
	for at, i := range order {
		queue[at] = items[i]
	}
	stored, err := s.store.insertItemsTx(ctx, tx, t, queue, s.now())
	if err != nil {
		return nil, t, err
	}
	added := make([]Item, len(items))
	for at, i := range order {
		added[i] = stored[at]
	}
	if err := s.store.insertGoldTx(ctx, tx, t.ID, added, items); err != nil {
		return nil, t, err
	}
	t, err = s.store.countTx(ctx, tx, t.ID, int64(len(added)), 0)
	return added, t, err
}

// ItemPage selects items of a task, newest first.
type ItemPage struct {
	// Annotated is true, false, partial, complete or all.
	Annotated     string
	Below         int64
	Limit, Offset int
	// Count asks for the number of items on all pages.
	Count bool
}

// Read is an item with what a reader may see of it.
type Read struct {
	Item
	// Blind says that people answer the item without knowing where it is from.
	Blind       bool
	Annotations []Annotation
	Leases      []Lease
	Skips       []Skipped
}

// size is how many bytes the item has, with the annotations that were read.
func (r Read) size() int {
	n := r.Item.size()
	for _, a := range r.Annotations {
		n += a.Answer.Size()
	}
	return n
}

// ItemList is a page of items.
type ItemList struct {
	Items []Read
	More  bool
	Total int64
}

// Items returns a page of a task's items as a reader may see them: in a blind task
// without the answers of others while these are not complete.
func (s *Service) Items(ctx context.Context, org principal.OrgID, task int64, reader *uuid.UUID, p ItemPage) (ItemList, error) {
	t, err := s.Task(ctx, org, task)
	if err != nil {
		return ItemList{}, err
	}
	items, more, total, err := s.store.listItems(ctx, org, task, reader, p)
	if err != nil {
		return ItemList{}, err
	}
	list, err := s.store.read(ctx, s.db.Org(org), org, reader, items, s.now())
	return ItemList{t.hide(list, reader), more, total}, err
}

// readTx reads items of one task as a reader may see them.
func (s *Service) readTx(ctx context.Context, tx postgres.Tx, reader *uuid.UUID, items []Item) ([]Read, error) {
	list, err := s.store.read(ctx, tx, tx.Org, reader, items, s.now())
	if err != nil || len(list) == 0 {
		return list, err
	}
	t, err := s.store.findTask(ctx, tx, tx.Org, items[0].Task)
	return t.hide(list, reader), err
}

// hide takes from items what their reader may not see yet besides the answers of
// others, which were not read: why others skipped them.
func (t Task) hide(list []Read, reader *uuid.UUID) []Read {
	for i := range list {
		list[i].Blind = t.Blind && !list[i].answered()
		if t.Blind && !list[i].Status.Complete() {
			list[i].Skips = slices.DeleteFunc(list[i].Skips, func(k Skipped) bool { return reader == nil || k.Person != *reader })
		}
	}
	return list
}

// lockTx finds an item of a task and keeps it from changing, with its task.
func (s *Service) lockTx(ctx context.Context, tx postgres.Tx, task, item int64) (Task, Item, error) {
	i, err := s.store.lockItemTx(ctx, tx, item)
	if err == nil && task != 0 && i.Task != task {
		err = ErrItemNotFound
	}
	if err != nil {
		return Task{}, i, err
	}
	t, err := s.store.keepTx(ctx, tx, i.Task)
	return t, i, err
}

// saveTx brings the status of an item in line with its counts and stores it. A
// complete item is counted in its task, and an event says that it is.
func (s *Service) saveTx(ctx context.Context, tx postgres.Tx, t Task, before, after Item) (Item, error) {
	after.Status, after.UpdatedAt, after.Version = after.statusAt(t.Threshold), s.now(), before.Version+1
	if before.Status != after.Status {
		if err := itemMoves.Check(ErrItemTransition, before.Status, after.Status); err != nil {
			return before, err
		}
	}
	if after.Status.Complete() && after.Held > 0 {
		if err := s.store.dropLeasesTx(ctx, tx, after.ID); err != nil {
			return before, err
		}
		after.Held = 0
	}
	freed := !after.Status.Complete() && (before.Status.Complete() || after.Submitted+after.Held < before.Submitted+before.Held)
	if err := s.store.updateItemTx(ctx, tx, before, after, freed); err != nil {
		return before, err
	}
	if t.Blind && before.answered() != after.answered() {
		if err := s.store.openAnswersTx(ctx, tx, after.ID, after.answered()); err != nil {
			return before, err
		}
		if err := s.scoreTx(ctx, tx, scoring{Item: after.ID}); err != nil {
			return before, err
		}
	}
	if err := s.completedTx(ctx, tx, t, before, after); err != nil {
		return before, err
	}
	return after, nil
}

// completedTx counts an item that has become complete, or is not any more, and says so
// to whoever follows. Events have ids and digests of contents, and no answers. That a
// decision was taken back makes no new event of the answers.
func (s *Service) completedTx(ctx context.Context, tx postgres.Tx, t Task, before, after Item) error {
	if happened, ok := completions[after.Status]; ok && before.Status != after.Status && before.Status != ItemAdjudicated {
		if err := s.auditItemTx(ctx, tx, happened, before, after); err != nil {
			return err
		}
	}
	n := int64(0)
	switch {
	case after.Status.Complete() && !before.Status.Complete():
		n = 1
	case before.Status.Complete() && !after.Status.Complete():
		n = -1
	default:
		return nil
	}
	t, err := s.countTx(ctx, tx, t.ID, 0, n)
	if err != nil || n < 0 || !milestone(t.Completed) || t.Status == TaskCompleted {
		return err
	}
	return change.RecordTx(ctx, s.log, tx, EventTaskMilestone, t.ID, &t, &t)
}

// milestone reports whether so many complete items are a time to look at a task as a
// whole: 50, and each time that there are twice as many. Models of annotators are
// fitted to all answers, so fitting them with each answer would cost the square of
// their number; with milestones it costs about twice the last fit.
func milestone(completed int64) bool {
	for n := int64(50); n <= completed; n *= 2 {
		if n == completed {
			return true
		}
	}
	return false
}

// Subjected is the subject of an event about an item: the task and the item.
func Subjected(task, item int64) string {
	return strconv.FormatInt(task, 10) + "/" + strconv.FormatInt(item, 10)
}

// SkipTx notes that a person would not answer an item, which discards their draft. The
// item is skipped when as many people have skipped it as it needs.
func (s *Service) SkipTx(ctx context.Context, tx postgres.Tx, task, item int64, person uuid.UUID, reason string) error {
	t, i, err := s.lockTx(ctx, tx, task, item)
	if err != nil {
		return err
	}
	if err := t.open(person); err != nil {
		return err
	}
	if i.Status.Complete() {
		return itemMoves.In(ErrItemComplete, i.Status)
	}
	if err := s.discardDraftTx(ctx, tx, item, person); err != nil {
		return err
	}
	noted, err := s.store.skipTx(ctx, tx, item, person, reason, s.now())
	if err != nil || !noted {
		return err
	}
	after := i
	after.Skipped++
	let, err := s.store.dropLeaseTx(ctx, tx, item, person)
	if err != nil {
		return err
	}
	after.Held -= let
	if after, err = s.saveTx(ctx, tx, t, i, after); err != nil {
		return err
	}
	return s.auditItemTx(ctx, tx, eventItemSkipped, i, after)
}

// ReopenTx lets people answer an item again that was skipped.
func (s *Service) ReopenTx(ctx context.Context, tx postgres.Tx, task, item int64) error {
	t, i, err := s.lockTx(ctx, tx, task, item)
	if err != nil {
		return err
	}
	if i.Status.Complete() && i.Status != ItemSkipped {
		return itemMoves.In(ErrItemTransition, i.Status)
	}
	if i.Skipped == 0 {
		return nil
	}
	if err := s.store.unskipTx(ctx, tx, item); err != nil {
		return err
	}
	after := i
	after.Skipped = 0
	if after, err = s.saveTx(ctx, tx, t, i, after); err != nil {
		return err
	}
	return s.auditItemTx(ctx, tx, eventItemReopened, i, after)
}

// EditItemTx replaces the content of an item that nobody has answered.
func (s *Service) EditItemTx(ctx context.Context, tx postgres.Tx, task, item int64, content jsontext.Value) error {
	t, i, err := s.lockTx(ctx, tx, task, item)
	if err != nil {
		return err
	}
	if own, err := s.store.submittedTx(ctx, tx, item); err != nil || len(own) > 0 {
		if err == nil {
			err = ErrItemAnswered
		}
		return err
	}
	after := i
	after.Content = content
	if after, err = s.saveTx(ctx, tx, t, i, after); err != nil {
		return err
	}
	return s.auditItemTx(ctx, tx, eventItemUpdated, i, after)
}

// auditItemTx records what was done to an item.
func (s *Service) auditItemTx(ctx context.Context, tx postgres.Tx, happened event.Type, before, after Item) error {
	return s.log.AuditTx(ctx, tx, change.Entry{Event: happened, ID: Subjected(after.Task, after.ID), Before: before, After: after})
}

// open refuses answers to a task that takes none, or none of this person.
func (t Task) open(person uuid.UUID) error {
	if t.Status != TaskActive {
		return taskMoves.In(ErrNotActive, t.Status)
	}
	return t.admits(person)
}

func (s *Service) itemTx(ctx context.Context, tx postgres.Tx, item int64) (Item, error) {
	return s.store.findItem(ctx, tx, tx.Org, item)
}

// Item returns an item with all answers that were submitted, whoever gave them. It is
// for areas that decide about answers: what it returns must not reach somebody who
// still answers a blind task.
func (s *Service) Item(ctx context.Context, org principal.OrgID, item int64) (Submission, error) {
	i, err := s.store.findItem(ctx, s.db.Org(org), org, item)
	if err != nil {
		return Submission{}, err
	}
	t, err := s.store.findTask(ctx, s.db.Org(org), org, i.Task)
	if err != nil {
		return Submission{}, err
	}
	answers, err := s.store.submitted(ctx, s.db.Org(org), org, item)
	return Submission{Task: t, Item: i, Answers: answers}, err
}

// Submission is an item with its task and the answers that were submitted, in the
// order in which they came.
type Submission struct {
	Task    Task
	Item    Item
	Answers []Annotation
}

// Verdict is what an adjudication decided about the answers to an item.
type Verdict struct {
	// Label is the right one, or the rating as a share of the scale in Score.
	Label string
	Score *float64
	// Confirmed says, without a label, whether the annotators are right; nil if the
	// decision does not say so.
	Confirmed *bool
}

// MarkAdjudicatedTx notes that somebody has decided about the answers to an item, and
// in which adjudication. What they decided is kept, to compare the label of the annotators
// with; that of a later decision replaces it.
func (s *Service) MarkAdjudicatedTx(ctx context.Context, tx postgres.Tx, item, adjudication int64, v Verdict) error {
	if adjudication <= 0 {
		return fmt.Errorf("mark item %d: no adjudication", item)
	}
	t, i, err := s.lockTx(ctx, tx, 0, item)
	if err != nil {
		return err
	}
	if t.Type == label.Rating && v.Label == "" && v.Score != nil {
		scale := t.Schema.Scale()
		v.Label = ratingText(scale.Min + *v.Score*(scale.Max-scale.Min))
	}
	if i.Adjudication == adjudication {
		return s.store.keepDecisionTx(ctx, tx, i, v)
	}
	if !i.Status.Complete() || i.Adjudication != 0 {
		return itemMoves.In(ErrItemTransition, i.Status)
	}
	after := i
	after.Adjudication = adjudication
	if after, err = s.saveTx(ctx, tx, t, i, after); err != nil {
		return err
	}
	if err := s.store.keepDecisionTx(ctx, tx, i, v); err != nil {
		return err
	}
	return s.auditItemTx(ctx, tx, eventItemAdjudicated, i, after)
}

// UnmarkAdjudicatedTx takes back that an adjudication has decided about an item, which
// then is what its answers make it. Another adjudication's decision stays.
func (s *Service) UnmarkAdjudicatedTx(ctx context.Context, tx postgres.Tx, item, adjudication int64) error {
	t, i, err := s.lockTx(ctx, tx, 0, item)
	if err != nil || i.Adjudication == 0 || i.Adjudication != adjudication {
		return err
	}
	after := i
	after.Adjudication = 0
	if after, err = s.saveTx(ctx, tx, t, i, after); err != nil {
		return err
	}
	if err := s.store.dropDecisionTx(ctx, tx, i); err != nil {
		return err
	}
	return s.auditItemTx(ctx, tx, eventItemUnadjudicated, i, after)
}
