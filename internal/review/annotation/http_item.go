package annotation

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ErrAnswerOnly is returned for what annotators may not do with items.
var ErrAnswerOnly = fault.New(fault.Forbidden, "role_forbids", "Members whose role is annotator answer and skip items; they cannot add or change them.")

func (s *Service) registerItems(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listAnnotationItems", Method: http.MethodGet, Path: "/api/annotations/tasks/{id}/items", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List the items of an annotation task",
		Description: "Returns items, newest first, with their annotations. In a blind task those of others are left out until the item is complete. A page ends after 8 MiB of items and annotations, however few these are; `has_more` then says that there are others.",
	}, s.getItems)
	httpapi.Register(e, httpapi.Op{
		ID: "addAnnotationItems", Method: http.MethodPost, Path: "/api/annotations/tasks/{id}/items", Tag: tag, Scope: principal.EvalWrite, Status: 201, BodyLimit: httpapi.LargeBodyLimit, Annotators: true, Person: true,
		Summary: "Add items, or answer one",
		Description: "Three shapes: `{itemId, annotation}` answers an item; `{content, annotation?}` adds one item and may answer it; `{items: [...]}` adds up to 1,000, each of at most 256 KiB. " +
			"Answers need a person: anyone else gets 403 `not_a_person`. A person answers an item once, 409 `already_answered` otherwise.",
	}, s.postItems)
	httpapi.Register(e, httpapi.Op{
		ID: "updateAnnotationItem", Method: http.MethodPut, Path: "/api/annotations/tasks/{id}/items", Tag: tag, Scope: principal.EvalWrite, Status: 200, Annotators: true, Person: true,
		Summary: "Revise an answer, skip an item, or change its content",
		Description: "Three shapes: `{itemId, annotation}` changes the caller's own answer; `{itemId, status: \"skipped\", reason}` passes the item on to others, and it is skipped when as many people did so as it needs; " +
			"`{itemId, status: \"pending\"}` lets people answer a skipped item after all; `{itemId, content}` changes the content of an item without answers. Answers and skips need a person.",
	}, s.putItem)
	httpapi.Register(e, httpapi.Op{
		ID: "takeAnnotationItem", Method: http.MethodPost, Path: "/api/annotations/tasks/{id}/next", Tag: tag, Scope: principal.EvalWrite, Status: 200, OptionalBody: true, Repeatable: true, Annotators: true, Person: true,
		Summary: "Take the next item",
		Description: "Hands the caller an item that needs an answer and keeps it for them for a while: others do not get its place, and a caller who asks again gets the item that they hold. " +
			"An item that the caller has answered or skipped is not handed to them again. `item` is null if there is none for the caller now.",
	}, s.postNext)
}

// ItemsPage selects a page of items.
type ItemsPage struct {
	Limit        int    `query:"limit" minimum:"1" maximum:"1000" doc:"Maximum number of entries to return; 50 if it is not sent."`
	Offset       int    `query:"offset" minimum:"0" maximum:"2147483647" doc:"Number of entries to skip, at most 100,000. To read a whole list, follow next_cursor."`
	Cursor       string `query:"cursor" maxLength:"200" doc:"The next_cursor of the previous page. Cannot be combined with offset."`
	IncludeTotal bool   `query:"includeTotal" doc:"Whether to count all entries, which takes time on long lists."`
}

type listItemsInput struct {
	TaskPath
	ItemsPage
	Annotated string `query:"annotated" enum:"true,false,partial,complete,all" doc:"Only items with an answer (true), without one (false), with fewer answers than they need (partial), or with as many (complete)."`
}

// page is the page with its defaults.
func (p ItemsPage) page() httpapi.CursorPage {
	c := httpapi.CursorPage(p)
	if c.Limit == 0 {
		c.Limit = 50
	}
	return c
}

// Check refuses combinations that have no meaning.
func (in *listItemsInput) Check(ctx context.Context) error {
	page := in.page()
	return page.Check(ctx)
}

// ItemFields are the fields of an item in requests.
type ItemFields struct {
	Content         httpapi.JSON `json:"content,omitzero" doc:"What people see: any JSON value but null. Required for a new item."`
	Suggestion      httpapi.JSON `json:"suggestion,omitzero" doc:"An answer to begin with, such as that of a judge: any JSON value."`
	EvaluationRunID string       `json:"evaluationRunId,omitempty" maxLength:"32" doc:"Run that the item is from."`
	TestCaseID      string       `json:"testCaseId,omitempty" maxLength:"32" doc:"Item of a dataset that it is about."`
	TraceID         string       `json:"traceId,omitempty" maxLength:"32" doc:"Trace that it is about, by its hexadecimal id or its number."`
	SpanID          string       `json:"spanId,omitempty" pattern:"^[0-9a-f]{16}$" doc:"Span of the trace."`
	Gold            httpapi.JSON `json:"gold,omitzero" doc:"Makes the item a gold question, which measures annotators: the label, or the rating, that is known to be right. No item shows it. Gold questions are added together with at least as many other items of the same form, and stand at random among them."`
}

