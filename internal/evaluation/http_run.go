package evaluation

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/internal/progress"
	"github.com/assayhq/assay/internal/evaluation/runstat"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
)

func (s *Service) registerRuns(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listEvaluationRuns", Method: http.MethodGet, Path: "/api/evaluations/{id}/runs", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List the runs of an evaluation",
		Description: "Returns the runs newest first, whatever their status.",
	}, s.getRuns)
	httpapi.Register(e, httpapi.Op{
		ID: "startEvaluationRun", Method: http.MethodPost, Path: "/api/evaluations/{id}/runs", Tag: tag, Scope: principal.EvalWrite, Status: 201, OptionalBody: true,
		Summary: "Start a run",
		Description: "Once this returns, the run takes place even if the workflow engine is unavailable at the moment. Several runs of one evaluation can be under way " +
			"at the same time. An archived evaluation cannot be run: 409.",
	}, s.postRun)
	httpapi.Register(e, httpapi.Op{
		ID: "getEvaluationRun", Method: http.MethodGet, Path: "/api/evaluations/{id}/runs/{runId}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get a run",
		Description: "Figures and statistics appear once the run has ended; its progress is available while it runs.",
	}, s.getRun)
	httpapi.Register(e, httpapi.Op{
		ID: "cancelEvaluationRun", Method: http.MethodPost, Path: "/api/evaluations/{id}/runs/{runId}/cancel", Tag: tag, Scope: principal.EvalWrite, Status: 200, OptionalBody: true,
		Summary:     "Cancel a run",
		Description: "Results so far stay readable. A run that has ended cannot be cancelled: 409.",
	}, s.postCancel)
	httpapi.Register(e, httpapi.Op{
		ID: "getEvaluationRunProgress", Method: http.MethodGet, Path: "/api/evaluations/{id}/runs/{runId}/progress", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get the progress of a run",
		Description: "The interval of the estimate holds however often you look, so you may stop a run on it.",
	}, s.getProgress)
}

// RunPath is the path of a run.
type RunPath struct {
	Path
	RunID string `path:"runId" maxLength:"32" doc:"The run's id."`
}

// IDs are the numbers behind the path.
func (p RunPath) IDs() (evaluation, run int64, err error) {
	if evaluation, err = p.EvaluationID(); err != nil {
		return 0, 0, err
	}
	run, err = httpapi.Number(p.RunID, ErrRunNotFound)
	return evaluation, run, err
}

type listRunsInput struct {
	Path
	httpapi.CursorPage
	Status []Status `query:"status,explode" enum:"running,completed,failed,cancelled" doc:"Only runs with this status. Repeat the parameter to match any of several."`
	httpapi.Created
}

type startInput struct {
	Path
	Body startBody
}

