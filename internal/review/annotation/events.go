package annotation

import "github.com/assayhq/assay/internal/change/event"

var (
	taskNoun       = event.Of("annotation_task", "AnnotationTask")
	itemNoun       = event.Of("annotation_item", "AnnotationItem")
	annotationNoun = event.Of("annotation", "Annotation")
)

var (
	eventTaskCreated    = taskNoun.Event("annotation_task.created", "An annotation task was created.")
	eventTaskUpdated    = taskNoun.Event("annotation_task.updated", "An annotation task was changed.")
	eventTaskDeleted    = taskNoun.Event("annotation_task.deleted", "An annotation task was deleted.")
	eventTaskItemsAdded = taskNoun.Event("annotation_task.items_added", "Items were added to an annotation task.")
	eventTaskReopened   = taskNoun.Event("annotation_task.reopened", "A completed annotation task has incomplete items again.")
	// EventTaskCompleted is followed by those who look at all answers of a task.
	EventTaskCompleted = taskNoun.Public("annotation_task.completed", "annotation.task.completed", "All items of an annotation task are complete.")
	// EventTaskMilestone is for those who look before the task is completed.
	EventTaskMilestone = taskNoun.Event("annotation_task.milestone", "50 items of an annotation task are complete, or a doubling of that.")

	eventItemUpdated       = itemNoun.Event("annotation_item.updated", "The content of an annotation item was replaced.")
	eventItemSkipped       = itemNoun.Event("annotation_item.skipped", "An annotator skipped an item.")
	eventItemReopened      = itemNoun.Event("annotation_item.reopened", "A skipped item was opened again.")
	eventItemAdjudicated   = itemNoun.Event("annotation_item.adjudicated", "An adjudication decided about the answers to an item.")
	eventItemUnadjudicated = itemNoun.Event("annotation_item.unadjudicated", "The decision about the answers to an item was withdrawn.")
	// EventItemAnnotated is followed by those who check answers on which people agree.
	EventItemAnnotated = itemNoun.Event("annotation.item.annotated", "An item has enough answers, and they agree.")
	// EventItemConflicted is followed by those who decide about the others.
	EventItemConflicted = itemNoun.Event("annotation.item.conflicted", "An item has enough answers, and they disagree.")

	eventCreated        = annotationNoun.Event("annotation.created", "An annotation was created as a draft.")
	eventUpdated        = annotationNoun.Event("annotation.updated", "An annotation was changed or discarded.")
	eventDeleted        = annotationNoun.Event("annotation.deleted", "An annotation was deleted.")
	eventSubmitted      = annotationNoun.Public("annotation.created", "annotation.submitted", "An annotation was submitted.")
	eventDraftSubmitted = annotationNoun.Public("annotation.updated", "annotation.submitted", "An annotation was submitted.")
)

// completions are the events of an item that has enough answers, by the status that it has then.
var completions = map[ItemStatus]event.Type{ItemAnnotated: EventItemAnnotated, ItemConflicted: EventItemConflicted}

// saved is the event of an annotation that was created, or changed from what it was before.
func saved(before, after *Annotation) event.Type {
	submitted := after.Status == StatusSubmitted
	switch {
	case before == nil && submitted:
		return eventSubmitted
	case before == nil:
		return eventCreated
	case submitted && before.Status != StatusSubmitted:
		return eventDraftSubmitted
	}
	return eventUpdated
}