func (f ItemFields) missing() bool { return f.Content == nil || string(f.Content) == "null" }

type addItemsInput struct {
	TaskPath
	Body addItemsBody
}

type addItemsBody struct {
	ItemID     httpapi.IDInput `json:"itemId,omitzero" doc:"Item to answer."`
	Annotation *Value          `json:"annotation,omitempty" doc:"Answer of the caller."`
	ItemFields
	Items []ItemFields `json:"items,omitzero" minItems:"1" maxItems:"1000" doc:"Items to add."`
}

// InPerson reports whether the body has an answer.
func (in *addItemsInput) InPerson() bool { return in.Body.Annotation != nil }

// Check refuses a body of no shape, or of several.
func (b *addItemsBody) Check(context.Context) error {
	alone := func(field string) error {
		return fault.Invalid("body", "/"+field, "mutually_exclusive", "cannot be combined with the other fields: answer an item, add one, or add several")
	}
	switch {
	case b.Items != nil && (b.ItemID != 0 || b.Annotation != nil || b.Content != nil):
		return alone("items")
	case b.Items != nil:
		var bad []fault.Field
		for i, f := range b.Items {
			bad = append(bad, f.check("/items/"+strconv.Itoa(i))...)
		}
		return httpapi.Invalid(bad...)
	case b.Gold != nil:
		return fault.Invalid("body", "/gold", "recognizable", "would be recognized: add gold questions in items, together with at least as many others")
	case b.ItemID != 0 && b.Content != nil:
		return alone("itemId")
	case b.ItemID != 0 && b.Annotation == nil:
		return fault.Invalid("body", "/annotation", "required", "is required: it is the answer to the item")
	case b.ItemID == 0:
		return httpapi.Invalid(b.check("")...)
	}
	return nil
}

func (f ItemFields) check(at string) (bad []fault.Field) {
	switch {
	case f.missing():
		bad = append(bad, fault.Field{In: "body", Path: at + "/content", Code: "one_of_required", Message: "is required"})
	case len(f.Content)+len(f.Suggestion) > maxItem:
		bad = append(bad, fault.Field{In: "body", Path: at + "/content", Code: "length", Message: "is too large: an item has at most 256 KiB", Limit: maxItem})
	}
	return bad
}

type addItemsOutput struct {
	Location string `header:"Location" doc:"Path of the task's items."`
	Body     addedItemsBody
}

type addedItemsBody struct {
	Created    int                `json:"created" doc:"Number of items that were added."`
	Items      []itemBody         `json:"items" doc:"The items that were added, or the one that was answered."`
	Annotation httpapi.Null[Body] `json:"annotation" doc:"The caller's answer; null if there is none."`
}

type updateItemInput struct {
	TaskPath
	Body updateItemBody
}

type updateItemBody struct {
	ItemID     httpapi.IDInput `json:"itemId" doc:"The item."`
	Annotation *ValuePatch     `json:"annotation,omitempty" doc:"Change of the caller's own answer."`
	Status     string          `json:"status,omitempty" enum:"skipped,pending" doc:"skipped passes the item on to others; pending lets people answer a skipped item."`
	Reason     string          `json:"reason,omitempty" maxLength:"2000" doc:"Why the item is skipped."`
	Content    httpapi.JSON    `json:"content,omitzero" doc:"New content: any JSON value but null."`
}

// InPerson reports whether the body changes an answer or skips an item.
func (in *updateItemInput) InPerson() bool {
	return in.Body.Annotation != nil || in.Body.Status == string(ItemSkipped)
}

// Check refuses a body of no shape, or of several.
func (b *updateItemBody) Check(context.Context) error {
	shapes := 0
	for _, has := range []bool{b.Annotation != nil, b.Status != "", b.Content != nil} {
		if has {
			shapes++
		}
	}
	switch {
	case shapes != 1:
		return fault.Invalid("body", "/annotation", "one_of_required", "is required, or status, or content: exactly one of them")
	case b.Status == string(ItemSkipped) && b.Reason == "":
		return fault.Invalid("body", "/reason", "required", "is required: why is the item skipped?")
	case b.Content != nil && (string(b.Content) == "null" || len(b.Content) > maxItem):
		return fault.Invalid("body", "/content", "format", "must not be null, and has at most 256 KiB")
	}
	return nil
}

