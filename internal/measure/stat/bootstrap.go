package stat

import (
	"math"
	"slices"
)

// minBootstrap is the number of clusters below which a bootstrap has too few
// distinct samples, and Student's interval takes its place.
const minBootstrap = 8

// Bootstrap estimates any statistic of clusters by drawing them again, with
// replacement. The statistic gets the numbers of the drawn clusters and
// returns not-a-number where it is undefined. The interval is bias-corrected
// and accelerated unless the options ask for plain percentiles.
//
// The order of the clusters decides which are drawn: a caller that wants the
// same digits again keeps it.
func Bootstrap(clusters int, statistic func(draw []int) float64, o Options) (Estimate, error) {
	o, err := o.Checked()
	if err != nil {
		return Estimate{}, err
	}
	if err := o.allows(MethodDefault, MethodBCa, MethodPercentile); err != nil {
		return Estimate{}, err
	}
	if clusters < 0 {
		return Estimate{}, inputErrorf("%d clusters", clusters)
	}
	if statistic == nil {
		return Estimate{}, inputErrorf("no statistic")
	}
	e := o.Estimate("bootstrap")
	bootstrap(&e, clusters, statistic, func() []float64 { return leaveOneOut(clusters, statistic) }, o)
	return e, nil
}

// bootstrapMean fills an estimate of a mean.
func bootstrapMean(e *Estimate, s sample, o Options) limits {
	if s.g < minBootstrap || s.constant() {
		l := populationMean(e, s, o.Range, o.Level)
		if s.g < minBootstrap {
			e.Warn("too few clusters for a bootstrap")
		}
		return l
	}
	// Clusters in the order of what they hold, so that the order of the rows
	// does not decide which are drawn.
	type part struct{ sum, weight float64 }
	sums, weights := s.sums(0), s.weights()
	parts := make([]part, s.g)
	for i := range parts {
		parts[i] = part{sums[i], weights[i]}
	}
	slices.SortFunc(parts, func(a, b part) int {
		if a.sum != b.sum {
			return compareFloat(a.sum, b.sum)
		}
		return compareFloat(a.weight, b.weight)
	})
	l := bootstrap(e, s.g, func(draw []int) float64 {
		var sum, weight float64
		for _, c := range draw {
			sum += parts[c].sum
			weight += parts[c].weight
		}
		return sum / weight
	}, func() []float64 {
		allSums, allWeights := total(sums), total(weights)
		left := make([]float64, len(parts))
		for i, p := range parts {
			left[i] = (allSums - p.sum) / (allWeights - p.weight)
		}
		return left
	}, o)
	e.N, e.Items, e.Value = s.n(), s.n(), ptr(s.mean())
	if v := s.spread(s.mean()); v.clustered > 0 {
		e.NEff = v.kish * v.naive / v.clustered
	}
	return l
}

func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// bootstrap fills an estimate of a statistic. leaveOut returns its values when
// a part of the clusters is left out, or nil if one of them is undefined.
func bootstrap(e *Estimate, clusters int, statistic func([]int) float64, leaveOut func() []float64, o Options) limits {
	e.N, e.Items, e.Clusters, e.NEff = clusters, clusters, clusters, float64(clusters)
	draw := make([]int, clusters)
	for i := range draw {
		draw[i] = i
	}
	if clusters == 0 {
		e.Abstain(StatusInsufficient, noScores)
		return nil
	}
	if e.Value = finite(statistic(draw)); e.Value == nil {
		e.Abstain(StatusUndefined, "the statistic is undefined on these data")
		return nil
	}
	if clusters < 2 {
		e.Abstain(StatusInsufficient, oneUnit)
		return nil
	}
	left := leaveOut()
	if slices.ContainsFunc(left, func(x float64) bool { return finite(x) == nil }) {
		e.Abstain(StatusNotIdentified, "the statistic is undefined without some of the clusters")
		return nil
	}
	if clusters < minBootstrap {
		return jackknife(e, left, o)
	}
	replicates, seed := replicate(clusters, statistic, o)
	e.Seed = &seed
	if len(replicates) < o.Replicates*9/10 {
		e.Abstain(StatusNotIdentified, "the statistic is undefined on more than a tenth of the draws")
		return nil
	}
	if replicates[0] == replicates[len(replicates)-1] {
		return unvaried(e, alike(*e.Value, clusters), o.Range, o.Level)
	}
	r := sample{x: replicates, g: len(replicates)}
	e.SE = ptr(math.Sqrt(r.spread(r.mean()).naive * float64(len(replicates))))
	method := "bca"
	levels := func(alpha float64) (float64, float64) { return alpha / 2, 1 - alpha/2 }
	if o.Method == MethodPercentile {
		method = "percentile"
	} else {
		bias := shareBelow(replicates, *e.Value)
		levels = bca(bias, acceleration(left), float64(len(replicates)))
	}
	l := o.Range.within(func(alpha float64) (float64, float64) {
		low, high := levels(alpha)
		return SortedQuantile(replicates, low), SortedQuantile(replicates, high)
	})
	lower, upper := l(o.Alpha())
	if lower == upper {
		e.Abstain(StatusDegenerate, "nearly all draws have the same value, so they do not tell how much it varies")
		return nil
	}
	e.Between(lower, upper, o.Level, method)
	e.Assume("clusters are independent")
	e.few()
	return l
}

