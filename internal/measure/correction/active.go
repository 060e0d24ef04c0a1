package correction

import (
	"math"

	"github.com/assayhq/assay/internal/measure/stat"
)

// chosen is items of which some were chosen for a label, with known probabilities.
type chosen struct {
	human, judge []float64
	inverse      []float64 // one divided by the probability where there is a label, else zero
}

// tuned returns the lambda with the smallest variance.
func (c chosen) tuned() float64 {
	n := len(c.judge)
	a := func(i int) float64 { return c.judge[i] * (c.inverse[i] - 1) }
	b := func(i int) float64 { return c.human[i] * c.inverse[i] }
	ma, mb := stat.SumOf(n, a)/float64(n), stat.SumOf(n, b)/float64(n)
	va := stat.SumOf(n, func(i int) float64 { return (a(i) - ma) * (a(i) - ma) })
	if va == 0 {
		return 0
	}
	return stat.SumOf(n, func(i int) float64 { return (a(i) - ma) * (b(i) - mb) }) / va
}

// each is what an item adds to the estimate: the judge's score, and where there is
// a label, the judge's error as often as items of this probability go without one.
func (c chosen) each(i int, lambda float64) float64 {
	f := lambda * c.judge[i]
	return f + (c.human[i]-f)*c.inverse[i]
}

// corrected returns the estimate and its standard error.
func (c chosen) corrected(lambda float64) (value, se float64) {
	n := len(c.judge)
	value = stat.SumOf(n, func(i int) float64 { return c.each(i, lambda) }) / float64(n)
	squares := stat.SumOf(n, func(i int) float64 {
		d := c.each(i, lambda) - value
		return d * d
	})
	return value, math.Sqrt(squares / float64(n-1) / float64(n))
}

// fits reports whether the labels stand for about as many items as there are. If
// all items were in the draw, they do so but for chance.
func (c chosen) fits() bool {
	stands := total(c.inverse)
	variance := sum(c.inverse, func(x float64) float64 { return x * math.Max(0, x-1) })
	return math.Abs(stands-float64(len(c.inverse))) <= 4*math.Sqrt(variance)
}

// softened returns the estimate and its standard error as if two more labels had
// been drawn, at the ends of the range, from items that nothing else is known of.
func (c chosen) softened(lambda float64, labels int, r stat.Range) (value, se float64) {
	n := float64(len(c.judge))
	inverse := n / float64(labels)
	mean := lambda * total(c.judge) / n
	ends := make([]float64, 0, 4)
	for _, y := range []float64{r.Lower, r.Upper} {
		for _, f := range []float64{r.Lower, r.Upper} {
			ends = append(ends, lambda*f+(y-lambda*f)*inverse)
		}
	}
	unlabelled := 2 * (inverse - 1)
	size := n + 2*inverse
	sums := stat.SumOf(len(c.judge), func(i int) float64 { return c.each(i, lambda) }) + total(ends)/2 + unlabelled*mean
	value = sums / size
	squares := stat.SumOf(len(c.judge), func(i int) float64 {
		d := c.each(i, lambda) - value
		return d * d
	}) + sum(ends, func(x float64) float64 { return (x - value) * (x - value) })/2 + unlabelled*(mean-value)*(mean-value)
	return value, math.Sqrt(squares / (size - 1) / size)
}

// active estimates the mean of all items from labels that were drawn with unequal
// probabilities. With fewer than 15 labels the judge is left out.
func active(items []Item, o stat.Options) Hybrid {
	var c chosen
	labels, known := 0, true
	for _, it := range items {
		if it.Human != nil && it.Probability == 0 { // it was not in the draw
			continue
		}
		c.judge = append(c.judge, it.Judge)
		if it.Human == nil {
			c.human, c.inverse = append(c.human, 0), append(c.inverse, 0)
			known = known && it.Probability > 0
			continue
		}
		labels++
		c.human, c.inverse = append(c.human, *it.Human), append(c.inverse, 1/it.Probability)
	}
	h := Hybrid{Estimate: o.Estimate("active_ppi")}
	h.Source, h.N, h.Items, h.Clusters, h.NEff = stat.SourceHybrid, labels, labels, labels, float64(labels)
	h.Assume("items were drawn for labels with the stated probabilities")
	if !known && !c.fits() {
		h.Abstain(stat.StatusNotIdentified, "the labels stand for another number of items than there are: some were not in the draw")
		return h
	}
	lambda := 0.0
	if labels < minLabels {
		h.Source, h.Method = stat.SourceHuman, "inverse_probability"
	} else {
		lambda = c.tuned()
	}
	value, se := c.corrected(lambda)
	h.Value, h.Lambda = &value, &lambda
	if se > 0 {
		h.SE = &se
	}
	h.DF = ptr(float64(labels + 1)) // as if two more had been drawn
	if labels < 2 {
		h.Abstain(stat.StatusInsufficient, "one label")
		return h
	}
	if o.Range == nil {
		if se == 0 {
			h.Abstain(stat.StatusDegenerate, "the labels do not vary, and without a range nothing bounds what was not observed")
			return h
		}
		half := stat.TCritical(o.Alpha(), float64(labels-1)) * se
		h.DF = ptr(float64(labels - 1))
		h.Between(value-half, value+half, o.Level, "active_ppi_t")
	} else {
		soft, softSE := c.softened(lambda, labels, *o.Range)
		half := stat.TCritical(o.Alpha(), *h.DF) * softSE
		h.within(soft-half, soft+half, o, "active_ppi_adjusted_t")
	}
	switch {
	case o.Range == nil && labels < fewUnbounded:
		h.Weaken("fewer than 200 labels of scores without a range")
	case labels < fewLabels:
		h.Weaken("fewer than 50 labels")
	}
	return h
}
