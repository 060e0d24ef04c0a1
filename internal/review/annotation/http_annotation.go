package annotation

import (
	"context"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/label"
)

func (s *Service) registerAnnotations(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listAnnotations", Method: http.MethodGet, Path: "/api/annotations", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List annotations",
		Description: "Returns annotations, newest first: the caller's own, and those of others that are submitted, in blind tasks once their item is complete. Filters are combined with AND. A page ends after 8 MiB of annotations, however few these are; `has_more` then says that there are others.",
	}, s.getAnnotations)
	httpapi.Register(e, httpapi.Op{
		ID: "createAnnotation", Method: http.MethodPost, Path: "/api/annotations", Tag: tag, Scope: principal.EvalWrite, Status: 201, Annotators: true, Person: true,
		Summary: "Create an annotation",
		Description: "Keeps what the caller says about an item of a run (`evaluationRunId` and `testCaseId`), a trace (`traceId`, `spanId`) or an item of a task (`taskId` and `itemId`), where it is their answer. " +
			"It needs a person: anyone else gets 403 `not_a_person`.",
	}, s.postAnnotation)
	httpapi.Register(e, httpapi.Op{
		ID: "getAnnotation", Method: http.MethodGet, Path: "/api/annotations/{id}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get an annotation",
		Description: "Returns the annotation and what it said before it was changed. One that the caller may not see yet is not found.",
	}, s.getAnnotation)
	httpapi.Register(e, httpapi.Op{
		ID: "updateAnnotation", Method: http.MethodPatch, Path: "/api/annotations/{id}", Tag: tag, Scope: principal.EvalWrite, Status: 200, OptionalBody: true, Annotators: true, Person: true,
		Summary: "Update an annotation",
		Description: "Changes the fields that are sent of an annotation of the caller's own, submits a draft with `status: submitted`, or takes an answer back with `status: discarded`. What it said before is kept. " +
			"An answer in a blind task cannot be changed once the item is complete and others have answered it too: 409 `answers_open`.",
	}, s.patchAnnotation)
	httpapi.Register(e, httpapi.Op{
		ID: "deleteAnnotation", Method: http.MethodDelete, Path: "/api/annotations/{id}", Tag: tag, Scope: principal.EvalWrite, Status: 200, Annotators: true, Person: true,
		Summary:     "Delete an annotation",
		Description: "Deletes an annotation of the caller's own. An item that it answered needs another answer then.",
	}, s.deleteAnnotation)
}

// Path is the path of an annotation.
type Path struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The id of the annotation."`
}

type listInput struct {
	httpapi.CursorPage
	EvaluationRunID string `query:"evaluationRunId" maxLength:"32" doc:"Only annotations about this run."`
	TestCaseID      string `query:"testCaseId" maxLength:"32" doc:"Only annotations about this item of a dataset."`
	TraceID         string `query:"traceId" maxLength:"32" doc:"Only annotations about this trace, by its hexadecimal id or its number."`
	TaskID          string `query:"taskId" maxLength:"32" doc:"Only annotations of this task."`
	AnnotatorID     string `query:"annotatorId" maxLength:"36" doc:"Only annotations of this member."`
}

type scaleBody struct {
	Min float64 `json:"min" doc:"Worst rating."`
	Max float64 `json:"max" doc:"Best rating."`
}

// Value is what a person says, in requests.
type Value struct {
	Rating          *float64                `json:"rating,omitempty" doc:"Rating within the scale."`
	RatingScale     *scaleBody              `json:"ratingScale,omitempty" doc:"Scale of the rating; that of the task, or 1 to 5, if it is not sent."`
	Label           string                  `json:"label,omitempty" maxLength:"200" doc:"A label."`
	Labels          map[string]httpapi.JSON `json:"labels,omitempty" maxProperties:"50" doc:"Labels by name: any JSON values that the task's label schema accepts."`
	Feedback        string                  `json:"feedback,omitempty" maxLength:"20000" doc:"Free text."`
	CorrectedOutput httpapi.JSON            `json:"correctedOutput,omitzero" doc:"What the answer should have been: any JSON value."`
	Confidence      *float64                `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"How sure the person is, from 0 to 1."`
	DurationMS      *int64                  `json:"durationMs,omitempty" minimum:"0" maximum:"86400000" doc:"Milliseconds that the person spent."`
	Status          Status                  `json:"status,omitempty" default:"submitted" doc:"draft keeps the annotation to the person; submitted counts."`
}

