package gate

import (
	"context"
	"fmt"
	"net/http"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/resource"
)

const tag = "Evaluations"

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"DecideRun": askedBody{}, "Decision": decisionBody{}, "DecisionDrift": driftBody{}, "DecisionList": listBody{}, "DecisionRuling": rulingBody{},
	"ItemPlan": planBody{}, "RunSeries": seriesBody{}, "SeriesRun": seriesRunBody{},
}

// RegisterHTTP adds the domain's operations to the route table.
func (s *Service) RegisterHTTP(e *httpapi.Edge) {
	e.Name(schemas)
	httpapi.Register(e, httpapi.Op{
		ID: "decideEvaluationRun", Method: http.MethodPost, Path: "/api/evaluations/{id}/runs/{runId}/decisions", Tag: tag, Scope: principal.EvalWrite, Status: 201,
		Summary: "Decide whether a run is good enough",
		Description: "Holds the run against requirements and keeps the decision. A requirement passes only if its whole interval meets it, and fails only if the interval at " +
			"the level at which all requirements hold together misses it; everything else is inconclusive. A missing score counts as the worst one. A run that passed " +
			"is the baseline of the next one that asks for `passed`, unless it has failed another gate.",
	}, s.post)
	httpapi.Register(e, httpapi.Op{
		ID: "listEvaluationRunDecisions", Method: http.MethodGet, Path: "/api/evaluations/{id}/runs/{runId}/decisions", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List the decisions on a run",
		Description: "Returns every decision as it was made, newest first.",
	}, s.getList)
	s.registerNouns(e)
}

type postInput struct {
	evaluation.RunPath
	Body askedBody
}

type askedBody struct {
	Requirements  []string         `json:"requirements" required:"true" minItems:"1" maxItems:"50" maxLength:"200" doc:"What the run must show: thresholds such as pass_rate>=0.9 or p95(latency_ms)<=800, and claims about its difference from the baseline such as overall:non_inferior, pass_rate:better or similarity:equivalent." example:"[\"pass_rate>=0.9\",\"overall:non_inferior\"]"`
	Margin        float64          `json:"margin,omitempty" minimum:"0" maximum:"1" doc:"The largest difference that does not matter, as a share of a figure's range. Required by non_inferior and equivalent unless the run was started with one."`
	MaxMissing    *float64         `json:"maxMissing,omitempty" minimum:"0" maximum:"1" default:"0.05" doc:"Largest share of scores that may be missing from the baseline, or left out of the mean of a figure without a worst score, such as a latency; above it, a requirement is inconclusive."`
	Baseline      string           `json:"baseline,omitempty" maxLength:"220" pattern:"^(previous|passed|pinned|(branch|release|tag):.+)$" patternDescription:"previous, passed, pinned, branch:NAME, release:ID or tag:NAME" doc:"The run to compare with: passed for the newest earlier run that passed its gate, pinned for the run that the evaluation is pinned to, previous for the newest earlier completed run; branch:NAME, tag:NAME or release:ID for the newest earlier one that measured it and failed no gate. The branch and the tag of a run are in its metadata; passed and previous stay on the branch of the run. A run on other items, or without more than 5% of its answers, is skipped. Absent: the baseline that the run was started with, or else passed." example:"branch:main"`
	BaselineRunID *httpapi.IDInput `json:"baselineRunId,omitempty" doc:"Instead of baseline: a run of this evaluation."`
}

type decisionOutput struct {
	Location string `header:"Location" doc:"Path of the decisions on the run; sent with 201."`
	Body     decisionBody
}

// decisionBody is a decision on the wire.
type decisionBody struct {
	ID            httpapi.ID               `json:"id" doc:"Id of the decision."`
	EvaluationID  httpapi.ID               `json:"evaluation_id" doc:"The evaluation."`
	RunID         httpapi.ID               `json:"run_id" doc:"The run that was decided on."`
	BaselineRunID httpapi.Null[httpapi.ID] `json:"baseline_run_id" doc:"The run that claims were decided against; null if there were none."`
	Verdict       requirement.Verdict      `json:"verdict" enum:"PASS,FAIL,INCONCLUSIVE" doc:"FAIL if any requirement failed, else INCONCLUSIVE if any is, else PASS."`
	Problem       *string                  `json:"problem" doc:"Why nothing could be decided; null if it could."`
	Rulings       []rulingBody             `json:"rulings" doc:"The answer to each requirement, in the order in which they were sent."`
	Drift         []driftBody              `json:"drift" doc:"How far the figures of claims have moved from the pinned run; empty without one, or where it is the baseline."`
	Margin        *float64                 `json:"margin" doc:"The margin that was sent; null if none was."`
	MaxMissing    float64                  `json:"max_missing" doc:"Largest share of scores that may be left out."`
	CreatedBy     httpapi.Actor            `json:"created_by" doc:"Who asked."`
	CreatedAt     httpapi.Time             `json:"created_at" doc:"When it was decided."`
}

