package annotation

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
	"github.com/assayhq/assay/internal/review/label"
)

const tag = "Annotations"

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	e.Tag(tag, "What people say about runs, traces and items of tasks, and the tasks that they work on.")
	s.registerNouns(e)
}

var taskRoutes = resource.Routes{
	One: "annotation task", Many: "annotation tasks", Tag: tag, Path: "/api/annotations/tasks", Read: principal.EvalRead, Write: principal.EvalWrite,
}

func (s *Service) registerTasks(e *httpapi.Edge) {
	httpapi.Register(e, taskRoutes.List("listAnnotationTasks", "Returns tasks, newest first. Filters are combined with AND."), s.getTasks)
	httpapi.Register(e, taskRoutes.Create("createAnnotationTask",
		"Creates a task. `labelSchema` says which labels it asks for, and answers are checked against it. In a blind task, which "+
			"is the default, the answers of others cannot be read before an item is complete. "+
			sourceDescription), s.postTask)
	httpapi.Register(e, taskRoutes.Get("getAnnotationTask", "Returns the task without its items."), s.getTask)
	httpapi.Register(e, httpapi.Op{
		ID: "updateAnnotationTask", Method: http.MethodPut, Path: "/api/annotations/tasks/{id}", Tag: tag, Scope: principal.EvalWrite, Status: 200,
		Summary:     "Update an annotation task",
		Description: updateDescription,
	}, s.putTask)
	httpapi.Register(e, httpapi.Op{
		ID: "updateNamedAnnotationTask", Method: http.MethodPut, Path: "/api/annotations/tasks", Tag: tag, Scope: principal.EvalWrite, Status: 200,
		Summary:     "Update an annotation task by the id in the body",
		Description: "The task is named by `id` in the body or in the query. " + updateDescription,
	}, s.putNamedTask)
	httpapi.Register(e, taskRoutes.Delete("deleteAnnotationTask", deleteDescription), s.deleteTask)
	httpapi.Register(e, httpapi.Op{
		ID: "deleteNamedAnnotationTask", Method: http.MethodDelete, Path: "/api/annotations/tasks", Tag: tag, Scope: principal.EvalWrite, Status: 200,
		Summary:     "Delete an annotation task by the id in the query",
		Description: "Deletes the one task that `id` names; without it the request fails with 400. " + deleteDescription,
	}, s.deleteNamedTask)
}

const (
	updateDescription = "Changes the fields that are sent and leaves the others as they are. Type, label schema and blindness cannot be changed after the first answer: 409 `task_answered`. " +
		"`annotatorsPerItem` holds for items that are added from then on."
	deleteDescription = "Deletes the task with its items; submitted annotations stay readable. A task with an adjudicated item cannot be deleted: 409 `in_use`."
)

// TaskPath is the path of a task.
type TaskPath struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The id of the task."`
}

type listTasksInput struct {
	httpapi.CursorPage
	ID     string     `query:"id" maxLength:"32" doc:"Only the task with this id."`
	Search string     `query:"search" maxLength:"200" doc:"Only tasks whose name contains this text, ignoring case."`
	Status TaskStatus `query:"status" doc:"Only tasks with this status."`
}

