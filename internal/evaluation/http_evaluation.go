package evaluation

import (
	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/httpapi"
)

// evaluationBody is an evaluation on the wire.
type evaluationBody struct {
	ID              httpapi.ID                       `json:"id" doc:"Id of the evaluation."`
	Name            string                           `json:"name" doc:"Name of the evaluation."`
	Description     *string                          `json:"description" doc:"Free text; null if there is none."`
	Status          Status                           `json:"status" volatile:"true" enum:"pending,running,completed,failed,cancelled,archived" doc:"archived, or running while a run is under way, or the status of the newest run; pending before the first run."`
	Archived        bool                             `json:"archived" doc:"Whether the evaluation is archived: readable, and without new runs."`
	Overall         *float64                         `json:"overall" volatile:"true" doc:"Overall score of the newest completed run; null before one has completed or if it has no overall score."`
	Metrics         map[string]float64               `json:"metrics" volatile:"true" doc:"Mean score by metric, from the newest completed run."`
	MetricNames     []string                         `json:"metric_names" doc:"The metrics that the evaluation measures."`
	MetricParams    httpapi.Object                   `json:"metric_params" doc:"Parameters of metrics, keyed by the metric's name."`
	ExternalMetrics []scoring.ExternalBody           `json:"external_metrics" doc:"Metrics of your own, whose scores you send."`
	Items           int                              `json:"items" volatile:"true" doc:"Items of the newest completed run that passed or failed; before there is one, items in the dataset."`
	Passed          int                              `json:"passed" volatile:"true" doc:"Items that passed in the newest completed run."`
	Failed          int                              `json:"failed" volatile:"true" doc:"Items that failed in the newest completed run."`
	DatasetID       string                           `json:"dataset_id" doc:"The dataset whose items are measured."`
	DatasetVersion  *int                             `json:"dataset_version" doc:"Frozen version of the dataset; null for the items as they are when a run starts."`
	Target          scoring.TargetOutput             `json:"target" doc:"Where outputs come from."`
	JudgeConfigIDs  []int64                          `json:"judge_config_ids" doc:"Judge configurations for metrics that need a judge."`
	PassRule        scoring.PassRuleOutput           `json:"pass_rule" doc:"When an item passes."`
	BaselineRunID   httpapi.Null[httpapi.ID]         `json:"baseline_run_id" doc:"The run that the evaluation is pinned to, from which drift over releases is measured; null if there is none."`
	Tags            []string                         `json:"tags" doc:"Labels to filter by."`
	Metadata        httpapi.Object                   `json:"metadata" doc:"Free-form object; its field names are kept as sent."`
	LatestRunID     httpapi.Null[httpapi.ID]         `json:"latest_run_id" volatile:"true" doc:"The newest run; null before the first."`
	Statistics      httpapi.Null[runstat.Statistics] `json:"statistics" volatile:"true" doc:"The figures of the newest completed run with their intervals; null before a run has completed."`
	CreatedBy       httpapi.Actor                    `json:"created_by" doc:"Who created the evaluation."`
	CreatedAt       httpapi.Time                     `json:"created_at" doc:"When the evaluation was created."`
	UpdatedAt       httpapi.Time                     `json:"updated_at" doc:"When the evaluation last changed."`
	Version         int64                            `json:"version" doc:"Number of the evaluation's current version; send it as If-Match to change this version only."`
	Warnings        []warningBody                    `json:"warnings" volatile:"true" doc:"Names in the configuration that do not exist now. Runs fail until they do."`
}

