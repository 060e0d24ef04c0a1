package evaluation

import (
	"context"
	"net/http"
	"strconv"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/stat"
)

const tag = "Evaluations"

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	httpapi.Register(e, httpapi.Op{
		ID: "listEvaluations", Method: http.MethodGet, Path: "/api/evaluations", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "List evaluations",
	}, s.getEvaluations)
	httpapi.Register(e, httpapi.Op{
		ID: "createEvaluation", Method: http.MethodPost, Path: "/api/evaluations", Tag: tag, Scope: principal.EvalWrite, Status: 201,
		Summary: "Create an evaluation",
		Description: "The dataset and the metrics are names that a run looks up when it begins. A name that stands for nothing yet is accepted with a warning, " +
			"or refused if `strict` is set.",
	}, s.postEvaluation)
	httpapi.Register(e, httpapi.Op{
		ID: "getEvaluation", Method: http.MethodGet, Path: "/api/evaluations/{id}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get an evaluation",
		Description: "Figures are those of the newest completed run; `statistics` says how sure they are.",
	}, s.getEvaluation)
	httpapi.Register(e, httpapi.Op{
		ID: "updateEvaluation", Method: http.MethodPatch, Path: "/api/evaluations/{id}", Tag: tag, Scope: principal.EvalWrite, Status: 200, OptionalBody: true,
		Summary:     "Update an evaluation",
		Description: "Fields that are absent stay as they are. Runs keep the plan that they began with. `archived: false` restores an archived evaluation.",
	}, s.patchEvaluation)
	httpapi.Register(e, httpapi.Op{
		ID: "archiveEvaluation", Method: http.MethodDelete, Path: "/api/evaluations/{id}", Tag: tag, Scope: principal.EvalWrite, Status: 200,
		Summary:     "Archive an evaluation",
		Description: "It stays readable with its runs; no run of it can begin.",
	}, s.deleteEvaluation)
	httpapi.Register(e, httpapi.Op{
		ID: "listEvaluationMetrics", Method: http.MethodGet, Path: "/api/evaluation-metrics", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "List the metrics that an evaluation can use",
	}, s.getMetrics)
	s.registerRuns(e)
	s.registerResults(e)
	s.registerCompare(e)
	s.registerArtifacts(e)
	s.registerEvents(e)
}

// Path is the path of an evaluation.
type Path struct {
	ID string `path:"id" maxLength:"32" doc:"The evaluation."`
}

// evaluation is the number behind the path; a text that is no number names no
// evaluation.
func (p Path) evaluation() (int64, error) {
	id, ok := httpapi.ParseID(p.ID)
	if !ok {
		return 0, ErrNotFound
	}
	return id, nil
}

type listInput struct {
	httpapi.Page
	Number    int    `query:"page" minimum:"1" maximum:"2147483" doc:"The number of the page, from 1; not together with offset."`
	Status    string `query:"status" enum:"pending,running,completed,failed,cancelled,archived"`
	DatasetID string `query:"datasetId" maxLength:"200"`
	Tag       string `query:"tag" maxLength:"64"`
	Search    string `query:"search" maxLength:"200" doc:"Part of the name, in any case."`
	httpapi.Created
}

// Strict turns warnings into refusals.
type Strict struct {
	Strict bool `query:"strict" doc:"Refuse names that stand for nothing yet, instead of warning of them."`
}

type createInput struct {
	Strict
	Body createBody
}

