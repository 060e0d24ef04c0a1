package metric

import (
	"fmt"
	"slices"

	"github.com/assayhq/assay/internal/core/schema"
)

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
