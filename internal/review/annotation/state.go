package annotation

import (
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/state"
)

// TaskStatus is the status of a task.
type TaskStatus string

// The statuses of a task.
const (
	TaskDraft     TaskStatus = "draft"
	TaskActive    TaskStatus = "active"
	TaskPaused    TaskStatus = "paused"
	TaskCompleted TaskStatus = "completed"
	TaskArchived  TaskStatus = "archived"
)

// taskMoves is every legal move of a task; what is not here is refused.
var taskMoves = state.Moves[TaskStatus]{
	TaskDraft:     {TaskActive, TaskArchived},
	TaskActive:    {TaskPaused, TaskCompleted, TaskArchived},
	TaskPaused:    {TaskActive, TaskArchived},
	TaskCompleted: {TaskActive, TaskArchived},
}

// ItemStatus is the status of an item.
type ItemStatus string

// The statuses of an item.
const (
	ItemPending     ItemStatus = "pending"
	ItemInProgress  ItemStatus = "in_progress"
	ItemAnnotated   ItemStatus = "annotated"
	ItemSkipped     ItemStatus = "skipped"
	ItemConflicted  ItemStatus = "conflicted"
	ItemAdjudicated ItemStatus = "adjudicated"
)

// itemMoves is every legal move of an item; what is not here is refused. Taking an
// item from the queue begins it too.
var itemMoves = state.Moves[ItemStatus]{
	ItemPending:     {ItemInProgress, ItemAnnotated, ItemSkipped},
	ItemInProgress:  {ItemPending, ItemAnnotated, ItemConflicted, ItemSkipped},
	ItemSkipped:     {ItemPending, ItemInProgress, ItemAdjudicated},
	ItemAnnotated:   {ItemInProgress, ItemPending, ItemConflicted, ItemAdjudicated},
	ItemConflicted:  {ItemInProgress, ItemAnnotated, ItemAdjudicated},
	ItemAdjudicated: {ItemConflicted, ItemAnnotated, ItemSkipped},
}

// Complete reports whether the item needs nobody any more.
func (s ItemStatus) Complete() bool { return s != ItemPending && s != ItemInProgress }

// Status is the status of an annotation.
type Status string

// The statuses of an annotation.
const (
	StatusDraft     Status = "draft"
	StatusSubmitted Status = "submitted"
	StatusDiscarded Status = "discarded"
)

// moves is every legal move of an annotation; what is not here is refused.
var moves = state.Moves[Status]{
	StatusDraft:     {StatusSubmitted, StatusDiscarded},
	StatusSubmitted: {StatusDiscarded},
}

// Faults of moves that the tables do not have.
var (
	ErrTaskTransition = fault.New(fault.Conflict, "invalid_transition", "The task cannot change to that status from its current one.")
	ErrItemTransition = fault.New(fault.Conflict, "invalid_transition", "The item cannot change to that status from its current one.")
	ErrTransition     = fault.New(fault.Conflict, "invalid_transition", "The annotation cannot change to that status from its current one.")
)

// statusAt is the status that follows from what an item has. The threshold is the
// agreement below which answers are in conflict.
func (i Item) statusAt(threshold float64) ItemStatus {
	switch {
	case i.Adjudication != 0:
		return ItemAdjudicated
	case i.Submitted >= i.Required && i.Agreement != nil && *i.Agreement < threshold:
		return ItemConflicted
	case i.Submitted >= i.Required:
		return ItemAnnotated
	case i.Skipped >= i.Required:
		return ItemSkipped
	case i.Submitted > 0 || i.Held > 0:
		return ItemInProgress
	}
	return ItemPending
}