type createBody struct {
	EvaluationRunID string          `json:"evaluationRunId,omitempty" maxLength:"32" doc:"Run that the annotation is about; with testCaseId."`
	TestCaseID      string          `json:"testCaseId,omitempty" maxLength:"32" doc:"Item of the run; with evaluationRunId."`
	TraceID         string          `json:"traceId,omitempty" maxLength:"32" doc:"Trace that the annotation is about, by its hexadecimal id or its number."`
	SpanID          string          `json:"spanId,omitempty" pattern:"^[0-9a-f]{16}$" doc:"Span of the trace."`
	TaskID          httpapi.IDInput `json:"taskId,omitzero" doc:"Task; with itemId."`
	ItemID          httpapi.IDInput `json:"itemId,omitzero" doc:"Item of the task that this is the answer to."`
	Value
}

// Check asks for one subject.
func (b *createBody) Check(context.Context) error {
	run, trace, item := b.EvaluationRunID != "" || b.TestCaseID != "", b.TraceID != "" || b.SpanID != "", b.TaskID != 0 || b.ItemID != 0
	pair := func(a, b bool, first, second string) error {
		if a != b {
			if a {
				first = second
			}
			return fault.Invalid("body", "/"+first, "required", "is required")
		}
		return nil
	}
	switch {
	case !run && !trace && !item:
		return fault.Invalid("body", "/evaluationRunId", "one_of_required", "is required: send evaluationRunId and testCaseId, or traceId, or taskId and itemId")
	case item && (run || trace):
		return fault.Invalid("body", "/itemId", "mutually_exclusive", "cannot be combined with a run or a trace: the item says what it is about")
	case item:
		return pair(b.TaskID != 0, b.ItemID != 0, "taskId", "itemId")
	case trace && b.TraceID == "":
		return fault.Invalid("body", "/traceId", "required", "is required: a span belongs to a trace")
	case run:
		return pair(b.EvaluationRunID != "", b.TestCaseID != "", "evaluationRunId", "testCaseId")
	}
	return nil
}

type updateInput struct {
	Path
	httpapi.IfMatch
	Body updateBody
}

// ValuePatch is a change of what a person says.
type ValuePatch struct {
	Rating          httpapi.Patch[float64]                 `json:"rating,omitzero" doc:"New rating; null removes it."`
	RatingScale     httpapi.Set[scaleBody]                 `json:"ratingScale,omitzero" doc:"New scale of the rating."`
	Label           httpapi.Patch[string]                  `json:"label,omitzero" maxLength:"200" doc:"New label; null removes it."`
	Labels          httpapi.Patch[map[string]httpapi.JSON] `json:"labels,omitzero" doc:"New labels, replacing all; null removes them."`
	Feedback        httpapi.Patch[string]                  `json:"feedback,omitzero" maxLength:"20000" doc:"New text; null removes it."`
	CorrectedOutput httpapi.JSON                           `json:"correctedOutput,omitzero" doc:"New correction; null removes it."`
	Confidence      httpapi.Patch[float64]                 `json:"confidence,omitzero" minimum:"0" maximum:"1" doc:"How sure the person is; null removes it."`
	DurationMS      int64                                  `json:"durationMs,omitzero" minimum:"0" maximum:"86400000" doc:"Milliseconds that the person spent on the change; added to those before."`
}

type updateBody struct {
	ValuePatch
	Status          httpapi.Set[Status] `json:"status,omitzero" doc:"submitted submits a draft; discarded takes the annotation back."`
	ExpectedVersion int64               `json:"expectedVersion,omitzero" minimum:"1" doc:"The version to change, as an alternative to If-Match."`
}

