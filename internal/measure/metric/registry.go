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

// Registry holds the built-in metrics, and what they compiled so far. It is
// safe for concurrent use; one is enough for a process.
type Registry struct {
	specs    []spec // in the order of All
	patterns cache[*schema.Pattern]
	schemas  cache[*schema.Schema]
}

// NewRegistry returns the built-in metrics.
func NewRegistry() *Registry {
	specs := []spec{
		exactMatch(), contains(), regexMatch(), jsonValid(), jsonSchema(), similarity(), numericTolerance(),
		latency(), cost(),
		toolSelection(), toolArguments(), trajectoryMatch(), goalSuccess(), effectsVerified(),
	}
	specs = append(specs, judged()...)
	for i := range specs {
		specs[i].defaults = defaults(specs[i].Parameters)
	}
	return &Registry{specs: specs}
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

func (r *Registry) spec(name string) (spec, bool) {
	for _, s := range r.specs {
		if s.Name == name {
			return s, true
		}
	}
	return spec{}, false
}

// Has reports whether a built-in metric has the name.
func (r *Registry) Has(name string) bool {
	_, ok := r.spec(name)
	return ok
}

// All returns the definition of every built-in metric, judged ones last, always
// in the same order.
func (r *Registry) All() []Definition {
	var out []Definition
	for _, s := range r.specs {
		out = append(out, s.Definition.clone())
	}
	return out
}

func (d Definition) clone() Definition {
	d.Needs = slices.Clone(d.Needs)
	d.Parameters = slices.Clone(d.Parameters)
	return d
}

// Find returns a metric by its name with its parameters, which may be nil. The
// error is ErrUnknown, ErrNeedsJudge or a *ParameterError.
func (r *Registry) Find(name string, params Params) (Metric, error) {
	s, ok := r.spec(name)
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: %q", ErrUnknown, cut(name, 100))
	case s.build == nil:
		return nil, fmt.Errorf("%w: %s", ErrNeedsJudge, name)
	}
	with, problems := s.defaults.overlay(s.Parameters, params)
	if len(problems) > 0 {
		return nil, &ParameterError{name, problems}
	}
	score, problems := s.build(r, with)
	if len(problems) > 0 {
		return nil, &ParameterError{name, problems}
	}
	return &configured{r, s, with, score}, nil
}

// configured is a metric with its parameters.
type configured struct {
	registry *Registry
	spec     spec
	settings settings
	score    scorer
}

func (m *configured) Definition() Definition { return m.spec.Definition.clone() }

// Score measures a case. Of several assertions that configure the metric all
// have to hold, so the lowest of their scores counts.
func (m *configured) Score(c Case) Score {
	l := &look{Case: &c, work: work{schema.NewWork()}}
	if c.Allowance != nil {
		l.work = work{c.Allowance.Task()}
		defer func() { c.Allowance.Return(l.Work) }()
	}
	if m.spec.alone || len(c.Assertions) == 0 {
		return m.score(l)
	}
	all, err := l.list()
	if err != nil {
		return unlisted(err)
	}
	var scores []Score
	for _, a := range all {
		if a.kind != m.spec.Name {
			continue
		}
		if !l.Spend(a.cost()) {
			return tooCostly()
		}
		score, _, problems := m.registry.claim(m.spec, m.settings, a)
		if len(problems) > 0 {
			scores = append(scores, badAssertion(a.kind, problems))
			continue
		}
		scores = append(scores, score(l))
	}
	if len(scores) == 0 {
		return m.score(l)
	}
	return m.spec.lowest(scores)
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
