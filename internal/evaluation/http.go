package evaluation

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
)

const tag = "Evaluations"

var routes = resource.Routes{
	One: "evaluation", Many: "evaluations", Tag: tag, Path: "/api/evaluations", Read: principal.EvalRead, Write: principal.EvalWrite,
}

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	e.Tag(tag, "Evaluations measure the outputs for the items of a dataset. Their runs produce results, statistics and artifacts, and can be compared.")
	httpapi.Register(e, routes.List("listEvaluations",
		"Returns summaries, newest first, and always their `total`. Get an evaluation for its configuration and statistics."), s.getEvaluations)
	httpapi.Register(e, routes.Create("createEvaluation",
		"Dataset, metrics and judges are names that a run looks up when it starts. A name that does not exist yet is accepted with "+
			"a warning, or refused with `strict=true`."), s.postEvaluation)
	httpapi.Register(e, routes.Get("getEvaluation",
		"Figures come from the newest completed run; `statistics` has their intervals."), s.getEvaluation)
	httpapi.Register(e, routes.Update("updateEvaluation",
		"Fields that are absent keep their values. Runs keep the configuration that they started with. `archived: true` archives "+
			"the evaluation: it stays readable and cannot be run; `archived: false` restores it. An evaluation can be sent back as it "+
			"was read: that changes nothing."), s.patchEvaluation)
	httpapi.Register(e, routes.Delete("deleteEvaluation",
		"The evaluation, its runs, results and artifacts return 404 from now on, and their content is removed after the retention "+
			"time. While a run is under way the response is 409 `in_use`: cancel the run first. To keep an evaluation readable, "+
			"archive it instead."), s.deleteEvaluation)
	httpapi.Register(e, httpapi.Op{
		ID: "listEvaluationMetrics", Method: http.MethodGet, Path: "/api/evaluation-metrics", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List metrics",
		Description: "Returns every metric that an evaluation can use, with its range, parameters and what it needs.",
	}, s.getMetrics)
	s.artifacts.RegisterHTTP(e, tag)
	s.registerNouns(e)
}

// Path is the path of an evaluation.
type Path struct {
	ID string `path:"id" maxLength:"32" doc:"The evaluation's id."`
}

// EvaluationID is the number behind the path; a text that is no number names no
// evaluation.
func (p Path) EvaluationID() (int64, error) {
	return httpapi.Number(p.ID, ErrNotFound)
}

type listInput struct {
	httpapi.CursorPage
	Number    int      `query:"page" minimum:"1" maximum:"2147483" doc:"Number of the page, starting at 1. Cannot be combined with offset or cursor."`
	Status    []Status `query:"status,explode" enum:"pending,running,completed,failed,cancelled,archived" doc:"Only evaluations with this status. Repeat the parameter to match any of several."`
	DatasetID string   `query:"datasetId" maxLength:"200" doc:"Only evaluations of this dataset."`
	Tag       string   `query:"tag" maxLength:"64" doc:"Only evaluations with this tag."`
	Search    string   `query:"search" maxLength:"200" doc:"Only evaluations whose name contains this text, ignoring case."`
	httpapi.Created
}

// Check refuses combinations that have no meaning.
func (in *listInput) Check(ctx context.Context) error {
	switch {
	case in.Number > 0 && in.Offset > 0:
		return fault.Invalid("query", "page", "mutually_exclusive", "cannot be combined with offset")
	case in.Number > 0 && in.Cursor != "":
		return fault.Invalid("query", "page", "mutually_exclusive", "cannot be combined with cursor")
	case (in.Number-1)*in.Limit > httpapi.MaxOffset:
		last := httpapi.MaxOffset/in.Limit + 1
		return fault.New(fault.Validation, "use_cursor", "page is too far into this list: follow next_cursor instead.").
			WithFields(fault.Field{In: "query", Path: "page", Code: "max", Message: fmt.Sprintf("must be at most %d with this limit; follow next_cursor instead", last), Limit: last})
	}
	return in.CursorPage.Check(ctx)
}

// Strict turns warnings into refusals.
type Strict struct {
	Strict bool `query:"strict" doc:"Whether to refuse names that do not exist yet instead of warning about them."`
}

type createInput struct {
	Strict
	Body createBody
}

