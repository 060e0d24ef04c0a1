package evaluation

import (
	"context"
	"fmt"
	"math"
	"net/http"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/evaluation/scoring"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/postgres"
)

func (s *Service) registerResults(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listEvaluationRunResults", Method: http.MethodGet, Path: "/api/evaluations/{id}/runs/{runId}/results", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary: "List the results of a run",
		Description: "Returns the results ordered by test case and repetition. While a run is under way, results appear as they are stored. " +
			"A page ends after 8 MiB of results or of their test cases, however few these are; `has_more` then says that there are others.",
	}, s.getResults)
	httpapi.Register(e, httpapi.Op{
		ID: "addEvaluationRunResults", Method: http.MethodPost, Path: "/api/evaluations/{id}/runs/{runId}/results", Tag: tag, Scope: principal.EvalWrite, Status: 201,
		BodyLimit: httpapi.LargeBodyLimit,
		Summary:   "Add results to a run",
		Description: "For runs whose target is `client`. A result for the same test case and epoch replaces the earlier one. `final: true` completes the run. " +
			"A result has at most 4 MiB of output and tool calls. If scoring the results takes too long for one request, none is stored and the request returns 400: send fewer at a time. " +
			"A run that has another target or has ended returns 409.",
	}, s.postResults)
	httpapi.Register(e, httpapi.Op{
		ID: "addEvaluationRunScores", Method: http.MethodPost, Path: "/api/evaluations/{id}/runs/{runId}/results/{testCaseId}/scores", Tag: tag, Scope: principal.EvalWrite, Status: 201,
		Summary: "Add scores to a result",
		Description: "For metrics that the evaluation declares in `externalMetrics`, when their scores are known later than the result. They count in figures, comparisons and gates like any other. " +
			"A score of the same metric replaces the earlier one. `final: true`, here or with results, completes the run: one with external metrics waits for it.",
	}, s.postScores)
}

type resultsInput struct {
	RunPath
	httpapi.CursorPage
	Status   []result.Status         `query:"status,explode" enum:"passed,failed,errored,skipped" doc:"Only results with this status. Repeat the parameter to match any of several."`
	Metric   string                  `query:"metric" maxLength:"64" doc:"Only results that this metric scored."`
	MinScore httpapi.Filter[float64] `query:"minScore" doc:"With metric: only scores of at least this value."`
	MaxScore httpapi.Filter[float64] `query:"maxScore" doc:"With metric: only scores of at most this value."`
}

type resultsBody struct {
	Results []scoring.ResultBody `json:"results" doc:"The results of this page."`
	httpapi.CursorPaging
}

type putResultsInput struct {
	RunPath
	Body putResultsBody
}

type putResultsBody struct {
	Results []scoring.SentBody `json:"results,omitempty" maxItems:"1000" doc:"The results; all are stored or none."`
	Final   bool               `json:"final,omitempty" doc:"Whether these are the last results: completes the run."`
}

type putResultsOutput struct {
	Location string `header:"Location" doc:"Path of the run's results."`
	Body     putResultsAnswer
}

type putResultsAnswer struct {
	Accepted int  `json:"accepted" doc:"Number of results stored."`
	Final    bool `json:"final" doc:"Whether these were the last results."`
}

type putScoresInput struct {
	RunPath
	TestCaseID string `path:"testCaseId" maxLength:"32" doc:"The dataset item."`
	Body       scoring.SentScores
}

type putScoresOutput struct {
	Location string `header:"Location" doc:"Path of the run's results."`
	Body     scoring.ScoredBody
}

