package evaluation

import (
	"context"
	"fmt"
	"math"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/plan"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/result"
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
}

type resultsInput struct {
	RunPath
	httpapi.CursorPage
	Status   []result.Status         `query:"status,explode" enum:"passed,failed,errored,skipped" doc:"Only results with this status. Repeat the parameter to match any of several."`
	Metric   string                  `query:"metric" maxLength:"64" doc:"Only results that this metric scored."`
	MinScore httpapi.Filter[float64] `query:"minScore" doc:"With metric: only scores of at least this value."`
	MaxScore httpapi.Filter[float64] `query:"maxScore" doc:"With metric: only scores of at most this value."`
}

// resultBody is a result on the wire.
type resultBody struct {
	TestCaseID     httpapi.ID                    `json:"test_case_id" doc:"The dataset item."`
	Epoch          int                           `json:"epoch" doc:"Number of the repetition, starting at 0."`
	Status         result.Status                 `json:"status" enum:"passed,failed,errored,skipped" doc:"What became of the item."`
	Input          httpapi.JSON                  `json:"input" doc:"Input of the item."`
	ExpectedOutput httpapi.JSON                  `json:"expected_output" doc:"Expected output of the item; null if it has none."`
	Output         httpapi.JSON                  `json:"output" doc:"Output that was scored; null if there is none."`
	Scores         map[string]*float64           `json:"scores" doc:"Score by metric; null where the metric could not be computed."`
	Overall        *float64                      `json:"overall" doc:"Overall score; null if a part of it is missing."`
	Explanations   []explanationBody             `json:"explanations" doc:"What metrics say about their scores."`
	ToolCalls      httpapi.JSON                  `json:"tool_calls" doc:"Tools that the target called; null if it reported none."`
	OTelTraceID    *string                       `json:"otel_trace_id" doc:"W3C trace id that was sent to the target; null if there is none."`
	DurationMS     *float64                      `json:"duration_ms" doc:"Time that the target took, in milliseconds; null if unknown."`
	Usage          httpapi.Usage                 `json:"usage" doc:"Tokens of all requests to the target."`
	CostUSD        *float64                      `json:"cost_usd" doc:"Cost in US dollars; null if unknown."`
	Calls          int                           `json:"calls" doc:"Requests to the target, retries included."`
	Attempts       []attemptBody                 `json:"attempts" doc:"Failed attempts before the last one."`
	Error          httpapi.Null[resultErrorBody] `json:"error" doc:"Why the output is missing; null if it is there."`
}

type explanationBody struct {
	Metric string  `json:"metric" doc:"The metric."`
	Text   *string `json:"text" doc:"Explanation of the score; null if there is none."`
	Reason *string `json:"reason" doc:"Why the score is missing; null if it is there."`
}

type attemptBody struct {
	Code    string `json:"code" doc:"Machine-readable reason." example:"timeout"`
	Message string `json:"message" doc:"Explanation."`
}

type resultErrorBody struct {
	Code    *string `json:"code" doc:"Machine-readable reason; null if the client sent none." example:"timeout"`
	Message string  `json:"message" doc:"Explanation."`
}

type resultsOutput struct {
	Body resultsBody
}

type resultsBody struct {
	Results []resultBody `json:"results" doc:"The results of this page."`
	httpapi.CursorPaging
}

type putResultsInput struct {
	RunPath
	Body putResultsBody
}

type putResultsBody struct {
	Results []plan.SentBody `json:"results,omitempty" maxItems:"1000" doc:"The results; all are stored or none."`
	Final   bool            `json:"final,omitempty" doc:"Whether these are the last results: completes the run."`
}

type putResultsOutput struct {
	Location string `header:"Location" doc:"Path of the run's results."`
	Body     putResultsAnswer
}

type putResultsAnswer struct {
	Accepted int  `json:"accepted" doc:"Number of results stored."`
	Final    bool `json:"final" doc:"Whether these were the last results."`
}

func (s *Service) getResults(ctx context.Context, in *resultsInput) (*resultsOutput, error) {
	evaluation, run, err := in.ids()
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
	var results []Result
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
	var out resultsOutput
	var next string
	out.Body.Results = make([]resultBody, len(results))
	for i, r := range results {
		out.Body.Results[i] = toResultBody(r)
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

func toResultCursor(r Result) string {
	return resultCursor.Text(httpapi.Place[uint16]{At: r.Key.Item, Tie: uint16(r.Key.Epoch)})
}

func (s *Service) postResults(ctx context.Context, in *putResultsInput) (*putResultsOutput, error) {
	evaluation, run, err := in.ids()
	if err != nil {
		return nil, err
	}
	sent := make([]plan.Sent, len(in.Body.Results))
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

func toResultBody(r Result) resultBody {
	b := resultBody{
		TestCaseID: httpapi.ID(r.Outcome.Item), Epoch: r.Epoch, Status: r.Status, Input: httpapi.JSON(r.Item.Content.Input),
		ExpectedOutput: httpapi.JSON(r.Item.Content.ExpectedOutput), Output: httpapi.JSON(r.Output), Scores: map[string]*float64{}, Overall: r.Overall,
		Explanations: []explanationBody{}, ToolCalls: httpapi.JSON(r.ToolCalls), Calls: r.Calls, Attempts: toAttempts(r.Attempts),
		Usage: httpapi.NewUsage(uint64(r.InputTokens), uint64(r.OutputTokens), 0, 0), OTelTraceID: httpapi.OrNull(r.TraceID()),
		DurationMS: r.DurationMS(), CostUSD: r.CostUSD(),
	}
	for _, sc := range r.Scores {
		b.Scores[sc.Metric] = sc.Value
		if sc.Explanation != "" || sc.Reason != "" {
			b.Explanations = append(b.Explanations, explanationBody{sc.Metric, httpapi.OrNull(sc.Explanation), httpapi.OrNull(sc.Reason)})
		}
	}
	if r.ErrorCode != "" || r.ErrorMessage != "" {
		b.Error = httpapi.NullOf(&resultErrorBody{Code: httpapi.OrNull(r.ErrorCode), Message: r.ErrorMessage})
	}
	return b
}

// toAttempts reads a stored list of attempts; one that cannot be read is empty.
func toAttempts(text jsontext.Value) []attemptBody {
	all := []attemptBody{}
	if len(text) > 0 && json.Unmarshal(text, &all) != nil {
		return []attemptBody{}
	}
	return all
}
