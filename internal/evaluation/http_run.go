package evaluation

import (
	"context"
	"fmt"
	"net/http"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/stat"
)

func (s *Service) registerRuns(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listRuns", Method: http.MethodGet, Path: "/api/evaluations/{id}/runs", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "List the runs of an evaluation",
	}, s.getRuns)
	httpapi.Register(e, httpapi.Op{
		ID: "startRun", Method: http.MethodPost, Path: "/api/evaluations/{id}/runs", Tag: tag, Scope: principal.EvalWrite, Status: 201, OptionalBody: true,
		Summary:     "Start a run",
		Description: "The run is promised when this answers: it will happen, also if the workflow engine is away now. Several runs of one evaluation may be under way.",
	}, s.postRun)
	httpapi.Register(e, httpapi.Op{
		ID: "getRun", Method: http.MethodGet, Path: "/api/evaluations/{id}/runs/{runId}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "Get a run",
	}, s.getRun)
	httpapi.Register(e, httpapi.Op{
		ID: "cancelRun", Method: http.MethodPost, Path: "/api/evaluations/{id}/runs/{runId}/cancel", Tag: tag, Scope: principal.EvalWrite, Status: 200, OptionalBody: true,
		Summary:     "Cancel a run",
		Description: "Results so far stay readable. A run that has ended is 409.",
	}, s.postCancel)
	httpapi.Register(e, httpapi.Op{
		ID: "getRunProgress", Method: http.MethodGet, Path: "/api/evaluations/{id}/runs/{runId}/progress", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get the progress of a run",
		Description: "The estimate holds however often one looks: it may be watched, and a run may be stopped on it.",
	}, s.getProgress)
}

// RunPath is the path of a run.
type RunPath struct {
	Path
	RunID string `path:"runId" maxLength:"32" doc:"The run."`
}

// ids are the numbers behind the path.
func (p RunPath) ids() (evaluation, run int64, err error) {
	if evaluation, err = p.evaluation(); err != nil {
		return 0, 0, err
	}
	run, ok := httpapi.ParseID(p.RunID)
	if !ok {
		return 0, 0, ErrRunNotFound
	}
	return evaluation, run, nil
}

type listRunsInput struct {
	Path
	httpapi.Page
	Status string `query:"status" enum:"running,completed,failed,cancelled"`
	httpapi.Created
}

type startInput struct {
	Path
	Body startBody
}

type startBody struct {
	DatasetVersion int             `json:"datasetVersion,omitempty" minimum:"1" maximum:"2147483647"`
	ReleaseID      string          `json:"releaseId,omitempty" maxLength:"200"`
	Environment    string          `json:"environment,omitempty" enum:"dev,staging,production"`
	BaselineRunID  httpapi.IDInput `json:"baselineRunId,omitempty" doc:"A run of this evaluation to compare with."`
	SampleSize     int             `json:"sampleSize,omitempty" minimum:"1" maximum:"10000000" doc:"Take so many items, drawn at random with the seed."`
	Seed           *int64          `json:"seed,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Of the order and the sample; absent, the run draws one."`
	Repetitions    int             `json:"repetitions,omitempty" minimum:"1" maximum:"100" doc:"How often each item is executed."`
	ClusterKey     string          `json:"clusterKey,omitempty" maxLength:"200" doc:"A key in the items' labels, context or input: items with the same value are not independent, and the intervals take that into account."`
	Concurrency    int             `json:"concurrency,omitempty" minimum:"1" maximum:"512" doc:"How many items are worked on at once."`
	BudgetUSD      *float64        `json:"budgetUsd,omitempty" minimum:"0" maximum:"1000000000" doc:"The run stops when it has cost so much: failed, budget_exceeded, with the results so far."`
	Margin         *float64        `json:"margin,omitempty" minimum:"0" maximum:"1" doc:"The largest difference of overall that does not matter."`
	Metadata       httpapi.Map     `json:"metadata,omitempty"`
}

