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
	{From: TaskDraft, Event: "activate", To: TaskActive},
	{From: TaskDraft, Event: "archive", To: TaskArchived},
	{From: TaskActive, Event: "pause", To: TaskPaused},
	{From: TaskActive, Event: "complete", To: TaskCompleted},
	{From: TaskActive, Event: "archive", To: TaskArchived},
	{From: TaskPaused, Event: "resume", To: TaskActive},
	{From: TaskPaused, Event: "archive", To: TaskArchived},
	{From: TaskCompleted, Event: "reopen", To: TaskActive},
	{From: TaskCompleted, Event: "archive", To: TaskArchived},
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
	{From: ItemPending, Event: "begin", To: ItemInProgress},
	{From: ItemPending, Event: "answer", To: ItemAnnotated},
	{From: ItemPending, Event: "skip", To: ItemSkipped},
	{From: ItemInProgress, Event: "release", To: ItemPending},
	{From: ItemInProgress, Event: "answer", To: ItemAnnotated},
	{From: ItemInProgress, Event: "disagree", To: ItemConflicted},
	{From: ItemInProgress, Event: "skip", To: ItemSkipped},
	{From: ItemSkipped, Event: "reopen", To: ItemPending},
	{From: ItemSkipped, Event: "reopen", To: ItemInProgress},
	{From: ItemSkipped, Event: "decide", To: ItemAdjudicated},
	{From: ItemAnnotated, Event: "withdraw", To: ItemInProgress},
	{From: ItemAnnotated, Event: "withdraw", To: ItemPending},
	{From: ItemAnnotated, Event: "revise", To: ItemConflicted},
	{From: ItemAnnotated, Event: "decide", To: ItemAdjudicated},
	{From: ItemConflicted, Event: "withdraw", To: ItemInProgress},
	{From: ItemConflicted, Event: "revise", To: ItemAnnotated},
	{From: ItemConflicted, Event: "decide", To: ItemAdjudicated},
	{From: ItemAdjudicated, Event: "undecide", To: ItemConflicted},
	{From: ItemAdjudicated, Event: "undecide", To: ItemAnnotated},
	{From: ItemAdjudicated, Event: "undecide", To: ItemSkipped},
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
	{From: StatusDraft, Event: "submit", To: StatusSubmitted},
	{From: StatusDraft, Event: "discard", To: StatusDiscarded},
	{From: StatusSubmitted, Event: "discard", To: StatusDiscarded},
}

// Faults of moves that the tables do not have.
var (
	ErrTaskTransition = fault.New(fault.Conflict, "invalid_transition", "The task cannot change to that status from its current one.")
	ErrItemTransition = fault.New(fault.Conflict, "invalid_transition", "The item cannot change to that status from its current one.")
	ErrTransition     = fault.New(fault.Conflict, "invalid_transition", "The annotation cannot change to that status from its current one.")
)

// settle is the status that follows from what an item has. The threshold is the
// agreement below which answers are in conflict.
func (i Item) settle(threshold float64) ItemStatus {
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
