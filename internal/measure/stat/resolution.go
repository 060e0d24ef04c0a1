package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Resolve says how small a difference the data behind an estimate can show,
// and what the targets would cost. It is nil without a standard error. The
// effect that was observed plays no part.
func Resolve(e Estimate, o Options, targets []float64) (*Resolution, error) {
	o, err := o.Checked()
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		if !(t > 0 && t <= maxScore) {
			return nil, inputErrorf("target %v must be a number above 0", t)
		}
	}
	return resolve(e, o, "This run", "from a fixed value", targets, 0, 0), nil
}

// resolution says what a comparison can show. Its margin is a target.
func (o CompareOptions) resolution(e Estimate, m *match) *Resolution {
	targets := slices.Clone(o.Targets)
	if o.Margin > 0 {
		targets = append(targets, o.Margin)
	}
	var generation float64
	epochs := 0.0
	if m != nil && o.Estimand == EstimandPopulation {
		a, b := m.a.variance(o.Options), m.b.variance(o.Options)
		if a != nil && b != nil {
			generation = a.Within + b.Within
			epochs = float64(m.a.total+m.b.total) / float64(len(m.a.items)+len(m.b.items))
		}
	}
	return resolve(e, o.Options, "This comparison", "between its runs", targets, generation, epochs)
}

// resolve says what a subject can show, and against what. It takes the variance
// between repetitions, summed over both sides, and their number, where there are
// any.
func resolve(e Estimate, o Options, subject, against string, targets []float64, generation, epochs float64) *Resolution {
	variance, mde := e.resolving(o)
	if !(variance > 0) {
		return nil
	}
	points := o.Range != nil && *o.Range == *Unit()
	if len(targets) == 0 && points {
		targets = []float64{0.01, 0.03, 0.05}
	}
	targets = slices.Clone(targets)
	slices.SortFunc(targets, func(a, b float64) int { return cmp.Compare(b, a) })
	r := &Resolution{MDE80: mde, ItemsFor: []ItemsFor{}}
	z := NormalCritical(o.Alpha()) + NormalQuantile(power)
	have := e.N
	if e.Items > 0 {
		have = e.Items
	}
	n := float64(have)
	if e.df() > 0 && e.df() < forecastDF {
		targets = nil
	}
	for _, delta := range slices.Compact(targets) {
		items := math.Ceil(z * z * variance * n / (delta * delta))
		if delta >= mde || !(items < 1e15) {
			continue
		}
		need := ItemsFor{Difference: delta, Items: int(items)}
		if epochs > 1 {
			// What remains of the variance when repetitions average out.
			items := variance*n - generation/epochs
			if k := math.Ceil(generation / (n*delta*delta/(z*z) - items)); k > epochs && k <= 1000 {
				need.Epochs = ptr(int(k))
			}
		}
		r.ItemsFor = append(r.ItemsFor, need)
	}
	r.Sentence = fmt.Sprintf("%s can show differences of %s or more %s", subject, amount(mde, points, true), against)
	if len(r.ItemsFor) > 0 {
		need := r.ItemsFor[0]
		r.Sentence += fmt.Sprintf("; a %s difference needs about %s items", amount(need.Difference, points, false), grouped(need.Items))
		if need.Epochs != nil {
			r.Sentence += fmt.Sprintf(" (or %d epochs on these %s)", *need.Epochs, grouped(have))
		}
	}
	r.Sentence += "."
	return r
}

// forecastDF is the least that a forecast of items is made from: the spread of a
// handful of scores says next to nothing about the next thousand.
const forecastDF = 9

// resolving returns the variance of an estimate and the smallest difference
// that it finds in four of five repetitions. Where no variance was observed
// the width of the interval stands for it.
func (e Estimate) resolving(o Options) (variance, mde float64) {
	switch {
	case e.SE != nil && e.df() > 0:
		return *e.SE * *e.SE, (TCritical(o.Alpha(), *e.DF) + tQuantile(power, *e.DF)) * *e.SE
	case e.SE != nil:
		return *e.SE * *e.SE, (NormalCritical(o.Alpha()) + NormalQuantile(power)) * *e.SE
	case e.CI != nil && e.CI.Lower != nil && e.CI.Upper != nil && e.N > 0:
		z := NormalCritical(o.Alpha())
		se := (*e.CI.Upper - *e.CI.Lower) / 2 / z
		return se * se, (z + NormalQuantile(power)) * se
	}
	return 0, 0
}

// amount writes a difference for a reader: in points of a share, or in the
// units of the score.
func amount(x float64, points, plural bool) string {
	if !points {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	text := strconv.FormatFloat(math.Round(x*1000)/10, 'f', -1, 64)
	switch {
	case !plural:
		return text + "-point"
	case text == "1":
		return text + " point"
	}
	return text + " points"
}

// grouped writes a number with commas between thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