type createTaskBody struct {
	Name               string       `json:"name" minLength:"1" maxLength:"200" example:"Rate support answers" doc:"Name; it need not be unique."`
	Type               label.Type   `json:"type,omitempty" default:"rating" enum:"rating,classification,multi_label,pairwise,ranking,free_text,correction" doc:"What the task asks for: rating needs rating, classification and pairwise need label, multi_label and ranking need labels, free_text needs feedback and correction needs correctedOutput."`
	Status             TaskStatus   `json:"status,omitempty" default:"active" doc:"draft, or active so that people can answer."`
	LabelSchema        schemaInput  `json:"labelSchema,omitzero" doc:"Labels that the task asks for; any are valid if it is not sent."`
	Guidelines         string       `json:"guidelines,omitempty" maxLength:"100000" doc:"What people are to go by."`
	Description        string       `json:"description,omitempty" maxLength:"10000" doc:"What the task is for."`
	DueAt              *time.Time   `json:"dueAt,omitempty" doc:"When the task should be done."`
	Tags               httpapi.Tags `json:"tags,omitempty" doc:"Tags."`
	AnnotatorsPerItem  int          `json:"annotatorsPerItem,omitempty" minimum:"1" maximum:"10" default:"1" doc:"People that each item needs."`
	AgreementThreshold *float64     `json:"agreementThreshold,omitempty" minimum:"0" maximum:"1" default:"0.67" doc:"Agreement below which the answers to an item are in conflict."`
	Blind              *bool        `json:"blind,omitempty" default:"true" doc:"Whether people see neither the answers of others nor which model answered, until an item is complete."`
	AssigneeIDs        []string     `json:"assigneeIds,omitempty" maxItems:"100" doc:"Members who may answer; every member if it is empty."`
	Source             *sourceInput `json:"source,omitempty" doc:"What to make items from."`
}

type updateTaskInput struct {
	TaskPath
	httpapi.IfMatch
	Body UpdateTask
}

type updateNamedInput struct {
	QueryID int64 `query:"id" minimum:"1" maximum:"9007199254740991" doc:"The id of the task, as an alternative to the body."`
	httpapi.IfMatch
	Body updateNamedBody
}

type updateNamedBody struct {
	ID httpapi.IDInput `json:"id,omitzero" doc:"The id of the task; required unless the query has it."`
	UpdateTask
}

// Check asks for one id.
func (in *updateNamedInput) Check(context.Context) error {
	switch {
	case in.Body.ID == 0 && in.QueryID == 0:
		return fault.Invalid("body", "/id", "required", "is required: it names the task")
	case in.Body.ID != 0 && in.QueryID != 0 && int64(in.Body.ID) != in.QueryID:
		return fault.Invalid("body", "/id", "ambiguous_field", "differs from id in the query")
	}
	return nil
}

// UpdateTask is a change of a task.
type UpdateTask struct {
	Name               httpapi.Set[string]         `json:"name,omitzero" minLength:"1" maxLength:"200" doc:"New name."`
	Type               httpapi.Set[label.Type]     `json:"type,omitzero" enum:"rating,classification,multi_label,pairwise,ranking,free_text,correction" doc:"New type."`
	Status             httpapi.Set[TaskStatus]     `json:"status,omitzero" doc:"New status."`
	LabelSchema        httpapi.Patch[schemaInput]  `json:"labelSchema,omitzero" doc:"New label schema; null for none."`
	Guidelines         httpapi.Patch[string]       `json:"guidelines,omitzero" maxLength:"100000" doc:"New guidelines; null removes them."`
	Description        httpapi.Patch[string]       `json:"description,omitzero" maxLength:"10000" doc:"New description; null removes it."`
	DueAt              httpapi.Patch[time.Time]    `json:"dueAt,omitzero" doc:"When the task should be done; null removes it."`
	Tags               httpapi.Patch[httpapi.Tags] `json:"tags,omitzero" doc:"New tags, replacing all existing ones; null removes them."`
	AnnotatorsPerItem  httpapi.Set[int]            `json:"annotatorsPerItem,omitzero" minimum:"1" maximum:"10" doc:"People that each item needs that is added from now on."`
	AgreementThreshold httpapi.Set[float64]        `json:"agreementThreshold,omitzero" minimum:"0" maximum:"1" doc:"Agreement below which answers are in conflict, for items that are completed from now on."`
	Blind              httpapi.Set[bool]           `json:"blind,omitzero" doc:"Whether people see the answers of others."`
	AssigneeIDs        httpapi.Patch[[]string]     `json:"assigneeIds,omitzero" maxItems:"100" doc:"Members who may answer, replacing all; null for every member."`
	ExpectedVersion    int64                       `json:"expectedVersion,omitzero" minimum:"1" doc:"The version to change, as an alternative to If-Match."`
}

type deleteNamedInput struct {
	ID string `query:"id" maxLength:"32" doc:"The id of the task. Required."`
}

