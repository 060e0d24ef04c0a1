package adjudication

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/platform/postgres"
)

const tag = "Adjudication"

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	e.Tag(tag, "The queue of answers about which judges, annotators or users disagree: decisions of people, ground truth, and its way into calibration and golden datasets.")
	httpapi.Register(e, httpapi.Op{
		ID: "listAdjudicationItems", Method: http.MethodGet, Path: "/api/adjudication/items", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List adjudication items",
		Description: "Returns items by descending `priority_score`, the oldest of equals first. Filters are combined with AND. `content` is null in lists.",
	}, s.getItems)
	httpapi.Register(e, httpapi.Op{
		ID: "createAdjudicationItem", Method: http.MethodPost, Path: "/api/adjudication/items", Tag: tag, Scope: principal.AdminOrg, Status: 201, Strict: true,
		Summary: "Open an adjudication item",
		Description: "Opens an item about one answer: a result of a run, a trace or a span, or results of judges. The answer is copied as it is now, and without `candidates` so is what judges and people have said about it. " +
			"An answer of a trace needs a key with traces:read as well, also where results of judges lead to it. While an item of the same source about the same subject is unresolved (`open`, `assigned` or `decided`), the response is 409 `already_exists` with its id.",
	}, s.postItem)
	httpapi.Register(e, httpapi.Op{
		ID: "getAdjudicationItem", Method: http.MethodGet, Path: "/api/adjudication/items/{id}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get an adjudication item",
		Description: "Returns the item with its content, decisions and places in datasets.",
	}, s.getItem)
	httpapi.Register(e, httpapi.Op{
		ID: "updateAdjudicationItem", Method: http.MethodPatch, Path: "/api/adjudication/items/{id}", Tag: tag, Scope: principal.AdminOrg, Status: 200, OptionalBody: true, Strict: true,
		Summary: "Update an adjudication item",
		Description: "Changes the fields that are sent. With a `reason`, `status` `dismissed` takes an undecided item out of the queue, `open` reopens an item that is decided, closed or dismissed, and `closed` closes an item whose decision is inconclusive or not_applicable. " +
			"Reopening supersedes the decision, which stays in `decision_history`. An item with ground truth is reopened only with `revokeGroundTruth`, which takes the ground truth out of datasets too; 409 `in_use` if a frozen dataset version contains it.",
	}, s.patchItem)
	httpapi.Register(e, httpapi.Op{
		ID: "assignAdjudicationItem", Method: http.MethodPost, Path: "/api/adjudication/items/{id}/assign", Tag: tag, Scope: principal.AdminOrg, Status: 200, Strict: true,
		Summary:     "Assign an adjudication item",
		Description: "Assigns an undecided item to a member, or releases it if `assigneeId` is null.",
	}, s.postAssign)
	httpapi.Register(e, httpapi.Op{
		ID: "decideAdjudicationItem", Method: http.MethodPost, Path: "/api/adjudication/items/{id}/decision", Tag: tag, Scope: principal.AdminOrg, Status: 200, Strict: true, Person: true,
		Summary: "Decide an adjudication item",
		Description: "Records your decision about an undecided item. A person decides: anyone else gets 403 `not_a_person`. " +
			"An item that is assigned to another member needs `override`, otherwise 403 `not_assignee`. `decision.independent` is false if you have assessed the answer before; under the separation of duties `key_owner` that is 403 `self_approval`.",
	}, s.postDecision)
	httpapi.Register(e, httpapi.Op{
		ID: "getAdjudicationQueueSummary", Method: http.MethodGet, Path: "/api/adjudication/queue-summary", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get a summary of the queue",
		Description: "Returns how many items wait, for how long and with whom, and how often decisions go against the judges.",
	}, s.getSummary)
	s.registerNouns(e)
}

// Path is the path of an item.
type Path struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The id of the adjudication item."`
}

type listInput struct {
	httpapi.CursorPage
	Status          []Status   `query:"status,explode" doc:"Only items with this status. Repeat the parameter to match any of several."`
	Source          []Source   `query:"source,explode" doc:"Only items of this source. Repeat the parameter to match any of several."`
	Priority        []Priority `query:"priority,explode" doc:"Only items with this priority. Repeat the parameter to match any of several."`
	AssigneeID      string     `query:"assigneeId" maxLength:"64" doc:"Only items that are or were last assigned to this member."`
	EvaluationRunID string     `query:"evaluationRunId" maxLength:"32" doc:"Only items about results of this run."`
	TraceID         string     `query:"traceId" maxLength:"32" doc:"Only items about this trace and its spans, by its hexadecimal id or its number."`
	FailureMode     string     `query:"failureMode" maxLength:"64" doc:"Only items whose decision names this failure mode."`
	Search          string     `query:"search" maxLength:"200" doc:"Only items whose title contains this text, ignoring case."`
	httpapi.Created
}