// itemBody is an item on the wire.
type itemBody struct {
	ID                   int64                      `json:"id" doc:"Id of the item."`
	TaskID               int64                      `json:"task_id" doc:"Its task."`
	Status               ItemStatus                 `json:"status" volatile:"true" doc:"pending, in_progress while people answer or hold it, annotated or conflicted when enough have answered, skipped if enough have skipped it, adjudicated after a decision."`
	Content              httpapi.JSON               `json:"content" doc:"What people see."`
	Suggestion           httpapi.JSON               `json:"suggestion" doc:"An answer to begin with; null if there is none."`
	EvaluationRunID      *string                    `json:"evaluation_run_id" doc:"Run that the item is from; in a blind task null for annotators and viewers until enough people have answered."`
	TestCaseID           *string                    `json:"test_case_id" doc:"Item of a dataset that it is about."`
	TraceID              *string                    `json:"trace_id" doc:"Trace that it is about; hidden like the run."`
	SpanID               *string                    `json:"span_id" doc:"Span of the trace; hidden like the run."`
	InclusionProbability *float64                   `json:"inclusion_probability" doc:"How probable it was that the item was chosen from the task's source; null if it was added. Weigh labels by its inverse to speak of all candidates."`
	AnnotationsCount     int                        `json:"annotations_count" volatile:"true" doc:"Answers that were submitted."`
	AnnotationsRequired  int                        `json:"annotations_required" doc:"Answers that the item needs."`
	Agreement            *float64                   `json:"agreement" volatile:"true" doc:"How far the answers agree, from 0 to 1; null before the item is complete, and if its answers cannot be compared."`
	Annotations          []Body                     `json:"annotations" volatile:"true" doc:"What the caller may see of the annotations: in a blind task only their own until the item is complete."`
	Skips                []skipBody                 `json:"skips" volatile:"true" doc:"Who would not answer the item, and why; in a blind task only the caller until the item is complete."`
	AdjudicationItemID   *int64                     `json:"adjudication_item_id" volatile:"true" doc:"Adjudication that decided about the item; null if there is none."`
	LockedBy             *string                    `json:"locked_by" volatile:"true" doc:"Id of a member who holds the item now: the caller if they do."`
	LockExpiresAt        httpapi.Null[httpapi.Time] `json:"lock_expires_at" volatile:"true" doc:"Until when they hold it."`
	CreatedAt            httpapi.Time               `json:"created_at" doc:"When the item was added."`
	UpdatedAt            httpapi.Time               `json:"updated_at" volatile:"true" doc:"When the item last changed."`
	Version              int64                      `json:"version" volatile:"true" doc:"Counts changes of the item."`
}

type skipBody struct {
	Annotator httpapi.Actor `json:"annotator" doc:"Who skipped the item."`
	Reason    string        `json:"reason" doc:"Why."`
	CreatedAt httpapi.Time  `json:"created_at" doc:"When."`
}

type listItemsBody struct {
	Items []itemBody `json:"items" doc:"The items of this page, newest first."`
	httpapi.CursorPaging
}

type takeInput struct {
	TaskPath
	Body takeBody
}

type takeBody struct {
	LeaseSeconds int `json:"leaseSeconds,omitempty" minimum:"10" maximum:"14400" doc:"Seconds for which the item is kept for the caller; 900 if it is not sent."`
}

type nextBody struct {
	Item           httpapi.Null[itemBody] `json:"item" doc:"The item to answer; null if there is none for the caller now."`
	Reason         *string                `json:"reason" enum:"completed,others,empty" doc:"Why item is null. completed: all items are; others: the remaining ones are held by others, or the caller has answered or skipped them; empty: the task has no items."`
	TotalItems     int64                  `json:"total_items" doc:"Items of the task."`
	CompletedItems int64                  `json:"completed_items" doc:"Items that need no more answers."`
}

const itemCursor = httpapi.IDCursor("annotation items")