type createBody struct {
	Name           string            `json:"name" minLength:"1" maxLength:"200" example:"Support answers"`
	Description    string            `json:"description,omitempty" maxLength:"10000"`
	DatasetID      datasetText       `json:"datasetId" doc:"The dataset that runs use. It is looked up when a run begins."`
	DatasetVersion int               `json:"datasetVersion,omitempty" minimum:"1" maximum:"2147483647" doc:"A frozen version; absent means the items as they are when a run begins."`
	Metrics        metricList        `json:"metrics" doc:"What is measured: names from GET /api/evaluation-metrics."`
	MetricParams   httpapi.Map       `json:"metricParams,omitempty" doc:"Parameters of metrics, by the metric's name."`
	Target         *targetBody       `json:"target,omitempty" doc:"Where outputs come from; absent means that the items have them."`
	JudgeConfigIDs []httpapi.IDInput `json:"judgeConfigIds,omitempty" maxItems:"50" doc:"Judges for metrics that need one."`
	PassRule       *passRuleBody     `json:"passRule,omitempty" doc:"When an item passes; absent means when the mean of its scores between 0 and 1 is at least 0.5."`
	Tags           tagList           `json:"tags,omitempty" doc:"Labels to filter by."`
	Metadata       httpapi.Map       `json:"metadata,omitempty" doc:"Free-form; names are kept as sent."`
}

type updateInput struct {
	Path
	Strict
	httpapi.IfMatch
	Body updateBody
}

type updateBody struct {
	Name            httpapi.Patch[nameText]     `json:"name,omitzero"`
	Description     httpapi.Patch[longText]     `json:"description,omitzero"`
	DatasetID       httpapi.Patch[datasetText]  `json:"datasetId,omitzero"`
	DatasetVersion  httpapi.Patch[versionText]  `json:"datasetVersion,omitzero"`
	Metrics         httpapi.Patch[metricList]   `json:"metrics,omitzero"`
	MetricParams    httpapi.Patch[httpapi.Map]  `json:"metricParams,omitzero"`
	Target          httpapi.Patch[targetBody]   `json:"target,omitzero"`
	PassRule        httpapi.Patch[passRuleBody] `json:"passRule,omitzero"`
	Tags            httpapi.Patch[tagList]      `json:"tags,omitzero"`
	Metadata        httpapi.Patch[httpapi.Map]  `json:"metadata,omitzero"`
	Archived        *bool                       `json:"archived,omitempty"`
	ExpectedVersion int64                       `json:"expectedVersion,omitzero" minimum:"1" doc:"Like If-Match: the version that the change is meant for."`
}

// evaluationBody is an evaluation on the wire.
type evaluationBody struct {
	ID             httpapi.ID         `json:"id"`
	Name           string             `json:"name"`
	Description    string             `json:"description"`
	Status         Status             `json:"status" enum:"pending,running,completed,failed,cancelled,archived"`
	Overall        *float64           `json:"overall,omitempty" doc:"Of the newest completed run; see statistics for how sure it is."`
	Metrics        map[string]float64 `json:"metrics" doc:"Mean of each metric over scored items, of the newest completed run."`
	MetricNames    []string           `json:"metric_names" doc:"What was asked for."`
	MetricParams   httpapi.JSON       `json:"metric_params,omitzero"`
	Items          int                `json:"items"`
	Passed         int                `json:"passed"`
	Failed         int                `json:"failed"`
	DatasetID      string             `json:"dataset_id"`
	DatasetVersion *int               `json:"dataset_version" nullable:"true"`
	Target         targetOut          `json:"target"`
	JudgeConfigIDs []httpapi.ID       `json:"judge_config_ids"`
	PassRule       passRuleOut        `json:"pass_rule"`
	Tags           []string           `json:"tags"`
	Metadata       httpapi.JSON       `json:"metadata"`
	LatestRunID    *httpapi.ID        `json:"latest_run_id,omitempty" doc:"Absent before the first run."`
	Statistics     *statisticsBody    `json:"statistics,omitempty" doc:"The same figures with n, interval and method."`
	CreatedBy      string             `json:"created_by"`
	CreatedAt      httpapi.Time       `json:"created_at"`
	UpdatedAt      httpapi.Time       `json:"updated_at"`
	Version        int64              `json:"version" doc:"Counts changes of the evaluation; see If-Match."`
	Warnings       []warningBody      `json:"warnings,omitempty"`
}

type warningBody struct {
	Code    string `json:"code" enum:"dataset_unresolved,metric_unresolved"`
	Subject string `json:"subject" doc:"The name that stands for nothing."`
	Message string `json:"message"`
}

