package rule

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/telemetry/trace"
)

// What a preview rests on.
const (
	previewDays  = 7
	previewCosts = 500 // newest verdicts
	// Two intervals at this level hold together at 95 % or more.
	previewLevel = 0.975
	fullLevel    = 0.95
)

// Preview is what a rule would have to do and cost.
type Preview struct {
	// Days are how many traces matched on each of the last days, the newest first.
	Days []int64
	// PerDay is their mean, and Sampled the share of it that is judged.
	PerDay, Sampled stat.Estimate
	// PerVerdict is what the newest verdicts of the judge's version have cost, in
	// dollars. Unknown is how many have no known cost.
	PerVerdict stat.Estimate
	Unknown    int
	// Cost is that of a day; nil if it is not known, and Why says then why.
	Cost *float64
	// Low and High hold the cost of a day with a level of at least 95 %; nil if the
	// data do not give them.
	Low, High *float64
	Why       string
}

// Preview estimates what a rule would have to do from the last days, and what that
// would cost from what the judge has cost so far.
func (s *Service) Preview(ctx context.Context, org principal.OrgID, config int64, f trace.Filter, rate float64) (p Preview, err error) {
	c, err := s.judges.Find(ctx, org, config)
	if errors.Is(err, judge.ErrNotFound) {
		return p, fault.Invalid("body", "/configId", "unknown_reference", "is not the id of a judge")
	}
	if err != nil {
		return p, err
	}
	now := s.clock()
	var counts, costs []stat.Observation
	for d := range previewDays {
		in := f
		in.StartBefore = now.Add(-time.Duration(d) * 24 * time.Hour)
		in.StartAfter = in.StartBefore.Add(-24*time.Hour - time.Microsecond)
		n, err := s.traces.Count(ctx, org, in)
		if err != nil {
			return p, err
		}
		p.Days = append(p.Days, n)
		counts = append(counts, stat.Observation{Item: strconv.Itoa(d), Score: float64(n)})
	}
	if p.PerDay, err = stat.Mean(counts, stat.Options{Level: previewLevel}); err != nil {
		return p, err
	}
	p.PerDay = atLeastZero(p.PerDay)
	p.Sampled = scaled(p.PerDay, rate)
	known, unknown, err := s.judges.Costs(ctx, org, c, previewCosts)
	if err != nil {
		return p, err
	}
	for i, nano := range known {
		costs = append(costs, stat.Observation{Item: strconv.Itoa(i), Score: nano / 1e9})
	}
	p.Unknown = unknown
	if p.PerVerdict, err = stat.Mean(costs, stat.Options{Level: previewLevel}); err != nil {
		return p, err
	}
	p.PerVerdict = atLeastZero(p.PerVerdict)
	switch {
	case len(known) == 0 && unknown == 0:
		p.Why = "This version of the judge has given no verdict yet, so its cost is not known. Judge a few answers first."
	case len(known) == 0:
		p.Why = "The price of the judge's model is not known."
	default:
		usd := *p.Sampled.Value * *p.PerVerdict.Value
		p.Cost = &usd
		if a, b := p.Sampled.CI, p.PerVerdict.CI; a != nil && b != nil {
			p.Low, p.High = product(a.Lower, b.Lower), product(a.Upper, b.Upper)
		}
	}
	return p, nil
}

// atLeastZero cuts an interval of counts or costs at zero.
func atLeastZero(e stat.Estimate) stat.Estimate {
	if e.CI != nil && e.CI.Lower != nil {
		ci, low := *e.CI, max(0, *e.CI.Lower)
		ci.Lower = &low
		e.CI = &ci
	}
	return e
}

// scaled is an estimate of a share of what another one estimates.
func scaled(e stat.Estimate, by float64) stat.Estimate {
	e.Value, e.SE = product(e.Value, &by), product(e.SE, &by)
	if e.CI != nil {
		ci := *e.CI
		ci.Lower, ci.Upper = product(ci.Lower, &by), product(ci.Upper, &by)
		e.CI = &ci
	}
	return e
}

// product is nil if one of the two is.
func product(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	p := *a * *b
	return &p
}
