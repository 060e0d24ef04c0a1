package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/errgroup"

	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/metric"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/provider"
)

// Scorers are the services that make scores of a plan's metrics.
type Scorers []scorer

type scorer struct {
	external External
	service  *provider.Scorer
}

// Scorers prepares to ask the services. Each has a pace of its own, and failed is
// called after attempts that are made again. A *provider.Unusable means that one
// cannot be asked.
func (p Plan) Scorers(ctx context.Context, with *provider.Service, org principal.OrgID, pace func() *provider.Pace, failed func(*provider.Failure)) (Scorers, error) {
	var all Scorers
	for _, x := range p.External {
		e := x.Endpoint
		if e == nil {
			continue
		}
		service, err := with.Scorer(ctx, org, provider.ScorerConfig{
			EndpointConfig: provider.EndpointConfig{URL: e.URL, KeyID: e.SecretRef, Timeout: time.Duration(e.TimeoutMS) * time.Millisecond},
			Metric:         x.Name, Batch: e.BatchSize,
		}, pace(), failed)
		if err != nil {
			return nil, err
		}
		all = append(all, scorer{x, service})
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

// Score has every service score an answer, and returns the scores by metric, all of
// them in any case. An error is a *provider.Failure after which no other answer can
// be scored either, or the end of ctx.
func (s Scorers) Score(ctx context.Context, run int64, i dataset.Item, epoch int, a provider.Answer) (map[string]metric.Score, error) {
	if len(s) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(toScore{
		TestCaseID: strconv.FormatInt(i.ID, 10), RunID: strconv.FormatInt(run, 10), Epoch: epoch,
		Input: i.Content.Input, Output: a.Output, ExpectedOutput: i.Content.ExpectedOutput, Context: i.Content.Context,
		Messages: i.Content.Messages, Labels: i.Content.Labels, ToolCalls: a.ToolsJSON,
	})
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	var mu sync.Mutex
	scores := make(map[string]metric.Score, len(s))
	var g errgroup.Group // one that fails does not end calls that others wait for
	for _, one := range s {
		g.Go(func() error {
			given, err := one.service.Score(ctx, text)
			var f *provider.Failure
			switch {
			case errors.As(err, &f):
				given.Failed = f.Message
			case err != nil:
				given.Failed = "The service did not answer before the run ended."
			}
			mu.Lock()
			defer mu.Unlock()
			scores[one.external.Name] = one.external.score(given)
			return err
		})
	}
	return scores, g.Wait()
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
