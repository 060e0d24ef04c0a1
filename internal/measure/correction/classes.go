package correction

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/assayhq/assay/internal/measure/stat"
)

// mostCondition is how much a solved system may magnify an error before nothing
// is left of the answer.
const mostCondition = 50

// Shares estimates how often people would give each label, from how often the
// judge gives it and from what the judge said where people's labels are known:
// known[a][b] counts items that the judge calls a and people b. It assumes what
// RoganGladen assumes.
func Shares(given []int, known [][]int, o stat.Options) ([]stat.Estimate, error) {
	o, err := o.Checked()
	if err != nil {
		return nil, err
	}
	t, err := newTransport(given, known)
	if err != nil {
		return nil, err
	}
	k := len(given)
	out := make([]stat.Estimate, k)
	for c := range out {
		e := o.Estimate("class_shares")
		n := int(t.n)
		e.Source, e.N, e.Items, e.Clusters, e.NEff = stat.SourceHybrid, n, n, n, t.n
		e.Assume("the judge errs as often on these items as on those with labels")
		out[c] = e
	}
	abstain := func(s stat.Status, why string) ([]stat.Estimate, error) {
		for c := range out {
			out[c].Abstain(s, why)
		}
		return out, nil
	}
	if t.n == 0 || slices.Min(t.sizes) < minOfKind {
		return abstain(stat.StatusInsufficient, "fewer than 10 labels of one kind, or no items")
	}
	raw, condition := solve(t.matrix(0), t.marginal(0))
	if !(condition <= mostCondition) {
		return abstain(stat.StatusNotIdentified, "the judge hardly tells some of the labels apart")
	}
	shares := simplex(raw)
	moved := slices.Min(raw) < -1e-9
	drawn, seed := t.draw(o)
	for c := range out {
		e := &out[c]
		e.Value = ptr(shares[c])
		values := drawn[c]
		if len(values) < o.Replicates*9/10 {
			e.Abstain(stat.StatusNotIdentified, "the judge hardly tells some of the labels apart")
			continue
		}
		slices.Sort(values)
		e.Seed = &seed
		e.Between(stat.SortedQuantile(values, o.Alpha()/2), stat.SortedQuantile(values, 1-o.Alpha()/2), o.Level, "percentile")
		if moved {
			e.Warn("the judge's error rates do not fit these items")
		}
		if *e.CI.Lower == *e.CI.Upper {
			e.Abstain(stat.StatusNotIdentified, "every draw gives the same share")
			continue
		}
		if slices.Min(t.sizes) < fewOfKind {
			e.Weaken("fewer than 30 labels of one kind")
		}
	}
	return out, nil
}

// transport carries error rates from items with labels to others.
type transport struct {
	given []float64
	known [][]float64 // judge by human
	sizes []float64   // of the columns
	n     float64
}

func newTransport(given []int, known [][]int) (transport, error) {
	k := len(given)
	if k < 2 || k > 50 || len(known) != k {
		return transport{}, malformed("%d labels, and %d rows of known ones", k, len(known))
	}
	t := transport{sizes: make([]float64, k)}
	for a, x := range given {
		if x < 0 || len(known[a]) != k {
			return transport{}, malformed("label %d: %d items, %d columns", a, x, len(known[a]))
		}
		t.given = append(t.given, float64(x))
		t.n += float64(x)
		row := make([]float64, k)
		for b, y := range known[a] {
			if y < 0 {
				return transport{}, malformed("label %d: %d items", a, y)
			}
			row[b] = float64(y)
			t.sizes[b] += float64(y)
		}
		t.known = append(t.known, row)
	}
	return t, nil
}

// matrix is how often the judge gives each label to items of each kind. Extra
// cases are spread over all labels.
func (t transport) matrix(extra float64) [][]float64 {
	k := float64(len(t.given))
	m := make([][]float64, len(t.given))
	for a, row := range t.known {
		m[a] = make([]float64, len(row))
		for b, x := range row {
			m[a][b] = (x + extra/k) / (t.sizes[b] + extra)
		}
	}
	return m
}

// marginal is how often the judge gives each label to the items in question.
func (t transport) marginal(extra float64) []float64 {
	q := make([]float64, len(t.given))
	for a, x := range t.given {
		q[a] = (x + extra/float64(len(q))) / (t.n + extra)
	}
	return q
}

