package evaluation

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/score"
)

func (s *Service) registerResults(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "listResults", Method: http.MethodGet, Path: "/api/evaluations/{id}/runs/{runId}/results", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List the results of a run",
		Description: "Results of a running run are listed as soon as they are there.",
	}, s.getResults)
	httpapi.Register(e, httpapi.Op{
		ID: "putResults", Method: http.MethodPost, Path: "/api/evaluations/{id}/runs/{runId}/results", Tag: tag, Scope: principal.EvalWrite, Status: 201,
		BodyLimit: httpapi.LargeBodyLimit,
		Summary:   "Send results of a run whose target is client",
		Description: "A result for the same test case and epoch replaces the one before. `final: true` completes the run. " +
			"A run with another target, or one that has ended, is 409.",
	}, s.postResults)
}

type resultsInput struct {
	RunPath
	httpapi.CursorPage
	Status   string `query:"status" enum:"passed,failed,errored,skipped"`
	Metric   string `query:"metric" maxLength:"64" doc:"Only results that this metric scored."`
	MaxScore string `query:"maxScore" maxLength:"32" pattern:"^-?[0-9]+([.][0-9]+)?$" doc:"With metric: only scores up to this number."`
}

// resultBody is a result on the wire.
type resultBody struct {
	TestCaseID     httpapi.ID          `json:"test_case_id"`
	Epoch          int                 `json:"epoch"`
	Status         score.Status        `json:"status" enum:"passed,failed,errored,skipped"`
	Input          httpapi.JSON        `json:"input,omitzero"`
	ExpectedOutput httpapi.JSON        `json:"expected_output,omitzero"`
	Output         httpapi.JSON        `json:"output,omitzero"`
	Scores         map[string]*float64 `json:"scores" doc:"Null where the metric could not be computed."`
	Overall        *float64            `json:"overall" nullable:"true"`
	Explanations   []explanationBody   `json:"explanations"`
	ToolCalls      httpapi.JSON        `json:"tool_calls,omitzero"`
	OTelTraceID    string              `json:"otel_trace_id,omitempty" doc:"The W3C trace id that the target was sent."`
	DurationMS     *float64            `json:"duration_ms" nullable:"true"`
	CostUSD        *float64            `json:"cost_usd" nullable:"true"`
	Calls          int                 `json:"calls" doc:"How often the target was asked."`
	Attempts       httpapi.JSON        `json:"attempts,omitzero" doc:"What went wrong before the last attempt."`
	Error          *runErrorBody       `json:"error,omitempty"`
}

type explanationBody struct {
	Metric string `json:"metric"`
	Text   string `json:"text"`
	Reason string `json:"reason,omitempty" doc:"Why there is no score."`
}

type resultsOutput struct {
	Body resultsBody
}

type resultsBody struct {
	Results []resultBody `json:"results"`
	httpapi.CursorPaging
}

type putResultsInput struct {
	RunPath
	Body putResultsBody
}

type putResultsBody struct {
	Results []sentBody `json:"results,omitempty" maxItems:"1000"`
	Final   bool       `json:"final,omitempty" doc:"There are no more results: complete the run."`
}

type sentBody struct {
	TestCaseID   httpapi.IDInput `json:"testCaseId"`
	Epoch        int             `json:"epoch,omitempty" minimum:"0" maximum:"99"`
	Output       httpapi.JSON    `json:"output,omitzero"`
	ToolCalls    httpapi.JSON    `json:"toolCalls,omitzero" doc:"A list of calls with name and arguments."`
	Scores       numberMap       `json:"scores,omitempty" doc:"Scores that you computed; metrics without one are computed here."`
	DurationMS   *float64        `json:"durationMs,omitempty" minimum:"0" maximum:"86400000"`
	CostUSD      *float64        `json:"costUsd,omitempty" minimum:"0" maximum:"1000000"`
	InputTokens  int             `json:"inputTokens,omitempty" minimum:"0" maximum:"4294967295"`
	OutputTokens int             `json:"outputTokens,omitempty" minimum:"0" maximum:"4294967295"`
	Error        *sentError      `json:"error,omitempty" doc:"Why there is no output."`
	Skipped      bool            `json:"skipped,omitempty" doc:"The item was left out on purpose and does not count."`
	OTelTraceID  string          `json:"otelTraceId,omitempty" pattern:"^[0-9a-f]{32}$"`
}

type sentError struct {
	Code    string `json:"code,omitempty" maxLength:"64"`
	Message string `json:"message" maxLength:"2000"`
}

type putResultsOutput struct {
	Body putResultsAnswer
}

type putResultsAnswer struct {
	Accepted int  `json:"accepted"`
	Final    bool `json:"final"`
}