func (s *Service) postScores(ctx context.Context, in *putScoresInput) (*putScoresOutput, error) {
	evaluation, run, err := in.IDs()
	if err != nil {
		return nil, err
	}
	item, ok := httpapi.ParseID(in.TestCaseID)
	if !ok {
		return nil, ErrResultNotFound
	}
	p, o, refused := s.PostScores(ctx, principal.From(ctx).Org, evaluation, run, result.Key{Item: item, Epoch: in.Body.Epoch}, in.Body.Scores)
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*putScoresOutput, error) {
		if refused != nil {
			return nil, refused
		}
		if err := s.PutTx(ctx, tx, p, in.Body.Final); err != nil {
			return nil, err
		}
		return &putScoresOutput{Location: fmt.Sprintf("/api/evaluations/%d/runs/%d/results", evaluation, run), Body: scoring.ToScored(o)}, nil
	})
}

func (s *Service) getResults(ctx context.Context, in *resultsInput) (*httpapi.Body[resultsBody], error) {
	evaluation, run, err := in.IDs()
	if err != nil {
		return nil, err
	}
	if in.Metric == "" && (in.MinScore.Sent || in.MaxScore.Sent) {
		return nil, fault.Invalid("query", "metric", "required", "is required with minScore or maxScore: it names the score")
	}
	for name, bound := range map[string]httpapi.Filter[float64]{"minScore": in.MinScore, "maxScore": in.MaxScore} {
		if math.IsNaN(bound.Value) || math.IsInf(bound.Value, 0) {
			return nil, fault.Invalid("query", name, "type", "must be a finite number")
		}
	}
	after, err := resultCursor.Place(in.Cursor)
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	f := result.Filter{
		Statuses: in.Status, Metric: in.Metric, MinScore: in.MinScore.OrNil(), MaxScore: in.MaxScore.OrNil(),
		Limit: in.Limit, Offset: in.Offset, After: result.Key{Item: after.At, Epoch: int(after.Tie)},
	}
	var results []scoring.Result
	var more bool
	err = admission.From(ctx).Read(ctx, result.PageBytes, func() (bytes int, err error) {
		results, more, err = s.Results(ctx, org, evaluation, run, f)
		for _, r := range results {
			bytes += r.Item.Content.Bytes() + len(r.Output) + len(r.ToolCalls)
		}
		return bytes, err
	})
	if err != nil {
		return nil, err
	}
	var total int64
	if in.IncludeTotal {
		f.After = result.Key{}
		if total, err = s.CountResults(ctx, org, evaluation, run, f); err != nil {
			return nil, err
		}
	}
	var out httpapi.Body[resultsBody]
	var next string
	out.Body.Results = make([]scoring.ResultBody, len(results))
	for i, r := range results {
		out.Body.Results[i] = r.Body()
		if more {
			next = toResultCursor(r)
		}
	}
	out.Body.CursorPaging = in.Paging(next, total)
	return &out, nil
}

// resultCursor orders results by their items, and those of one item by their
// epochs.
const resultCursor = httpapi.Cursor[uint16]("results")

func toResultCursor(r scoring.Result) string {
	return resultCursor.Text(httpapi.Place[uint16]{At: r.Key.Item, Tie: uint16(r.Key.Epoch)})
}

func (s *Service) postResults(ctx context.Context, in *putResultsInput) (*putResultsOutput, error) {
	evaluation, run, err := in.IDs()
	if err != nil {
		return nil, err
	}
	sent := make([]scoring.Sent, len(in.Body.Results))
	for i, b := range in.Body.Results {
		sent[i] = b.Result()
	}
	// What is refused is reported inside, so that a repeated request is answered as
	// the first one was.
	p, refused := s.Post(ctx, principal.From(ctx).Org, evaluation, run, sent)
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*putResultsOutput, error) {
		if refused != nil {
			return nil, refused
		}
		if err := s.PutTx(ctx, tx, p, in.Body.Final); err != nil {
			return nil, err
		}
		return &putResultsOutput{
			Location: fmt.Sprintf("/api/evaluations/%d/runs/%d/results", evaluation, run), Body: putResultsAnswer{Accepted: len(sent), Final: in.Body.Final},
		}, nil
	})
}