// runBody is a run on the wire.
type runBody struct {
	RunID          httpapi.ID         `json:"run_id"`
	EvaluationID   httpapi.ID         `json:"evaluation_id"`
	Status         Status             `json:"status" enum:"running,completed,failed,cancelled"`
	Phase          Phase              `json:"phase" enum:"queued,executing,scoring,aggregating,done"`
	StartedAt      httpapi.Time       `json:"started_at"`
	CompletedAt    *httpapi.Time      `json:"completed_at" nullable:"true"`
	Overall        *float64           `json:"overall,omitempty"`
	Metrics        map[string]float64 `json:"metrics"`
	Items          int                `json:"items" doc:"passed + failed"`
	Passed         int                `json:"passed"`
	Failed         int                `json:"failed"`
	Errored        int                `json:"errored" doc:"The part of failed that produced no score."`
	Skipped        int                `json:"skipped" doc:"Outside items."`
	DatasetID      string             `json:"dataset_id"`
	DatasetVersion *int               `json:"dataset_version" nullable:"true"`
	ReleaseID      string             `json:"release_id,omitempty"`
	Environment    string             `json:"environment,omitempty"`
	BaselineRunID  *httpapi.ID        `json:"baseline_run_id,omitempty"`
	SampleSize     int                `json:"sample_size,omitzero"`
	Seed           *int64             `json:"seed" nullable:"true"`
	Repetitions    int                `json:"repetitions"`
	ClusterKey     string             `json:"cluster_key,omitempty"`
	Concurrency    int                `json:"concurrency"`
	BudgetUSD      *float64           `json:"budget_usd,omitempty"`
	Margin         *float64           `json:"margin,omitempty"`
	ConfigDigest   string             `json:"config_digest,omitempty" doc:"Names the plan, the dataset version and the repetitions: equal digests, equal conditions for every item that both have."`
	Calls          int64              `json:"calls" doc:"Requests to the target, retries included."`
	Usage          httpapi.Usage      `json:"usage" doc:"Tokens of all requests to the target."`
	CostUSD        float64            `json:"cost_usd"`
	Statistics     *statisticsBody    `json:"statistics,omitempty"`
	Error          *runErrorBody      `json:"error,omitempty"`
	Metadata       httpapi.JSON       `json:"metadata"`
	CreatedBy      string             `json:"created_by"`
}

type runErrorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type runOutput struct {
	Location string `header:"Location"`
	Body     runBody
}

type listRunsOutput struct {
	Body listRunsBody
}

type listRunsBody struct {
	Runs []runBody `json:"runs"`
	httpapi.Paging
}

type progressOutput struct {
	Body progressBody
}

type progressBody struct {
	RunID      httpapi.ID     `json:"run_id"`
	Status     Status         `json:"status" enum:"running,completed,failed,cancelled"`
	Phase      Phase          `json:"phase" enum:"queued,executing,scoring,aggregating,done"`
	ItemsTotal int            `json:"items_total" doc:"Items times repetitions; 0 while queued."`
	ItemsDone  int            `json:"items_done"`
	Passed     int            `json:"passed"`
	Failed     int            `json:"failed"`
	Errored    int            `json:"errored"`
	Percent    float64        `json:"percent"`
	CostUSD    float64        `json:"cost_usd"`
	Estimate   *stat.Estimate `json:"estimate,omitempty" doc:"The pass rate so far, from the first items of the random order."`
	StartedAt  httpapi.Time   `json:"started_at"`
	UpdatedAt  httpapi.Time   `json:"updated_at"`
	ETASeconds *float64       `json:"eta_seconds,omitempty"`
	Error      *runErrorBody  `json:"error,omitempty"`
	Recent     []noteBody     `json:"recent"`

	ended bool // and added up
}

type noteBody struct {
	At      httpapi.Time `json:"at"`
	Level   string       `json:"level" enum:"info,warning,error"`
	Message string       `json:"message"`
}

func (s *Service) getRuns(ctx context.Context, in *listRunsInput) (*listRunsOutput, error) {
	id, err := in.evaluation()
	if err != nil {
		return nil, err
	}
	f := RunFilter{Status: Status(in.Status), Limit: in.Limit, Offset: in.Offset}
	f.CreatedAfter, f.CreatedBefore = in.Bounds()
	runs, total, err := s.Runs(ctx, principal.From(ctx).Org, id, f)
	if err != nil {
		return nil, err
	}
	var out listRunsOutput
	out.Body.Runs = make([]runBody, len(runs))
	for i, r := range runs {
		out.Body.Runs[i] = toRunBody(r)
	}
	out.Body.Paging = in.Page.Paging(len(runs), total)
	return &out, nil
}

