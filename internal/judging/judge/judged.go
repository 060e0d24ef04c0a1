package judge

import (
	"context"
	"strconv"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/telemetry/score"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// Judged returns the results that a version of a judge has given about whole traces.
func (s *Service) Judged(ctx context.Context, org principal.OrgID, c Config, version int, traces []span.TraceID) (map[span.TraceID]Result, error) {
	if len(traces) == 0 {
		return nil, nil
	}
	f := score.Filter{Kinds: []score.Kind{score.KindTrace}, Metrics: []string{c.Metric()}}
	of := make(map[string]span.TraceID, len(traces))
	for _, id := range traces {
		subject := score.Trace(id)
		f.IDs, of[subject.ID] = append(f.IDs, subject.ID), id
	}
	// A trace has one score of each version, and of each source of the metric.
	found, err := s.scores.List(ctx, org, f, len(traces)*(c.Current.Number+1)+1000)
	if err != nil {
		return nil, err
	}
	out := make(map[span.TraceID]Result, len(found))
	for _, one := range found {
		if one.Source.Kind != score.SourceJudge || one.Source.ID != strconv.FormatInt(c.ID, 10) || one.ConfigVersion != int64(version) {
			continue
		}
		r, err := fromScore(one)
		if err != nil {
			return nil, err
		}
		out[of[one.Subject.ID]] = r
	}
	return out, nil
}

// Costs are what the newest verdicts of a judge's current version have cost, in
// billionths of a US dollar, as far as that is known. Unknown is how many of them
// have no known cost.
func (s *Service) Costs(ctx context.Context, org principal.OrgID, c Config, most int) (known []float64, unknown int, err error) {
	results, _, err := s.Results(ctx, org, ResultFilter{Config: c.ID, Version: c.Current.Number, Below: 1 << 62, Limit: most})
	if err != nil {
		return nil, 0, err
	}
	for _, r := range results[:min(most, len(results))] {
		switch {
		case r.Calls == 0: // nothing was asked
		case r.CostNanoUSD == nil:
			unknown++
		default:
			known = append(known, float64(*r.CostNanoUSD))
		}
	}
	return known, unknown, nil
}