// summaryBody is an evaluation in a list.
type summaryBody struct {
	ID             httpapi.ID               `json:"id" doc:"Id of the evaluation."`
	Name           string                   `json:"name" doc:"Name of the evaluation."`
	Status         Status                   `json:"status" enum:"pending,running,completed,failed,cancelled,archived" doc:"archived, or running while a run is under way, or the status of the newest run; pending before the first run."`
	Archived       bool                     `json:"archived" doc:"Whether the evaluation is archived: readable, and without new runs."`
	Overall        *float64                 `json:"overall" doc:"Overall score of the newest completed run; null before one has completed or if it has no overall score."`
	DatasetID      string                   `json:"dataset_id" doc:"The dataset whose items are measured."`
	DatasetVersion *int                     `json:"dataset_version" doc:"Frozen version of the dataset; null for the items as they are when a run starts."`
	Tags           []string                 `json:"tags" doc:"Labels to filter by."`
	LatestRunID    httpapi.Null[httpapi.ID] `json:"latest_run_id" doc:"The newest run; null before the first."`
	CreatedAt      httpapi.Time             `json:"created_at" doc:"When the evaluation was created."`
	UpdatedAt      httpapi.Time             `json:"updated_at" doc:"When the evaluation last changed."`
	Version        int64                    `json:"version" doc:"Number of the evaluation's current version."`
}

type warningBody struct {
	Code    string `json:"code" enum:"dataset_unresolved,metric_unresolved,judge_config_unresolved" doc:"What kind of name does not exist."`
	Subject string `json:"subject" doc:"The name that does not exist."`
	Message string `json:"message" doc:"Explanation."`
}

// Shown is the evaluation as getEvaluation shows it, apart from what its runs,
// its dataset and the names of people add.
func (e Evaluation) Shown() any {
	return toEvaluationOutput(e, 0, nil, httpapi.ToActor(e.CreatedBy, "")).Body
}

// Revision counts changes of the evaluation.
func (e Evaluation) Revision() int64 { return e.Version }

func toEvaluationOutput(e Evaluation, items int64, warnings []scoring.Warning, by httpapi.Actor) *evaluationOutput {
	b := evaluationBody{
		ID: httpapi.ID(e.ID), Name: e.Name, Description: httpapi.OrNull(e.Description), Status: e.Status, Archived: e.Archived != nil,
		Metrics: map[string]float64{}, MetricNames: e.Plan.Metrics, Items: int(items), DatasetID: e.DatasetID, DatasetVersion: httpapi.OrNull(e.DatasetVersion),
		Target: scoring.ToTarget(e.Plan.Target), JudgeConfigIDs: e.Plan.Judges, PassRule: scoring.ToPassRule(e.Plan.PassRule), Tags: e.Tags,
		BaselineRunID: httpapi.NullID(e.Baseline), Metadata: httpapi.Object(e.Metadata), LatestRunID: httpapi.NullID(e.LatestRun), CreatedBy: by, CreatedAt: httpapi.Time(e.CreatedAt),
		UpdatedAt: httpapi.Time(e.UpdatedAt), Version: e.Version, Warnings: []warningBody{},
	}
	b.ExternalMetrics = scoring.ToExternal(e.Plan.External)
	if len(e.Plan.Params) > 0 {
		b.MetricParams = encode(e.Plan.Params)
	}
	if o := e.Outcome; o != nil {
		b.Overall, b.Metrics, b.Items, b.Passed, b.Failed = o.Overall, o.Metrics, o.Items, o.Passed, o.Failed
		b.Statistics = httpapi.NullOf(&o.Statistics)
	}
	for _, w := range warnings {
		b.Warnings = append(b.Warnings, warningBody(w))
	}
	return &evaluationOutput{ETag: httpapi.ETag(e.Version), Body: b}
}

func toSummaryBody(e Summary) summaryBody {
	return summaryBody{
		ID: httpapi.ID(e.ID), Name: e.Name, Status: e.Status, Archived: e.Archived, Overall: e.Overall, DatasetID: e.DatasetID,
		DatasetVersion: httpapi.OrNull(e.DatasetVersion), Tags: e.Tags, LatestRunID: httpapi.NullID(e.LatestRun), CreatedAt: httpapi.Time(e.CreatedAt),
		UpdatedAt: httpapi.Time(e.UpdatedAt), Version: e.Version,
	}
}
