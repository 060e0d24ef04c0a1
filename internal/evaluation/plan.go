package evaluation

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/fault"
	"github.com/assayhq/assay/internal/metric"
)

// Plan is what an evaluation measures and how. A run copies it.
type Plan struct {
	Metrics  []string                 `json:"metrics"`
	Params   map[string]metric.Params `json:"params,omitzero"`
	Target   Target                   `json:"target"`
	Judges   []int64                  `json:"judges,omitzero"`
	PassRule PassRule                 `json:"pass_rule"`
}

// TargetType is where outputs come from.
type TargetType string

// The types of targets.
const (
	TargetRecorded TargetType = "recorded" // the items have them
	TargetClient   TargetType = "client"   // the caller sends them
	TargetHTTP     TargetType = "http"     // an application is asked
	TargetModel    TargetType = "model"    // a model is asked
)

// Target is where outputs come from. Fields of other types are zero.
type Target struct {
	Type TargetType `json:"type"`

	// Of an application.
	URL       string `json:"url,omitzero"`
	SecretRef int64  `json:"secret_ref,omitzero"` // a provider key that is bound to the URL
	TimeoutMS int    `json:"timeout_ms,omitzero"`

	// Of a model: a provider key, or the name of a provider that needs none.
	ProviderKeyID int64          `json:"provider_key_id,omitzero"`
	Provider      string         `json:"provider,omitzero"`
	Model         string         `json:"model,omitzero"`
	Params        jsontext.Value `json:"params,omitzero"`
	Prompt        string         `json:"prompt,omitzero"`
	System        string         `json:"system,omitzero"`

	Concurrency int `json:"concurrency,omitzero"`
}

// paid reports whether executing a unit costs time or money beyond our own.
func (t Target) paid() bool { return t.Type == TargetHTTP || t.Type == TargetModel }

// Warning says that a plan names something that does not exist yet.
type Warning struct {
	Code    string
	Subject string
	Message string
}

// path is where in a request the name stands.
func (w Warning) path() string {
	switch w.Code {
	case "metric_unresolved":
		return "/metrics"
	case "judge_config_unresolved":
		return "/judgeConfigIds"
	default:
		return "/datasetId"
	}
}

// measure is a metric of a plan, ready to score.
type measure struct {
	metric.Definition
	score func(metric.Case) metric.Score
}

// measures finds the plan's metrics. What is not there is a warning; parameters
// that a metric does not take are a fault.
func (s *Service) measures(p Plan) ([]measure, []Warning, error) {
	var found []measure
	var missing []Warning
	for i, name := range p.Metrics {
		m, err := s.metrics.Find(name, p.Params[name])
		var bad *metric.ParameterError
		switch {
		case err == nil:
			found = append(found, measure{m.Definition(), m.Score})
		case errors.As(err, &bad):
			return nil, nil, parameterFault(name, bad)
		case errors.Is(err, metric.ErrNeedsJudge):
			missing = append(missing, Warning{"metric_unresolved", name, fmt.Sprintf("The metric %s needs a judge, and no judge of this evaluation supplies it. Runs fail until one does.", name)})
		default:
			missing = append(missing, Warning{"metric_unresolved", name, fmt.Sprintf("The metric %s does not exist. Runs fail until it does; GET /api/evaluation-metrics lists the metrics that exist.", name)})
		}
		if slices.Contains(p.Metrics[:i], name) {
			return nil, nil, fault.Invalid("body", fmt.Sprintf("/metrics/%d", i), "format", "repeats "+name)
		}
	}
	return found, missing, nil
}

func parameterFault(name string, bad *metric.ParameterError) error {
	var fields []fault.Field
	for _, p := range bad.Problems {
		path := "/metricParams/" + pointer(name)
		if p.Parameter != "" {
			path += "/" + pointer(p.Parameter)
		}
		fields = append(fields, fault.Field{In: "body", Path: path, Code: p.Code, Message: p.Message})
	}
	return fault.New(fault.Validation, "invalid_request", "A metric does not take the parameters that it is given.").WithFields(fields...)
}

// pointer escapes a part of a JSON Pointer.
func pointer(part string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(part)
}

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

const defaultMinOverall = 0.5

// check refuses a rule that no item could be judged by.
func (r PassRule) check(metrics []string) error {
	var fields []fault.Field
	add := func(path, code, message string) {
		fields = append(fields, fault.Field{In: "body", Path: "/passRule/" + path, Code: code, Message: message})
	}
	var weights float64
	for part, numbers := range map[string]map[string]float64{"metricThresholds": r.Thresholds, "weights": r.Weights} {
		for name, v := range numbers {
			switch {
			case !slices.Contains(metrics, name):
				add(part+"/"+pointer(name), "unknown_reference", "must be a metric of this evaluation")
			case math.IsNaN(v) || math.Abs(v) > mostScore:
				add(part+"/"+pointer(name), "max", "is beyond what any metric measures")
			case part == "weights" && v < 0:
				add(part+"/"+pointer(name), "min", "must not be negative")
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

// overall is the weighted mean of an item's shares; nil if one of them is
// missing, or if there is none.
func (r PassRule) overall(measures []measure, scores []metric.Score) *float64 {
	var sum, weights float64
	for i, m := range measures {
		w := r.weight(m.Name)
		if !m.Overall || w == 0 {
			continue
		}
		v, ok := scores[i].Value()
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
// holds no threshold, and is left out of a mean.
func (r PassRule) passes(measures []measure, scores []metric.Score) bool {
	if len(r.Thresholds) > 0 && r.Mode != PassWeighted {
		return r.holds(measures, scores)
	}
	var sum, weights float64
	for i, m := range measures {
		v, ok := scores[i].Value()
		if w := r.weight(m.Name); ok && m.Overall {
			sum, weights = sum+w*v, weights+w
		}
	}
	least := defaultMinOverall
	if r.MinOverall != nil {
		least = *r.MinOverall
	}
	return weights > 0 && sum/weights >= least
}

func (r PassRule) holds(measures []measure, scores []metric.Score) bool {
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