// rulingBody is the answer to a requirement on the wire.
type rulingBody struct {
	Requirement string                      `json:"requirement" doc:"The requirement as it was sent." example:"pass_rate>=0.9"`
	Figure      string                      `json:"figure" doc:"The figure that it is about." example:"pass_rate"`
	Verdict     requirement.Verdict         `json:"verdict" enum:"PASS,FAIL,INCONCLUSIVE" doc:"The answer."`
	Reason      requirement.Reason          `json:"reason" enum:"shown,refuted,inside,no_figure,no_interval,stale,missing_scores,not_comparable,descriptive,no_baseline,not_checked" doc:"Why: inside means that the requirement is neither shown nor refuted at its level; stale that a judge behind the figure has drifted."`
	Side        string                      `json:"side" enum:"lower,upper,both" doc:"The end of the interval that must clear the requirement."`
	Alpha       float64                     `json:"alpha" doc:"How often, at most, a figure that truly misses the requirement passes it."`
	Margin      *float64                    `json:"margin" doc:"The largest difference that does not matter, in units of the figure; null if the requirement has none."`
	Estimate    httpapi.Null[stat.Estimate] `json:"estimate" doc:"The figure, or its difference from the baseline, with the interval that a pass is read from; null if there is none."`
	Together    httpapi.Null[stat.Interval] `json:"together" doc:"The interval that a failure is read from: at the level at which the intervals of all requirements hold together. Null if there is none."`
	Matched     int                         `json:"n_matched" doc:"Items that were compared with the baseline; 0 for a threshold."`
	Reasons     []string                    `json:"reasons" doc:"Why runs cannot be compared, or why a baseline is missing."`
	Reach       *float64                    `json:"reach" doc:"How far from the threshold the truth has to be for four of five runs with as many items to decide it; null if it is decided or unknown."`
	Resolution  *string                     `json:"resolution" doc:"How small a difference from the baseline the items can show, in a sentence; null for a threshold."`
}

// driftBody is a difference from the pinned run on the wire.
type driftBody struct {
	Figure      string        `json:"figure" doc:"The figure."`
	PinnedRunID httpapi.ID    `json:"pinned_run_id" doc:"The run that the evaluation is pinned to."`
	Difference  stat.Estimate `json:"difference" doc:"This run minus the pinned run, over the items that both have."`
}

type listInput struct {
	evaluation.RunPath
	httpapi.CursorPage
}

type listBody struct {
	Decisions []decisionBody `json:"decisions" doc:"The decisions of this page, newest first."`
	httpapi.CursorPaging
}

func (s *Service) post(ctx context.Context, in *postInput) (*decisionOutput, error) {
	evaluationID, run, err := in.IDs()
	if err != nil {
		return nil, err
	}
	b := in.Body
	asked := Asked{Requirements: b.Requirements, Margin: b.Margin, MaxMissing: 0.05, Baseline: requirement.Baseline(b.Baseline)}
	if b.MaxMissing != nil {
		asked.MaxMissing = *b.MaxMissing
	}
	if b.BaselineRunID != nil {
		asked.BaselineRun = int64(*b.BaselineRunID)
	}
	var d Decision
	var refused error
	if asked.Baseline != "" && asked.BaselineRun != 0 {
		refused = fault.Invalid("body", "/baseline", "mutually_exclusive", "names a run, and so does baselineRunId: send one of them")
	} else {
		// What is refused is reported inside, so that a repeated request is answered
		// as the first one was.
		d, refused = s.Decide(ctx, principal.From(ctx).Org, evaluationID, run, asked)
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*decisionOutput, error) {
		if refused != nil {
			return nil, refused
		}
		d, err := s.PutTx(ctx, tx, d)
		if err != nil {
			return nil, err
		}
		by, err := s.tenancy.ActorsTx(ctx, tx, d.CreatedBy)
		if err != nil {
			return nil, err
		}
		return &decisionOutput{Location: fmt.Sprintf("/api/evaluations/%d/runs/%d/decisions", evaluationID, run), Body: toBody(d, by[0])}, nil
	})
}

func (s *Service) getList(ctx context.Context, in *listInput) (*httpapi.Body[listBody], error) {
	evaluationID, run, err := in.IDs()
	if err != nil {
		return nil, err
	}
	decisions := resource.List[Decision, decisionBody]{
		Cursor: "decisions",
		ID:     func(d Decision) int64 { return d.ID },
		Show:   resource.By(s.tenancy, func(d Decision) principal.Actor { return d.CreatedBy }, toBody),
	}
	shown, paging, err := decisions.Page(ctx, in.CursorPage, func(p postgres.Page) ([]Decision, int64, error) {
		return s.List(ctx, principal.From(ctx).Org, evaluationID, run, p)
	})
	return httpapi.NewBody(listBody{shown, paging}), err
}

// Shown is the decision as its own operation shows it.
func (d Decision) Shown() any { return toBody(d, httpapi.ToActor(d.CreatedBy, "")) }

func toBody(d Decision, by httpapi.Actor) decisionBody {
	b := decisionBody{
		ID: httpapi.ID(d.ID), EvaluationID: httpapi.ID(d.Evaluation), RunID: httpapi.ID(d.Run), BaselineRunID: httpapi.NullID(d.Baseline),
		Verdict: d.Verdict, Problem: httpapi.OrNull(d.Problem), Rulings: make([]rulingBody, len(d.Rulings)), Drift: make([]driftBody, len(d.Drift)),
		Margin: httpapi.OrNull(d.Asked.Margin), MaxMissing: d.Asked.MaxMissing, CreatedBy: by, CreatedAt: httpapi.Time(d.CreatedAt),
	}
	for i, r := range d.Rulings {
		b.Rulings[i] = rulingBody{
			Requirement: r.Requirement, Figure: r.Figure, Verdict: r.Verdict, Reason: r.Reason, Side: r.Side, Alpha: r.Alpha, Margin: r.Margin,
			Estimate: httpapi.NullOf(r.Estimate), Together: httpapi.NullOf(r.Together), Matched: r.Matched, Reasons: r.Reasons, Reach: r.Reach,
			Resolution: httpapi.OrNull(r.Help),
		}
	}
	for i, one := range d.Drift {
		b.Drift[i] = driftBody{Figure: one.Figure, PinnedRunID: httpapi.ID(one.Run), Difference: one.Difference}
	}
	return b
}
