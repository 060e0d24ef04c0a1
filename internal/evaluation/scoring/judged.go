package scoring

import (
	"fmt"
	"slices"

	"github.com/assayhq/assay/internal/measure/metric"
)

// Judged is a metric that a judge scores: which judge it is, and which version of it
// was there when a run started.
type Judged struct {
	Metric  string `json:"metric"` // judge:<key>
	Judge   int64  `json:"judge"`
	Version int    `json:"version"`
	// Binary says that every score is 0 or 1.
	Binary  bool   `json:"binary,omitzero"`
	Summary string `json:"summary,omitzero"`
}

// definition is the metric as statistics know it.
func (j Judged) definition() metric.Definition {
	low, high := 0.0, 1.0
	d := metric.Definition{
		Name: j.Metric, Summary: j.Summary, Low: &low, High: &high, Better: metric.Higher, Kind: metric.Numeric, Overall: true,
		Source: metric.Judge, Version: fmt.Sprintf("%d/%d", j.Judge, j.Version), Abstains: "The judge abstained, or its model gave no usable answer.",
	}
	if j.Binary {
		d.Kind = metric.Binary
	}
	return d
}

// unasked is the score of a case that a judge or a service was not asked about.
func unasked(metric.Case) metric.Score {
	return metric.Missing(metric.ReasonNotAsked, "The judge or service that gives the score has not been asked.")
}

// judged finds a metric of a judge.
func (p Plan) judged(name string) (Judged, bool) {
	i := slices.IndexFunc(p.Judged, func(j Judged) bool { return j.Metric == name })
	if i < 0 {
		return Judged{}, false
	}
	return p.Judged[i], true
}

// WithJudges is the plan with the judges that its names and ids were found to be. A
// judge that is named by its id alone becomes a metric.
func (p Plan) WithJudges(found []Judged) Plan {
	p.Metrics, p.Judged = slices.Clone(p.Metrics), nil
	for _, j := range found {
		if slices.Contains(p.Judges, j.Judge) && !slices.Contains(p.Metrics, j.Metric) {
			p.Metrics = append(p.Metrics, j.Metric)
		}
		if slices.Contains(p.Metrics, j.Metric) {
			p.Judged = append(p.Judged, j)
		}
	}
	return p
}