type startBody struct {
	DatasetVersion int              `json:"datasetVersion,omitempty" minimum:"1" maximum:"2147483647" doc:"Frozen version of the dataset; absent for the evaluation's own."`
	ReleaseID      string           `json:"releaseId,omitempty" maxLength:"64" pattern:"^[a-z0-9][a-z0-9._-]{2,63}$" patternDescription:"3 to 64 lower-case letters, digits, dots, underscores and hyphens" doc:"The release that is measured." example:"rel-2026.03"`
	Environment    string           `json:"environment,omitempty" enum:"development,test,staging,production" doc:"Where the measured application runs."`
	BaselineRunID  *httpapi.IDInput `json:"baselineRunId,omitempty" doc:"A run of this evaluation to compare with."`
	Baseline       string           `json:"baseline,omitempty" maxLength:"220" pattern:"^(latest|previous|passed|pinned|(branch|release|tag):.+)$" patternDescription:"latest, previous, passed, pinned, branch:NAME, release:ID or tag:NAME" doc:"Instead of baselineRunId, as of the start of this run: passed for the newest run that passed its gate, pinned for the run that the evaluation is pinned to, previous for the newest completed run, latest for the newest one; branch:NAME, tag:NAME or release:ID for the newest one that measured it and failed no gate. The branch and the tag of a run are in its metadata." example:"branch:main"`
	SampleSize     int              `json:"sampleSize,omitempty" minimum:"1" maximum:"10000000" doc:"Number of items to draw at random with the seed; absent for all items."`
	Seed           *int64           `json:"seed,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Seed of the order and the sample; absent, the run draws one."`
	Repetitions    int              `json:"repetitions,omitempty" minimum:"1" maximum:"100" doc:"How often each item is executed; 1 if absent."`
	ClusterKey     string           `json:"clusterKey,omitempty" maxLength:"200" doc:"Key in the items' labels, context or input: items with the same value are not independent, and the intervals take that into account."`
	Concurrency    int              `json:"concurrency,omitempty" minimum:"1" maximum:"512" doc:"Number of items worked on at once; absent for the target's own."`
	BudgetUSD      *float64         `json:"budgetUsd,omitempty" minimum:"0" maximum:"1000000000" doc:"Cost at which the run stops: failed with budget_exceeded, with the results so far."`
	Margin         *float64         `json:"margin,omitempty" minimum:"0" maximum:"1" doc:"The largest difference of the overall score that does not matter."`
	Metadata       httpapi.Object   `json:"metadata,omitempty" doc:"Free-form object; its field names are kept as sent."`
	ResumeRunID    *httpapi.IDInput `json:"resumeRunId,omitempty" doc:"A failed or cancelled run of this evaluation to go on with: the new run has its items and conditions, keeps its answers, and executes only items that have none or that errored. Only concurrency and budgetUsd can be sent with it; a budget, that of the run unless another is sent, counts what the new run spends."`
}

// Check refuses what a resumed run has already.
func (b *startBody) Check(context.Context) error {
	rest := *b
	rest.ResumeRunID, rest.Concurrency, rest.BudgetUSD = nil, 0, nil
	if b.ResumeRunID == nil || reflect.ValueOf(rest).IsZero() {
		return nil
	}
	return fault.Invalid("body", "/resumeRunId", "mutually_exclusive", "can be sent with concurrency and budgetUsd only: everything else is that of the run")
}

