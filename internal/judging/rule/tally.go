package rule

import "maps"

// holder is an activation of a rule, or one of its back-fills. Counts are those of all
// activations, and have none.
type holder struct {
	rule       int64
	backfill   int64 // zero for the rule itself
	activation int64 // zero for a back-fill
}

// Outcome is what became of a sampled trace.
type Outcome string

// The outcomes. Only a judged trace has a score.
const (
	OutcomeJudged    Outcome = "judged"
	OutcomeAbstained Outcome = "abstained"
	OutcomeFailed    Outcome = "failed"
	OutcomeSkipped   Outcome = "skipped"
)

// Why traces are skipped, apart from what keeps a judge from being asked.
const (
	ReasonAlreadyJudged = "already_judged"   // by the same version of the judge
	ReasonRunning       = "running"          // it had not ended
	ReasonGone          = "trace_deleted"    // before it was judged
	ReasonNotActive     = "judge_not_active" // the judge is a draft or retired
)

// Tally counts what became of traces.
type Tally struct {
	Judged, Abstained int64
	// Failed and Skipped are by reason.
	Failed, Skipped map[string]int64
	SpentNanoUSD    int64
}

func (t *Tally) add(o Outcome, reason string, n, cost int64) {
	count := func(by *map[string]int64) {
		if *by == nil {
			*by = map[string]int64{}
		}
		(*by)[reason] += n
	}
	switch o {
	case OutcomeJudged:
		t.Judged += n
	case OutcomeAbstained:
		t.Abstained += n
	case OutcomeFailed:
		count(&t.Failed)
	case OutcomeSkipped:
		count(&t.Skipped)
	}
	t.SpentNanoUSD += cost
}

// asked is how many traces were handed to the judge.
func (t Tally) asked() int64 { return t.Judged + t.Abstained + sum(t.Failed) }

func sum(by map[string]int64) (n int64) {
	for v := range maps.Values(by) {
		n += v
	}
	return n
}
