package scoring

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/schema"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/platform/llm"
)

// maxSent is the largest output of a result with its tool calls: what metrics
// read, and what other targets may answer.
const maxSent = 4 << 20

// Sent is a result that a client sends.
type Sent struct {
	Item      int64
	Epoch     int
	Output    jsontext.Value
	ToolCalls jsontext.Value
	// Scores are those that the client computed itself.
	Scores                    map[string]SentScore
	DurationMS                *float64
	CostUSD                   *float64
	InputTokens, OutputTokens uint32
	ErrorCode, ErrorMessage   string
	Skipped                   bool
	TraceID                   [16]byte
}

// Faults says what is wrong with the i-th result of a request to a run with so many
// repetitions. Known is whether the item is one of the run's.
func (one Sent) Faults(measures []Measure, repetitions int, known bool, i int) (all []fault.Field) {
	const scores = jsontext.Pointer("scores")
	add := func(path jsontext.Pointer, code, message string) {
		all = append(all, fault.Field{In: "body", Path: fmt.Sprintf("/results/%d/%s", i, path), Code: code, Message: message})
	}
	if !known {
		add("testCaseId", "unknown_reference", "names no item of the run: "+strconv.FormatInt(one.Item, 10))
	}
	if n := len(one.Output) + len(one.ToolCalls); n > maxSent {
		add("output", "length", fmt.Sprintf("and toolCalls have %d bytes together, and a result may have %d at most", n, maxSent))
	}
	if one.Epoch >= repetitions {
		add("epoch", "max", fmt.Sprintf("must be below the run's repetitions, %d", repetitions))
	}
	for name, message := range scoreFaults(measures, one.Scores) {
		add(scores.AppendToken(name), "format", message)
	}
	return all
}

// scoreFaults says what is wrong with scores, by their names, in the order of these.
func scoreFaults(measures []Measure, scores map[string]SentScore) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, name := range slices.Sorted(maps.Keys(scores)) {
			v := scores[name].Value
			message := ""
			switch i := slices.IndexFunc(measures, func(m Measure) bool { return m.Name == name }); {
			case i < 0:
				message = "is not a metric of the run" + cmp.Or(suggestion(name, measures), ": declare it in externalMetrics of the evaluation first")
			case measures[i].service:
				message = "is given by a judge or a service that the run asks itself: leave it out"
			default:
				message = measures[i].refuses(v)
			}
			if message != "" && !yield(name, message) {
				return
			}
		}
	}
}

// CheckScores refuses scores that no external metric of a run can have given.
func CheckScores(measures []Measure, scores map[string]SentScore) error {
	var fields []fault.Field
	add := func(name, message string) {
		fields = append(fields, fault.Field{In: "body", Path: string(jsontext.Pointer("/scores").AppendToken(name)), Code: "format", Message: message})
	}
	for name, message := range scoreFaults(measures, scores) {
		add(name, message)
	}
	for _, m := range measures {
		if _, sent := scores[m.Name]; sent && !m.external && !m.service {
			add(m.Name, "is computed here: scores can be added to external metrics")
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return fault.New(fault.Validation, "invalid_request", "Some of the scores cannot be taken; none was.").WithFields(fields...)
}

// refuses says why a metric cannot have given a score; empty if it can.
func (m Measure) refuses(v float64) string {
	switch {
	case math.IsNaN(v) || math.Abs(v) > MaxScore:
		return "is beyond what any metric measures"
	case m.Low != nil && v < *m.Low:
		return fmt.Sprintf("must be at least %v, the lowest score of the metric", *m.Low)
	case m.High != nil && v > *m.High:
		return fmt.Sprintf("must be at most %v, the highest score of the metric", *m.High)
	case m.Kind == metric.Binary && v != 0 && v != 1:
		return "must be 0 or 1: the metric passes or fails"
	}
	return ""
}

// Outcome scores a result. Work is what the request may still spend; pause is that
// of Assess.
func (one Sent) Outcome(pause func() error, rule PassRule, measures []Measure, item dataset.Item, clusterKey string, work *schema.Work) (result.Outcome, error) {
	o := result.Outcome{
		Key: result.Key{Item: one.Item, Epoch: one.Epoch}, Cluster: Cluster(item, clusterKey), Weight: item.Weight,
		Output: one.Output, ToolCalls: one.ToolCalls, Trace: one.TraceID, InputTokens: one.InputTokens, OutputTokens: one.OutputTokens,
	}
	copy(o.Content[:], item.Digest[:])
	a := provider.Answer{Output: one.Output, Usage: llm.Usage{Input: one.InputTokens, Output: one.OutputTokens}}
	if one.ToolCalls.Kind() == '[' {
		a.Tools = provider.ToolCalls(one.ToolCalls)
	}
	if one.DurationMS != nil {
		took := time.Duration(*one.DurationMS * float64(time.Millisecond))
		a.Took, o.Duration = &took, &took
	}
	if one.CostUSD != nil {
		nano := provider.NanoUSD(*one.CostUSD)
		a.CostNanoUSD, o.CostNanoUSD = &nano, &nano
	}
	switch {
	case one.Skipped:
		o.Status, o.Scores = result.StatusSkipped, Unscored(measures)
	case one.ErrorCode != "" || one.ErrorMessage != "":
		o.Status, o.ErrorCode, o.ErrorMessage, o.Scores = result.StatusErrored, one.ErrorCode, one.ErrorMessage, Unscored(measures)
	default:
		c := CaseOf(item, a)
		c.Allowance = work
		if err := Assess(pause, &o, rule, measures, c, sentScores(one.Scores)); err != nil {
			return o, err
		}
	}
	return o, nil
}