func (s *Service) postRun(ctx context.Context, in *startInput) (*runOutput, error) {
	id, err := in.evaluation()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*runOutput, error) {
		b := in.Body
		r, err := s.StartTx(ctx, tx, id, Request{
			DatasetVersion: b.DatasetVersion, ReleaseID: b.ReleaseID, Environment: b.Environment, BaselineRun: int64(b.BaselineRunID),
			SampleSize: b.SampleSize, Seed: b.Seed, Repetitions: b.Repetitions, ClusterKey: b.ClusterKey, Concurrency: b.Concurrency,
			BudgetUSD: b.BudgetUSD, Margin: b.Margin, Metadata: b.Metadata.Object(),
		})
		if err != nil {
			return nil, err
		}
		return &runOutput{Location: fmt.Sprintf("/api/evaluations/%d/runs/%d", id, r.ID), Body: toRunBody(r)}, nil
	})
}

func (s *Service) getRun(ctx context.Context, in *RunPath) (*runOutput, error) {
	evaluation, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	r, err := s.FindRun(ctx, principal.From(ctx).Org, evaluation, id)
	if err != nil {
		return nil, err
	}
	return &runOutput{Body: toRunBody(r)}, nil
}

func (s *Service) postCancel(ctx context.Context, in *RunPath) (*runOutput, error) {
	evaluation, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*runOutput, error) {
		r, err := s.CancelTx(ctx, tx, evaluation, id)
		if err != nil {
			return nil, err
		}
		return &runOutput{Body: toRunBody(r)}, nil
	})
}

func (s *Service) getProgress(ctx context.Context, in *RunPath) (*progressOutput, error) {
	evaluation, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	p, err := s.Progress(ctx, principal.From(ctx).Org, evaluation, id)
	if err != nil {
		return nil, err
	}
	return &progressOutput{Body: toProgressBody(p)}, nil
}

func toRunBody(r Run) runBody {
	b := runBody{
		RunID: httpapi.ID(r.ID), EvaluationID: httpapi.ID(r.Evaluation), Status: r.Status, Phase: r.Phase, StartedAt: httpapi.Time(r.StartedAt),
		Metrics: map[string]float64{}, DatasetID: r.Request.DatasetID, ReleaseID: r.Request.ReleaseID, Environment: r.Request.Environment,
		BaselineRunID: toID(r.Request.BaselineRun), SampleSize: r.Request.SampleSize, Seed: r.Request.Seed, Repetitions: r.Request.Repetitions,
		ClusterKey: r.Request.ClusterKey, Concurrency: r.Request.Concurrency, BudgetUSD: r.Request.BudgetUSD, Margin: r.Request.Margin,
		Metadata: httpapi.JSON(r.Request.Metadata), CreatedBy: r.CreatedBy, Error: toRunError(r.Error),
	}
	if r.Completed != nil {
		at := httpapi.Time(*r.Completed)
		b.CompletedAt = &at
	}
	if v := r.Request.DatasetVersion; v > 0 {
		b.DatasetVersion = &v
	}
	if d := r.Resolved; d != nil {
		b.DatasetVersion, b.Seed, b.ConfigDigest = &d.Version, &d.Seed, d.ConfigDigest
	}
	if o := r.Outcome; o != nil {
		b.Overall, b.Metrics, b.Items, b.Passed, b.Failed, b.Errored, b.Skipped = o.Overall, o.Metrics, o.Items, o.Passed, o.Failed, o.Errored, o.Skipped
		b.Calls, b.CostUSD = o.Calls, float64(o.CostNanoUSD)/1e9
		b.Usage = httpapi.NewUsage(uint64(o.InputTokens), uint64(o.OutputTokens), 0, 0)
		b.Statistics = toStatistics(o)
	}
	return b
}

func toRunError(e *RunError) *runErrorBody {
	if e == nil {
		return nil
	}
	return &runErrorBody{Code: e.Code, Message: e.Message}
}

func toProgressBody(p Progress) progressBody {
	r := p.Run
	b := progressBody{
		RunID: httpapi.ID(r.ID), Status: r.Status, Phase: r.Phase, ItemsTotal: p.Total, ItemsDone: p.Count.Done, Passed: p.Count.Passed,
		Failed: p.Count.Failed, Errored: p.Count.Errored, Percent: p.Percent, CostUSD: float64(p.Count.CostNanoUSD) / 1e9, Estimate: p.Estimate,
		StartedAt: httpapi.Time(r.StartedAt), UpdatedAt: httpapi.Time(later(r.UpdatedAt, p.Count.UpdatedAt)), Error: toRunError(r.Error), Recent: []noteBody{},
		ended: r.Outcome != nil,
	}
	if p.ETA != nil {
		seconds := p.ETA.Seconds()
		b.ETASeconds = &seconds
	}
	for _, n := range p.Notes {
		b.Recent = append(b.Recent, toNoteBody(n))
	}
	return b
}
