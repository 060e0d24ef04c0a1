package scoring

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/measure/metric"
)

// Plan is what an evaluation measures and how. A run copies it.
type Plan struct {
	Metrics []string                 `json:"metrics"`
	Params  map[string]metric.Params `json:"params,omitzero"`
	Target  Target                   `json:"target"`
	Judges  []int64                  `json:"judges,omitzero"`
	// Judged are the judges as they were found when a run started.
	Judged   []Judged `json:"judged,omitzero"`
	PassRule PassRule `json:"pass_rule"`
	// External declares those of the metrics whose scores the team makes.
	External []External `json:"external,omitzero"`
}

// Warning says that a plan names something that does not exist yet.
type Warning struct {
	Code    string
	Subject string
	Message string
}

// Path is where in a request the name is.
func (w Warning) Path() string {
	switch w.Code {
	case "metric_unresolved":
		return "/metrics"
	case "judge_config_unresolved":
		return "/judgeConfigIds"
	default:
		return "/datasetId"
	}
}

// Measure is a metric of a plan, ready to score.
type Measure struct {
	metric.Definition
	score    func(metric.Case) metric.Score
	external bool // its scores are sent
	service  bool // its scores are made by a judge, or by a service of the team's own
}

// Measures finds the plan's metrics. What is not there is a warning; parameters
// that a metric does not take are a fault.
func (p Plan) Measures(metrics *metric.Registry) ([]Measure, []Warning, error) {
	var found []Measure
	var missing []Warning
	for i, name := range p.Metrics {
		if slices.Contains(p.Metrics[:i], name) {
			return nil, nil, fault.Invalid("body", fmt.Sprintf("/metrics/%d", i), "format", "repeats "+name)
		}
		if x, ok := p.external(name); ok {
			m := Measure{Definition: x.definition(), score: x.unsent, external: true}
			if x.Endpoint != nil {
				m.score, m.external, m.service = unasked, false, true
			}
			found = append(found, m)
			continue
		}
		if j, ok := p.judged(name); ok {
			found = append(found, Measure{Definition: j.definition(), score: unasked, service: true})
			continue
		}
		m, err := metrics.Find(name, p.Params[name])
		var bad *metric.ParameterError
		switch {
		case err == nil:
			found = append(found, Measure{Definition: m.Definition(), score: m.Score})
		case errors.As(err, &bad):
			return nil, nil, parameterFault(name, bad)
		case errors.Is(err, metric.ErrNeedsJudge):
			missing = append(missing, Warning{"metric_unresolved", name, fmt.Sprintf("The metric %s needs a judge, and no judge of this evaluation supplies it. Runs fail until one does.", name)})
		case strings.HasPrefix(name, judgePrefix):
			missing = append(missing, Warning{"metric_unresolved", name, fmt.Sprintf("There is no active judge with the key %s. Runs fail until there is.", strings.TrimPrefix(name, judgePrefix))})
		default:
			missing = append(missing, Warning{"metric_unresolved", name, fmt.Sprintf("The metric %s does not exist. Runs fail until it does; GET /api/evaluation-metrics lists the metrics that exist.", name)})
		}
	}
	return found, missing, nil
}

// judgePrefix is how the names of judges begin.
const judgePrefix = "judge:"

func parameterFault(name string, bad *metric.ParameterError) error {
	var fields []fault.Field
	for _, p := range bad.Problems {
		path := jsontext.Pointer("/metricParams").AppendToken(name)
		if p.Parameter != "" {
			path = path.AppendToken(p.Parameter)
		}
		fields = append(fields, fault.Field{In: "body", Path: string(path), Code: p.Code, Message: p.Message})
	}
	return fault.New(fault.Validation, "invalid_request", "A metric does not take the parameters that it is given.").WithFields(fields...)
}