// Body is an annotation on the wire. It is exported because another one embeds it.
type Body struct {
	ID              int64          `json:"id" doc:"Id of the annotation."`
	EvaluationRunID *string        `json:"evaluation_run_id" doc:"Run that it is about; for annotators and viewers null while others cannot read the answer to an item."`
	TestCaseID      *string        `json:"test_case_id" doc:"Item of a dataset that it is about."`
	TraceID         *string        `json:"trace_id" doc:"Trace that it is about."`
	SpanID          *string        `json:"span_id" doc:"Span that it is about."`
	TaskID          *int64         `json:"task_id" doc:"Task that it belongs to."`
	ItemID          *int64         `json:"item_id" doc:"Item of the task that it answers."`
	Annotator       httpapi.Actor  `json:"annotator" volatile:"true" doc:"Who says it; asserted if another person or key created the key that was used."`
	Rating          *float64       `json:"rating" doc:"Rating within the scale."`
	RatingScale     scaleBody      `json:"rating_scale" doc:"Scale of the rating."`
	Label           *string        `json:"label" doc:"A label."`
	Labels          httpapi.Object `json:"labels" doc:"Labels by name."`
	Feedback        *string        `json:"feedback" doc:"Free text."`
	CorrectedOutput httpapi.JSON   `json:"corrected_output" doc:"What the answer should have been; null if nothing is said about it."`
	Confidence      *float64       `json:"confidence" doc:"How sure the person is, from 0 to 1."`
	DurationMS      *int64         `json:"duration_ms" doc:"Milliseconds that the person spent."`
	Status          Status         `json:"status" doc:"draft: only the person sees it; submitted: it counts; discarded: it was taken back."`
	Nonce           string         `json:"nonce" doc:"Random text that is part of the annotation's digests in the audit log, so that an answer cannot be guessed from its digest."`
	CreatedAt       httpapi.Time   `json:"created_at" doc:"When it was created."`
	UpdatedAt       httpapi.Time   `json:"updated_at" volatile:"true" doc:"When it last changed."`
	Version         int64          `json:"version" volatile:"true" doc:"Counts changes; see If-Match."`
}

// detailBody is an annotation with its history.
type detailBody struct {
	Body
	Revisions []revisionBody `json:"revisions" volatile:"true" doc:"What it said before it was changed, newest first; at most 100."`
}

type revisionBody struct {
	Version         int64          `json:"version" doc:"Version that said this."`
	Status          Status         `json:"status" doc:"Its status then."`
	Rating          *float64       `json:"rating" doc:"Rating within the scale."`
	RatingScale     scaleBody      `json:"rating_scale" doc:"Scale of the rating."`
	Label           *string        `json:"label" doc:"A label."`
	Labels          httpapi.Object `json:"labels" doc:"Labels by name."`
	Feedback        *string        `json:"feedback" doc:"Free text."`
	CorrectedOutput httpapi.JSON   `json:"corrected_output" doc:"What the answer should have been."`
	Confidence      *float64       `json:"confidence" doc:"How sure the person was."`
	DurationMS      *int64         `json:"duration_ms" doc:"Milliseconds that the person had spent."`
	ReplacedAt      httpapi.Time   `json:"replaced_at" doc:"When it was changed."`
}

// Noun is what documents call it.
func (Body) Noun() string { return "annotation" }

type listBody struct {
	Annotations []Body `json:"annotations" doc:"The annotations of this page, newest first."`
	httpapi.CursorPaging
}

const cursor = httpapi.IDCursor("annotations")

func (s *Service) getAnnotations(ctx context.Context, in *listInput) (*httpapi.Body[listBody], error) {
	caller := principal.From(ctx)
	f := Filter{Reader: reader(caller), Limit: in.Limit, Offset: in.Offset, Count: in.IncludeTotal}
	var err error
	if f.Below, err = cursor.Below(in.Cursor); err != nil {
		return nil, err
	}
	known := in.filter(&f)
	var all []Annotation
	var more bool
	var total int64
	if known { // a filter that names nothing matches nothing
		err = admission.From(ctx).Read(ctx, PageBytes, func() (n int, err error) {
			all, more, total, err = s.List(ctx, caller.Org, f)
			for _, a := range all {
				n += a.Answer.Size()
			}
			return n, err
		})
		if err != nil {
			return nil, err
		}
	}
	var out httpapi.Body[listBody]
	next := ""
	if more {
		next = cursor.Text(all[len(all)-1].ID)
	}
	out.Body.CursorPaging = in.Paging(next, total)
	out.Body.Annotations, err = toBodies(caller, all, func(who ...principal.Actor) ([]httpapi.Actor, error) {
		return s.tenancy.Actors(ctx, caller.Org, who...)
	})
	return &out, err
}

// filter reads the filters of a list, and reports whether what they name can exist.
func (in *listInput) filter(f *Filter) (known bool) {
	known = true
	for _, named := range []struct {
		text string
		id   *int64
	}{{in.EvaluationRunID, &f.Run}, {in.TestCaseID, &f.TestCase}, {in.TaskID, &f.Task}} {
		if named.text != "" {
			id, ok := httpapi.ParseID(named.text)
			*named.id, known = id, known && ok
		}
	}
	if in.AnnotatorID != "" {
		who, err := uuid.Parse(in.AnnotatorID)
		f.Person, known = &who, known && err == nil
	}
	f.Trace = in.TraceID
	return known
}