type statisticsBody struct {
	Overall    stat.Estimate            `json:"overall"`
	PassRate   stat.Estimate            `json:"pass_rate"`
	Metrics    map[string]stat.Estimate `json:"metrics"`
	Gates      map[string]stat.Estimate `json:"gates,omitempty" doc:"The pass rate and the metrics that pass or fail, with intervals for decisions: wider than those for display, they miss the truth at most as often as they say."`
	Resolution *stat.Resolution         `json:"resolution,omitempty" doc:"The smallest difference that as many items can show, and how many items smaller ones need."`
}

type evaluationOutput struct {
	ETag     string `header:"ETag"`
	Location string `header:"Location"`
	Body     evaluationBody
}

type listOutput struct {
	Body listBody
}

type listBody struct {
	Evaluations []evaluationBody `json:"evaluations"`
	Page        int              `json:"page" doc:"The number of this page, from 1."`
	httpapi.Paging
}

func (s *Service) getEvaluations(ctx context.Context, in *listInput) (*listOutput, error) {
	if in.Number > 0 {
		if in.Offset > 0 {
			return nil, fault.Invalid("query", "page", "mutually_exclusive", "cannot be combined with offset")
		}
		in.Offset = (in.Number - 1) * in.Limit
	}
	f := Filter{Status: Status(in.Status), DatasetID: in.DatasetID, Tag: in.Tag, Search: in.Search, Limit: in.Limit, Offset: in.Offset}
	f.CreatedAfter, f.CreatedBefore = in.Bounds()
	all, total, err := s.List(ctx, principal.From(ctx).Org, f)
	if err != nil {
		return nil, err
	}
	var out listOutput
	out.Body.Evaluations = make([]evaluationBody, len(all))
	for i, e := range all {
		out.Body.Evaluations[i] = toEvaluationBody(e, nil)
	}
	out.Body.Page = in.Offset/max(1, in.Limit) + 1
	out.Body.Paging = in.Page.Paging(len(all), total)
	return &out, nil
}

func (s *Service) postEvaluation(ctx context.Context, in *createInput) (*evaluationOutput, error) {
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*evaluationOutput, error) {
		b := in.Body
		params, err := fromParams(b.MetricParams)
		if err != nil {
			return nil, err
		}
		e, warnings, err := s.CreateTx(ctx, tx, Evaluation{
			Name: b.Name, Description: b.Description, DatasetID: string(b.DatasetID), DatasetVersion: b.DatasetVersion,
			Plan: Plan{Metrics: b.Metrics, Params: params, Target: fromTarget(b.Target), Judges: fromIDs(b.JudgeConfigIDs), PassRule: fromPassRule(b.PassRule)},
			Tags: httpapi.OrEmpty(b.Tags), Metadata: b.Metadata.Object(),
		}, in.Strict.Strict)
		if err != nil {
			return nil, err
		}
		out := toEvaluationOutput(e, warnings)
		out.Location = "/api/evaluations/" + strconv.FormatInt(e.ID, 10)
		return out, nil
	})
}

func (s *Service) getEvaluation(ctx context.Context, in *Path) (*evaluationOutput, error) {
	id, err := in.evaluation()
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	e, err := s.Find(ctx, org, id)
	if err != nil {
		return nil, err
	}
	out := toEvaluationOutput(e, nil)
	if e.Outcome == nil {
		// Before any run the items are those of the dataset, if there is one.
		if d, err := s.findDataset(ctx, org, e.DatasetID); err == nil {
			out.Body.Items = int(d.ItemCount)
		}
	}
	return out, nil
}

func (s *Service) patchEvaluation(ctx context.Context, in *updateInput) (*evaluationOutput, error) {
	id, err := in.evaluation()
	if err != nil {
		return nil, err
	}
	expected, err := in.Expected(in.Body.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	params, err := fromParams(in.Body.MetricParams.Value)
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*evaluationOutput, error) {
		e, warnings, err := s.UpdateTx(ctx, tx, id, expected, in.Strict.Strict, func(e *Evaluation) { in.Body.apply(e, params, s) })
		if err != nil {
			return nil, err
		}
		return toEvaluationOutput(e, warnings), nil
	})
}

