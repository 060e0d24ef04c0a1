package stat

// CompareOptions say how to compare two runs. The zero value is the default.
type CompareOptions struct {
	Options
	// Margin is the largest difference that does not matter. Without one only
	// superiority is answered.
	Margin float64
	// LowerIsBetter turns wins and verdicts round; differences stay candidate
	// minus baseline.
	LowerIsBetter bool
	// Unpaired says that the runs measured different items, so that items are
	// not matched.
	Unpaired bool
	// Forced compares what can be matched, also where too little can.
	Forced bool
	// Targets are differences that a reader may want to resolve.
	Targets []float64
}

// Comparison is what two runs say about each other. Differences are candidate
// minus baseline.
type Comparison struct {
	Difference Estimate `json:"difference"`
	Baseline   Estimate `json:"baseline"`
	Candidate  Estimate `json:"candidate"`

	Paired  bool `json:"paired"`
	Matched int  `json:"n_matched"` // items on both sides with the same content
	OnlyA   int  `json:"n_only_a"`  // items of the baseline alone
	OnlyB   int  `json:"n_only_b"`  // items of the candidate alone
	Changed int  `json:"n_changed"` // items on both sides whose content differs

	Comparable bool     `json:"comparable"`
	Reasons    []string `json:"incomparable_reasons"`

	Wins   int `json:"wins"` // items where the candidate is better
	Ties   int `json:"ties"`
	Losses int `json:"losses"`

	Correlation       *float64 `json:"correlation"`
	VarianceReduction *float64 `json:"variance_reduction"` // what pairing saves of the variance

	P       *float64 `json:"p"`        // the one that a family is adjusted by
	PMethod string   `json:"p_method"` // which of Tests it is
	Tests   Tests    `json:"tests"`
	// PAdjusted and Family are set by AdjustFamily.
	PAdjusted *float64 `json:"p_adjusted"`
	Family    *Family  `json:"family,omitzero"`

	Verdict    Verdict     `json:"verdict"`
	Resolution *Resolution `json:"resolution"`
}

// Tests are two-sided p-values against no difference, as far as they apply.
type Tests struct {
	T            *float64 `json:"t,omitzero"` // paired, or Welch's
	SignFlip     *float64 `json:"sign_flip,omitzero"`
	McNemarExact *float64 `json:"mcnemar_exact,omitzero"`
	McNemarMidP  *float64 `json:"mcnemar_mid_p,omitzero"`
}

// Superiority answers whether the candidate is better.
type Superiority string

// The answers on superiority.
const (
	SuperiorityBetter     Superiority = "better"
	SuperiorityWorse      Superiority = "worse"
	SuperiorityUnresolved Superiority = "unresolved"
)

// NonInferiority answers whether the candidate is at most a margin worse.
type NonInferiority string

// The answers on non-inferiority.
const (
	NonInferiorityShown      NonInferiority = "shown"
	NonInferiorityRefuted    NonInferiority = "refuted"
	NonInferiorityUnresolved NonInferiority = "unresolved"
)

// Equivalence answers whether the two differ by less than the margin.
type Equivalence string

// The answers on equivalence.
const (
	EquivalenceShown    Equivalence = "shown"
	EquivalenceNotShown Equivalence = "not_shown"
)

// Outcome is a verdict in one word.
type Outcome string

// The outcomes. Unchanged is said only where equivalence is shown.
const (
	OutcomeImproved     Outcome = "improved"
	OutcomeRegressed    Outcome = "regressed"
	OutcomeUnchanged    Outcome = "unchanged"
	OutcomeInconclusive Outcome = "inconclusive"
)

// Verdict holds an interval against zero and, if one was declared, against the
// margin. The last two answers are empty without a margin.
type Verdict struct {
	Superiority    Superiority    `json:"superiority"`
	NonInferiority NonInferiority `json:"non_inferiority,omitzero"`
	Equivalence    Equivalence    `json:"equivalence,omitzero"`
	Margin         float64        `json:"margin,omitzero"`
	Level          float64        `json:"level"`
	LowerIsBetter  bool           `json:"lower_is_better,omitzero"`
}

// Family is the set of comparisons that p-values were adjusted over.
type Family struct {
	Adjustment Adjustment `json:"adjustment"`
	Size       int        `json:"size"`
}

// Adjustment names a correction for looking at several p-values.
type Adjustment string

// The adjustments. Holm bounds the chance of any false alarm and is for
// decisions; the others bound the share of false alarms and are for
// exploration, by under any dependence.
const (
	AdjustHolm Adjustment = "holm"
	AdjustBH   Adjustment = "bh"
	AdjustBY   Adjustment = "by"
)

// Resolution says how small a difference the data can show.
type Resolution struct {
	MDE80 float64 `json:"mde80"` // the smallest difference found in four of five repetitions
	// ItemsFor says how many items would find smaller differences as surely.
	ItemsFor []ItemsFor `json:"items_for"`
	Sentence string     `json:"sentence"`
}

// ItemsFor is the price of resolving a difference.
type ItemsFor struct {
	Difference float64 `json:"difference"`
	Items      int     `json:"items"`
	// Epochs is the number of repetitions of the present items that would do
	// as well, where more repetitions can.
	Epochs int `json:"epochs,omitzero"`
}