type listBody struct {
	Items []itemBody `json:"items" doc:"The items of this page, in the order of the queue."`
	httpapi.CursorPaging
}

// itemCursor continues a list after a place in the queue.
const itemCursor = httpapi.Cursor[int64]("adjudication items")

type createBody struct {
	Source     Source           `json:"source,omitempty" default:"manual" doc:"Why the item is opened."`
	Subject    subjectInput     `json:"subject" doc:"What the item is about: exactly one of a result of a run, a trace or span, results of judges, or an annotation item."`
	Priority   Priority         `json:"priority,omitempty" enum:"low,normal,high,critical" doc:"How urgent the item is; high for policy_denial and user_report and normal otherwise if it is not sent."`
	Title      string           `json:"title,omitempty" maxLength:"200" doc:"Title for lists."`
	Question   string           `json:"question,omitempty" maxLength:"10000" doc:"What has to be decided."`
	Context    httpapi.Object   `json:"context,omitempty" doc:"Anything else that helps to decide."`
	Candidates []candidateInput `json:"candidates,omitempty" maxItems:"50" doc:"The positions in conflict; what judges and people have said about the subject if it is not sent."`
	DueAt      *time.Time       `json:"dueAt,omitempty" doc:"When the decision is due."`
	Tags       httpapi.Tags     `json:"tags,omitempty" doc:"Tags."`
	Notes      string           `json:"notes,omitempty" maxLength:"10000" doc:"Notes."`
}

type subjectInput struct {
	EvaluationRunID httpapi.IDInput   `json:"evaluationRunId,omitzero" doc:"Run that the answer is from; with testCaseId."`
	TestCaseID      httpapi.IDInput   `json:"testCaseId,omitzero" doc:"Item of the dataset that the answer is to; with evaluationRunId."`
	Epoch           int               `json:"epoch,omitzero" minimum:"0" maximum:"100" doc:"Repetition of the item in the run, from 0."`
	TraceID         string            `json:"traceId,omitempty" maxLength:"32" doc:"Trace, by its hexadecimal id or its number."`
	SpanID          string            `json:"spanId,omitempty" maxLength:"16" doc:"Span of the trace; the whole trace if it is not sent."`
	JudgeResultIDs  []httpapi.IDInput `json:"judgeResultIds,omitempty" minItems:"1" maxItems:"50" doc:"Results of judges about one answer."`
	AnnotationItem  int64             `json:"annotationItemId,omitzero" minimum:"1" maximum:"9007199254740991" doc:"Item of an annotation task."`
}

// Check refuses a subject that is not exactly one thing.
func (b *createBody) Check(context.Context) error {
	s := b.Subject
	kinds := 0
	for _, is := range []bool{s.EvaluationRunID != 0 || s.TestCaseID != 0, s.TraceID != "" || s.SpanID != "", len(s.JudgeResultIDs) > 0, s.AnnotationItem != 0} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds == 0:
		return fault.Invalid("body", "/subject", "one_of_required", "must name a result of a run, a trace, results of judges, or an annotation item")
	case kinds > 1:
		return fault.Invalid("body", "/subject", "mutually_exclusive", "must name one thing")
	case (s.EvaluationRunID == 0) != (s.TestCaseID == 0):
		return fault.Invalid("body", "/subject/testCaseId", "required", "and evaluationRunId are sent together")
	case s.SpanID != "" && s.TraceID == "":
		return fault.Invalid("body", "/subject/traceId", "required", "is required with spanId")
	case s.Epoch != 0 && s.TestCaseID == 0:
		return fault.Invalid("body", "/subject/epoch", "mutually_exclusive", "belongs to a result of a run")
	}
	for i, c := range b.Candidates {
		if strings.HasPrefix(c.Origin, judge.MetricPrefix) || strings.HasPrefix(c.Origin, personPrefix) {
			return fault.Invalid("body", "/candidates/"+strconv.Itoa(i)+"/origin", "pattern", "must not begin with "+judge.MetricPrefix+" or "+personPrefix+": positions of judges and members are those on record; leave candidates out to have them, or name judgeResultIds")
		}
	}
	return nil
}

