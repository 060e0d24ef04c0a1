package stat

// CompareOptions say how to compare two runs. The zero value is the default.
type CompareOptions struct {
	Options
	// Margin is the largest difference that does not matter. Without one only
	// superiority is answered.
	Margin float64
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
	Difference Estimate `json:"difference" doc:"Candidate minus baseline, over the matched items."`
	Baseline   Estimate `json:"baseline" doc:"The figure of the baseline, over the matched items."`
	Candidate  Estimate `json:"candidate" doc:"The figure of the candidate, over the matched items."`

	Paired  bool `json:"paired" doc:"Whether items were matched one to one."`
	Matched int  `json:"n_matched" doc:"Items on both sides with the same content."`
	OnlyA   int  `json:"n_only_a" doc:"Items of the baseline alone."`
	OnlyB   int  `json:"n_only_b" doc:"Items of the candidate alone."`
	Changed int  `json:"n_changed" doc:"Items on both sides whose content differs; they are not compared."`

	// Descriptive is set by callers who know that the sides were not measured under
	// equal conditions.
	Descriptive bool `json:"descriptive" doc:"Whether the difference only describes the two runs: the figure has no range, or was measured under conditions that differ from one run to the next. Nothing is decided by it."`

	Comparable bool     `json:"comparable" doc:"Whether the two sides measure the same items well enough to compare them."`
	Reasons    []string `json:"incomparable_reasons" doc:"Why the sides cannot be compared."`

	Wins   int `json:"wins" doc:"Items where the candidate is better."`
	Ties   int `json:"ties" doc:"Items where both sides score the same."`
	Losses int `json:"losses" doc:"Items where the candidate is worse."`

	Correlation       *float64 `json:"correlation" doc:"Correlation of the two sides over the matched items; null if it is undefined."`
	VarianceReduction *float64 `json:"variance_reduction" doc:"Share of the variance that matching removes; null if it is undefined."`

	P       *float64 `json:"p" doc:"Two-sided p-value against no difference, the one that is adjusted over the family; null if no test applies."`
	PMethod *string  `json:"p_method" doc:"The test behind p; null if no test applies." example:"sign_flip_exact"`
	Tests   Tests    `json:"tests" doc:"All tests that apply."`
	// PAdjusted and Family are set by AdjustFamily.
	PAdjusted *float64 `json:"p_adjusted" doc:"p, adjusted for the number of figures compared; null if it was not adjusted."`
	Family    *Family  `json:"family" doc:"The comparisons that p was adjusted over; null if it was not adjusted."`

	Verdict    Verdict     `json:"verdict" doc:"What the interval shows."`
	Resolution *Resolution `json:"resolution" doc:"The smallest difference that the data can show; null if the data do not give it."`
}

// Tests are two-sided p-values against no difference, as far as they apply.
type Tests struct {
	T            *float64 `json:"t" doc:"p-value of the paired t test, or of Welch's t test; null if it does not apply."`
	SignFlip     *float64 `json:"sign_flip" doc:"p-value of the sign-flip permutation test; null if it does not apply."`
	McNemarExact *float64 `json:"mcnemar_exact" doc:"p-value of McNemar's exact test; null if it does not apply."`
	McNemarMidP  *float64 `json:"mcnemar_mid_p" doc:"Mid-p value of McNemar's test; null if it does not apply."`
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

// MarshalJSON writes null where there is no answer.
func (n NonInferiority) MarshalJSON() ([]byte, error) { return orNull(string(n)), nil }

// MarshalJSON writes null where there is no answer.
func (e Equivalence) MarshalJSON() ([]byte, error) { return orNull(string(e)), nil }

// orNull is one of our own words as JSON, or null for none.
func orNull(word string) []byte {
	if word == "" {
		return []byte("null")
	}
	return []byte(`"` + word + `"`)
}

// Verdict holds an interval against zero and, if one was declared, against the
// margin. The last two answers are empty without a margin.
type Verdict struct {
	Superiority    Superiority    `json:"superiority" enum:"better,worse,unresolved" doc:"Whether the candidate is better."`
	NonInferiority NonInferiority `json:"non_inferiority" nullable:"true" enum:"shown,refuted,unresolved" doc:"Whether the candidate is at most the margin worse; null without a margin."`
	Equivalence    Equivalence    `json:"equivalence" nullable:"true" enum:"shown,not_shown" doc:"Whether the two differ by less than the margin; null without a margin."`
	Margin         *float64       `json:"margin" doc:"The largest difference that does not matter, in the units of the figure; null if none was declared."`
	Level          float64        `json:"level" doc:"Confidence level behind the answers."`
	LowerIsBetter  bool           `json:"lower_is_better" doc:"Whether lower values of the figure are better."`
}

// Family is the set of comparisons that p-values were adjusted over.
type Family struct {
	_          struct{}   `nullable:"true"`
	Adjustment Adjustment `json:"adjustment" enum:"holm,bh,by" doc:"The adjustment: Holm, Benjamini-Hochberg or Benjamini-Yekutieli."`
	Size       int        `json:"size" doc:"Number of comparisons in the family."`
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
	_     struct{} `nullable:"true"`
	MDE80 float64  `json:"mde80" doc:"Minimum detectable effect at 80 % power: the smallest difference that four of five repetitions would find."`
	// ItemsFor says how many items would find smaller differences as surely.
	ItemsFor []ItemsFor `json:"items_for" doc:"How many items smaller differences need."`
	Sentence string     `json:"sentence" doc:"The same in a sentence."`
}

// ItemsFor is the price of resolving a difference.
type ItemsFor struct {
	Difference float64 `json:"difference" doc:"The difference to be found."`
	Items      int     `json:"items" doc:"Items needed to find it."`
	// Epochs is the number of repetitions of the present items that would do
	// as well, where more repetitions can.
	Epochs *int `json:"epochs" doc:"Repetitions of the present items that would do as well; null if repetition cannot."`
}
