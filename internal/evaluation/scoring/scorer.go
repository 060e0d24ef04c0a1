package scoring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/evaluation/result"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/measure/metric"
)

// Scorer makes the score that one metric gives to an answer. There is a score in any
// case: one that is missing says why. The cost, in billionths of a US dollar, is that of
// every attempt as far as it is known, also of those that failed. An error is a *provider.Failure after which no other answer can be
// scored either, or the end of ctx.
type Scorer func(ctx context.Context, run int64, i dataset.Item, epoch int, a provider.Answer) (score metric.Score, nanoUSD uint64, err error)

// Scorers make the scores that take asking somebody, by metric.
type Scorers map[string]Scorer

// Scorers prepares to ask the services. Each has a pace of its own, and failed is
// called after attempts that are made again. A *provider.Unusable means that one
// cannot be asked.
func (p Plan) Scorers(ctx context.Context, with *provider.Service, org principal.OrgID, pace func() *provider.Pace, failed func(*provider.Failure)) (Scorers, error) {
	all := Scorers{}
	for _, x := range p.External {
		e := x.Endpoint
		if e == nil {
			continue
		}
		to, err := with.Scorer(ctx, org, provider.ScorerConfig{
			EndpointConfig: provider.EndpointConfig{URL: e.URL, KeyID: e.SecretRef, Timeout: time.Duration(e.TimeoutMS) * time.Millisecond},
			Metric:         x.Name, Batch: e.BatchSize,
		}, pace(), failed)
		if err != nil {
			return nil, err
		}
		all[x.Name] = service{x, to}.score
	}
	return all, nil
}

// Askers prepares to ask the target and the services that score. A
// *provider.Unusable means that one cannot be asked.
func (p Plan) Askers(ctx context.Context, with *provider.Service, org principal.OrgID, pace func() *provider.Pace, failed func(*provider.Failure)) (Asker, Scorers, error) {
	target, err := p.Target.Asker(ctx, with, org)
	if err != nil {
		return nil, nil, err
	}
	scorers, err := p.Scorers(ctx, with, org, pace, failed)
	return target, scorers, err
}

// toScore is an answer as a service sees it.
type toScore struct {
	TestCaseID     string         `json:"test_case_id"`
	RunID          string         `json:"run_id"`
	Epoch          int            `json:"epoch"`
	Input          jsontext.Value `json:"input"`
	Output         jsontext.Value `json:"output"`
	ExpectedOutput jsontext.Value `json:"expected_output,omitzero"`
	Context        jsontext.Value `json:"context,omitzero"`
	Messages       jsontext.Value `json:"messages,omitzero"`
	Labels         jsontext.Value `json:"labels,omitzero"`
	ToolCalls      jsontext.Value `json:"tool_calls,omitzero"`
}

// service is the team's own, which scores answers to a metric. What it costs is not
// known here.
type service struct {
	external External
	to       *provider.Scorer
}

func (s service) score(ctx context.Context, run int64, i dataset.Item, epoch int, a provider.Answer) (metric.Score, uint64, error) {
	text, err := json.Marshal(toScore{
		TestCaseID: strconv.FormatInt(i.ID, 10), RunID: strconv.FormatInt(run, 10), Epoch: epoch,
		Input: i.Content.Input, Output: a.Output, ExpectedOutput: i.Content.ExpectedOutput, Context: i.Content.Context,
		Messages: i.Content.Messages, Labels: i.Content.Labels, ToolCalls: a.ToolsJSON,
	})
	if err != nil {
		return metric.Score{}, 0, fmt.Errorf("encode the answer: %w", err)
	}
	given, err := s.to.Score(ctx, text)
	var f *provider.Failure
	switch {
	case errors.As(err, &f):
		given.Failed = f.Message
	case err != nil:
		given.Failed = "The service did not answer before the run ended."
	}
	return s.external.score(given), 0, err
}

// Lacking are those of the scorers whose scores an outcome lacks because they failed or
// were not asked.
func (s Scorers) Lacking(o *result.Outcome) Scorers {
	lacking := Scorers{}
	for _, x := range o.Scores {
		why := metric.Reason(x.Reason)
		if score, ok := s[x.Metric]; ok && x.Value == nil && (why == metric.ReasonServiceFailed || why == metric.ReasonNotAsked) {
			lacking[x.Metric] = score
		}
	}
	return lacking
}

// Score has an answer scored by all, and returns the scores by metric, all of them
// in any case, and what they cost together. An error is one of a Scorer.
func (s Scorers) Score(ctx context.Context, run int64, i dataset.Item, epoch int, a provider.Answer) (map[string]metric.Score, uint64, error) {
	if len(s) == 0 {
		return nil, 0, nil
	}
	var mu sync.Mutex
	var total uint64
	scores := make(map[string]metric.Score, len(s))
	var failed error
	ask := func(name string) {
		given, cost, err := s[name](ctx, run, i, epoch, a)
		mu.Lock()
		defer mu.Unlock()
		scores[name] = given
		total += cost
		if failed == nil {
			failed = err
		}
	}
	names := slices.Collect(maps.Keys(s))
	var others sync.WaitGroup // one that fails does not end calls that others wait for
	for _, name := range names[1:] {
		others.Go(func() { ask(name) })
	}
	ask(names[0])
	others.Wait()
	return scores, total, failed
}

// score is what the metric says by what its service gave.
func (x External) score(given provider.Given) metric.Score {
	switch {
	case given.Failed != "":
		return metric.Missing(metric.ReasonServiceFailed, given.Failed)
	case given.Value == nil && x.Unsent == UnsentExcluded:
		return metric.Missing(metric.ReasonExcluded, cmp.Or(given.Explanation, "The service gave no score, and the metric is declared to leave such items out."))
	case given.Value == nil:
		return metric.Missing(metric.ReasonNotSent, cmp.Or(given.Explanation, "The service gave no score."))
	}
	m := Measure{Definition: x.definition()}
	if why := m.refuses(*given.Value); why != "" {
		return metric.Missing(metric.ReasonServiceFailed, fmt.Sprintf("The service gave the score %v, which %s.", *given.Value, why))
	}
	return metric.Scored(*given.Value, cmp.Or(given.Explanation, "Given by the metric's service."))
}