func (s *Service) deleteEvaluation(ctx context.Context, in *Path) (*evaluationOutput, error) {
	id, err := in.evaluation()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*evaluationOutput, error) {
		e, err := s.ArchiveTx(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		return toEvaluationOutput(e, nil), nil
	})
}

// apply makes the sent changes. What cannot be cleared stays when it is null.
func (b updateBody) apply(e *Evaluation, params map[string]metric.Params, s *Service) {
	if b.Name.Sent && !b.Name.Null {
		e.Name = string(b.Name.Value)
	}
	if b.Description.Sent {
		e.Description = string(b.Description.Value)
	}
	if b.DatasetID.Sent && !b.DatasetID.Null {
		e.DatasetID = string(b.DatasetID.Value)
	}
	if b.DatasetVersion.Sent {
		e.DatasetVersion = int(b.DatasetVersion.Value)
	}
	if b.Metrics.Sent && !b.Metrics.Null {
		e.Plan.Metrics = b.Metrics.Value
	}
	if b.MetricParams.Sent {
		e.Plan.Params = params
	}
	if b.Target.Null {
		e.Plan.Target = fromTarget(nil)
	} else if b.Target.Sent {
		e.Plan.Target = fromTarget(&b.Target.Value)
	}
	if b.PassRule.Null {
		e.Plan.PassRule = fromPassRule(nil)
	} else if b.PassRule.Sent {
		e.Plan.PassRule = fromPassRule(&b.PassRule.Value)
	}
	if b.Tags.Sent {
		e.Tags = httpapi.OrEmpty(b.Tags.Value)
	}
	if b.Metadata.Sent {
		e.Metadata = b.Metadata.Value.Object()
	}
	if b.Archived != nil && *b.Archived != (e.Archived != nil) {
		e.Archived = nil
		if *b.Archived {
			at := s.now()
			e.Archived = &at
		}
	}
}

func fromIDs(ids []httpapi.IDInput) (all []int64) {
	for _, id := range ids {
		all = append(all, int64(id))
	}
	return all
}

func toEvaluationOutput(e Evaluation, warnings []Warning) *evaluationOutput {
	return &evaluationOutput{ETag: httpapi.ETag(e.Version), Body: toEvaluationBody(e, warnings)}
}

func toEvaluationBody(e Evaluation, warnings []Warning) evaluationBody {
	b := evaluationBody{
		ID: httpapi.ID(e.ID), Name: e.Name, Description: e.Description, Status: e.Status, Metrics: map[string]float64{}, MetricNames: e.Plan.Metrics,
		DatasetID: e.DatasetID, Target: toTarget(e.Plan.Target), JudgeConfigIDs: []httpapi.ID{}, PassRule: toPassRule(e.Plan.PassRule), Tags: e.Tags,
		Metadata: httpapi.JSON(e.Metadata), CreatedBy: e.CreatedBy, CreatedAt: httpapi.Time(e.CreatedAt), UpdatedAt: httpapi.Time(e.UpdatedAt), Version: e.Version,
	}
	if len(e.Plan.Params) > 0 {
		b.MetricParams = encode(e.Plan.Params)
	}
	for _, id := range e.Plan.Judges {
		b.JudgeConfigIDs = append(b.JudgeConfigIDs, httpapi.ID(id))
	}
	if e.DatasetVersion > 0 {
		b.DatasetVersion = &e.DatasetVersion
	}
	b.LatestRunID = toID(e.LatestRun)
	if o := e.Outcome; o != nil {
		b.Overall, b.Metrics, b.Items, b.Passed, b.Failed = o.Overall, o.Metrics, o.Items, o.Passed, o.Failed
		b.Statistics = toStatistics(o)
	}
	for _, w := range warnings {
		b.Warnings = append(b.Warnings, warningBody(w))
	}
	return b
}

func toID(id int64) *httpapi.ID {
	if id == 0 {
		return nil
	}
	out := httpapi.ID(id)
	return &out
}

func toStatistics(o *Outcome) *statisticsBody {
	s := statisticsBody(o.Statistics)
	return &s
}
