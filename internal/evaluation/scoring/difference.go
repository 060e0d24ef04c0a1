package scoring

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json"
)

// Difference says in words what two plans measure differently. Targets may
// differ: that is what comparisons are for.
type Difference struct {
	Overall, Passes string
	Metrics         map[string]string // by name
}

// Differ compares the plans of a baseline and of a candidate.
func Differ(a, b Plan) Difference {
	d := Difference{Metrics: map[string]string{}}
	for _, name := range slices.Concat(a.Metrics, b.Metrics) {
		switch {
		case !slices.Contains(a.Metrics, name):
			d.Metrics[name] = "only the candidate measured " + name
		case !slices.Contains(b.Metrics, name):
			d.Metrics[name] = "only the baseline measured " + name
		case !alike(a, b, name):
			d.Metrics[name] = "the declarations of " + name + " differ"
		case rejudged(a, b, name):
			d.Metrics[name] = "the judge of " + name + " has another version"
		case !same(a.Params[name], b.Params[name]):
			d.Metrics[name] = "the parameters of " + name + " differ"
		case a.PassRule.weight(name) != b.PassRule.weight(name):
			d.Overall = "the weights of the overall score differ"
		}
	}
	if len(d.Metrics) > 0 {
		d.Overall = "the runs did not measure the same metrics with the same parameters"
	}
	d.Passes = d.Overall
	if !same(a.PassRule, b.PassRule) {
		d.Passes = "the pass rules differ"
	}
	return d
}

// alike reports whether both plans measure a metric by the same rules. What it
// says about itself does not matter.
func alike(a, b Plan, name string) bool {
	x, _ := a.external(name)
	y, _ := b.external(name)
	x.Summary, y.Summary = "", ""
	return same(x, y)
}

// rejudged reports whether a metric's scores come from different judges, or from
// different versions of one.
func rejudged(a, b Plan, name string) bool {
	x, _ := a.judged(name)
	y, _ := b.judged(name)
	return x.Judge != y.Judge || x.Version != y.Version
}

// same reports whether two values have the same JSON.
func same[T any](a, b T) bool {
	x, wrong := json.Marshal(a, json.Deterministic(true))
	y, err := json.Marshal(b, json.Deterministic(true))
	return wrong == nil && err == nil && bytes.Equal(x, y)
}