// replicate returns the statistic on samples of the clusters, sorted.
func replicate(clusters int, statistic func([]int) float64, o Options) ([]float64, string) {
	random, seed := o.Seed.Draws("bootstrap")
	out := make([]float64, 0, o.Replicates)
	draw := make([]int, clusters)
	for range o.Replicates {
		o.Step()
		for i := range draw {
			draw[i] = random.IntN(clusters)
		}
		if v := finite(statistic(draw)); v != nil {
			out = append(out, *v)
		}
	}
	slices.Sort(out)
	return out, seed
}

// maxLeft is how many values with something left out are computed. Beyond it
// blocks of clusters are left out instead of single ones, which says as much
// about the acceleration.
const maxLeft = 1000

// leaveOneOut returns the statistic without each of the clusters, or without
// each block of them.
func leaveOneOut(clusters int, statistic func([]int) float64) []float64 {
	blocks := min(clusters, maxLeft)
	left := make([]float64, blocks)
	draw := make([]int, 0, clusters)
	for b := range left {
		draw = draw[:0]
		for i := range clusters {
			if i%blocks != b {
				draw = append(draw, i)
			}
		}
		left[b] = statistic(draw)
	}
	return left
}

// jackknife fills an estimate from the values without each cluster.
func jackknife(e *Estimate, left []float64, o Options) limits {
	g := float64(len(left))
	s := sample{x: left, g: len(left)}
	v := s.spread(s.mean())
	if v.naive == 0 {
		return unvaried(e, alike(*e.Value, len(left)), o.Range, o.Level)
	}
	e.SE, e.DF = ptr(math.Sqrt(v.naive)*(g-1)), ptr(g-1)
	l := o.Range.within(tLimits(*e.Value, *e.SE, *e.DF))
	lower, upper := l(o.Alpha())
	e.Between(lower, upper, o.Level, "jackknife_t")
	e.Warn("too few clusters for a bootstrap")
	e.few()
	return l
}

// shareBelow returns the share of sorted replicates below the value, those that
// equal it counted half, and never none or all of them.
func shareBelow(replicates []float64, value float64) float64 {
	below, _ := slices.BinarySearch(replicates, value)
	above := below
	for above < len(replicates) && replicates[above] == value {
		above++
	}
	b := float64(len(replicates))
	return clamp((float64(below)+float64(above))/2/b, 0.5/b, 1-0.5/b)
}

// acceleration returns how fast the standard error changes with the statistic.
func acceleration(left []float64) float64 {
	mean := total(left) / float64(len(left))
	squares := SumOf(len(left), func(i int) float64 { return (mean - left[i]) * (mean - left[i]) })
	cubes := SumOf(len(left), func(i int) float64 { d := mean - left[i]; return d * d * d })
	if a := cubes / (6 * math.Pow(squares, 1.5)); finite(a) != nil {
		return a
	}
	return 0
}

// bca returns the levels at which to read the replicates, given the share of
// them below the value.
func bca(below, acceleration, replicates float64) limits {
	bias := NormalQuantile(below)
	level := func(z float64) float64 {
		d := 1 - acceleration*(bias+z)
		if d <= 0 { // beyond what the correction can bend
			return clamp(NormalCDF(bias+z), 0.5/replicates, 1-0.5/replicates)
		}
		return NormalCDF(bias + (bias+z)/d)
	}
	return func(alpha float64) (float64, float64) {
		z := NormalCritical(alpha)
		return level(-z), level(z)
	}
}