func (s *Service) getItems(ctx context.Context, in *listItemsInput) (*httpapi.Body[listItemsBody], error) {
	page := in.page()
	below, err := itemCursor.Below(page.Cursor)
	if err != nil {
		return nil, err
	}
	caller := principal.From(ctx)
	var list ItemList
	err = admission.From(ctx).Read(ctx, PageBytes, func() (int, error) {
		list, err = s.Items(ctx, caller.Org, in.ID, reader(caller), ItemPage{Annotated: in.Annotated, Below: below, Limit: page.Limit, Offset: page.Offset, Count: page.IncludeTotal})
		n := 0
		for _, i := range list.Items {
			n += i.size()
		}
		return n, err
	})
	if err != nil {
		return nil, err
	}
	var out httpapi.Body[listItemsBody]
	next := ""
	if list.More {
		next = itemCursor.Text(list.Items[len(list.Items)-1].ID)
	}
	out.Body.CursorPaging = page.Paging(next, list.Total)
	out.Body.Items, err = s.toItemBodies(ctx, caller, list.Items)
	return &out, err
}

// reader is the person who asks; nil if none does. Whoever acts for a person reads
// what anybody may read.
func reader(c principal.Caller) *uuid.UUID {
	if !c.InPerson() {
		return nil
	}
	return c.User
}

func (s *Service) postItems(ctx context.Context, in *addItemsInput) (*addItemsOutput, error) {
	if out, err := change.Recall[addItemsOutput](ctx, s.log); out != nil || err != nil {
		return out, err
	}
	b, caller := in.Body, principal.From(ctx)
	if _, err := s.Task(ctx, caller.Org, in.ID); err != nil {
		return nil, err
	}
	if caller.Role == principal.Annotator && b.ItemID == 0 {
		return nil, ErrAnswerOnly
	}
	list := b.Items
	if list == nil && b.ItemID == 0 {
		list = []ItemFields{b.ItemFields}
	}
	items, known := make([]NewItem, len(list)), newNamed()
	for i, f := range list {
		at := "/items/" + strconv.Itoa(i)
		if b.Items == nil {
			at = ""
		}
		var err error
		if items[i], err = s.fromItemFields(ctx, caller.Org, f, at, known); err != nil {
			return nil, err
		}
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*addItemsOutput, error) {
		out := &addItemsOutput{Location: "/api/annotations/tasks/" + strconv.FormatInt(in.ID, 10) + "/items", Body: addedItemsBody{Created: len(items)}}
		var shown []Item
		item := int64(b.ItemID)
		if item == 0 {
			var err error
			if shown, _, err = s.AddItemsTx(ctx, tx, in.ID, items); err != nil {
				return nil, err
			}
			item = shown[0].ID
		}
		if b.Annotation != nil {
			a, err := b.Annotation.annotation()
			if err != nil {
				return nil, err
			}
			a.Task, a.Item, a.Person, a.Asserted = in.ID, item, *caller.User, caller.Asserted
			if a, err = s.AddTx(ctx, tx, a, "/annotation"); err != nil {
				return nil, err
			}
			bodies, err := s.toBodiesTx(ctx, tx, []Annotation{a})
			if err != nil {
				return nil, err
			}
			out.Body.Annotation = httpapi.NullOf(&bodies[0])
			now, err := s.itemTx(ctx, tx, item)
			if err != nil {
				return nil, err
			}
			shown = []Item{now}
		}
		var err error
		out.Body.Items, err = s.shownTx(ctx, tx, caller, shown)
		return out, err
	})
}

func (s *Service) putItem(ctx context.Context, in *updateItemInput) (*httpapi.Body[itemBody], error) {
	b, caller := in.Body, principal.From(ctx)
	item := int64(b.ItemID)
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.Body[itemBody], error) {
		var err error
		switch {
		case b.Annotation != nil:
			var c Change
			if c, err = b.Annotation.change(); err == nil {
				_, err = s.ReviseTx(ctx, tx, in.ID, item, *caller.User, c)
			}
		case b.Status == string(ItemSkipped):
			err = s.SkipTx(ctx, tx, in.ID, item, *caller.User, b.Reason)
		case caller.Role == principal.Annotator:
			if _, _, err = s.lockTx(ctx, tx, in.ID, item); err == nil {
				err = ErrAnswerOnly
			}
		case b.Status != "":
			err = s.ReopenTx(ctx, tx, in.ID, item)
		default:
			err = s.EditItemTx(ctx, tx, in.ID, item, jsontext.Value(b.Content))
		}
		if err != nil {
			return nil, err
		}
		now, err := s.itemTx(ctx, tx, item)
		if err != nil {
			return nil, err
		}
		shown, err := s.shownTx(ctx, tx, caller, []Item{now})
		if err != nil {
			return nil, err
		}
		return httpapi.NewBody(shown[0]), nil
	})
}