type createBody struct {
	Name            string                  `json:"name" minLength:"1" maxLength:"200" doc:"Name of the evaluation." example:"Support answers"`
	Description     string                  `json:"description,omitempty" maxLength:"10000" doc:"Free text."`
	DatasetID       scoring.DatasetText     `json:"datasetId" doc:"The dataset whose items are measured. It is looked up when a run starts."`
	DatasetVersion  int                     `json:"datasetVersion,omitempty" minimum:"1" maximum:"2147483647" doc:"Frozen version of the dataset; absent for the items as they are when a run starts."`
	Metrics         scoring.MetricsInput    `json:"metrics" doc:"Names of the metrics, from GET /api/evaluation-metrics. The object that responses have here is accepted and ignored: metricNames then has the names."`
	MetricNames     scoring.MetricList      `json:"metricNames,omitempty" doc:"Names of the metrics, as responses have them: the same as metrics with a list."`
	MetricParams    httpapi.Object          `json:"metricParams,omitempty" doc:"Parameters of metrics, keyed by the metric's name."`
	ExternalMetrics []scoring.ExternalInput `json:"externalMetrics,omitempty" maxItems:"50" doc:"Metrics of your own, whose scores you send. They are measured besides those of metrics."`
	Target          *scoring.TargetInput    `json:"target,omitempty" doc:"Where outputs come from; absent for outputs recorded in the items."`
	JudgeConfigIDs  []httpapi.IDInput       `json:"judgeConfigIds,omitempty" maxItems:"50" doc:"Judge configurations for metrics that need a judge."`
	PassRule        *scoring.PassRuleInput  `json:"passRule,omitempty" doc:"When an item passes; absent for a mean of at least 0.5 over its scores between 0 and 1."`
	Tags            httpapi.Tags            `json:"tags,omitempty" doc:"Labels to filter by."`
	Metadata        httpapi.Object          `json:"metadata,omitempty" doc:"Free-form object; its field names are kept as sent."`
}

type updateInput struct {
	Path
	Strict
	httpapi.IfMatch
	Body updateBody
}

type updateBody struct {
	Name            httpapi.Set[string]                    `json:"name,omitzero" minLength:"1" maxLength:"200" doc:"Name of the evaluation."`
	Description     httpapi.Patch[string]                  `json:"description,omitzero" maxLength:"10000" doc:"Free text; null removes it."`
	DatasetID       httpapi.Set[scoring.DatasetText]       `json:"datasetId,omitzero" doc:"The dataset whose items are measured."`
	DatasetVersion  httpapi.Patch[int]                     `json:"datasetVersion,omitzero" minimum:"1" maximum:"2147483647" doc:"Frozen version of the dataset; null for the items as they are when a run starts."`
	Metrics         httpapi.Set[scoring.MetricsInput]      `json:"metrics,omitzero" doc:"Names of the metrics. The object that responses have here is accepted and ignored: metricNames then has the names."`
	MetricNames     httpapi.Set[scoring.MetricList]        `json:"metricNames,omitzero" doc:"Names of the metrics, as responses have them: the same as metrics with a list."`
	MetricParams    httpapi.Patch[httpapi.Object]          `json:"metricParams,omitzero" doc:"Parameters of metrics, keyed by the metric's name; null removes them."`
	ExternalMetrics httpapi.Patch[[]scoring.ExternalInput] `json:"externalMetrics,omitzero" maxItems:"50" doc:"Metrics of your own, whose scores you send, replaced as a whole; null removes them."`
	Target          httpapi.Patch[scoring.TargetInput]     `json:"target,omitzero" doc:"Where outputs come from, replaced as a whole; null for outputs recorded in the items."`
	JudgeConfigIDs  httpapi.Patch[[]httpapi.IDInput]       `json:"judgeConfigIds,omitzero" maxItems:"50" doc:"Judge configurations for metrics that need a judge; null removes them."`
	PassRule        httpapi.Patch[scoring.PassRuleInput]   `json:"passRule,omitzero" doc:"When an item passes, replaced as a whole; null for the default rule."`
	Tags            httpapi.Patch[httpapi.Tags]            `json:"tags,omitzero" doc:"Labels to filter by; null removes them."`
	Metadata        httpapi.Patch[httpapi.Object]          `json:"metadata,omitzero" doc:"Free-form object, replaced as a whole; null empties it."`
	BaselineRunID   httpapi.Patch[httpapi.IDInput]         `json:"baselineRunId,omitzero" doc:"The run to pin the evaluation to: drift over releases is measured from it. It must be a completed run; null removes it."`
	Archived        httpapi.Set[bool]                      `json:"archived,omitzero" doc:"Whether the evaluation is archived."`
	ExpectedVersion int64                                  `json:"expectedVersion,omitzero" minimum:"1" doc:"The version that the change is based on; an alternative to If-Match."`
}

