package scoring

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/measure/metric"
)

// External is a metric whose scores the team makes: what they must be known by to
// be added up, compared and decided on like any other.
type External struct {
	Name    string           `json:"name"`
	Summary string           `json:"summary,omitzero"`
	Low     *float64         `json:"low,omitzero"`
	High    *float64         `json:"high,omitzero"`
	Better  metric.Direction `json:"better"`
	Kind    metric.Kind      `json:"kind"`
	Unit    string           `json:"unit,omitzero"`
	// Source says who makes the scores, Version by which version of their rules.
	// Scores of different versions are not compared.
	Source  metric.Source `json:"source"`
	Version string        `json:"version,omitzero"`
	Unsent  Unsent        `json:"unsent"`
	// Endpoint makes the scores; nil if they are sent.
	Endpoint *Endpoint `json:"endpoint,omitzero"`
}

// Endpoint is a service of the team's own that scores answers.
type Endpoint struct {
	URL       string `json:"url"`
	SecretRef int64  `json:"secret_ref,omitzero"` // a provider key that is bound to the URL
	TimeoutMS int    `json:"timeout_ms,omitzero"`
	BatchSize int    `json:"batch_size,omitzero"`
}

// Unsent is what a score that was never sent means.
type Unsent string

// The meanings. The worst score is the one that nobody can gain by; whoever
// declares that scores are left out says that some items cannot have one.
const (
	UnsentWorst    Unsent = "worst"
	UnsentExcluded Unsent = "excluded"
)

// definition is the metric as statistics know it. It counts in an item's overall
// score if it is a share that should be high.
func (x External) definition() metric.Definition {
	share := x.Low != nil && x.High != nil && *x.Low == 0 && *x.High == 1
	return metric.Definition{
		Name: x.Name, Summary: x.Summary, Low: x.Low, High: x.High, Better: x.Better, Kind: x.Kind, Unit: x.Unit, Source: x.Source, Version: x.Version,
		Overall: share && x.Better == metric.Higher, Abstains: "No score was sent.",
	}
}

// unsent is the score of a case that was sent none.
func (x External) unsent(metric.Case) metric.Score {
	if x.Unsent == UnsentExcluded {
		return metric.Missing(metric.ReasonExcluded, "No score was sent, and the metric is declared to leave such items out.")
	}
	return metric.Missing(metric.ReasonNotSent, "No score was sent.")
}

// external finds a declared metric.
func (p Plan) external(name string) (External, bool) {
	i := slices.IndexFunc(p.External, func(x External) bool { return x.Name == name })
	if i < 0 {
		return External{}, false
	}
	return p.External[i], true
}

// AwaitsScores reports whether scores are to be sent by whoever knows them.
func (p Plan) AwaitsScores() bool {
	return slices.ContainsFunc(p.External, func(x External) bool { return x.Endpoint == nil })
}

// Asks reports whether somebody is asked for scores: a judge, or a service of the
// team's own.
func (p Plan) Asks() bool {
	return len(p.Judged) > 0 || slices.ContainsFunc(p.External, func(x External) bool { return x.Endpoint != nil })
}

// Paid reports whether executing a unit costs time or money beyond our own.
func (p Plan) Paid() bool {
	return p.Target.Paid() || p.Asks()
}

// Awaited are the names of the metrics whose scores are sent.
func Awaited(measures []Measure) (names []string) {
	for _, m := range measures {
		if m.external {
			names = append(names, m.Name)
		}
	}
	return names
}

// FromTrace is what a metric says by a score that the trace of an answer, or one of
// its spans, was given.
func FromTrace(measures []Measure, name string, value float64, comment string) metric.Score {
	for _, m := range measures {
		if why := m.refuses(value); m.Name == name && why != "" {
			return metric.Missing(metric.ReasonNotSent, fmt.Sprintf("The trace was given the score %v, which %s.", value, why))
		}
	}
	return metric.Scored(value, cmp.Or(comment, "Given to the trace of the answer."))
}

// Declare makes the plan measure these metrics too.
func (p *Plan) Declare(all []External) {
	gone := func(name string) bool {
		_, was := p.external(name)
		return was && !slices.ContainsFunc(all, func(x External) bool { return x.Name == name })
	}
	p.Metrics = slices.DeleteFunc(slices.Clone(p.Metrics), gone)
	p.External = all
	for _, x := range all {
		if !slices.Contains(p.Metrics, x.Name) {
			p.Metrics = append(p.Metrics, x.Name)
		}
	}
}

// suggestion names the metric that was probably meant.
func suggestion(name string, measures []Measure) string {
	known := make([]string, len(measures))
	for i, m := range measures {
		known[i] = m.Name
	}
	if closest := fault.Nearest(name, known); closest != "" {
		return ": did you mean " + closest + "?"
	}
	return ""
}

// CheckExternal refuses declarations that contradict themselves or others. Plans that
// are stored are not checked: a metric that is built in later does not take their name.
func (p Plan) CheckExternal(metrics *metric.Registry, with *provider.Service) error {
	var fields []fault.Field
	for i, x := range p.External {
		add := func(part, code, message string) {
			fields = append(fields, fault.Field{In: "body", Path: fmt.Sprintf("/externalMetrics/%d/%s", i, part), Code: code, Message: message})
		}
		switch {
		case metrics.Has(x.Name):
			add("name", "format", "is the name of a built-in metric: choose another")
		case strings.HasPrefix(x.Name, judgePrefix):
			add("name", "format", "begins with judge:, which is how judges are named: choose another")
		case x.Name == "overall" || x.Name == "pass_rate":
			add("name", "enum", "is the name of a figure that every run has: choose another")
		case slices.ContainsFunc(p.External[:i], func(o External) bool { return o.Name == x.Name }):
			add("name", "format", "repeats "+x.Name)
		}
		switch {
		case x.Low != nil && x.High != nil && *x.Low >= *x.High:
			add("high", "min", "must be above low")
		case x.Kind == metric.Binary && (x.Low == nil || x.High == nil || *x.Low != 0 || *x.High != 1):
			add("kind", "enum", "must be numeric, unless low is 0 and high is 1")
		}
		if x.Endpoint == nil {
			continue
		}
		if err := with.CheckURL(x.Endpoint.URL); err != nil {
			add("endpoint/url", "format", "cannot be called: "+err.Error())
		}
	}
	if len(p.External) > 0 && len(p.Metrics) > maxMetrics {
		fields = append(fields, fault.Field{In: "body", Path: "/externalMetrics", Code: "max", Message: fmt.Sprintf("and metrics are %d together, and an evaluation may have %d", len(p.Metrics), maxMetrics)})
	}
	if len(fields) == 0 {
		return nil
	}
	return fault.New(fault.Validation, "invalid_request", "A metric cannot be declared like this.").WithFields(fields...)
}
