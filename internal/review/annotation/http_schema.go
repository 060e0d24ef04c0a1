package annotation

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

// Schema lists the statuses of tasks.
func (TaskStatus) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(TaskDraft, TaskActive, TaskPaused, TaskCompleted, TaskArchived)
}

// Schema lists the statuses of items.
func (ItemStatus) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(ItemPending, ItemInProgress, ItemAnnotated, ItemSkipped, ItemConflicted, ItemAdjudicated)
}

// Schema lists the statuses of annotations.
func (Status) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(StatusDraft, StatusSubmitted, StatusDiscarded)
}

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"AddAnnotationItems":         addItemsBody{},
	"AddedAnnotationItems":       addedItemsBody{},
	"Annotation":                 Body{},
	"AnnotationDetail":           detailBody{},
	"AnnotationItem":             itemBody{},
	"AnnotationItemInput":        ItemFields{},
	"AnnotationItemList":         listItemsBody{},
	"AnnotationLabelFieldInput":  fieldInput{},
	"AnnotationLabelSchemaInput": schemaInput{},
	"AnnotationLabelField":       fieldBody{},
	"AnnotationLabelSchema":      schemaBody{},
	"AnnotationList":             listBody{},
	"AnnotationRatingScale":      scaleBody{},
	"AnnotationRevision":         revisionBody{},
	"AnnotationSkip":             skipBody{},
	"AnnotationTask":             taskBody{},
	"AnnotationTaskList":         listTasksBody{},
	"AnnotationValue":            Value{},
	"AnnotationTaskSource":       sourceInput{},
	"AnnotationTraceFilter":      trace.FilterInput{},
	"CreateAnnotation":           createBody{},
	"CreateAnnotationTask":       createTaskBody{},
	"ImportAnnotationItem":       importItemBody{},
	"ImportAnnotationItems":      importBody{},
	"ImportedAnnotationItems":    importedBody{},
	"ImportAnnotation":           importAnswerBody{},
	"NextAnnotationItem":         nextBody{},
	"ReviseAnnotation":           ValuePatch{},
	"TakeAnnotationItem":         takeBody{},
	"UpdateAnnotation":           updateBody{},
	"UpdateAnnotationItem":       updateItemBody{},
	"UpdateAnnotationTask":       UpdateTask{},
	"UpdateNamedAnnotationTask":  updateNamedBody{},
}