type evaluationOutput struct {
	ETag     string `header:"ETag" doc:"The evaluation's version, for If-Match."`
	Location string `header:"Location" doc:"Path of the new evaluation; sent with 201."`
	Body     evaluationBody
}

type listBody struct {
	Evaluations []summaryBody `json:"evaluations" doc:"The evaluations of this page, newest first."`
	Page        int           `json:"page" doc:"Number of this page, starting at 1."`
	httpapi.Paging
	Total int64 `json:"total" doc:"Number of evaluations on all pages."`
}

// listCursor has the number of the page that a cursor leads to.
const listCursor = httpapi.Cursor[uint32]("evaluations")

func (s *Service) getEvaluations(ctx context.Context, in *listInput) (*httpapi.Body[listBody], error) {
	if in.Number > 0 {
		in.Offset = (in.Number - 1) * in.Limit
	}
	from := httpapi.Place[uint32]{At: math.MaxInt64, Tie: uint32(in.Offset/in.Limit + 1)}
	if in.Cursor != "" {
		var err error
		if from, err = listCursor.Place(in.Cursor); err != nil {
			return nil, err
		}
	}
	f := Filter{
		Statuses: in.Status, DatasetID: in.DatasetID, Tag: in.Tag, Search: in.Search,
		Below: from.At, Limit: in.Limit, Offset: in.Offset,
	}
	f.CreatedAfter, f.CreatedBefore = in.Bounds()
	all, total, err := s.List(ctx, principal.From(ctx).Org, f)
	if err != nil {
		return nil, err
	}
	all, paging := httpapi.Cut(in.CursorPage, all, total, func(e Summary) string {
		return listCursor.Text(httpapi.Place[uint32]{At: e.ID, Tie: from.Tie + 1})
	})
	out := httpapi.Body[listBody]{Body: listBody{Evaluations: make([]summaryBody, len(all)), Page: int(from.Tie), Paging: paging.Paging, Total: total}}
	for i, e := range all {
		out.Body.Evaluations[i] = toSummaryBody(e)
	}
	return &out, nil
}

func (s *Service) postEvaluation(ctx context.Context, in *createInput) (*evaluationOutput, error) {
	b := in.Body
	metrics, err := scoring.FromMetrics(ctx, b.Metrics, b.MetricNames)
	if err != nil {
		return nil, err
	}
	if metrics == nil {
		return nil, fault.Invalid("body", "/metricNames", "required", "is required if metrics is an object")
	}
	params, err := scoring.FromParams(b.MetricParams)
	if err != nil {
		return nil, err
	}
	p := scoring.Plan{Metrics: metrics, Params: params, Target: scoring.FromTarget(b.Target), Judges: scoring.FromJudges(b.JudgeConfigIDs), PassRule: scoring.FromPassRule(b.PassRule)}
	p.Declare(scoring.FromExternal(b.ExternalMetrics))
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*evaluationOutput, error) {
		e, err := s.CreateTx(ctx, tx, Evaluation{
			Name: b.Name, Description: b.Description, DatasetID: string(b.DatasetID), DatasetVersion: b.DatasetVersion, Plan: p,
			Tags: httpapi.OrEmpty(b.Tags), Metadata: b.Metadata.OrEmpty(),
		}, in.Strict.Strict)
		if err != nil {
			return nil, err
		}
		out, err := s.showTx(ctx, tx, e)
		if err == nil {
			out.Location = "/api/evaluations/" + strconv.FormatInt(e.ID, 10)
		}
		return out, err
	})
}