// runBody is a run on the wire.
type runBody struct {
	ID             httpapi.ID                       `json:"id" doc:"Id of the run."`
	RunID          httpapi.ID                       `json:"run_id" doc:"The same as id."`
	EvaluationID   httpapi.ID                       `json:"evaluation_id" doc:"The evaluation that was run."`
	Status         Status                           `json:"status" enum:"running,completed,failed,cancelled" doc:"Status of the run; a run is running from the moment it is started."`
	Phase          Phase                            `json:"phase" volatile:"true" enum:"queued,executing,scoring,aggregating,done" doc:"What the run is doing: it is scoring while judges and services score the results that a client sent."`
	StartedAt      httpapi.Time                     `json:"started_at" doc:"When the run was started."`
	CompletedAt    httpapi.Null[httpapi.Time]       `json:"completed_at" doc:"When the run ended, in any status; null while it is running."`
	Overall        *float64                         `json:"overall" volatile:"true" doc:"Overall score; null until the run has ended or if it has no overall score."`
	Metrics        map[string]float64               `json:"metrics" volatile:"true" doc:"Mean score by metric; empty until the run has ended."`
	Items          int                              `json:"items" volatile:"true" doc:"Results that passed or failed."`
	Passed         int                              `json:"passed" volatile:"true" doc:"Results that passed."`
	Failed         int                              `json:"failed" volatile:"true" doc:"Results that failed."`
	Errored        int                              `json:"errored" volatile:"true" doc:"Failed results that have no scores because of an error."`
	Skipped        int                              `json:"skipped" volatile:"true" doc:"Results that were skipped; they are not part of items."`
	DatasetID      string                           `json:"dataset_id" doc:"The dataset whose items were measured."`
	DatasetVersion *int                             `json:"dataset_version" volatile:"true" doc:"Version of the dataset; null while the run is queued, unless it was given."`
	ReleaseID      *string                          `json:"release_id" doc:"The release that was measured; null if none was given."`
	Environment    *string                          `json:"environment" enum:"development,test,staging,production" doc:"Where the measured application runs; null if it was not given."`
	BaselineRunID  httpapi.Null[httpapi.ID]         `json:"baseline_run_id" doc:"The run to compare with; null if none was given."`
	ResumesRunID   httpapi.Null[httpapi.ID]         `json:"resumes_run_id" doc:"The run that it goes on with and whose answers it keeps; null if it began anew."`
	SampleSize     *int                             `json:"sample_size" doc:"Number of items drawn at random; null for all items."`
	Seed           *int64                           `json:"seed" volatile:"true" doc:"Seed of the order and the sample; null while the run is queued, unless it was given."`
	Repetitions    int                              `json:"repetitions" doc:"How often each item is executed."`
	ClusterKey     *string                          `json:"cluster_key" doc:"Key by which items are grouped; null if items are independent."`
	Concurrency    int                              `json:"concurrency" doc:"Number of items worked on at once."`
	BudgetUSD      *float64                         `json:"budget_usd" doc:"Cost at which the run stops; null if it has no budget."`
	Margin         *float64                         `json:"margin" doc:"The largest difference of the overall score that does not matter; null if none was declared."`
	ConfigDigest   *string                          `json:"config_digest" volatile:"true" doc:"Digest of configuration, dataset version and repetitions: runs with equal digests had equal conditions for every item that both have. Null while the run is queued."`
	Calls          int64                            `json:"calls" volatile:"true" doc:"Requests to the target, retries included."`
	Usage          httpapi.Usage                    `json:"usage" volatile:"true" doc:"Tokens of all requests to the target."`
	CostUSD        float64                          `json:"cost_usd" volatile:"true" doc:"Known cost of the run in US dollars."`
	Statistics     httpapi.Null[runstat.Statistics] `json:"statistics" volatile:"true" doc:"The figures with their intervals; null until the run has ended."`
	Error          httpapi.Null[runErrorBody]       `json:"error" doc:"Why the run failed; null if it did not."`
	Verdict        *requirement.Verdict             `json:"verdict" volatile:"true" enum:"PASS,FAIL,INCONCLUSIVE" doc:"What the newest decision about the run was, or FAIL once one failed; null before the first."`
	Metadata       httpapi.Object                   `json:"metadata" doc:"Free-form object; its field names are kept as sent."`
	CreatedBy      httpapi.Actor                    `json:"created_by" doc:"Who started the run."`
}

type runErrorBody struct {
	Code    string `json:"code" doc:"Machine-readable reason." example:"dataset_not_found"`
	Message string `json:"message" doc:"Explanation."`
}

type runOutput struct {
	Location string `header:"Location" doc:"Path of the new run; sent with 201."`
	Body     runBody
}

type listRunsBody struct {
	Runs []runBody `json:"runs" doc:"The runs of this page, newest first."`
	httpapi.CursorPaging
}