type candidateInput struct {
	Origin    string   `json:"origin" minLength:"1" maxLength:"200" example:"support" doc:"Whose position it is. Names that begin with judge: or user/ are kept for positions on record."`
	Label     string   `json:"label,omitempty" maxLength:"200" doc:"Label."`
	Score     *float64 `json:"score,omitempty" minimum:"0" maximum:"1" doc:"Score."`
	Rationale string   `json:"rationale,omitempty" maxLength:"10000" doc:"Why."`
}

func (s *Service) getItems(ctx context.Context, in *listInput) (*httpapi.Body[listBody], error) {
	after, err := itemCursor.Place(in.Cursor)
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	f := Filter{
		Status: in.Status, Source: in.Source, Priority: in.Priority, FailureMode: in.FailureMode, Search: in.Search, Trace: in.TraceID, After: Place{Rank: time.UnixMicro(after.At), ID: after.Tie},
		Limit: in.Limit, Offset: in.Offset, Count: in.IncludeTotal,
	}
	f.CreatedAfter, f.CreatedBefore = in.Bounds()
	possible := in.references(&f)
	var items []Item
	var total int64
	if possible {
		if items, total, err = s.List(ctx, org, f); err != nil {
			return nil, err
		}
	}
	var out httpapi.Body[listBody]
	items, out.Body.CursorPaging = httpapi.Cut(in.CursorPage, items, total, func(i Item) string {
		return itemCursor.Text(httpapi.Place[int64]{At: i.rank().UnixMicro(), Tie: i.ID})
	})
	out.Body.Items, err = s.bodies(ctx, org, items...)
	return &out, err
}

// references reads filters that name something. An id that cannot be one matches
// nothing.
func (in *listInput) references(f *Filter) (possible bool) {
	if in.AssigneeID != "" {
		user, err := uuid.Parse(in.AssigneeID)
		if err != nil {
			return false
		}
		f.Assignee = &user
	}
	if in.EvaluationRunID != "" {
		var ok bool
		if f.Run, ok = httpapi.ParseID(in.EvaluationRunID); !ok {
			return false
		}
	}
	return true
}

func (s *Service) postItem(ctx context.Context, in *httpapi.Body[createBody]) (*httpapi.Made[itemBody], error) {
	if out, err := change.Recall[httpapi.Made[itemBody]](ctx, s.log); out != nil || err != nil {
		return out, err
	}
	org := principal.From(ctx).Org
	if in.Body.Subject.TraceID != "" {
		if err := httpapi.Require(ctx, principal.TracesRead); err != nil {
			return nil, err
		}
	}
	p, err := s.Prepare(ctx, org, in.Body.opening())
	if err != nil {
		return nil, err
	}
	// Results of judges may lead to a trace as well.
	if p.item.Subject.Trace != "" {
		if err := httpapi.Require(ctx, principal.TracesRead); err != nil {
			return nil, err
		}
	}
	out, err := change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.Made[itemBody], error) {
		i, err := s.OpenTx(ctx, tx, p)
		if err != nil {
			return nil, err
		}
		body, err := s.bodyTx(ctx, tx, i)
		return &httpapi.Made[itemBody]{ETag: httpapi.ETag(i.Changes), Location: location(i.ID), Body: body}, err
	})
	return out, s.Unresolved(ctx, org, p, err)
}

func (s *Service) getItem(ctx context.Context, in *Path) (*httpapi.Output[itemBody], error) {
	org := principal.From(ctx).Org
	i, err := s.Find(ctx, org, in.ID)
	if err != nil {
		return nil, err
	}
	bodies, err := s.bodies(ctx, org, i)
	if err != nil {
		return nil, err
	}
	return &httpapi.Output[itemBody]{ETag: httpapi.ETag(i.Changes), Body: bodies[0]}, nil
}

// location is the path of an item.
func location(id int64) string { return "/api/adjudication/items/" + strconv.FormatInt(id, 10) }

// opening is the item that a body asks for.
func (b createBody) opening() Opening {
	o := Opening{
		Source: b.Source, Priority: b.Priority, Title: b.Title, Question: b.Question, Context: b.Context.OrEmpty(), DueAt: b.DueAt, Tags: httpapi.OrEmpty(b.Tags), Notes: b.Notes,
		Subject: Subject{
			Run: int64(b.Subject.EvaluationRunID), TestCase: int64(b.Subject.TestCaseID), Epoch: b.Subject.Epoch, Trace: b.Subject.TraceID, Span: b.Subject.SpanID,
			AnnotationItem: b.Subject.AnnotationItem,
		},
	}
	for _, id := range b.Subject.JudgeResultIDs {
		o.Subject.JudgeResults = append(o.Subject.JudgeResults, int64(id))
	}
	for _, c := range b.Candidates {
		o.Candidates = append(o.Candidates, Candidate(c))
	}
	return o
}