// taskBody is a task on the wire.
type taskBody struct {
	ID                 int64                      `json:"id" doc:"Id of the task."`
	Name               string                     `json:"name" doc:"Name."`
	Type               label.Type                 `json:"type" enum:"rating,classification,multi_label,pairwise,ranking,free_text,correction" doc:"What the task asks for."`
	Status             TaskStatus                 `json:"status" doc:"Items are answered in active tasks only. A task completes by itself with its last item."`
	LabelSchema        schemaBody                 `json:"label_schema" doc:"Labels that the task asks for; any are valid if it has no fields."`
	Guidelines         *string                    `json:"guidelines" doc:"What people are to go by."`
	Description        *string                    `json:"description" doc:"What the task is for."`
	DueAt              httpapi.Null[httpapi.Time] `json:"due_at" doc:"When the task should be done."`
	Tags               []string                   `json:"tags" doc:"Tags, in the order given."`
	AnnotatorsPerItem  int                        `json:"annotators_per_item" doc:"People that an added item needs."`
	AgreementThreshold float64                    `json:"agreement_threshold" doc:"Agreement below which the answers to an item are in conflict."`
	Blind              bool                       `json:"blind" doc:"Whether answers of others are hidden until an item is complete."`
	AssigneeIDs        []string                   `json:"assignee_ids" doc:"Members who may answer; every member if it is empty."`
	Source             httpapi.JSON               `json:"source" doc:"What the items were made from; null if they were added, and for annotators and viewers of a blind task until all items are complete."`
	TotalItems         int64                      `json:"total_items" doc:"Items of the task."`
	CompletedItems     int64                      `json:"completed_items" volatile:"true" doc:"Items that need no more answers: annotated, conflicted, adjudicated or skipped."`
	CreatedBy          httpapi.Actor              `json:"created_by" volatile:"true" doc:"Who created the task."`
	CreatedAt          httpapi.Time               `json:"created_at" doc:"When the task was created."`
	UpdatedAt          httpapi.Time               `json:"updated_at" volatile:"true" doc:"When the task last changed."`
	Version            int64                      `json:"version" volatile:"true" doc:"Counts changes of the task itself; see If-Match."`
}

// Noun is what documents call it.
func (taskBody) Noun() string { return "task" }

type schemaInput struct {
	Fields []fieldInput `json:"fields" maxItems:"50" doc:"The labels."`
}

type fieldInput struct {
	Key      string          `json:"key" pattern:"^[A-Za-z][A-Za-z0-9_.-]{0,63}$" doc:"Name of the label."`
	Type     label.FieldType `json:"type" enum:"choice,choices,number,integer,boolean,text" doc:"choice: one of the options; choices: a list of options; number and integer: between min and max; boolean; text."`
	Required bool            `json:"required,omitempty" doc:"Whether an answer must have the label."`
	Options  []string        `json:"options,omitempty" maxItems:"200" doc:"Possible values of choice and choices."`
	Min      *float64        `json:"min,omitempty" doc:"Least value of a number."`
	Max      *float64        `json:"max,omitempty" doc:"Greatest value of a number."`
}

// schemaBody is a label schema on the wire.
type schemaBody struct {
	Fields []fieldBody `json:"fields" doc:"The labels."`
}

type fieldBody struct {
	Key      string          `json:"key" doc:"Name of the label."`
	Type     label.FieldType `json:"type" enum:"choice,choices,number,integer,boolean,text" doc:"What values the label can have."`
	Required bool            `json:"required" doc:"Whether an answer must have the label."`
	Options  []string        `json:"options" doc:"Possible values of choice and choices; empty for other types."`
	Min      *float64        `json:"min" doc:"Least value of a number; null if there is none."`
	Max      *float64        `json:"max" doc:"Greatest value of a number; null if there is none."`
}

type listTasksBody struct {
	Tasks []taskBody `json:"tasks" doc:"The tasks of this page, newest first."`
	httpapi.CursorPaging
}

