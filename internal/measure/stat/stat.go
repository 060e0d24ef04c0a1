package stat

import (
	"errors"
	"fmt"
)

// AlgoVersion names the generation of these algorithms. It changes whenever
// the same data would give other digits.
const AlgoVersion = "2"

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
	_      struct{} `nullable:"true"` // documents say that there may be none
	Lower  *float64 `json:"lower" doc:"Lower end; null if the interval is open below."`
	Upper  *float64 `json:"upper" doc:"Upper end; null if the interval is open above."`
	Level  float64  `json:"level" doc:"Confidence level, for example 0.95."`
	Kind   Kind     `json:"kind" enum:"confidence,confidence_sequence,credible" doc:"confidence holds for one look at finished data; confidence_sequence holds however often you look; credible rests on a prior."`
	Method string   `json:"method" doc:"How the interval was computed." example:"wilson"`
}

// Estimate is a number with what is needed to judge it. Its value, standard
// error and interval are absent where the data do not give them; nothing in it
// is ever infinite or not a number.
type Estimate struct {
	Value    *float64  `json:"value" doc:"The estimate; null without data."`
	SE       *float64  `json:"se" doc:"Standard error; null if the data do not give one."`
	CI       *Interval `json:"ci" doc:"Interval around the value; null if the data do not give one."`
	N        int       `json:"n" doc:"Observations: items, or results for pass rates and quantiles."`
	Items    int       `json:"items" doc:"Distinct items among the observations."`
	Clusters int       `json:"clusters" doc:"Independent units: clusters of items, or the items themselves."`
	NEff     float64   `json:"n_eff" doc:"Number of independent observations that would carry the same information."`
	DF       *float64  `json:"df" doc:"Degrees of freedom; null if the method has none."`
	Status   Status    `json:"status" enum:"ok,fragile,degenerate,insufficient,undefined,not_identified,not_comparable,disconnected,stale,uncalibrated" doc:"How far the estimate can be trusted; the warnings give the reason."`
	Source   Source    `json:"source" enum:"human,judge,hybrid,code" doc:"What produced the scores."`
	Estimand Estimand  `json:"estimand" enum:"population,dataset" doc:"population: the estimate speaks about all items like these; dataset: about these items alone."`
	Method   string    `json:"method" doc:"How the estimate was computed." example:"mean"`

	// DesignEffect is how much clusters and weights inflate the variance.
	DesignEffect *float64 `json:"deff" doc:"Factor by which clusters and weights inflate the variance; null if it was not computed."`
	// Variance splits the variation into items and repetitions.
	Variance *Variance `json:"variance" doc:"Variance within and between items; null without repetitions."`
	// Missing tells of scores that are not there.
	Missing *Missing `json:"missing" doc:"Scores that are missing, and how they were treated; null if none are."`
	// FailingClusters counts the clusters with a failure, for pass rates.
	FailingClusters *int `json:"failing_clusters" doc:"Clusters with at least one failure; null unless the estimate is a pass rate."`

	Assumptions []string `json:"assumptions" doc:"Assumptions that the interval rests on."`
	Warnings    []string `json:"warnings" doc:"Reasons for caution."`
	Seed        *string  `json:"seed" doc:"Seed of the random numbers; null if the method draws none."`
	AlgoVersion string   `json:"algo_version" doc:"Generation of the algorithms; it changes when the same data would give different digits."`
}

// df are the degrees of freedom, zero if there are none.
func (e Estimate) df() float64 {
	if e.DF == nil {
		return 0
	}
	return *e.DF
}

// Variance splits the variation of scores.
type Variance struct {
	_               struct{} `nullable:"true"`
	Within          float64  `json:"within" doc:"Variance between repetitions of one item."`
	Between         float64  `json:"between" doc:"Variance between items."`
	GenerationShare *float64 `json:"generation_share" doc:"Part of a single score's variance that comes from repetition; null without variance."`
	// OptimalEpochs is the number of repetitions that gives the smallest error
	// for the money, given Options.CostRatio.
	OptimalEpochs *int `json:"optimal_epochs" doc:"Number of repetitions with the smallest error for the same cost; null if the cost is unknown."`
}

// Optional is an estimate where there may be none.
type Optional struct {
	_ struct{} `nullable:"true"`
	Estimate
}

// Missing tells how many scores are missing, what was done about them, and
// between which values the estimate would lie had they all been there. The
// bounds need a declared range.
type Missing struct {
	_      struct{}      `nullable:"true"`
	Rows   int           `json:"rows" doc:"Number of missing scores: units that errored, were skipped or never sent, and answers that could not be scored."`
	Share  float64       `json:"share" doc:"Missing scores as a share of all that there should be. Of a difference: the larger share of the two runs."`
	Policy MissingPolicy `json:"policy" enum:"exclude,fail,bounds" doc:"exclude: they are left out; fail: they count as the worst score; bounds: the interval covers whatever they could have been."`
	Lower  *float64      `json:"lower" doc:"The estimate if every missing score were the lowest possible; null if the metric has no range."`
	Upper  *float64      `json:"upper" doc:"The estimate if every missing score were the highest possible; null if the metric has no range."`
	Unfit  int           `json:"not_applicable" doc:"Scores that there cannot be because of the item, for example without an expected output. They are left out under every policy."`
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
// the worst score; bounds leaves them out of the value and stretches the
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
	// LowerIsBetter turns wins and verdicts round, and what the worst score is;
	// differences stay candidate minus baseline.
	LowerIsBetter bool
	Policy        Policy // of pass rates; empty is display
	Side          Side   // of pass rates
	Method        Method // empty is the default of the function
	Weighted      bool   // rows carry weights
	// CostRatio is what an item costs beside its repetitions, divided by what
	// a repetition costs. Zero leaves the number of epochs without advice.
	CostRatio  float64
	Replicates int  // of the bootstrap; zero is 2,000
	Seed       Seed // for whatever is drawn at random
	// Pause is called between steps of what takes long. An error ends the computation, which
	// returns it.
	Pause func() error

	source Source // who made the scores, as far as they were gathered
}