func (s *Service) getEvaluation(ctx context.Context, in *Path) (*evaluationOutput, error) {
	id, err := in.EvaluationID()
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	e, err := s.Find(ctx, org, id)
	if err != nil {
		return nil, err
	}
	items, warnings, err := s.named(ctx, org, e)
	if err != nil {
		return nil, err
	}
	by, err := s.tenancy.Actors(ctx, org, e.CreatedBy)
	if err != nil {
		return nil, err
	}
	return toEvaluationOutput(e, items, warnings, by[0]), nil
}

// showTx is an evaluation as getEvaluation would show it.
func (s *Service) showTx(ctx context.Context, tx postgres.Tx, e Evaluation) (*evaluationOutput, error) {
	items, warnings, err := s.namedTx(ctx, tx, e)
	if err != nil {
		return nil, err
	}
	by, err := s.tenancy.ActorsTx(ctx, tx, e.CreatedBy)
	if err != nil {
		return nil, err
	}
	return toEvaluationOutput(e, items, warnings, by[0]), nil
}

func (s *Service) patchEvaluation(ctx context.Context, in *updateInput) (*evaluationOutput, error) {
	id, err := in.EvaluationID()
	if err != nil {
		return nil, err
	}
	expected, err := in.Expected(in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	metrics, err := scoring.FromMetrics(ctx, in.Body.Metrics.Value, in.Body.MetricNames.Value)
	if err != nil {
		return nil, err
	}
	params, err := scoring.FromParams(in.Body.MetricParams.Value)
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*evaluationOutput, error) {
		e, err := s.UpdateTx(ctx, tx, id, expected, in.Strict.Strict, func(e *Evaluation) { in.Body.apply(e, metrics, params, s) })
		if err != nil {
			return nil, err
		}
		return s.showTx(ctx, tx, e)
	})
}

func (s *Service) deleteEvaluation(ctx context.Context, in *Path) (*httpapi.DeletedOutput[string], error) {
	id, err := in.EvaluationID()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.DeletedOutput[string], error) {
		return httpapi.NewDeleted(in.ID), s.DeleteTx(ctx, tx, id)
	})
}

// apply makes the sent changes.
func (b updateBody) apply(e *Evaluation, metrics []string, params map[string]metric.Params, s *Service) {
	b.Name.Apply(&e.Name)
	b.Description.Apply(&e.Description)
	b.DatasetID.Apply((*scoring.DatasetText)(&e.DatasetID))
	b.DatasetVersion.Apply(&e.DatasetVersion)
	if metrics != nil {
		e.Plan.Metrics = metrics
	}
	if b.ExternalMetrics.Sent {
		e.Plan.Declare(scoring.FromExternal(b.ExternalMetrics.Value))
	} else {
		e.Plan.Declare(e.Plan.External)
	}
	if b.MetricParams.Sent {
		e.Plan.Params = params
	}
	if b.Target.Null {
		e.Plan.Target = scoring.FromTarget(nil)
	} else if b.Target.Sent {
		e.Plan.Target = scoring.FromTarget(&b.Target.Value)
	}
	if b.JudgeConfigIDs.Sent {
		e.Plan.Judges = scoring.FromJudges(b.JudgeConfigIDs.Value)
	}
	if b.PassRule.Null {
		e.Plan.PassRule = scoring.FromPassRule(nil)
	} else if b.PassRule.Sent {
		e.Plan.PassRule = scoring.FromPassRule(&b.PassRule.Value)
	}
	if b.Tags.Sent {
		e.Tags = httpapi.OrEmpty(b.Tags.Value)
	}
	if b.Metadata.Sent {
		e.Metadata = b.Metadata.Value.OrEmpty()
	}
	b.BaselineRunID.Apply((*httpapi.IDInput)(&e.Baseline))
	if b.Archived.Sent && b.Archived.Value != (e.Archived != nil) {
		e.Archived = nil
		if b.Archived.Value {
			at := s.now()
			e.Archived = &at
		}
	}
}

func (s *Service) getMetrics(context.Context, *struct{}) (*httpapi.Body[scoring.MetricsBody], error) {
	return httpapi.NewBody(scoring.ToMetrics(s.metrics.All())), nil
}

func fromID(id *httpapi.IDInput) int64 {
	if id == nil {
		return 0
	}
	return int64(*id)
}