func (s *Service) postAnnotation(ctx context.Context, in *httpapi.Body[createBody]) (*httpapi.Made[Body], error) {
	if out, err := change.Recall[httpapi.Made[Body]](ctx, s.log); out != nil || err != nil {
		return out, err
	}
	b, caller := in.Body, principal.From(ctx)
	a, err := b.annotation()
	if err != nil {
		return nil, err
	}
	a.Task, a.Item, a.Person, a.Asserted = int64(b.TaskID), int64(b.ItemID), *caller.User, caller.Asserted
	if a.Subject, err = s.subject(ctx, caller.Org, subjectInput{Run: b.EvaluationRunID, TestCase: b.TestCaseID, Trace: b.TraceID, Span: b.SpanID}, "", newNamed()); err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.Made[Body], error) {
		a, err := s.AddTx(ctx, tx, a, "")
		if err != nil {
			return nil, err
		}
		bodies, err := s.toBodiesTx(ctx, tx, []Annotation{a})
		if err != nil {
			return nil, err
		}
		return &httpapi.Made[Body]{
			ETag: httpapi.ETag(a.Version), Location: "/api/annotations/" + strconv.FormatInt(a.ID, 10), Body: bodies[0],
		}, nil
	})
}

func (s *Service) getAnnotation(ctx context.Context, in *Path) (*httpapi.Output[detailBody], error) {
	caller := principal.From(ctx)
	a, earlier, err := s.Find(ctx, caller.Org, reader(caller), in.ID)
	if err != nil {
		return nil, err
	}
	by, err := s.tenancy.Actors(ctx, caller.Org, a.actor())
	if err != nil {
		return nil, err
	}
	out := &httpapi.Output[detailBody]{ETag: httpapi.ETag(a.Version), Body: detailBody{toBody(a.seenBy(caller), by[0]), make([]revisionBody, len(earlier))}}
	for i, e := range earlier {
		out.Body.Revisions[i] = toRevisionBody(e)
	}
	return out, nil
}

func (s *Service) patchAnnotation(ctx context.Context, in *updateInput) (*httpapi.Output[Body], error) {
	expected, err := in.Expected(in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	c, err := in.Body.change()
	if err != nil {
		return nil, err
	}
	c.Status = in.Body.Status.Value
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.Output[Body], error) {
		a, err := s.UpdateTx(ctx, tx, in.ID, expected, *principal.From(ctx).User, c)
		if err != nil {
			return nil, err
		}
		bodies, err := s.toBodiesTx(ctx, tx, []Annotation{a})
		if err != nil {
			return nil, err
		}
		return &httpapi.Output[Body]{ETag: httpapi.ETag(a.Version), Body: bodies[0]}, nil
	})
}

func (s *Service) deleteAnnotation(ctx context.Context, in *Path) (*httpapi.DeletedOutput[int64], error) {
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.DeletedOutput[int64], error) {
		return httpapi.NewDeleted(in.ID), s.DeleteTx(ctx, tx, in.ID, *principal.From(ctx).User)
	})
}

// annotation reads what a person says.
func (v Value) annotation() (Annotation, error) {
	a := Annotation{Status: v.Status, DurationMS: v.DurationMS, Answer: label.Answer{Rating: v.Rating, Label: v.Label, Feedback: v.Feedback, Confidence: v.Confidence, Labels: fromLabels(v.Labels)}}
	if v.Status == StatusDiscarded {
		return a, fault.Invalid("body", "/status", "enum", "must be draft or submitted for a new annotation")
	}
	if v.RatingScale != nil {
		a.Answer.Scale = label.Scale(*v.RatingScale)
	}
	if v.CorrectedOutput != nil && string(v.CorrectedOutput) != "null" {
		a.Answer.CorrectedOutput = jsontext.Value(v.CorrectedOutput)
	}
	return a, nil
}

// toLabels writes labels as one object.
func toLabels(labels map[string]jsontext.Value) httpapi.Object {
	text, err := json.Marshal(labels, json.Deterministic(true))
	if err != nil {
		panic("annotation: labels that were stored are not JSON: " + err.Error())
	}
	return text
}

func fromLabels(in map[string]httpapi.JSON) map[string]jsontext.Value {
	var out map[string]jsontext.Value
	for key, v := range in {
		if string(v) == "null" {
			continue
		}
		if out == nil {
			out = map[string]jsontext.Value{}
		}
		out[key] = jsontext.Value(v)
	}
	return out
}

