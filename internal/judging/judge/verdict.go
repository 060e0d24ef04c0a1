package judge

import (
	"cmp"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/platform/llm"
)

// VerdictStatus is what became of a case.
type VerdictStatus string

// The statuses of verdicts. Only a completed one has a score.
const (
	VerdictCompleted VerdictStatus = "completed"
	VerdictFailed    VerdictStatus = "failed"
	VerdictAbstained VerdictStatus = "abstained"
)

// Why a judge abstains or fails, apart from what providers do.
const (
	CodeAbstained      = "abstained"       // the model said that it cannot rate the material
	CodeTie            = "tie"             // its opinions are divided
	CodeOrderDependent = "order_dependent" // the answer that came first, or second, won twice
	CodeNoOutput       = "no_output"       // there is nothing to judge, so nothing was asked
	CodeNoExpected     = "no_expectation"  // there is nothing to compare with
)

// CriterionRating is the rating of one criterion.
type CriterionRating struct {
	Key string
	Rating
}

// Verdict is what the opinions of a judge about a case amount to.
type Verdict struct {
	Status VerdictStatus
	Rating // zero unless the verdict is completed
	Passed bool

	Reasoning  string
	Criteria   []CriterionRating
	Confidence float64 // the mean of what the model said; zero if it said nothing
	Agreement  float64 // share of the opinions that agree with the verdict
	Opinions   int     // that were counted

	// Code and Message say why there is no score.
	Code, Message string

	Spent
	Model   string // what answered
	ReplyID string // the provider's name of the first answer
}

// Metric is the verdict as the score of a metric.
func (v Verdict) Metric() metric.Score {
	switch {
	case v.Status == VerdictCompleted:
		return metric.Scored(v.Score, v.Reasoning)
	case v.Status == VerdictAbstained:
		return metric.Missing(metric.ReasonAbstained, v.Message)
	case v.Code == CodeNoOutput:
		return metric.Missing(metric.ReasonNoOutput, v.Message)
	case v.Code == CodeNoExpected:
		return metric.Missing(metric.ReasonNoExpectation, v.Message)
	}
	return metric.Missing(metric.ReasonServiceFailed, v.Message)
}

// Spent is what verdicts cost.
type Spent struct {
	Calls       int
	Usage       llm.Usage
	CostNanoUSD *uint64 // nil if it is not known
	Took        time.Duration
}

// add adds what an answer took.
func (s *Spent) add(a provider.Answer) {
	s.Calls += a.Calls
	s.Usage.Input += a.Usage.Input
	s.Usage.Output += a.Usage.Output
	if a.CostNanoUSD != nil {
		sum := *a.CostNanoUSD
		if s.CostNanoUSD != nil {
			sum += *s.CostNanoUSD
		}
		s.CostNanoUSD = &sum
	}
}

// decide makes a verdict of opinions; failures are answers that are not counted.
// More than half of the opinions that the spec wants have to be there.
func (s Spec) decide(opinions []opinion, wanted int, failed *provider.Failure) Verdict {
	v := Verdict{Status: VerdictFailed, Opinions: len(opinions)}
	if 2*len(opinions) <= wanted {
		if failed != nil {
			v.Code, v.Message = failed.Code, failed.Message
		}
		return v
	}
	var rated []opinion
	var sure float64
	for _, o := range opinions {
		sure += o.confidence
		if !o.abstained {
			rated = append(rated, o)
		}
	}
	v.Status, v.Confidence = VerdictAbstained, sure/float64(len(opinions))
	if 2*len(rated) <= len(opinions) {
		v.Code, v.Message, v.Reasoning = CodeAbstained, "The judge said that the material does not allow a rating.", first(opinions, func(o opinion) bool { return o.abstained }).reasoning
		v.Agreement = float64(len(opinions)-len(rated)) / float64(len(opinions))
		return v
	}
	chosen, agree, ok := s.common(rated)
	if !ok {
		v.Code, v.Message, v.Reasoning = CodeTie, "The judge's opinions are divided.", rated[0].reasoning
		return v
	}
	v.Status, v.Rating, v.Reasoning, v.Criteria = VerdictCompleted, chosen.Rating, chosen.reasoning, chosen.criteria
	v.Passed, v.Agreement = v.Score >= s.PassThreshold, float64(agree)/float64(len(opinions))
	return v
}

func first(all []opinion, is func(opinion) bool) opinion {
	return all[max(0, slices.IndexFunc(all, is))]
}

// common is the opinion that stands for all: the median of numbers, the most
// frequent label otherwise. Agree is how many agree with it. Two labels that are
// equally frequent have no common opinion.
func (s Spec) common(rated []opinion) (common opinion, agree int, ok bool) {
	if s.numeric() {
		sorted := slices.Clone(rated)
		slices.SortStableFunc(sorted, func(a, b opinion) int { return cmp.Compare(a.Score, b.Score) })
		common = sorted[(len(sorted)-1)/2] // the lower one of two: an opinion that was given
		passed := common.Score >= s.PassThreshold
		for _, o := range rated {
			if (o.Score >= s.PassThreshold) == passed {
				agree++
			}
		}
		return common, agree, true
	}
	counts := map[string]int{}
	for _, o := range rated {
		counts[o.Label]++
	}
	most, second := 0, 0
	for _, o := range rated {
		n := counts[o.Label]
		counts[o.Label] = 0
		switch {
		case n > most:
			common, most, second = o, n, most
		case n > second:
			second = n
		}
	}
	return common, most, most > second
}

// numeric reports whether ratings are numbers rather than labels.
func (s Spec) numeric() bool {
	return len(s.Criteria) > 0 || s.Scale.Type == ScaleNumeric || s.Scale.Type == ScaleLikert
}