type progressBody struct {
	RunID      httpapi.ID                  `json:"run_id" doc:"The run."`
	Status     Status                      `json:"status" enum:"running,completed,failed,cancelled" doc:"Status of the run."`
	Phase      Phase                       `json:"phase" enum:"queued,executing,scoring,aggregating,done" doc:"What the run is doing: it is scoring while judges and services score the results that a client sent."`
	ItemsTotal int                         `json:"items_total" doc:"Items times repetitions; 0 while the run is queued."`
	ItemsDone  int                         `json:"items_done" doc:"Results so far, skipped ones included."`
	Passed     int                         `json:"passed" doc:"Results that passed."`
	Failed     int                         `json:"failed" doc:"Results that failed."`
	Errored    int                         `json:"errored" doc:"Failed results that have no scores because of an error."`
	Percent    float64                     `json:"percent" doc:"Share of the results that are done, from 0 to 100."`
	CostUSD    float64                     `json:"cost_usd" doc:"Known cost so far in US dollars."`
	Estimate   httpapi.Null[stat.Estimate] `json:"estimate" doc:"The pass rate so far, from the first items of the random order; null if there is none yet, and with repetitions or clusters until the run has ended."`
	StartedAt  httpapi.Time                `json:"started_at" doc:"When the run was started."`
	UpdatedAt  httpapi.Time                `json:"updated_at" doc:"When the progress last changed."`
	ETASeconds *float64                    `json:"eta_seconds" doc:"Estimated time to the end in seconds; null if it is unknown."`
	Error      httpapi.Null[runErrorBody]  `json:"error" doc:"Why the run failed; null if it did not."`
	Recent     []progress.NoteBody         `json:"recent" doc:"What happened lately, newest first."`
}

func (s *Service) getRuns(ctx context.Context, in *listRunsInput) (*httpapi.Body[listRunsBody], error) {
	id, err := in.EvaluationID()
	if err != nil {
		return nil, err
	}
	f := RunFilter{Statuses: in.Status}
	f.CreatedAfter, f.CreatedBefore = in.Bounds()
	runs := resource.List[Run, runBody]{
		Cursor: "runs",
		ID:     func(r Run) int64 { return r.ID },
		Show:   resource.By(s.tenancy, func(r Run) principal.Actor { return r.CreatedBy }, toRunBody),
	}
	shown, paging, err := runs.Page(ctx, in.CursorPage, func(p postgres.Page) ([]Run, int64, error) {
		f.Page = p
		return s.Runs(ctx, principal.From(ctx).Org, id, f)
	})
	return httpapi.NewBody(listRunsBody{shown, paging}), err
}

func (s *Service) postRun(ctx context.Context, in *startInput) (*runOutput, error) {
	id, err := in.EvaluationID()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*runOutput, error) {
		b := in.Body
		r, err := s.StartTx(ctx, tx, id, Request{
			DatasetVersion: b.DatasetVersion, ReleaseID: b.ReleaseID, Environment: b.Environment, BaselineRun: fromID(b.BaselineRunID), Baseline: requirement.Baseline(b.Baseline),
			SampleSize: b.SampleSize, Seed: b.Seed, Repetitions: b.Repetitions, ClusterKey: b.ClusterKey, Concurrency: b.Concurrency,
			BudgetUSD: b.BudgetUSD, Margin: b.Margin, Metadata: b.Metadata.OrEmpty(), Resumes: fromID(b.ResumeRunID),
		})
		if err != nil {
			return nil, err
		}
		out, err := s.showRunTx(ctx, tx, r)
		if err == nil {
			out.Location = fmt.Sprintf("/api/evaluations/%d/runs/%d", id, r.ID)
		}
		return out, err
	})
}

func (s *Service) getRun(ctx context.Context, in *RunPath) (*runOutput, error) {
	evaluation, id, err := in.IDs()
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	r, err := s.FindRun(ctx, org, evaluation, id)
	if err != nil {
		return nil, err
	}
	if r, err = s.fresh(ctx, org, r); err != nil {
		return nil, err
	}
	by, err := s.tenancy.Actors(ctx, org, r.CreatedBy)
	if err != nil {
		return nil, err
	}
	return &runOutput{Body: toRunBody(r, by[0])}, nil
}

// showRunTx is a run as getRun would show it.
func (s *Service) showRunTx(ctx context.Context, tx postgres.Tx, r Run) (*runOutput, error) {
	by, err := s.tenancy.ActorsTx(ctx, tx, r.CreatedBy)
	if err != nil {
		return nil, err
	}
	return &runOutput{Body: toRunBody(r, by[0])}, nil
}

func (s *Service) postCancel(ctx context.Context, in *RunPath) (*runOutput, error) {
	evaluation, id, err := in.IDs()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*runOutput, error) {
		r, err := s.CancelTx(ctx, tx, evaluation, id)
		if err != nil {
			return nil, err
		}
		return s.showRunTx(ctx, tx, r)
	})
}

