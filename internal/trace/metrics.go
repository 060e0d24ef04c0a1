package trace

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/stat"
)

const (
	// maxMetricsWindow is the longest time that figures are made of.
	maxMetricsWindow = 92 * 24 * time.Hour
	// maxGroups is how many groups are shown; smaller ones are put together.
	maxGroups = 100
	// maxBuckets is how many points a series may have, and maxPoints all series
	// together.
	maxBuckets = 2_500
	maxPoints  = 50_000
)

// MetricsQuery says which figures are wanted.
type MetricsQuery struct {
	// Spans that start after From and before To.
	From, To time.Time
	GroupBy  GroupBy
	// Interval is the length of a point of a series; zero chooses one.
	Interval time.Duration

	Environment, AgentName, ReleaseID, Model string
}

// GroupBy is what spans are grouped by.
type GroupBy string

// What spans can be grouped by.
const (
	GroupNone        GroupBy = "none"
	GroupModel       GroupBy = "model"
	GroupAgent       GroupBy = "agent"
	GroupRelease     GroupBy = "release"
	GroupEnvironment GroupBy = "environment"
	GroupService     GroupBy = "service"
	GroupProvider    GroupBy = "provider"
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

// Figures are counted over the newest version of every span.
type Figures struct {
	Spans, Errors             uint64
	InputTokens, OutputTokens uint64
	// Cost is the sum of the costs that are known, of CostKnown spans.
	Cost      Cost
	CostKnown uint64
	Latency   Percentiles // of spans that have ended
}

// MetricGroup are the figures of the spans with one key.
type MetricGroup struct {
	// Key is empty for spans that name none.
	Key string
	Figures
	Traces     uint64
	FirstToken Percentiles // of spans that tell
	Series     []MetricPoint
}

// MetricPoint are the figures of one interval.
type MetricPoint struct {
	At time.Time
	Figures
}

// Percentiles are by nearest rank and within half a percent, in milliseconds. N
// is how many values they are of.
type Percentiles struct {
	N                  uint64
	P50, P90, P95, P99 float64
}

// Least numbers of values that say something about a percentile.
const (
	enoughForP50 = 2
	enoughForP90 = 10
	enoughForP95 = 20
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
	groups, other, err := s.store.metrics(ctx, org, q)
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
