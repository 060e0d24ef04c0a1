package stat

import "slices"

// Metric is one part of a composite.
type Metric struct {
	Name   string
	Weight float64
	Range  *Range // of its scores, if it declares one
	Rows   []Observation
}

// Overall estimates the weighted mean of several metrics. The composite is
// made for each repetition of each item first, so that metrics which move
// together count as such. Where a metric has no score the composite has none.
//
// The weights are normalised. If no composite can be made at all, the value is
// made from the metrics' means and the interval abstains.
func Overall(metrics []Metric, o Options) (Estimate, error) {
	policy := o.Missing
	o.Missing = MissingExclude // of composites; their parts follow the policy
	o, err := o.Checked()
	if err != nil {
		return Estimate{}, err
	}
	if err := o.allows(MethodDefault, MethodBCa, MethodPercentile); err != nil {
		return Estimate{}, err
	}
	c, err := compose(metrics, o.Weighted)
	if err != nil {
		return Estimate{}, err
	}
	o.Range = c.span
	switch policy {
	case "":
		policy = MissingExclude
	case MissingExclude:
	case MissingFail, MissingBounds:
		if c.span == nil {
			return Estimate{}, inputErrorf("missing %q needs the range of every metric", policy)
		}
	default:
		return Estimate{}, inputErrorf("missing %q must be exclude, fail or bounds", policy)
	}
	fill := leaveMissing
	if policy == MissingFail {
		fill = lowest
	}
	t, err := gather(c.rows(fill), &o)
	if err != nil {
		return Estimate{}, err
	}
	e := t.mean(o)
	e.Method = "overall"
	if c.incomplete > 0 {
		m := Missing{Rows: c.incomplete, Share: float64(c.incomplete) / float64(len(c.parts)), Policy: policy}
		if c.span != nil {
			low, high := c.filled(lowest, o), c.filled(highest, o)
			m.Lower, m.Upper = low.Value, high.Value
			if policy == MissingBounds {
				e.stretch(low)
				e.stretch(high)
			}
		}
		e.missing(m)
	}
	if e.Value == nil {
		c.fromMeans(&e)
	}
	return e, nil
}

// part is one repetition of one item.
type part struct {
	row    *Observation
	scores []float64 // of each metric
	source Source    // of all of them
	known  []bool
	all    bool
}

// composite is what metrics say together.
type composite struct {
	metrics    []Metric
	weights    []float64 // adding up to one
	span       *Range    // of the composite; nil if a metric declares none
	parts      []*part   // in the order of their first appearance
	incomplete int       // parts that lack a metric
}

// compose brings the metrics of each repetition together. Metrics without
// weight do not take part.
func compose(metrics []Metric, weighted bool) (*composite, error) {
	c := &composite{}
	for i, m := range metrics {
		switch {
		case !(m.Weight >= 0 && m.Weight <= maxScore):
			return nil, inputErrorf("metric %q: weight %v must be a number of at least 0", m.Name, m.Weight)
		case m.Range != nil && !m.Range.sound():
			return nil, inputErrorf("metric %q: range from %v to %v is none", m.Name, m.Range.Lower, m.Range.Upper)
		case m.Weight > 0:
			c.metrics, c.weights = append(c.metrics, metrics[i]), append(c.weights, m.Weight)
		}
	}
	if len(metrics) > 0 && len(c.metrics) == 0 {
		return nil, inputErrorf("no metric has weight")
	}
	scale(c.weights)
	all := total(c.weights)
	for i := range c.weights {
		c.weights[i] /= all
	}
	c.span = c.bounds()
	type key struct {
		item  string
		epoch int
	}
	index := map[key]*part{}
	for i := range c.metrics {
		m := &c.metrics[i]
		seen := make(map[key]bool, len(m.Rows))
		for j := range m.Rows {
			r := &m.Rows[j]
			if err := checkRow(r, j, Options{Range: m.Range, Weighted: weighted}); err != nil {
				return nil, inputErrorf("metric %q: %w", m.Name, err)
			}
			k := key{r.Item, r.Epoch}
			if seen[k] {
				return nil, inputErrorf("metric %q: item %q has two scores for epoch %d", m.Name, r.Item, r.Epoch)
			}
			seen[k] = true
			p := index[k]
			if p == nil {
				p = &part{row: r, scores: make([]float64, len(c.metrics)), known: make([]bool, len(c.metrics))}
				index[k] = p
				c.parts = append(c.parts, p)
			}
			if err := sameItem(p.row, r, weighted); err != nil {
				return nil, err
			}
			p.scores[i], p.known[i] = r.Score, r.Missing == Present
			p.source = p.source.And(r.Source)
		}
	}
	for _, p := range c.parts {
		p.all = true
		for _, known := range p.known {
			p.all = p.all && known
		}
		if !p.all {
			c.incomplete++
		}
	}
	return c, nil
}

func (c *composite) bounds() *Range {
	var low, high sum
	for i, m := range c.metrics {
		if m.Range == nil {
			return nil
		}
		low.add(c.weights[i] * m.Range.Lower)
		high.add(c.weights[i] * m.Range.Upper)
	}
	if r := (Range{low.total(), high.total()}); r.sound() {
		return &r
	}
	return nil
}

// filling says what stands for a missing score of a metric.
type filling int

const (
	leaveMissing filling = iota
	lowest
	highest
)

// rows returns a row for each composite.
func (c *composite) rows(f filling) []Observation {
	rows := make([]Observation, len(c.parts))
	var s sum
	for i, p := range c.parts {
		rows[i] = *p.row
		r := &rows[i]
		r.Missing, r.Score, r.Provenance = Present, 0, Provenance{Source: p.source}
		if f == leaveMissing && !p.all {
			r.Missing = CauseOutput
			continue
		}
		s.reset()
		for j, score := range p.scores {
			switch {
			case p.known[j]:
			case f == lowest:
				score = c.metrics[j].Range.Lower
			case f == highest:
				score = c.metrics[j].Range.Upper
			}
			s.add(c.weights[j] * score)
		}
		r.Score = s.total()
		if c.span != nil { // the weights add up to one only nearly
			r.Score = clamp(r.Score, c.span.Lower, c.span.Upper)
		}
	}
	return rows
}

// filled estimates the composite had every missing score been an extreme one.
func (c *composite) filled(f filling, o Options) Estimate {
	t, err := gather(c.rows(f), &o)
	if err != nil { // the rows were checked when they were composed
		return Estimate{}
	}
	return t.mean(o)
}

// fromMeans gives the value that the metrics' means make, where no repetition
// has all metrics.
func (c *composite) fromMeans(e *Estimate) {
	var value, weight sum
	for j := range c.metrics {
		var s sum
		n := 0
		for _, p := range c.parts {
			if p.known[j] {
				s.add(p.scores[j])
				n++
			}
		}
		if n > 0 {
			value.add(c.weights[j] * s.total() / float64(n))
			weight.add(c.weights[j])
		}
	}
	if weight.total() > 0 {
		e.Value = finite(value.total() / weight.total())
		e.Warnings = slices.DeleteFunc(e.Warnings, func(w string) bool { return w == noScores })
		e.Abstain(StatusInsufficient, "no item has all metrics; the value is made from their means")
	}
}
