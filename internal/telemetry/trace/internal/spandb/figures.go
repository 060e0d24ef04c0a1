package spandb

import "time"

const (
	// maxGroups is how many groups are shown; smaller ones are put together.
	maxGroups = 100
	// maxPoints is how many points all series may have together.
	maxPoints = 50_000
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
	FirstToken Percentiles // of spans that have one
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
