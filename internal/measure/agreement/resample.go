package agreement

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/assayhq/assay/internal/measure/stat"
)

const (
	// minUnits is the number of units below which chance agreement is not known
	// well enough to be taken off, and fewUnits that below which it is known badly.
	minUnits = 20
	fewUnits = 50

	// pseudo is how many clusters are added that were rated at random.
	pseudo = 2

	// mostDraws bounds how many items a bootstrap draws: beyond it there are fewer
	// replicates, and never fewer than leastReplicates. The intervals of so many
	// items are so narrow that their ends need no more digits.
	mostDraws       = 20_000_000
	leastReplicates = 400
)

// drawn is a sample of the clusters.
type drawn struct {
	mass  []float64 // what each pattern weighs
	added []added   // the clusters that were rated at random, which the mass holds too
}

// added is a cluster that was rated at random.
type added struct {
	pattern int32
	quarter int32 // the cell that it falls on where a label is compared with all others
}

// statistics are computed from a sample of the clusters, one for each name. They
// are not numbers where they are undefined.
type statistics func(d drawn, out []float64)

// alone makes statistics of a single one.
func alone(f func(mass []float64) float64) statistics {
	return func(d drawn, out []float64) { out[0] = f(d.mass) }
}

// replicates are statistics on samples of the clusters, sorted.
type replicates struct {
	values map[string][]float64 // without those that are undefined
	seed   string
	drawn  int
}

// resample returns each statistic on samples of the clusters. With the clusters
// two others are drawn, which were rated at random, so that agreement without
// exception still has an interval.
func (s *sample) resample(method string, o stat.Options, names []string, f statistics) replicates {
	random, seed := o.Seed.Draws(method)
	quarters, _ := o.Seed.Draws(method + " quarters")
	n := s.clusters + pseudo
	r := replicates{make(map[string][]float64, len(names)), seed, min(o.Replicates, max(leastReplicates, mostDraws/max(1, s.items)))}
	urn := newUrn(s)
	d := drawn{mass: make([]float64, len(s.patterns))}
	out := make([]float64, len(names))
	for range r.drawn {
		o.Step()
		clear(d.mass)
		d.added = urn.draw(random, n, d.mass, d.added[:0])
		for i := range d.added {
			d.added[i].quarter = int32(quarters.IntN(4))
		}
		f(d, out)
		for i, name := range names {
			if v := out[i]; !math.IsNaN(v) {
				r.values[name] = append(r.values[name], v)
			}
		}
	}
	for _, values := range r.values {
		slices.Sort(values)
	}
	return r
}

// urn holds the clusters to draw from.
type urn struct {
	*sample
	each  []int32 // the unit of each cluster; nil if it is quicker to draw how often each unit comes
	times []int32 // how often each unit came; nil as well
}

func newUrn(s *sample) *urn {
	u := &urn{sample: s}
	const binomial = 10 // what a binomial number costs, in single draws
	if len(s.units)*binomial > s.clusters {
		u.each, u.times = make([]int32, 0, s.clusters), make([]int32, len(s.units))
		for i, d := range s.units {
			for range d.count {
				u.each = append(u.each, int32(i))
			}
		}
	}
	return u
}

// draw adds n clusters, drawn with replacement, to what each pattern weighs, and
// those that were rated at random to the list.
func (u *urn) draw(random *rand.Rand, n int, mass []float64, list []added) []added {
	made := int(binomial(random, n, pseudo/float64(u.clusters+pseudo)))
	for range made {
		p := u.chance[random.IntN(len(u.chance))]
		mass[p] += u.size()
		list = append(list, added{pattern: p})
	}
	n -= made
	if u.each != nil {
		clear(u.times)
		for range n {
			u.times[u.each[random.IntN(len(u.each))]]++
		}
		for i, times := range u.times { // in order, which memory is quicker with
			if times > 0 {
				u.put(&u.units[i], float64(times), mass)
			}
		}
		return list
	}
	left := u.clusters
	for i := range u.units {
		d := &u.units[i]
		times := float64(n)
		if d.count < left {
			times = binomial(random, n, float64(d.count)/float64(left))
		}
		u.put(d, times, mass)
		n -= int(times)
		if left -= d.count; n == 0 || left == 0 {
			break
		}
	}
	return list
}

func (u *urn) put(d *unit, times float64, mass []float64) {
	for _, m := range d.parts {
		mass[m.pattern] += times * m.weight
	}
}

func binomial(random *rand.Rand, n int, p float64) float64 {
	return distuv.Binomial{N: float64(n), P: p, Src: random}.Rand()
}

// begin starts an estimate about the sample.
func (s *sample) begin(method string, source stat.Source, o stat.Options) stat.Estimate {
	e := o.Estimate(method)
	e.Source = source
	e.N, e.Items, e.Clusters, e.NEff = s.items, s.items, s.clusters, float64(s.clusters)
	return e
}

// enough reports whether the sample carries an interval, and abstains if not.
func (s *sample) enough(e *stat.Estimate) bool {
	switch {
	case s.clusters == 0:
		e.Abstain(stat.StatusInsufficient, "no rated items")
		return false
	case s.clusters < minUnits:
		e.Abstain(stat.StatusInsufficient, "fewer than 20 independent items")
		return false
	case s.clusters < fewUnits:
		e.Weaken("fewer than 50 independent items")
	}
	return true
}

// between sets an interval, cut to a range.
func between(e *stat.Estimate, lower, upper float64, r stat.Range, o stat.Options, method string) {
	e.Between(clamp(lower, r.Lower, r.Upper), clamp(upper, r.Lower, r.Upper), o.Level, method)
	e.Assume("clusters are independent")
}

// percentiles sets the interval from the replicates of a statistic.
func percentiles(e *stat.Estimate, from replicates, name string, r stat.Range, o stat.Options) {
	values := from.values[name]
	if len(values) < from.drawn*9/10 {
		e.Abstain(stat.StatusNotIdentified, "the statistic is undefined on more than a tenth of the draws")
		return
	}
	e.Seed = &from.seed
	n := float64(len(values))
	mean := stat.SumOf(len(values), func(i int) float64 { return values[i] }) / n
	squares := stat.SumOf(len(values), func(i int) float64 { return (values[i] - mean) * (values[i] - mean) })
	if e.SE == nil && squares > 0 {
		e.SE = ptr(math.Sqrt(squares / (n - 1)))
	}
	lower, upper := stat.SortedQuantile(values, o.Alpha()/2), stat.SortedQuantile(values, 1-o.Alpha()/2)
	between(e, lower, upper, r, o, "percentile")
}

// negligible is a spread that rounding alone can cause, relative to the numbers
// that were spread.
const negligible = 1e-13

// unlessRounding returns a mean square, or zero if rounding numbers of at most
// this size could have caused it.
func unlessRounding(square, most float64) float64 {
	if math.Sqrt(square) <= negligible*most {
		return 0
	}
	return square
}

// largest returns the largest size of numbers.
func largest(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		most = math.Max(most, math.Abs(v))
	}
	return most
}

func ptr[T any](v T) *T { return &v }

func clamp(x, low, high float64) float64 { return math.Min(high, math.Max(low, x)) }

// share and correlation are the ranges of what is computed here.
var (
	share       = stat.Range{Lower: 0, Upper: 1}
	correlation = stat.Range{Lower: -1, Upper: 1}
)
