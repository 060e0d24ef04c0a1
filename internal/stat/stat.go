package stat

import (
	"errors"
	"fmt"
)

// AlgoVersion names the generation of these algorithms. It changes whenever
// the same data would give other digits.
const AlgoVersion = "1"

// ErrInput is what every error of this package wraps: the input is malformed,
// and the text says how.
var ErrInput = errors.New("malformed input")

func inputErrorf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrInput, fmt.Errorf(format, args...))
}

// Status says how far an estimate can be trusted.
type Status string

// The statuses of an estimate. Only ok and fragile stand for an estimate that
// follows the usual rule.
const (
	StatusOK            Status = "ok"
	StatusFragile       Status = "fragile"        // valid, from few units or with much missing; the warnings say which
	StatusDegenerate    Status = "degenerate"     // no variation was observed; the interval comes from another rule
	StatusInsufficient  Status = "insufficient"   // too little data for an interval
	StatusUndefined     Status = "undefined"      // zero divided by zero
	StatusNotIdentified Status = "not_identified" // an assumption visibly fails
	StatusNotComparable Status = "not_comparable" // the two sides do not measure the same items
	StatusDisconnected  Status = "disconnected"   // no chain of comparisons joins the two
	StatusStale         Status = "stale"          // made by something that has changed since
	StatusUncalibrated  Status = "uncalibrated"   // a judge's opinion without human labels
)

// Source says who made the scores behind an estimate.
type Source string

// The sources of scores.
const (
	SourceHuman  Source = "human"
	SourceJudge  Source = "judge"
	SourceHybrid Source = "hybrid"
	SourceCode   Source = "code"
)

// Kind says what an interval promises.
type Kind string

// The kinds of intervals.
const (
	KindConfidence Kind = "confidence"          // covers the truth at its level, looked at once, on finished data
	KindSequence   Kind = "confidence_sequence" // covers it at every moment, however often one looks
	KindCredible   Kind = "credible"            // holds the truth with that belief, given a prior
)

// Interval is a range of plausible values. A missing end is unbounded or not
// available.
type Interval struct {
	_      struct{} `nullable:"true"` // documents say that an interval may be absent
	Lower  *float64 `json:"lower"`
	Upper  *float64 `json:"upper"`
	Level  float64  `json:"level"`
	Kind   Kind     `json:"kind"`
	Method string   `json:"method"`
}

// Estimate is a number with what is needed to judge it. Its value, standard
// error and interval are absent where the data do not give them; nothing in it
// is ever infinite or not a number.
type Estimate struct {
	Value    *float64  `json:"value"`
	SE       *float64  `json:"se"`
	CI       *Interval `json:"ci"`
	N        int       `json:"n"`              // items, or rows for pass rates and quantiles
	Items    int       `json:"items,omitzero"` // where n counts repetitions as well
	Clusters int       `json:"clusters"`       // independent units
	NEff     float64   `json:"n_eff"`          // independent observations that would say as much
	DF       float64   `json:"df,omitzero"`
	Status   Status    `json:"status"`
	Source   Source    `json:"source,omitzero"`
	Estimand Estimand  `json:"estimand,omitzero"`
	Method   string    `json:"method"`

	// DesignEffect is how much clusters and weights inflate the variance.
	DesignEffect *float64 `json:"deff,omitzero"`
	// Variance splits the variation into items and repetitions.
	Variance *Variance `json:"variance,omitzero"`
	// Missing tells of scores that are not there.
	Missing *Missing `json:"missing,omitzero"`
	// FailingClusters counts the clusters with a failure, for pass rates.
	FailingClusters *int `json:"failing_clusters,omitzero"`

	Assumptions []string `json:"assumptions,omitzero"`
	Warnings    []string `json:"warnings,omitzero"`
	Seed        string   `json:"seed,omitzero"`
	AlgoVersion string   `json:"algo_version"`
}

