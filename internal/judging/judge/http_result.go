package judge

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/failpoint"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/score"
)

func (s *Service) registerResults(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "evaluateWithJudge", Method: http.MethodPost, Path: "/api/llm-judge/evaluate", Tag: tag, Scope: principal.EvalWrite, Status: 201,
		Summary: "Judge an answer",
		Description: "Asks the judge's model and records the result. A model that fails, refuses or abstains is recorded as well: the response is 201 with `status` `failed` or `abstained`, without a score and with the reason in `error`. " +
			"With `evaluationRunId` and `testCaseId`, or with `traceId`, the result is about that; a later result of the same judge version about the same thing replaces it. Repeat a request with the same Idempotency-Key to be charged once.",
	}, s.postEvaluate)
	httpapi.Register(e, httpapi.Op{
		ID: "listJudgeResults", Method: http.MethodGet, Path: "/api/llm-judge/results", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "List results of judges",
		Description: "Returns results of judges, newest first, from evaluations, rules and single requests. Filters are combined with AND.",
	}, s.getResults)
	httpapi.Register(e, httpapi.Op{
		ID: "getJudgeResult", Method: http.MethodGet, Path: "/api/llm-judge/results/{id}", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get a result of a judge",
		Description: "Returns one result. A result that a later one replaced does not exist any more.",
	}, s.getResult)
}

// ResultPath is the path of a result.
type ResultPath struct {
	ID string `path:"id" maxLength:"32" doc:"The id of the result."`
}

func (s *Service) getResult(ctx context.Context, in *ResultPath) (*httpapi.Body[resultBody], error) {
	id, ok := httpapi.ParseID(in.ID)
	if !ok {
		return nil, ErrResultNotFound
	}
	r, err := s.FindResult(ctx, principal.From(ctx).Org, id)
	if err != nil {
		return nil, err
	}
	return httpapi.NewBody(toResultBody(r)), nil
}

type evaluateBody struct {
	ConfigID        httpapi.IDInput `json:"configId" doc:"The judge to ask."`
	Input           httpapi.JSON    `json:"input" doc:"What the application was given: any JSON value."`
	Output          httpapi.JSON    `json:"output" doc:"The answer to judge: any JSON value."`
	ExpectedOutput  httpapi.JSON    `json:"expectedOutput,omitzero" doc:"What a good answer is: any JSON value."`
	Context         httpapi.JSON    `json:"context,omitzero" doc:"Retrieved or given context: any JSON value."`
	Messages        httpapi.JSON    `json:"messages,omitzero" doc:"A conversation: any JSON value."`
	ToolCalls       httpapi.JSON    `json:"toolCalls,omitzero" doc:"Calls of tools that the application made: any JSON value."`
	Criteria        httpapi.JSON    `json:"criteria,omitzero" doc:"Criteria of this answer alone, shown to the judge as part of the material: any JSON value."`
	EvaluationRunID string          `json:"evaluationRunId,omitempty" maxLength:"32" doc:"Run that the answer is from; with testCaseId."`
	TestCaseID      string          `json:"testCaseId,omitempty" maxLength:"32" doc:"Item that the answer is to; with evaluationRunId."`
	Epoch           int             `json:"epoch,omitempty" minimum:"0" maximum:"100" doc:"Repetition of the item in the run, from 0."`
	TraceID         string          `json:"traceId,omitempty" maxLength:"32" doc:"Trace that the answer is from, by its hexadecimal id or its number."`
	SpanID          string          `json:"spanId,omitempty" maxLength:"16" doc:"Span of the trace that the answer is from."`
}

type judgedOutput struct {
	Location string `header:"Location" doc:"Path of the result."`
	Ingest   string `header:"X-Ingest" enum:"deferred" doc:"deferred if the result is stored safely but not readable yet; otherwise absent."`
	Body     resultBody
}

