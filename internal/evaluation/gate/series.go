package gate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// Series is runs of an evaluation under equal conditions, side by side: what
// differs is what one run differs from the next by itself.
type Series struct {
	Runs []evaluation.Run // oldest first
	// Overall and PassRate are how much the figures vary from run to run.
	Overall, PassRate stat.Estimate
}

// How many runs a series has at most, and among how many they are looked for.
const (
	maxSeries = 10
	looked    = 50
)

// Series puts the newest completed runs side by side that had the conditions of
// the newest.
func (s *Service) Series(ctx context.Context, org principal.OrgID, id int64) (out Series, err error) {
	all, _, err := s.evaluations.Runs(ctx, org, id, evaluation.RunFilter{
		Statuses: []evaluation.Status{evaluation.StatusCompleted},
		Page:     postgres.Page{Below: math.MaxInt64, Limit: looked},
	})
	if err != nil {
		return out, err
	}
	var overall, rate []float64
	for _, r := range all {
		if r.Outcome == nil || conditions(r) != conditions(all[0]) || len(out.Runs) == maxSeries {
			continue
		}
		out.Runs = append(out.Runs, r)
		if v := r.Outcome.Statistics.Overall.Value; v != nil {
			overall = append(overall, *v)
		}
		if v := r.Outcome.Statistics.PassRate.Value; v != nil {
			rate = append(rate, *v)
		}
	}
	slices.Reverse(out.Runs)
	if out.Overall, err = stat.RunSpread(overall, requirement.Level); err == nil {
		out.PassRate, err = stat.RunSpread(rate, requirement.Level)
	}
	return out, err
}

// conditions name what a run worked on, as far as it could change the outcome.
func conditions(r evaluation.Run) string {
	if r.Resolved == nil {
		return ""
	}
	text := fmt.Sprintf("%s of release %q, %d items", r.Resolved.ConfigDigest, r.Request.ReleaseID, r.Resolved.Items)
	if r.Request.SampleSize > 0 {
		text += fmt.Sprintf(" drawn with %d", r.Resolved.Seed)
	}
	return text
}