// Variance splits the variation of scores.
type Variance struct {
	Within          float64  `json:"within"`           // between repetitions of one item
	Between         float64  `json:"between"`          // between items
	GenerationShare *float64 `json:"generation_share"` // the part of one score's variance that repetitions cause
	// OptimalEpochs is the number of repetitions that gives the smallest error
	// for the money, given Options.CostRatio.
	OptimalEpochs *int `json:"optimal_epochs,omitzero"`
}

// Missing tells how many scores are missing, what was done about them, and
// between which values the estimate would lie had they all been there. The
// bounds need a declared range.
type Missing struct {
	Rows   int           `json:"rows"`
	Share  float64       `json:"share"`
	Policy MissingPolicy `json:"policy"`
	Lower  *float64      `json:"lower,omitzero"`
	Upper  *float64      `json:"upper,omitzero"`
}

// Row is one score of one item.
type Row struct {
	Item    string  `json:"item"`
	Content string  `json:"content,omitzero"` // digest of what the item says; compared where both sides have one
	Cluster string  `json:"cluster,omitzero"` // empty: the item is its own cluster
	Epoch   int     `json:"epoch,omitzero"`   // which repetition; only Overall asks
	Score   float64 `json:"score"`
	Missing bool    `json:"missing,omitzero"` // there is no score: a crash, a timeout, a refusal
	Weight  float64 `json:"weight,omitzero"`  // of the item; counts only with Options.Weighted
}

// Range is the declared range of a metric's scores.
type Range struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// Unit is the range of scores that are shares.
func Unit() *Range { return &Range{0, 1} }

func (r Range) width() float64 { return r.Upper - r.Lower }

// Estimand says what an estimate is an estimate of.
type Estimand string

// The estimands. Population, the default, takes the items for a sample of the
// questions that matter; dataset means these items exactly, so that only the
// repetitions vary.
const (
	EstimandPopulation Estimand = "population"
	EstimandDataset    Estimand = "dataset"
)

// MissingPolicy says what becomes of missing scores.
type MissingPolicy string

// The policies for missing scores. Exclude is the default; fail counts them as
// the lowest score; bounds leaves them out of the value and stretches the
// interval over everything that they could have been.
const (
	MissingExclude MissingPolicy = "exclude"
	MissingFail    MissingPolicy = "fail"
	MissingBounds  MissingPolicy = "bounds"
)

// Policy says what a pass rate is for.
type Policy string

// The policies of pass rates. Display, the default, aims at its level on
// average; gate never promises more than it keeps.
const (
	PolicyDisplay Policy = "display"
	PolicyGate    Policy = "gate"
)

// Side says which ends of an interval are wanted.
type Side string

// The sides. One-sided intervals spend the whole error on their one end.
const (
	SideBoth  Side = ""
	SideLower Side = "lower"
	SideUpper Side = "upper"
)

// Method names a way to an interval where there is more than one.
type Method string

// The methods that a caller may ask for.
const (
	MethodDefault        Method = ""
	MethodWilson         Method = "wilson"
	MethodClopperPearson Method = "clopper_pearson"
	MethodJeffreys       Method = "jeffreys"
	MethodBCa            Method = "bca"        // bootstrap, bias-corrected and accelerated
	MethodPercentile     Method = "percentile" // bootstrap, plain quantiles
	MethodNewcombe       Method = "newcombe"
	MethodScore          Method = "score" // Tango's score interval
)

// Options say how to estimate. The zero value is the default everywhere.
type Options struct {
	Level    float64       // of intervals, 0.80 to 0.999999; zero is 0.95
	Estimand Estimand      // empty is population
	Missing  MissingPolicy // empty is exclude
	Range    *Range        // of the scores, if the metric declares one
	Policy   Policy        // of pass rates; empty is display
	Side     Side          // of pass rates
	Method   Method        // empty is the default of the function
	Source   Source        // who made the scores; passed through
	Weighted bool          // rows carry weights
	// CostRatio is what an item costs beside its repetitions, divided by what
	// a repetition costs. Zero leaves the number of epochs without advice.
	CostRatio  float64
	Replicates int  // of the bootstrap; zero is 2,000
	Seed       Seed // for whatever is drawn at random
}