func (s *Service) getResults(ctx context.Context, in *resultsInput) (*resultsOutput, error) {
	evaluation, run, err := in.ids()
	if err != nil {
		return nil, err
	}
	var most *float64
	if in.MaxScore != "" {
		if in.Metric == "" {
			return nil, fault.Invalid("query", "metric", "required", "is needed with maxScore: say which score is meant")
		}
		v, err := strconv.ParseFloat(in.MaxScore, 64)
		if err != nil {
			return nil, fault.Invalid("query", "maxScore", "format", "must be a number")
		}
		most = &v
	}
	after, err := fromResultCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	f := score.Filter{Status: score.Status(in.Status), Metric: in.Metric, MaxScore: most, Limit: in.Limit + 1, Offset: in.Offset, After: after}
	results, err := s.Results(ctx, org, evaluation, run, f)
	if err != nil {
		return nil, err
	}
	var out resultsOutput
	out.Body.CursorPaging = httpapi.CursorPaging{Limit: in.Limit, Offset: in.Offset, HasMore: len(results) > in.Limit}
	if out.Body.HasMore {
		results = results[:in.Limit]
		out.Body.NextCursor = httpapi.OrNull(toResultCursor(results[in.Limit-1].Key))
	}
	out.Body.Results = make([]resultBody, len(results))
	for i, r := range results {
		out.Body.Results[i] = toResultBody(r)
	}
	if in.IncludeTotal {
		f.After = score.Key{}
		total, err := s.CountResults(ctx, org, evaluation, run, f)
		if err != nil {
			return nil, err
		}
		out.Body.Total = &total
	}
	return &out, nil
}

// A cursor names the result that a page ends with.
const cursorOfResults = "r1:%d:%d"

func toResultCursor(k score.Key) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, cursorOfResults, k.Item, k.Epoch))
}

func fromResultCursor(text string) (k score.Key, err error) {
	if text == "" {
		return k, nil
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		_, err = fmt.Sscanf(string(decoded), cursorOfResults, &k.Item, &k.Epoch)
	}
	if err != nil || toResultCursor(k) != text || k.Epoch < 0 || k.Epoch >= maxRepetitions {
		return k, fault.Invalid("query", "cursor", "format", "is not a cursor that this list returned")
	}
	return k, nil
}

func (s *Service) postResults(ctx context.Context, in *putResultsInput) (*putResultsOutput, error) {
	evaluation, run, err := in.ids()
	if err != nil {
		return nil, err
	}
	sent := make([]Sent, len(in.Body.Results))
	for i, b := range in.Body.Results {
		sent[i] = fromSent(b)
	}
	outcomes, err := s.Assess(ctx, principal.From(ctx).Org, evaluation, run, sent)
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*putResultsOutput, error) {
		if err := s.PutTx(ctx, tx, evaluation, run, outcomes, in.Body.Final); err != nil {
			return nil, err
		}
		return &putResultsOutput{Body: putResultsAnswer{Accepted: len(sent), Final: in.Body.Final}}, nil
	})
}

func fromSent(b sentBody) Sent {
	one := Sent{
		Item: int64(b.TestCaseID), Epoch: b.Epoch, Output: jsontext.Value(b.Output), ToolCalls: jsontext.Value(b.ToolCalls), Scores: b.Scores,
		DurationMS: b.DurationMS, CostUSD: b.CostUSD, InputTokens: uint32(b.InputTokens), OutputTokens: uint32(b.OutputTokens), Skipped: b.Skipped,
	}
	if b.Error != nil {
		one.ErrorCode, one.ErrorMessage = b.Error.Code, b.Error.Message
	}
	_, _ = hex.Decode(one.TraceID[:], []byte(b.OTelTraceID)) // its form is checked
	return one
}

func millis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

func toResultBody(r Result) resultBody {
	b := resultBody{
		TestCaseID: httpapi.ID(r.Outcome.Item), Epoch: r.Epoch, Status: r.Status, Input: httpapi.JSON(r.Item.Content.Input),
		ExpectedOutput: httpapi.JSON(r.Item.Content.ExpectedOutput), Output: httpapi.JSON(r.Output), Scores: map[string]*float64{}, Overall: r.Overall,
		Explanations: []explanationBody{}, ToolCalls: httpapi.JSON(r.ToolCalls), Calls: r.Calls, Attempts: httpapi.JSON(r.Attempts),
	}
	for _, sc := range r.Scores {
		b.Scores[sc.Metric] = sc.Value
		if sc.Explanation != "" || sc.Reason != "" {
			b.Explanations = append(b.Explanations, explanationBody{sc.Metric, sc.Explanation, sc.Reason})
		}
	}
	if r.Trace != ([16]byte{}) {
		b.OTelTraceID = hex.EncodeToString(r.Trace[:])
	}
	if r.Duration != nil {
		ms := float64(r.Duration.Microseconds()) / 1000
		b.DurationMS = &ms
	}
	if r.CostNanoUSD != nil {
		usd := float64(*r.CostNanoUSD) / 1e9
		b.CostUSD = &usd
	}
	if r.ErrorCode != "" || r.ErrorMessage != "" {
		b.Error = &runErrorBody{Code: r.ErrorCode, Message: r.ErrorMessage}
	}
	return b
}
