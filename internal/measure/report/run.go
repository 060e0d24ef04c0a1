package report

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Run is a run that has ended, as its report shows it.
type Run struct {
	Name      string // of the evaluation
	ID        int64
	Status    string // completed, failed or cancelled
	Problem   string // why the run failed; empty if it did not
	StartedAt time.Time
	Completed *time.Time

	// Target is what answered, in words.
	Target      string
	Environment string
	ReleaseID   string
	ClusterKey  string
	Repetitions int
	Sampled     bool  // the items are a sample
	Resumes     int64 // the run whose answers it keeps; zero if there is none
	Passing     Passing
	Data        *Data // nil if the run never began
	Metrics     []Metric
	Outcome     Outcome
}

// target is what answered, cut short.
func (r Run) target() string { return shorten(r.Target, 90).Text }

// Passing is when an item passes: any or all of the thresholds hold, or, without
// thresholds, the mean of its scores reaches MinOverall.
type Passing struct {
	Thresholds map[string]float64
	Any        bool
	MinOverall float64
}

// Data is what a run was executed on.
type Data struct {
	Dataset       int64
	Version       int
	VersionDigest string
	Items         int
	Seed          int64
	ConfigDigest  string
}

// Metric is a metric of the run. Range is nil if its scores are unbounded.
type Metric struct {
	metric.Definition
	Range *stat.Range
}

// Outcome is the totals of a run. Failed items include the errored ones.
type Outcome struct {
	Items, Passed, Failed, Errored, Skipped int
	Calls, InputTokens, OutputTokens        int64
	CostNanoUSD                             int64
	Statistics                              Statistics
}

// Statistics are the figures of a run.
type Statistics struct {
	Overall, PassRate stat.Estimate
	Metrics           map[string]stat.Estimate
	// Corrected are the means of judges with what people make of them. Metrics has
	// the same estimates.
	Corrected  map[string]correction.Corrected
	Repeated   []Repeated
	Resolution *stat.Resolution
}

// Repeated is what k trials of an item come to: that any passes, and that all do.
type Repeated struct {
	K        int
	Any, All stat.Estimate
}

// The statuses of results.
const (
	statusPassed  = "passed"
	statusFailed  = "failed"
	statusErrored = "errored"
	statusSkipped = "skipped"
)

// Result is one item in one repetition.
type Result struct {
	Item                    int64
	Epoch                   int
	Status                  string // passed, failed, errored or skipped
	Overall                 *float64
	Priced                  bool // its cost is known
	Cluster, Split          string
	Labels                  map[string]string // those that are texts, numbers or truth values
	Input, Expected, Output jsontext.Value
	Scores                  []Score
	ErrorCode, ErrorMessage string
}

// Score is what one metric gives a result, or the reason why it gives nothing.
type Score struct {
	Metric      string
	Value       *float64
	Reason      string
	Explanation string
}

// Comparison is how a run differs from its baseline.
type Comparison struct {
	Baseline          int64 // the number of the run
	Margin            float64
	Overall, PassRate Compared
	Metrics           []Compared
	Items             Changes
	Regressions       []Regression // the worst first
	Reasons           []string     // why the runs are not comparable
}

// Compared is how the runs differ in one figure.
type Compared struct {
	Name   string
	Better metric.Direction
	// Role is primary, exploratory or descriptive: how much weight the verdict has.
	Role string
	stat.Comparison
}

// Changes counts items by how they changed.
type Changes struct {
	Improved, Regressed, Unchanged       int
	Changed, OnlyBaseline, OnlyCandidate int // not compared
}

// Regression is an item that scored lower than in the baseline.
type Regression struct {
	Item int64
	// Delta is the difference of the overall scores, or of the pass rates if
	// ByPass is set.
	Delta               float64
	ByPass              bool
	Baseline, Candidate ItemScores
	Input               jsontext.Value
}

// ItemScores are the means of an item's scores over its repetitions.
type ItemScores struct {
	Overall  *float64
	PassRate float64
}
