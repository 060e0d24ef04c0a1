package metric

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/core/schema"
)

// ErrUnknown is returned for a name that no built-in metric has.
var ErrUnknown = errors.New("no built-in metric has this name")

// ErrNeedsJudge is returned for a built-in metric that only a model can
// compute. Its definition is in All; whoever has judges supplies the metric.
var ErrNeedsJudge = errors.New("the metric needs a judge")

// ParameterError is returned for parameters that a metric does not take. It
// reports every one of them.
type ParameterError struct {
	Metric   string
	Problems []Problem
}

// Problem is what is wrong with one parameter.
type Problem struct {
	Parameter string
	// Code is a short word for programs: required, type, enum, min, max,
	// length, pattern, format, unknown_field, ambiguous_field or
	// mutually_exclusive.
	Code string
	// Message continues the parameter's name: "must be at most 1".
	Message string
}

// Error names every problem.
func (e *ParameterError) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s %s", p.Parameter, p.Message)
	}
	return e.Metric + ": " + b.String()
}

// spec is a built-in metric before it is configured.
type spec struct {
	Definition
	defaults settings
	// build makes the scorer of a configuration, and says what is wrong with
	// its parameters taken together. It is nil for judged metrics.
	build func(*Registry, settings) (scorer, []Problem)
	// alone is set for a metric that an assertion cannot configure.
	alone bool
}

// lowest is the worst of several scores. One that is missing could be worse than
// all the others, so then the worst is missing too, unless one is the worst
// there is.
func (s spec) lowest(scores []Score) Score {
	worst := scores[0]
	for _, score := range scores[1:] {
		v, ok := score.Value()
		w, known := worst.Value()
		switch {
		case s.Low != nil && known && w == *s.Low:
			return worst
		case !known && s.Low != nil && ok && v == *s.Low, known && !ok, known && ok && v < w:
			worst = score
		}
	}
	return worst
}

// Registry holds the built-in metrics, and what they compiled so far. It is
// safe for concurrent use; one is enough for a process.
type Registry struct {
	specs    []spec // in the order of All
	patterns cache[*schema.Pattern]
	schemas  cache[*schema.Schema]
}

// claim builds the scorer of an assertion whose type is the metric's name: the
// item's parameters go before those that are there. bounds are its thresholds.
func (r *Registry) claim(s spec, with settings, a assertion) (score scorer, bounds settings, problems []Problem) {
	with, problems = with.overlay(append(slices.Clip(s.Parameters), thresholdParameters...), a.members)
	if len(problems) > 0 {
		return nil, nil, problems
	}
	score, problems = s.build(r, with)
	return score, with, problems
}