// draw returns the shares on samples of both kinds of items. Two cases are added
// to each kind of known items, and the square of z to the others, as Lang and
// Reiczigel do for two labels.
func (t transport) draw(o stat.Options) (shares [][]float64, seed string) {
	random, seed := o.Seed.Draws("class_shares")
	z := stat.NormalCritical(o.Alpha())
	k := len(t.given)
	m, q := t.matrix(2), t.marginal(z*z)
	shares = make([][]float64, k)
	column := make([]float64, k)
	for range o.Replicates {
		drawn := make([][]float64, k)
		for a := range drawn {
			drawn[a] = make([]float64, k)
		}
		for b := range k {
			for a := range k {
				column[a] = m[a][b]
			}
			size := int(t.sizes[b]) + 2
			for a, x := range multinomial(random, size, column) {
				drawn[a][b] = x / float64(size)
			}
		}
		size := int(math.Round(t.n + z*z))
		marginal := multinomial(random, size, q)
		for a := range marginal {
			marginal[a] /= float64(size)
		}
		if x, condition := solveShares(drawn, marginal); condition <= mostCondition {
			for c := range x {
				shares[c] = append(shares[c], x[c])
			}
		}
	}
	return shares, seed
}

// multinomial spreads n cases over labels.
func multinomial(random *rand.Rand, n int, p []float64) []float64 {
	out := make([]float64, len(p))
	left := 1.0
	for i, x := range p {
		if n == 0 {
			break
		}
		if i == len(p)-1 || x >= left {
			out[i] = float64(n)
			break
		}
		out[i] = distuv.Binomial{N: float64(n), P: x / left, Src: random}.Rand()
		n -= int(out[i])
		left -= x
	}
	return out
}

// solveShares solves matrix times shares = marginal, and moves the answer to the
// nearest shares that are at least zero and add up to one. The condition says how
// much the system magnifies errors.
func solveShares(matrix [][]float64, marginal []float64) (shares []float64, condition float64) {
	shares, condition = solve(matrix, marginal)
	if shares == nil {
		return nil, condition
	}
	return simplex(shares), condition
}

// solve is the same without the move.
func solve(matrix [][]float64, marginal []float64) (shares []float64, condition float64) {
	inverse, ok := invert(matrix)
	if !ok {
		return nil, math.Inf(1)
	}
	shares = make([]float64, len(marginal))
	for a, row := range inverse {
		for b, x := range row {
			shares[a] += x * marginal[b]
		}
	}
	return shares, norm(matrix) * norm(inverse)
}

// norm is the largest sum of a column.
func norm(m [][]float64) float64 {
	most := 0.0
	for b := range m {
		var sum float64
		for a := range m {
			sum += math.Abs(m[a][b])
		}
		most = math.Max(most, sum)
	}
	return most
}

// invert inverts a square matrix by elimination.
func invert(matrix [][]float64) ([][]float64, bool) {
	k := len(matrix)
	m, inverse := make([][]float64, k), make([][]float64, k)
	for a := range k {
		m[a], inverse[a] = slices.Clone(matrix[a]), make([]float64, k)
		inverse[a][a] = 1
	}
	for c := range k {
		pivot := c
		for r := c + 1; r < k; r++ {
			if math.Abs(m[r][c]) > math.Abs(m[pivot][c]) {
				pivot = r
			}
		}
		if math.Abs(m[pivot][c]) < 1e-12 {
			return nil, false
		}
		m[c], m[pivot] = m[pivot], m[c]
		inverse[c], inverse[pivot] = inverse[pivot], inverse[c]
		scale := m[c][c]
		for j := range k {
			m[c][j] /= scale
			inverse[c][j] /= scale
		}
		for r := range k {
			if f := m[r][c]; r != c && f != 0 {
				for j := range k {
					m[r][j] -= f * m[c][j]
					inverse[r][j] -= f * inverse[c][j]
				}
			}
		}
	}
	return inverse, true
}

// simplex returns the nearest numbers that are at least zero and add up to one.
func simplex(x []float64) []float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	var sum, shift float64
	for i, v := range sorted {
		sum += v
		if t := (sum - 1) / float64(i+1); v > t {
			shift = t
		}
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Max(0, v-shift)
	}
	return out
}