// resultBody is a result on the wire.
type resultBody struct {
	ID              httpapi.ID           `json:"id" doc:"Id of the result."`
	ConfigID        httpapi.ID           `json:"config_id" doc:"The judge."`
	ConfigKey       string               `json:"config_key" doc:"Key of the judge."`
	ConfigVersion   int                  `json:"config_version" doc:"Version of the judge that gave the result."`
	Status          VerdictStatus        `json:"status" doc:"completed: there is a score. abstained: the judge would not decide. failed: the model gave no usable answer."`
	Score           *float64             `json:"score" doc:"Rating between 0 and 1; null unless completed."`
	RawScore        *float64             `json:"raw_score" doc:"Rating as a number on the judge's scale; null on a scale of labels."`
	Label           *string              `json:"label" doc:"Rating as a label; null unless completed."`
	Passed          *bool                `json:"passed" doc:"Whether the score reaches the pass threshold; null unless completed."`
	Reasoning       *string              `json:"reasoning" doc:"What the model observed. It is the model's own text and proves nothing."`
	CriteriaScores  []criterionScoreBody `json:"criteria_scores" doc:"Ratings of the criteria."`
	Confidence      *float64             `json:"confidence" doc:"How sure the model says that it is, from 0 to 1; not calibrated."`
	Agreement       *float64             `json:"agreement" doc:"Share of the opinions that agree with the result; null if it failed."`
	Opinions        int                  `json:"opinions" doc:"Opinions that were counted."`
	EvaluationRunID *string              `json:"evaluation_run_id" doc:"Run that the answer is from."`
	TestCaseID      *string              `json:"test_case_id" doc:"Item that the answer is to."`
	Epoch           *int                 `json:"epoch" doc:"Repetition of the item in the run, from 0."`
	TraceID         *string              `json:"trace_id" doc:"Trace that the answer is from."`
	SpanID          *string              `json:"span_id" doc:"Span that the answer is from."`
	Input           httpapi.JSON         `json:"input" doc:"What the application was given; null if a run or a trace has it."`
	Output          httpapi.JSON         `json:"output" doc:"The answer; null if a run or a trace has it."`
	Model           *string              `json:"model" doc:"Model that answered; null if none was asked."`
	ReplyID         *string              `json:"provider_response_id" doc:"The provider's id of the first answer."`
	PromptDigest    *string              `json:"prompt_digest" doc:"Digest of the judge's version and the material: equal digests were equal questions."`
	Usage           httpapi.Usage        `json:"usage" doc:"Tokens of all calls."`
	CostUSD         *float64             `json:"cost_usd" doc:"Cost of all calls in US dollars; null if the model's price is unknown."`
	LatencyMS       float64              `json:"latency_ms" doc:"Milliseconds until the result was there."`
	Error           *resultError         `json:"error" doc:"What went wrong; null if there is a score."`
	CreatedAt       httpapi.Time         `json:"created_at" doc:"When the result was recorded."`
}

type criterionScoreBody struct {
	Key      string   `json:"key" doc:"The criterion."`
	Score    float64  `json:"score" doc:"Rating between 0 and 1."`
	RawScore *float64 `json:"raw_score" doc:"Rating as a number on the judge's scale; null on a scale of labels."`
	Label    string   `json:"label" doc:"Rating as a label."`
}

type resultError struct {
	_       struct{} `nullable:"true"`
	Code    string   `json:"code" doc:"Reason, for programs."`
	Message string   `json:"message" doc:"Reason in words, and what to do."`
}

type listResultsInput struct {
	httpapi.CursorPage
	ConfigID        string                  `query:"configId" maxLength:"32" doc:"Only results of this judge."`
	ConfigVersion   int                     `query:"configVersion" minimum:"1" doc:"Only results of this version of the judge."`
	EvaluationRunID string                  `query:"evaluationRunId" maxLength:"32" doc:"Only results about answers of this run."`
	TestCaseID      string                  `query:"testCaseId" maxLength:"32" doc:"Only results about answers to this item, in any run and repetition."`
	TraceID         string                  `query:"traceId" maxLength:"32" doc:"Only results about this trace and its spans, by its hexadecimal id or its number."`
	Status          VerdictStatus           `query:"status" doc:"Only results with this status."`
	Passed          httpapi.Filter[bool]    `query:"passed" doc:"Only results that passed, or only those that did not."`
	MinScore        httpapi.Filter[float64] `query:"minScore" doc:"Only results with at least this score."`
	MaxScore        httpapi.Filter[float64] `query:"maxScore" doc:"Only results with at most this score."`
}

