package scoring

import (
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/measure/metric"
)

// PassMode is how the metrics of an item decide together.
type PassMode string

// The modes of pass rules.
const (
	PassAll      PassMode = "all"
	PassAny      PassMode = "any"
	PassWeighted PassMode = "weighted"
)

// PassRule says when an item passes. Without thresholds it passes when the mean
// of its scores between 0 and 1 is at least MinOverall, which is 0.5 if unset.
type PassRule struct {
	Thresholds map[string]float64 `json:"metric_thresholds,omitzero"`
	Mode       PassMode           `json:"mode,omitzero"`
	Weights    map[string]float64 `json:"weights,omitzero"`
	MinOverall *float64           `json:"min_overall,omitzero"`
}

// DefaultMinOverall is the mean that an item must reach if its rule says nothing
// else.
const DefaultMinOverall = 0.5

// MaxScore is beyond what any metric without an upper end measures.
const MaxScore = 1e15

// Check refuses a rule that no item could be judged by.
func (r PassRule) Check(metrics []string) error {
	var fields []fault.Field
	add := func(path jsontext.Pointer, code, message string) {
		fields = append(fields, fault.Field{In: "body", Path: string("/passRule/" + path), Code: code, Message: message})
	}
	var weights float64
	for part, numbers := range map[jsontext.Pointer]map[string]float64{"metricThresholds": r.Thresholds, "weights": r.Weights} {
		for name, v := range numbers {
			switch {
			case !slices.Contains(metrics, name):
				add(part.AppendToken(name), "unknown_reference", "must be a metric of this evaluation")
			case math.IsNaN(v) || math.Abs(v) > MaxScore:
				add(part.AppendToken(name), "max", "is beyond what any metric measures")
			case part == "weights" && v < 0:
				add(part.AppendToken(name), "min", "must not be negative")
			case part == "weights":
				weights += v
			}
		}
	}
	if len(fields) == 0 && len(r.Weights) > 0 && weights == 0 {
		add("weights", "min", "must include a weight above 0")
	}
	if len(fields) == 0 {
		return nil
	}
	slices.SortFunc(fields, func(a, b fault.Field) int { return strings.Compare(a.Path, b.Path) })
	return fault.New(fault.Validation, "invalid_request", "The pass rule does not fit the evaluation's metrics.").WithFields(fields...)
}

// weight is a metric's share in an item's overall score, before it is divided
// by all of them.
func (r PassRule) weight(name string) float64 {
	if w, ok := r.Weights[name]; ok {
		return w
	}
	if len(r.Weights) > 0 {
		return 0
	}
	return 1
}

// share is what a metric adds to an item's overall score. An answer that cannot
// be scored has the lowest share: it never does better by failing so badly that
// nothing can be computed. There is none where the item allows none.
func share(s metric.Score) (float64, bool) {
	v, ok := s.Value()
	return v, ok || !s.Reason().OfItem()
}

// overall is the weighted mean of an item's shares; nil if the item allows no
// score of one of them, or if there is none.
func (r PassRule) overall(measures []Measure, scores []metric.Score) *float64 {
	var sum, weights float64
	for i, m := range measures {
		w := r.weight(m.Name)
		if !m.Overall || w == 0 {
			continue
		}
		v, ok := share(scores[i])
		if !ok {
			return nil
		}
		sum, weights = sum+w*v, weights+w
	}
	if weights == 0 {
		return nil
	}
	mean := sum / weights
	return &mean
}

// passes decides about an item that has at least one score. A missing score
// holds no threshold; one that the item does not allow is left out of a mean.
func (r PassRule) passes(measures []Measure, scores []metric.Score) bool {
	if len(r.Thresholds) > 0 && r.Mode != PassWeighted {
		return r.holds(measures, scores)
	}
	var sum, weights float64
	for i, m := range measures {
		v, ok := share(scores[i])
		if w := r.weight(m.Name); ok && m.Overall {
			sum, weights = sum+w*v, weights+w
		}
	}
	least := DefaultMinOverall
	if r.MinOverall != nil {
		least = *r.MinOverall
	}
	return weights > 0 && sum/weights >= least
}

func (r PassRule) holds(measures []Measure, scores []metric.Score) bool {
	held := 0
	for i, m := range measures {
		least, asked := r.Thresholds[m.Name]
		if !asked {
			continue
		}
		v, ok := scores[i].Value()
		if ok && (m.Better == metric.Lower && v <= least || m.Better != metric.Lower && v >= least) {
			held++
		}
	}
	if r.Mode == PassAny {
		return held > 0
	}
	return held == len(r.Thresholds)
}