func (s *Service) tasks() resource.Noun[Task, taskBody] {
	return resource.Noun[Task, taskBody]{
		Routes: taskRoutes, Log: s.log, Missing: ErrTaskNotFound, Cursor: "annotation tasks",
		ID: func(t Task) int64 { return t.ID },
		Show: func(ctx context.Context, tx *postgres.Tx, all []Task) ([]taskBody, error) {
			show := resource.By(s.tenancy, func(t Task) principal.Actor { return t.CreatedBy }, func(t Task, by httpapi.Actor) taskBody {
				if tx == nil { // who changes a task sees all of it
					t = t.seenBy(principal.From(ctx))
				}
				return toTaskBody(t, by)
			})
			return show(ctx, tx, all)
		},
	}
}

func (s *Service) getTasks(ctx context.Context, in *listTasksInput) (*httpapi.Body[listTasksBody], error) {
	shown, paging, err := s.tasks().Page(ctx, in.CursorPage, func(p postgres.Page) ([]Task, int64, error) {
		f := TaskFilter{Status: in.Status, Search: in.Search, Page: p}
		if in.ID != "" {
			var known bool
			if f.ID, known = httpapi.ParseID(in.ID); !known {
				return nil, 0, nil // any other text is the id of no task
			}
		}
		return s.Tasks(ctx, principal.From(ctx).Org, f)
	})
	return httpapi.NewBody(listTasksBody{shown, paging}), err
}

func (s *Service) postTask(ctx context.Context, in *httpapi.Body[createTaskBody]) (*httpapi.Made[taskBody], error) {
	if out, err := change.Recall[httpapi.Made[taskBody]](ctx, s.log); out != nil || err != nil {
		return out, err
	}
	b, org := in.Body, principal.From(ctx).Org
	t := Task{
		Name: b.Name, Type: b.Type, Status: b.Status, Schema: fromSchemaInput(b.LabelSchema), Guidelines: b.Guidelines, Description: b.Description, DueAt: b.DueAt, Tags: httpapi.OrEmpty(b.Tags),
		Annotators: b.AnnotatorsPerItem, Threshold: 0.67, Blind: b.Blind == nil || *b.Blind,
	}
	if b.AgreementThreshold != nil {
		t.Threshold = *b.AgreementThreshold
	}
	var err error
	if t.Assignees, err = s.fromAssignees(ctx, org, b.AssigneeIDs); err != nil {
		return nil, err
	}
	items, err := s.fromSource(ctx, org, &t, b.Source)
	if err != nil {
		return nil, err
	}
	return s.tasks().Create(ctx, func(tx postgres.Tx) (Task, error) { return s.CreateTx(ctx, tx, t, items) })
}

func (s *Service) getTask(ctx context.Context, in *TaskPath) (*httpapi.Output[taskBody], error) {
	t, err := s.Task(ctx, principal.From(ctx).Org, in.ID)
	if err != nil {
		return nil, err
	}
	return s.tasks().Answer(ctx, nil, t)
}

func (s *Service) putTask(ctx context.Context, in *updateTaskInput) (*httpapi.Output[taskBody], error) {
	return s.updateTask(ctx, in.ID, in.IfMatch, in.Body)
}

func (s *Service) putNamedTask(ctx context.Context, in *updateNamedInput) (*httpapi.Output[taskBody], error) {
	return s.updateTask(ctx, max(int64(in.Body.ID), in.QueryID), in.IfMatch, in.Body.UpdateTask)
}

func (s *Service) updateTask(ctx context.Context, id int64, match httpapi.IfMatch, b UpdateTask) (*httpapi.Output[taskBody], error) {
	expected, err := match.Expected(b.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	assignees, err := s.fromAssignees(ctx, principal.From(ctx).Org, b.AssigneeIDs.Value)
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.Output[taskBody], error) {
		t, err := s.UpdateTaskTx(ctx, tx, id, expected, func(t *Task) {
			b.apply(t)
			if b.AssigneeIDs.Sent {
				t.Assignees = assignees
			}
		})
		if err != nil {
			return nil, err
		}
		return s.tasks().Answer(ctx, &tx, t)
	})
}

