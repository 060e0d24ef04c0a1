package trace

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/measure/stat"
)

const (
	// maxMetricsWindow is the longest time that figures are made of.
	maxMetricsWindow = 92 * 24 * time.Hour
	// maxBuckets is how many points a series may have.
	maxBuckets = 2_500
)

// Metrics are figures of an organization's spans.
type Metrics struct {
	From, To time.Time
	Interval time.Duration
	// Groups are largest first. Other is everything that is in none of them,
	// nil if there is nothing else.
	Groups []MetricGroup
	Other  *MetricGroup
}

// Least numbers of values that say something about a percentile.
const (
	enoughForP50 = 2
	enoughForP90 = 10
	enoughForP95 = 20
	enoughForP99 = 100
)

// Proportion is a share with its 95 % interval after Wilson.
type Proportion struct {
	Value, Low, High float64
	N                uint64
}

// proportion is the share of k among n, which must not be zero. It cannot fail:
// no group has more errors than spans.
func proportion(k, n uint64) Proportion {
	e, err := stat.Proportion(int(k), int(n), stat.Options{Method: stat.MethodWilson})
	if err != nil {
		panic(err)
	}
	return Proportion{Value: *e.Value, Low: *e.CI.Lower, High: *e.CI.Upper, N: n}
}

// Metrics returns figures of spans, in groups.
func (s *Service) Metrics(ctx context.Context, org principal.OrgID, q MetricsQuery) (Metrics, error) {
	if q.To.IsZero() {
		q.To = s.now()
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-24 * time.Hour)
	}
	length := q.To.Sub(q.From)
	switch {
	case length <= 0:
		return Metrics{}, fault.Invalid("query", "startBefore", "min", "must be after startAfter")
	case length > maxMetricsWindow:
		return Metrics{}, fault.Invalid("query", "startAfter", "min", "must be at most 92 days before startBefore")
	}
	if q.Interval == 0 {
		q.Interval = intervalFor(length)
	}
	if length/q.Interval > maxBuckets {
		return Metrics{}, fault.Invalid("query", "interval", "max", "makes too many points for this time: give a longer interval, or auto")
	}
	groups, other, err := s.store.Metrics(ctx, org, q)
	if err != nil {
		return Metrics{}, err
	}
	slices.SortFunc(groups, func(a, b MetricGroup) int {
		return cmp.Or(cmp.Compare(b.Spans, a.Spans), cmp.Compare(a.Key, b.Key))
	})
	return Metrics{From: q.From, To: q.To, Interval: q.Interval, Groups: groups, Other: other}, nil
}

// intervalFor makes a series of some dozens of points.
func intervalFor(length time.Duration) time.Duration {
	switch {
	case length <= 6*time.Hour:
		return 5 * time.Minute
	case length <= 7*24*time.Hour:
		return time.Hour
	}
	return 24 * time.Hour
}
