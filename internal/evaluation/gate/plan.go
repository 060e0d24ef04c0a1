package gate

import (
	"context"
	"errors"
	"math"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Plan says how many items it takes to see a difference of the overall score.
type Plan struct {
	Difference, Power float64
	// Run is the run that the spread of scores is from, Baseline the one that it was
	// compared with; zero if there is none.
	Run, Baseline int64
	// Have is how many items the run has.
	Have int
	// SD is how much scores differ between items, PairedSD how much their
	// differences between two runs do. Without runs both are assumed.
	SD, PairedSD               float64
	AssumedSD, AssumedPairedSD bool
	// Items that show a difference from a fixed value, one between two runs, and
	// that a loss of as much is ruled out.
	Threshold, Comparison, NonInferior int
}

// worstSD is the largest that the standard deviation of scores from 0 to 1 can be.
const worstSD = 0.5

// Plan computes how many items a difference needs, from the newest completed runs
// of the evaluation.
func (s *Service) Plan(ctx context.Context, org principal.OrgID, id int64, difference, power float64) (Plan, error) {
	p := Plan{Difference: difference, Power: power, SD: worstSD, AssumedSD: true, AssumedPairedSD: true}
	runs, _, err := s.evaluations.Runs(ctx, org, id, evaluation.RunFilter{
		Statuses: []evaluation.Status{evaluation.StatusCompleted},
		Page:     postgres.Page{Below: math.MaxInt64, Limit: 2},
	})
	if err != nil {
		return p, err
	}
	if len(runs) > 0 && runs[0].Outcome != nil {
		p.Run, p.Have = runs[0].ID, runs[0].Outcome.Statistics.Overall.Items
		if sd, ok := spread(runs[0].Outcome.Statistics.Overall); ok {
			p.SD, p.AssumedSD = sd, false
		}
	}
	p.PairedSD = p.SD * math.Sqrt2 // as if the runs had nothing in common
	if len(runs) > 1 {
		c, err := s.evaluations.Compare(ctx, org, id, evaluation.Versus{Baseline: runs[1].ID, Candidate: runs[0].ID, Figures: []string{}})
		if err != nil && !errors.Is(err, evaluation.ErrNotEnded) {
			return p, err
		}
		if sd, ok := spread(c.Overall.Difference); err == nil && c.Overall.Comparable && ok {
			p.PairedSD, p.AssumedPairedSD, p.Baseline = sd, false, runs[1].ID
		}
	}
	return p, p.count()
}

// spread is the standard deviation of what an estimate is the mean of.
func spread(e stat.Estimate) (float64, bool) {
	if e.SE == nil || *e.SE == 0 || e.Items < 10 {
		return 0, false
	}
	return *e.SE * math.Sqrt(float64(e.Items)), true
}

// count computes the numbers of items.
func (p *Plan) count() error {
	with := stat.Plan{Power: p.Power}
	var err, e1, e2 error
	p.Threshold, err = with.PairedItems(p.SD, p.Difference)
	p.Comparison, e1 = with.PairedItems(p.PairedSD, p.Difference)
	p.NonInferior, e2 = with.NonInferiorItems(p.PairedSD, p.Difference)
	if errors.Join(err, e1, e2) != nil {
		return fault.Invalid("query", "difference", "min", "is so small that no number of items shows it")
	}
	return nil
}