// change is what a request changes of an answer.
func (v ValuePatch) change() (Change, error) {
	c := Change{Edit: func(a *label.Answer) {
		if v.Rating.Sent {
			a.Rating = v.Rating.Pointer()
		}
		if v.RatingScale.Sent {
			a.Scale = label.Scale(v.RatingScale.Value)
		}
		v.Label.Apply(&a.Label)
		v.Feedback.Apply(&a.Feedback)
		if v.Labels.Sent {
			a.Labels = fromLabels(v.Labels.Value)
		}
		if v.CorrectedOutput != nil {
			a.CorrectedOutput = nil
			if string(v.CorrectedOutput) != "null" {
				a.CorrectedOutput = jsontext.Value(v.CorrectedOutput)
			}
		}
		if v.Confidence.Sent {
			a.Confidence = v.Confidence.Pointer()
		}
	}}
	if len(v.Labels.Value) > 50 {
		return c, fault.Invalid("body", "/labels", "length", "must have at most 50 labels")
	}
	if v.DurationMS > 0 {
		c.DurationMS = &v.DurationMS
	}
	return c, nil
}

// actor is who says it.
func (a Annotation) actor() principal.Actor { return principal.UserActor(a.Person, a.Asserted) }

// Shown is the annotation as getAnnotation shows it.
func (a Annotation) Shown() any { return toBody(a, httpapi.ToActor(a.actor(), "")) }

func (s *Service) toBodiesTx(ctx context.Context, tx postgres.Tx, all []Annotation) ([]Body, error) {
	return toBodies(principal.From(ctx), all, func(who ...principal.Actor) ([]httpapi.Actor, error) { return s.tenancy.ActorsTx(ctx, tx, who...) })
}

// toBodies writes annotations as a caller may see them.
func toBodies(c principal.Caller, all []Annotation, names func(...principal.Actor) ([]httpapi.Actor, error)) ([]Body, error) {
	who := make([]principal.Actor, len(all))
	for i, a := range all {
		who[i] = a.actor()
	}
	by, err := names(who...)
	if err != nil {
		return nil, err
	}
	out := make([]Body, len(all))
	for i, a := range all {
		out[i] = toBody(a.seenBy(c), by[i])
	}
	return out, nil
}

func toBody(a Annotation, by httpapi.Actor) Body {
	run, test, trace, span := a.texts()
	return Body{
		ID: a.ID, EvaluationRunID: run, TestCaseID: test, TraceID: trace, SpanID: span, TaskID: httpapi.OrNull(a.Task), ItemID: httpapi.OrNull(a.Item), Annotator: by,
		Rating: a.Answer.Rating, RatingScale: scaleBody(a.Answer.Scale), Label: httpapi.OrNull(a.Answer.Label), Labels: toLabels(a.Answer.Labels), Feedback: httpapi.OrNull(a.Answer.Feedback),
		CorrectedOutput: httpapi.JSON(a.Answer.CorrectedOutput), Confidence: a.Answer.Confidence, DurationMS: a.DurationMS, Status: a.Status, Nonce: a.Nonce.String(),
		CreatedAt: httpapi.Time(a.CreatedAt), UpdatedAt: httpapi.Time(a.UpdatedAt), Version: a.Version,
	}
}

func toRevisionBody(e Earlier) revisionBody {
	a := e.Answer
	return revisionBody{
		Version: e.Version, Status: e.Status, Rating: a.Rating, RatingScale: scaleBody(a.Scale), Label: httpapi.OrNull(a.Label), Labels: toLabels(a.Labels), Feedback: httpapi.OrNull(a.Feedback),
		CorrectedOutput: httpapi.JSON(a.CorrectedOutput), Confidence: a.Confidence, DurationMS: e.DurationMS, ReplacedAt: httpapi.Time(e.ReplacedAt),
	}
}

// texts are the parts of a subject as the interface shows them.
func (s Subject) texts() (run, testCase, trace, span *string) {
	if s.Run != 0 {
		run = httpapi.OrNull(strconv.FormatInt(s.Run, 10))
	}
	if s.TestCase != 0 {
		testCase = httpapi.OrNull(strconv.FormatInt(s.TestCase, 10))
	}
	if s.Trace != nil {
		trace = httpapi.OrNull(s.Trace.String())
	}
	return run, testCase, trace, httpapi.OrNull(s.Span)
}