func (b UpdateTask) apply(t *Task) {
	b.Name.Apply(&t.Name)
	b.Type.Apply(&t.Type)
	b.Status.Apply(&t.Status)
	b.Guidelines.Apply(&t.Guidelines)
	b.Description.Apply(&t.Description)
	b.AnnotatorsPerItem.Apply(&t.Annotators)
	b.AgreementThreshold.Apply(&t.Threshold)
	b.Blind.Apply(&t.Blind)
	if b.LabelSchema.Sent {
		t.Schema = fromSchemaInput(b.LabelSchema.Value)
	}
	if b.DueAt.Sent {
		t.DueAt = b.DueAt.Pointer()
	}
	if b.Tags.Sent {
		t.Tags = httpapi.OrEmpty(b.Tags.Value)
	}
}

func (s *Service) deleteTask(ctx context.Context, in *TaskPath) (*httpapi.DeletedOutput[int64], error) {
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.DeletedOutput[int64], error) {
		return httpapi.NewDeleted(in.ID), s.DeleteTaskTx(ctx, tx, in.ID)
	})
}

func (s *Service) deleteNamedTask(ctx context.Context, in *deleteNamedInput) (*httpapi.DeletedOutput[int64], error) {
	id, _ := httpapi.ParseID(in.ID)
	return s.deleteTask(ctx, &TaskPath{ID: id})
}

// Check asks for the id of one task: nothing else can name what is deleted.
func (in *deleteNamedInput) Check(context.Context) error {
	if in.ID == "" {
		return fault.Invalid("query", "id", "required", "is required: it names the task to delete")
	}
	if _, ok := httpapi.ParseID(in.ID); !ok {
		return fault.Invalid("query", "id", "type", "must be a positive integer in plain digits")
	}
	return nil
}

// fromAssignees reads ids of members.
func (s *Service) fromAssignees(ctx context.Context, org principal.OrgID, ids []string) ([]uuid.UUID, error) {
	who := []uuid.UUID{}
	for i, text := range ids {
		id, err := uuid.Parse(text)
		if err != nil {
			return nil, fault.Invalid("body", "/assigneeIds/"+strconv.Itoa(i), "format", "must be the id of a member")
		}
		who = append(who, id)
	}
	return who, s.checkAssignees(ctx, org, who)
}

// Shown is the task as getAnnotationTask shows it.
func (t Task) Shown() any { return toTaskBody(t, httpapi.ToActor(t.CreatedBy, "")) }

func toTaskBody(t Task, by httpapi.Actor) taskBody {
	b := taskBody{
		ID: t.ID, Name: t.Name, Type: t.Type, Status: t.Status, LabelSchema: toSchemaBody(t.Schema), Guidelines: httpapi.OrNull(t.Guidelines), Description: httpapi.OrNull(t.Description),
		DueAt: httpapi.NullTime(t.DueAt), Tags: httpapi.OrEmpty(t.Tags), AnnotatorsPerItem: t.Annotators, AgreementThreshold: t.Threshold, Blind: t.Blind, AssigneeIDs: make([]string, len(t.Assignees)),
		Source: httpapi.JSON(t.Source), TotalItems: t.Total, CompletedItems: t.Completed, CreatedBy: by, CreatedAt: httpapi.Time(t.CreatedAt), UpdatedAt: httpapi.Time(t.UpdatedAt), Version: t.Version,
	}
	for i, who := range t.Assignees {
		b.AssigneeIDs[i] = who.String()
	}
	return b
}

func fromSchemaInput(b schemaInput) label.Schema {
	s := label.Schema{Fields: make([]label.Field, len(b.Fields))}
	for i, f := range b.Fields {
		s.Fields[i] = label.Field(f)
	}
	return s
}

func toSchemaBody(s label.Schema) schemaBody {
	b := schemaBody{Fields: make([]fieldBody, len(s.Fields))}
	for i, f := range s.Fields {
		b.Fields[i] = fieldBody(f)
		b.Fields[i].Options = httpapi.OrEmpty(f.Options)
	}
	return b
}
