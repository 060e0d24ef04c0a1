package provider

import (
	"math"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/platform/llm"
)

// CodeSpendCap stops whoever would spend more than a cap allows. CodePriceMissing
// refuses a model whose cost cannot be held against a cap.
const (
	CodeSpendCap     = "spend_cap_reached"
	CodePriceMissing = "price_missing"
)

// Answer is what a model or an application answered.
type Answer struct {
	Output jsontext.Value
	// Tools are the calls of tools, nil if nobody recorded calls; ToolsJSON is
	// the same list as it was received.
	Tools       []metric.ToolCall
	ToolsJSON   jsontext.Value
	Took        *time.Duration
	CostNanoUSD *uint64 // nil if it is not known
	Usage       llm.Usage
	Calls       int
	Trace       [16]byte // the trace that the call is part of; zero if there is none

	// ReplyID is the provider's name of the answer, and Model what answered, often
	// a dated name of what was asked. Applications have neither.
	ReplyID string
	Model   string
	// FromCache: an earlier call's answer is used again, and this one took nothing.
	FromCache bool
}

// merge adds what an earlier call took to a later one, whose words count.
func (a *Answer) merge(earlier Answer) {
	a.add(earlier)
	if a.Took != nil && earlier.Took != nil {
		both := *a.Took + *earlier.Took
		a.Took = &both
	}
}

// add adds what an attempt cost, because each one is paid.
func (a *Answer) add(n Answer) {
	a.Calls += n.Calls
	a.Usage.Input += n.Usage.Input
	a.Usage.Cached += n.Usage.Cached
	a.Usage.CacheWrite += n.Usage.CacheWrite
	a.Usage.Output += n.Usage.Output
	a.Usage.Reasoning += n.Usage.Reasoning
	if n.CostNanoUSD != nil {
		sum := *n.CostNanoUSD
		if a.CostNanoUSD != nil {
			sum += *a.CostNanoUSD
		}
		a.CostNanoUSD = &sum
	}
}

// The codes of failures and of targets that cannot be used.
const (
	CodeKeyMissing  = "provider_key_missing"
	CodeUnreachable = "target_unreachable"
	CodeTimeout     = "timeout"

	CodeScorerUnreachable = "scorer_unreachable"
)

// Failure is an answer that did not come.
type Failure struct {
	Code    string
	Message string
	// Wait is what the other side asks to wait before the next attempt.
	Wait time.Duration
	// Retry: another attempt may succeed. Stop: no other question would fare
	// better. Down: nobody is there to answer.
	Retry, Stop, Down bool
}

func (f *Failure) Error() string { return f.Code + ": " + f.Message }

// StopCode is the code of work that the failure stopped.
func (f *Failure) StopCode() string {
	switch f.Code {
	case "unauthorized", "exhausted":
		return CodeKeyMissing
	case CodeScorerUnreachable, CodeSpendCap:
		return f.Code
	default:
		return CodeUnreachable
	}
}

// Unusable is why nothing can be asked at all.
type Unusable struct{ Code, Message string }

func (u *Unusable) Error() string { return u.Code + ": " + u.Message }

// NanoUSD is an amount of US dollars in billionths, to the nearest.
func NanoUSD(usd float64) uint64 { return uint64(math.Round(usd * 1e9)) }

// ToolCalls reads a list of calls; nil if it contains something else.
func ToolCalls(list jsontext.Value) []metric.ToolCall {
	calls, _ := metric.ToolCallsIn(slices.Concat([]byte(`{"tool_calls":`), list, []byte("}")))
	return calls
}