func (s *Service) getProgress(ctx context.Context, in *RunPath) (*httpapi.Body[progressBody], error) {
	evaluation, id, err := in.IDs()
	if err != nil {
		return nil, err
	}
	p, err := s.Progress(ctx, principal.From(ctx).Org, evaluation, id)
	if err != nil {
		return nil, err
	}
	return httpapi.NewBody(toProgressBody(p)), nil
}

// Shown is the run as getEvaluationRun shows it.
func (r Run) Shown() any { return toRunBody(r, httpapi.ToActor(r.CreatedBy, "")) }

func toRunBody(r Run, by httpapi.Actor) runBody {
	b := runBody{
		ID: httpapi.ID(r.ID), RunID: httpapi.ID(r.ID), EvaluationID: httpapi.ID(r.Evaluation), Status: r.Status, Phase: r.Phase,
		StartedAt: httpapi.Time(r.StartedAt), CompletedAt: httpapi.NullTime(r.Completed), Metrics: map[string]float64{}, DatasetID: r.Request.DatasetID,
		DatasetVersion: httpapi.OrNull(r.Request.DatasetVersion), ReleaseID: httpapi.OrNull(r.Request.ReleaseID),
		Environment: httpapi.OrNull(r.Request.Environment), BaselineRunID: httpapi.NullID(r.Request.BaselineRun), ResumesRunID: httpapi.NullID(r.Request.Resumes), SampleSize: httpapi.OrNull(r.Request.SampleSize),
		Seed: r.Request.Seed, Repetitions: r.Request.Repetitions, ClusterKey: httpapi.OrNull(r.Request.ClusterKey), Concurrency: r.Request.Concurrency,
		BudgetUSD: r.Request.BudgetUSD, Margin: r.Request.Margin, Metadata: httpapi.Object(r.Request.Metadata), CreatedBy: by, Error: toRunError(r.Error), Verdict: httpapi.OrNull(r.Verdict),
	}
	if d := r.Resolved; d != nil {
		b.DatasetVersion, b.Seed, b.ConfigDigest = &d.Version, &d.Seed, &d.ConfigDigest
	}
	if o := r.Outcome; o != nil {
		b.Overall, b.Metrics, b.Items, b.Passed, b.Failed, b.Errored, b.Skipped = o.Overall, o.Metrics, o.Items, o.Passed, o.Failed, o.Errored, o.Skipped
		b.Calls, b.CostUSD = o.Calls, float64(o.CostNanoUSD)/1e9
		b.Usage = httpapi.NewUsage(uint64(o.InputTokens), uint64(o.OutputTokens), 0, 0)
		b.Statistics = httpapi.NullOf(&o.Statistics)
	}
	return b
}

func toRunError(e *RunError) httpapi.Null[runErrorBody] { return httpapi.NullOf((*runErrorBody)(e)) }

func toProgressBody(p Progress) progressBody {
	r := p.Run
	b := progressBody{
		RunID: httpapi.ID(r.ID), Status: r.Status, Phase: r.Phase, ItemsTotal: p.Total, ItemsDone: p.Count.Done, Passed: p.Count.Passed,
		Failed: p.Count.Failed, Errored: p.Count.Errored, Percent: p.Percent, CostUSD: float64(p.Count.CostNanoUSD) / 1e9, Estimate: httpapi.NullOf(p.Estimate),
		StartedAt: httpapi.Time(r.StartedAt), UpdatedAt: httpapi.Time(later(r.UpdatedAt, p.Count.UpdatedAt)), Error: toRunError(r.Error), Recent: []progress.NoteBody{},
	}
	if p.ETA != nil {
		seconds := p.ETA.Seconds()
		b.ETASeconds = &seconds
	}
	for _, n := range p.Notes {
		b.Recent = append(b.Recent, n.Body())
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