type listResultsBody struct {
	Results []resultBody `json:"results" doc:"The results of this page, newest first."`
	httpapi.CursorPaging
}

const resultCursor = httpapi.IDCursor("judge results")

func (s *Service) postEvaluate(ctx context.Context, in *httpapi.Body[evaluateBody]) (*judgedOutput, error) {
	if out, err := change.Recall[judgedOutput](ctx, s.log); out != nil || err != nil {
		return out, err
	}
	org := principal.From(ctx).Org
	sent, err := s.sent(ctx, org, in.Body)
	if err != nil {
		return nil, err
	}
	r, err := s.Evaluate(ctx, org, sent)
	if err != nil {
		return nil, err
	}
	failpoint.Hit(Answered)
	recorded := false
	out, err := change.Do(ctx, s.log, func(tx postgres.Tx) (*judgedOutput, error) {
		if err := s.RecordTx(ctx, tx, r); err != nil {
			return nil, err
		}
		if err := change.RecordTx(ctx, s.log, tx, EventJudged, r.ID, nil, &r); err != nil {
			return nil, err
		}
		recorded = true
		return &judgedOutput{Location: "/api/llm-judge/results/" + strconv.FormatInt(r.ID, 10), Body: toResultBody(r)}, nil
	})
	if err != nil || !recorded {
		return out, err
	}
	failpoint.Hit(Recorded)
	if !s.Keep(ctx, org, r) {
		out.Ingest = "deferred"
	}
	return out, nil
}

