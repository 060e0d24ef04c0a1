package runstat

import (
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/stat"
)

// ComparisonBody is a comparison on the wire.
type ComparisonBody struct {
	EvaluationID   httpapi.ID             `json:"evaluation_id" doc:"The evaluation that both runs belong to."`
	BaselineRunID  httpapi.ID             `json:"baseline_run_id" doc:"The run compared with."`
	CandidateRunID httpapi.ID             `json:"candidate_run_id" doc:"The run that may be better or worse."`
	Confidence     float64                `json:"confidence" doc:"Confidence level of the intervals."`
	Margin         *float64               `json:"margin" doc:"The largest difference that does not matter, as a share of a metric's range; null if none was declared, so that only better or worse can be shown."`
	Comparable     bool                   `json:"comparable" doc:"Whether the runs measure the same items well enough to compare them."`
	Reasons        []string               `json:"incomparable_reasons" doc:"Why the runs cannot be compared."`
	Overall        ComparedBody           `json:"overall" doc:"Overall score of both runs."`
	PassRate       ComparedBody           `json:"pass_rate" doc:"Pass rate of both runs."`
	Metrics        []ComparedBody         `json:"metrics" doc:"Metrics of both runs."`
	Items          ChangesBody            `json:"items" doc:"Items by what became of them."`
	Slices         []stat.SliceComparison `json:"slices" doc:"The overall score within each cluster of at least ten items, if the runs have a clusterKey with 2 to 200 values."`
	Regressions    []RegressionBody       `json:"regressions" doc:"Items that the candidate does worse, worst first, at most 50."`
}

// ComparedBody is how runs differ in one figure on the wire.
type ComparedBody struct {
	Name       string          `json:"name" doc:"overall, pass_rate or the metric's name."`
	Better     string          `json:"better" enum:"higher,lower" doc:"Which direction is better."`
	Baseline   *float64        `json:"baseline" doc:"Value of the baseline; null if it has none. Of a judge, the mean that people would give."`
	Candidate  *float64        `json:"candidate" doc:"Value of the candidate; null if it has none. Of a judge, the mean that people would give."`
	Delta      *float64        `json:"delta" doc:"Candidate minus baseline, over the items that both scored; null if there are none. Of a judge it is estimated from pairs of answers, and can differ a little from the difference of the two means."`
	CILow      *float64        `json:"ci_low" doc:"Lower end of the interval of delta; null if it has none."`
	CIHigh     *float64        `json:"ci_high" doc:"Upper end of the interval of delta; null if it has none."`
	Role       Role            `json:"role" enum:"primary,exploratory,descriptive" doc:"primary for a figure that was declared before looking, exploratory for all others: one of many is off by chance more often than its interval says. descriptive for a figure without a range, such as a latency: nothing is decided by it."`
	Verdict    string          `json:"verdict" enum:"improved,regressed,unchanged,inconclusive" doc:"What the interval shows, in a word."`
	Statistics stat.Comparison `json:"statistics" doc:"The comparison in full."`

	Judge httpapi.Null[Judged] `json:"judge" doc:"How far the difference can be trusted, if the scores are a judge's: the difference itself is what people would see, estimated from their labels. Null for other figures."`
}

// ChangesBody is the number of items by what became of them on the wire.
type ChangesBody struct {
	Improved      int `json:"improved" doc:"Items that the candidate does better."`
	Regressed     int `json:"regressed" doc:"Items that the candidate does worse."`
	Unchanged     int `json:"unchanged" doc:"Items that both do equally well."`
	Changed       int `json:"changed" doc:"Items in both runs whose content differs; they are not compared."`
	OnlyBaseline  int `json:"only_baseline" doc:"Items of the baseline alone."`
	OnlyCandidate int `json:"only_candidate" doc:"Items of the candidate alone."`
}

// RegressionBody is a regression on the wire.
type RegressionBody struct {
	TestCaseID httpapi.ID     `json:"test_case_id" doc:"The dataset item."`
	Delta      float64        `json:"delta" doc:"Candidate minus baseline."`
	By         string         `json:"by" enum:"overall,pass_rate" doc:"The figure that delta is a difference of: the pass rate decides where a run has no overall score for the item."`
	Baseline   ItemScoresBody `json:"baseline" doc:"The item in the baseline."`
	Candidate  ItemScoresBody `json:"candidate" doc:"The item in the candidate."`
}

// ItemScoresBody is the scores of an item on the wire.
type ItemScoresBody struct {
	Overall  *float64            `json:"overall" doc:"Mean overall score; null if a part of it is missing."`
	PassRate float64             `json:"pass_rate" doc:"Share of the item's repetitions that passed."`
	Scores   map[string]*float64 `json:"scores" doc:"Mean score by metric; null where the metric could not be computed."`
}

// Body is the comparison on the wire.
func (c Comparison) Body(evaluation, baseline, candidate int64) ComparisonBody {
	b := ComparisonBody{
		EvaluationID: httpapi.ID(evaluation), BaselineRunID: httpapi.ID(baseline), CandidateRunID: httpapi.ID(candidate),
		Confidence: c.Confidence, Comparable: c.Comparable, Reasons: c.Reasons, Overall: toComparedBody(c.Overall), PassRate: toComparedBody(c.PassRate),
		Metrics: []ComparedBody{}, Items: ChangesBody(c.Items), Slices: c.Slices, Regressions: []RegressionBody{},
	}
	if c.Margin > 0 {
		b.Margin = &c.Margin
	}
	for _, m := range c.Metrics {
		b.Metrics = append(b.Metrics, toComparedBody(m))
	}
	for _, r := range c.Regressions {
		one := RegressionBody{TestCaseID: httpapi.ID(r.Item), Delta: r.Delta, By: "overall", Baseline: ItemScoresBody(r.Baseline), Candidate: ItemScoresBody(r.Candidate)}
		if r.ByPass {
			one.By = "pass_rate"
		}
		b.Regressions = append(b.Regressions, one)
	}
	return b
}

func toComparedBody(c Compared) ComparedBody {
	b := ComparedBody{
		Name: c.Name, Better: string(c.Better), Role: c.Role, Baseline: c.Comparison.Baseline.Value, Candidate: c.Comparison.Candidate.Value, Delta: c.Difference.Value,
		Verdict: string(c.Verdict.Outcome()), Statistics: c.Comparison, Judge: httpapi.NullOf(c.Judge),
	}
	if c.Judge != nil && c.Comparable {
		b.Baseline, b.Candidate = c.Judge.Baseline, c.Judge.Candidate
	}
	if ci := c.Difference.CI; ci != nil {
		b.CILow, b.CIHigh = ci.Lower, ci.Upper
	}
	return b
}