func (s *Service) postNext(ctx context.Context, in *takeInput) (*httpapi.Body[nextBody], error) {
	caller := principal.From(ctx)
	lease := 15 * time.Minute
	if in.Body.LeaseSeconds > 0 {
		lease = time.Duration(in.Body.LeaseSeconds) * time.Second
	}
	found, t, err := s.Next(ctx, caller.Org, in.ID, *caller.User, lease)
	if err != nil {
		return nil, err
	}
	out := httpapi.NewBody(nextBody{TotalItems: t.Total, CompletedItems: t.Completed})
	if found != nil {
		bodies, err := s.toItemBodies(ctx, caller, []Read{*found})
		if err != nil {
			return nil, err
		}
		out.Body.Item = httpapi.NullOf(&bodies[0])
		return out, nil
	}
	reason := "others"
	switch {
	case t.Total == 0:
		reason = "empty"
	case t.Completed == t.Total:
		reason = "completed"
	}
	out.Body.Reason = &reason
	return out, nil
}

// fromItemFields reads an item of a request and finds what it is about.
func (s *Service) fromItemFields(ctx context.Context, org principal.OrgID, f ItemFields, at string, known named) (NewItem, error) {
	i := NewItem{Content: jsontext.Value(f.Content)}
	if f.Suggestion != nil && string(f.Suggestion) != "null" {
		i.Suggestion = jsontext.Value(f.Suggestion)
	}
	if f.Gold != nil && string(f.Gold) != "null" {
		i.Gold = jsontext.Value(f.Gold)
	}
	var err error
	i.Subject, err = s.subject(ctx, org, subjectInput{Run: f.EvaluationRunID, TestCase: f.TestCaseID, Trace: f.TraceID, Span: f.SpanID}, at, known)
	return i, err
}

// shownTx are items of one task as the caller may see them.
func (s *Service) shownTx(ctx context.Context, tx postgres.Tx, c principal.Caller, items []Item) ([]itemBody, error) {
	list, err := s.readTx(ctx, tx, reader(c), items)
	if err != nil {
		return nil, err
	}
	return toItemBodies(c, list, func(who ...principal.Actor) ([]httpapi.Actor, error) { return s.tenancy.ActorsTx(ctx, tx, who...) })
}

func (s *Service) toItemBodies(ctx context.Context, c principal.Caller, list []Read) ([]itemBody, error) {
	return toItemBodies(c, list, func(who ...principal.Actor) ([]httpapi.Actor, error) { return s.tenancy.Actors(ctx, c.Org, who...) })
}

// toItemBodies writes items with the names of the people in them, which are looked up
// together.
func toItemBodies(c principal.Caller, list []Read, names func(...principal.Actor) ([]httpapi.Actor, error)) ([]itemBody, error) {
	var who []principal.Actor
	for _, i := range list {
		for _, a := range i.Annotations {
			who = append(who, a.actor())
		}
		for _, k := range i.Skips {
			who = append(who, principal.UserActor(k.Person, false))
		}
	}
	by, err := names(who...)
	if err != nil {
		return nil, err
	}
	out := make([]itemBody, len(list))
	for n, i := range list {
		b := toItemBody(i.seenBy(c))
		for _, a := range i.Annotations {
			b.Annotations = append(b.Annotations, toBody(a.seenBy(c), by[0]))
			by = by[1:]
		}
		for _, k := range i.Skips {
			b.Skips = append(b.Skips, skipBody{Annotator: by[0], Reason: k.Reason, CreatedAt: httpapi.Time(k.At)})
			by = by[1:]
		}
		for _, l := range i.Leases {
			own := c.User != nil && l.Person == *c.User
			if b.LockedBy == nil || own {
				holder := l.Person.String()
				b.LockedBy, b.LockExpiresAt = &holder, httpapi.NullTime(&l.Expires)
			}
		}
		out[n] = b
	}
	return out, nil
}

// Shown is the item as listAnnotationItems shows it.
func (i Item) Shown() any { return toItemBody(i) }

func toItemBody(i Item) itemBody {
	run, test, trace, span := i.texts()
	return itemBody{
		ID: i.ID, TaskID: i.Task, Status: i.Status, Content: httpapi.JSON(i.Content), Suggestion: httpapi.JSON(i.Suggestion), EvaluationRunID: run, TestCaseID: test, TraceID: trace, SpanID: span, InclusionProbability: httpapi.OrNull(i.Probability),
		AnnotationsCount: i.Submitted, AnnotationsRequired: i.Required, Agreement: i.Agreement, Annotations: []Body{}, Skips: []skipBody{}, AdjudicationItemID: httpapi.OrNull(i.Adjudication),
		CreatedAt: httpapi.Time(i.CreatedAt), UpdatedAt: httpapi.Time(i.UpdatedAt), Version: i.Version,
	}
}
