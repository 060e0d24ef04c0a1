package scoring

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/httpapi"
)

// ResultBody is a result on the wire.
type ResultBody struct {
	TestCaseID     httpapi.ID                    `json:"test_case_id" doc:"The dataset item."`
	Epoch          int                           `json:"epoch" doc:"Number of the repetition, starting at 0."`
	Status         result.Status                 `json:"status" enum:"passed,failed,errored,skipped" doc:"What became of the item."`
	Input          httpapi.JSON                  `json:"input" doc:"Input of the item."`
	ExpectedOutput httpapi.JSON                  `json:"expected_output" doc:"Expected output of the item; null if it has none."`
	Output         httpapi.JSON                  `json:"output" doc:"Output that was scored; null if there is none."`
	Scores         map[string]*float64           `json:"scores" doc:"Score by metric; null where the metric could not be computed."`
	Overall        *float64                      `json:"overall" doc:"Overall score; null if a part of it is missing."`
	Explanations   []ExplanationBody             `json:"explanations" doc:"What metrics say about their scores."`
	ToolCalls      httpapi.JSON                  `json:"tool_calls" doc:"Tools that the target called; null if it reported none."`
	OTelTraceID    *string                       `json:"otel_trace_id" doc:"W3C trace id that was sent to the target; null if there is none."`
	DurationMS     *float64                      `json:"duration_ms" doc:"Time that the target took, in milliseconds; null if unknown."`
	Usage          httpapi.Usage                 `json:"usage" doc:"Tokens of all requests to the target."`
	CostUSD        *float64                      `json:"cost_usd" doc:"Cost in US dollars; null if unknown."`
	Calls          int                           `json:"calls" doc:"Requests to the target, retries included."`
	Attempts       []AttemptBody                 `json:"attempts" doc:"Failed attempts before the last one."`
	Error          httpapi.Null[ResultErrorBody] `json:"error" doc:"Why the output is missing; null if it is there."`
}

// ExplanationBody is what a metric says about its score.
type ExplanationBody struct {
	Metric string  `json:"metric" doc:"The metric."`
	Text   *string `json:"text" doc:"Explanation of the score; null if there is none."`
	Reason *string `json:"reason" doc:"Why the score is missing; null if it is there."`
}

// AttemptBody is an attempt that failed.
type AttemptBody struct {
	Code    string `json:"code" doc:"Machine-readable reason." example:"timeout"`
	Message string `json:"message" doc:"Explanation."`
}

// ResultErrorBody is why an output is missing.
type ResultErrorBody struct {
	Code    *string `json:"code" doc:"Machine-readable reason; null if the client sent none." example:"timeout"`
	Message string  `json:"message" doc:"Explanation."`
}

// Body is the result on the wire.
func (r Result) Body() ResultBody {
	b := ResultBody{
		TestCaseID: httpapi.ID(r.Outcome.Item), Epoch: r.Epoch, Status: r.Status, Input: httpapi.JSON(r.Item.Content.Input),
		ExpectedOutput: httpapi.JSON(r.Item.Content.ExpectedOutput), Output: httpapi.JSON(r.Output), Scores: map[string]*float64{}, Overall: r.Overall,
		Explanations: []ExplanationBody{}, ToolCalls: httpapi.JSON(r.ToolCalls), Calls: r.Calls, Attempts: toAttempts(r.Attempts),
		Usage: httpapi.NewUsage(uint64(r.InputTokens), uint64(r.OutputTokens), 0, 0), OTelTraceID: httpapi.OrNull(r.TraceID()),
		DurationMS: r.DurationMS(), CostUSD: r.CostUSD(),
	}
	for _, sc := range r.Scores {
		b.Scores[sc.Metric] = sc.Value
		if sc.Explanation != "" || sc.Reason != "" {
			b.Explanations = append(b.Explanations, ExplanationBody{sc.Metric, httpapi.OrNull(sc.Explanation), httpapi.OrNull(sc.Reason)})
		}
	}
	if r.ErrorCode != "" || r.ErrorMessage != "" {
		b.Error = httpapi.NullOf(&ResultErrorBody{Code: httpapi.OrNull(r.ErrorCode), Message: r.ErrorMessage})
	}
	return b
}

// toAttempts reads a stored list of attempts; one that cannot be read is empty.
func toAttempts(text jsontext.Value) []AttemptBody {
	all := []AttemptBody{}
	if len(text) > 0 && json.Unmarshal(text, &all) != nil {
		return []AttemptBody{}
	}
	return all
}