// sent reads a body.
func (s *Service) sent(ctx context.Context, org principal.OrgID, b evaluateBody) (Sent, error) {
	v := func(j httpapi.JSON) jsontext.Value {
		if string(j) == "null" {
			return nil
		}
		return jsontext.Value(j)
	}
	out := Sent{Config: int64(b.ConfigID), Case: Case{
		Input: v(b.Input), Output: v(b.Output), Expected: v(b.ExpectedOutput), Context: v(b.Context), Messages: v(b.Messages), ToolCalls: v(b.ToolCalls), Criteria: v(b.Criteria),
	}}
	switch {
	case (b.EvaluationRunID == "") != (b.TestCaseID == ""):
		return out, fault.Invalid("body", "/testCaseId", "required", "and evaluationRunId are sent together")
	case b.EvaluationRunID != "" && b.TraceID != "":
		return out, fault.Invalid("body", "/traceId", "format", "and evaluationRunId are not sent together: a result is about one thing")
	case b.SpanID != "" && b.TraceID == "":
		return out, fault.Invalid("body", "/traceId", "required", "is required with spanId")
	case b.EvaluationRunID != "":
		run, ok := httpapi.ParseID(b.EvaluationRunID)
		item, fine := httpapi.ParseID(b.TestCaseID)
		if !ok || !fine {
			return out, fault.Invalid("body", "/evaluationRunId", "format", "and testCaseId must be ids")
		}
		out.Subject = score.RunItem(run, item, b.Epoch)
	case b.TraceID != "":
		var err error
		if out.Subject, err = s.subject(ctx, org, b.TraceID, b.SpanID); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (s *Service) getResults(ctx context.Context, in *listResultsInput) (*httpapi.Body[listResultsBody], error) {
	below, err := resultCursor.Below(in.Cursor)
	if err != nil {
		return nil, err
	}
	org := principal.From(ctx).Org
	f, possible := in.filter()
	f.Below, f.Limit, f.Offset, f.Count = below, in.Limit, in.Offset, in.IncludeTotal
	var results []Result
	var total int64
	if possible {
		if results, total, err = s.Results(ctx, org, f); err != nil {
			return nil, err
		}
	}
	var out httpapi.Body[listResultsBody]
	results, out.Body.CursorPaging = httpapi.Cut(in.CursorPage, results, total, func(r Result) string { return resultCursor.Text(r.ID) })
	out.Body.Results = make([]resultBody, len(results))
	for i, r := range results {
		out.Body.Results[i] = toResultBody(r)
	}
	return &out, nil
}

// filter reads the filters. An id that cannot be one matches nothing.
func (in *listResultsInput) filter() (f ResultFilter, possible bool) {
	f = ResultFilter{Version: in.ConfigVersion, Status: in.Status, Passed: in.Passed.OrNil(), Min: in.MinScore.OrNil(), Max: in.MaxScore.OrNil()}
	ok := true
	number := func(text string) int64 {
		if text == "" {
			return 0
		}
		id, fine := httpapi.ParseID(text)
		ok = ok && fine
		return id
	}
	f.Config = number(in.ConfigID)
	run, item := number(in.EvaluationRunID), number(in.TestCaseID)
	switch {
	case (run != 0 || item != 0) && in.TraceID != "":
		return f, false // a result is about one thing
	case run != 0 || item != 0:
		f.Subject.Kind, f.Item = score.KindRunItem, item
		if run != 0 {
			f.Subject.ID = strconv.FormatInt(run, 10)
		}
	}
	f.Trace = in.TraceID
	return f, ok
}

// Shown is the result as listJudgeResults shows it.
func (r Result) Shown() any { return toResultBody(r) }

func toResultBody(r Result) resultBody {
	b := resultBody{
		ID: httpapi.ID(r.ID), ConfigID: httpapi.ID(r.Config), ConfigKey: r.Key, ConfigVersion: r.Version, Status: r.Status, Reasoning: httpapi.OrNull(r.Reasoning),
		CriteriaScores: []criterionScoreBody{}, Opinions: r.Opinions, Input: httpapi.JSON(r.Input), Output: httpapi.JSON(r.Output), Model: httpapi.OrNull(r.Model),
		ReplyID: httpapi.OrNull(r.ReplyID), PromptDigest: httpapi.OrNull(r.Prompt), Usage: httpapi.NewUsage(uint64(r.Usage.Input), uint64(r.Usage.Output), uint64(r.Usage.Cached), uint64(r.Usage.Reasoning)),
		LatencyMS: float64(r.Took.Microseconds()) / 1000, CreatedAt: httpapi.Time(r.At),
	}
	if r.Status == VerdictCompleted {
		b.Score, b.RawScore, b.Label, b.Passed = &r.Score, r.Raw, &r.Label, &r.Passed
	} else {
		b.Error = &resultError{Code: r.Code, Message: r.Message}
	}
	if r.Status != VerdictFailed {
		b.Confidence, b.Agreement = &r.Confidence, &r.Agreement
	}
	for _, c := range r.Criteria {
		b.CriteriaScores = append(b.CriteriaScores, criterionScoreBody{c.Key, c.Score, c.Raw, c.Label})
	}
	if r.CostNanoUSD != nil {
		usd := float64(*r.CostNanoUSD) / 1e9
		b.CostUSD = &usd
	}
	switch r.Subject.Kind {
	case score.KindRunItem:
		item, epoch, _ := strings.Cut(r.Subject.Part, "/")
		b.EvaluationRunID, b.TestCaseID = &r.Subject.ID, &item
		if n, err := strconv.Atoi(epoch); err == nil {
			b.Epoch = &n
		}
	case score.KindTrace:
		b.TraceID = &r.Subject.ID
	case score.KindSpan:
		b.TraceID, b.SpanID = &r.Subject.ID, &r.Subject.Part
	}
	return b
}
