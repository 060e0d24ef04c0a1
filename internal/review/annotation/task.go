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
)

// Faults of tasks.
var (
	ErrTaskNotFound    = fault.New(fault.NotFound, "annotation_task_not_found", "The annotation task does not exist.")
	ErrVersionConflict = fault.New(fault.Conflict, "version_conflict", "It has changed since you read it. Read it again and repeat the change.")
	ErrInUse           = fault.New(fault.Conflict, "in_use", "An adjudication used the annotations of an item, so they cannot be deleted.")
	ErrAnswered        = fault.New(fault.Conflict, "task_answered", "The task has answers. Its type, its label schema and whether it is blind can no longer be changed; create a new task.")
	ErrNotActive       = fault.New(fault.Conflict, "task_not_active", "The task is not active. Set its status to active first.")
	ErrNotAssignee     = fault.New(fault.Forbidden, "not_assignee", "The task is assigned to others.")
)

// Task is a set of items that people answer.
type Task struct {
	ID          int64
	Name        string
	Type        label.Type
	Status      TaskStatus
	Schema      label.Schema
	Guidelines  string
	Description string
	DueAt       *time.Time
	Tags        []string
	// Annotators is how many people each item needs.
	Annotators int
	// Threshold is the agreement below which answers are in conflict.
	Threshold float64
	Blind     bool
	// Assignees are who may answer; none means every member.
	Assignees []uuid.UUID
	// Source is what the items were made from; nil if they were added.
	Source           jsontext.Value
	Total, Completed int64
	CreatedBy        principal.Actor
	CreatedAt        time.Time
	UpdatedAt        time.Time
	Version          int64
}

// Revision counts changes of the task.
func (t Task) Revision() int64 { return t.Version }

// admits refuses people whom the task is not assigned to.
func (t Task) admits(person uuid.UUID) error {
	if len(t.Assignees) > 0 && !slices.Contains(t.Assignees, person) {
		return ErrNotAssignee
	}
	return nil
}

// TaskFilter selects tasks; an empty field matches everything.
type TaskFilter struct {
	ID     int64
	Status TaskStatus
	Search string
	postgres.Page
}

// CreateTx makes a task with items.
func (s *Service) CreateTx(ctx context.Context, tx postgres.Tx, t Task, items []NewItem) (Task, error) {
	if t.Status != TaskDraft && t.Status != TaskActive {
		return t, fault.Invalid("body", "/status", "enum", "must be draft or active for a new task")
	}
	if err := t.Schema.Check(); err != nil {
		return t, err
	}
	t.CreatedBy, t.CreatedAt = principal.ActorOf(ctx), s.now()
	t.UpdatedAt = t.CreatedAt
	var err error
	if t.ID, t.Version, err = s.store.insertTaskTx(ctx, tx, t); err != nil {
		return t, err
	}
	if len(items) > 0 {
		if _, t, err = s.insertItemsTx(ctx, tx, t, items); err != nil {
			return t, err
		}
	}
	return t, change.RecordTx(ctx, s.log, tx, eventTaskCreated, t.ID, nil, &t)
}

// checkAssignees refuses somebody who is not a member.
func (s *Service) checkAssignees(ctx context.Context, org principal.OrgID, who []uuid.UUID) error {
	for i, user := range who {
		_, err := s.tenancy.Member(ctx, org, user)
		if fault.IsNotFound(err) {
			return fault.Invalid("body", "/assigneeIds/"+strconv.Itoa(i), "unknown_reference", "is not the id of a member")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Task returns one task.
func (s *Service) Task(ctx context.Context, org principal.OrgID, id int64) (Task, error) {
	return s.store.findTask(ctx, s.db.Org(org), org, id)
}

// Tasks returns a page of tasks, newest first, with one more than the limit if there
// is a next page.
func (s *Service) Tasks(ctx context.Context, org principal.OrgID, f TaskFilter) ([]Task, int64, error) {
	return s.store.listTasks(ctx, org, f)
}

// UpdateTaskTx changes a task. A nonzero expected version must be the current one.
func (s *Service) UpdateTaskTx(ctx context.Context, tx postgres.Tx, id, expected int64, edit func(*Task)) (Task, error) {
	return change.Update(change.Edit[Task]{
		Expected: expected, Conflict: ErrVersionConflict,
		Lock:  func() (Task, error) { return s.store.lockTaskTx(ctx, tx, id) },
		Apply: func(t *Task) error { edit(t); return t.Schema.Check() },
		Save: func(before Task, after *Task) error {
			if before.Status != after.Status {
				if err := taskMoves.Check(ErrTaskTransition, before.Status, after.Status); err != nil {
					return err
				}
			}
			if err := s.changeableTx(ctx, tx, before, *after); err != nil {
				return err
			}
			after.UpdatedAt, after.Version = s.now(), before.Version+1
			return s.store.updateTaskTx(ctx, tx, before, *after)
		},
		Audit: func(before, after Task) error {
			return change.RecordTx(ctx, s.log, tx, eventTaskUpdated, id, &before, &after)
		},
	})
}

// changeableTx refuses a change after which earlier answers would mean something
// else, or could be read by those who still answer.
func (s *Service) changeableTx(ctx context.Context, tx postgres.Tx, before, after Task) error {
	if before.Type == after.Type && before.Blind == after.Blind && before.Schema.Equal(after.Schema) {
		return nil
	}
	answered, err := s.store.answeredTx(ctx, tx, before.ID)
	if err == nil && answered {
		err = ErrAnswered
	}
	if err != nil || before.Type == after.Type && before.Schema.Equal(after.Schema) {
		return err
	}
	gold, err := s.store.hasGoldTx(ctx, tx, before.ID)
	if err == nil && gold {
		err = ErrGold
	}
	return err
}

// DeleteTaskTx deletes a task, whose items are removed later. What people submitted
// stays readable.
func (s *Service) DeleteTaskTx(ctx context.Context, tx postgres.Tx, id int64) error {
	before, err := s.store.lockTaskTx(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := s.store.deleteTaskTx(ctx, tx, id, s.now()); err != nil {
		return err
	}
	if err := s.purgeTx(ctx, tx, id); err != nil {
		return err
	}
	return change.RecordTx(ctx, s.log, tx, eventTaskDeleted, id, &before, nil)
}

// countTx adds to the counts of a task.
func (s *Service) countTx(ctx context.Context, tx postgres.Tx, task, items, completed int64) (Task, error) {
	t, err := s.store.countTx(ctx, tx, task, items, completed)
	if err != nil {
		return t, err
	}
	return s.followTx(ctx, tx, t)
}

// followTx brings the status of a task in line with its counts: a task whose items
// are all complete is completed by that, and one that is not any more is active again.
func (s *Service) followTx(ctx context.Context, tx postgres.Tx, t Task) (Task, error) {
	var to TaskStatus
	var happened event.Type
	switch {
	case t.Status == TaskActive && t.Total > 0 && t.Completed == t.Total:
		to, happened = TaskCompleted, EventTaskCompleted
	case t.Status == TaskCompleted && t.Completed < t.Total:
		to, happened = TaskActive, eventTaskReopened
	default:
		return t, nil
	}
	if err := taskMoves.Check(ErrTaskTransition, t.Status, to); err != nil {
		return t, err
	}
	after := t
	after.Status, after.UpdatedAt, after.Version = to, s.now(), t.Version+1
	if err := s.store.updateTaskTx(ctx, tx, t, after); err != nil {
		return t, fmt.Errorf("%s: %w", happened.Action(), err)
	}
	return after, change.RecordTx(ctx, s.log, tx, happened, t.ID, &t, &after)
}
