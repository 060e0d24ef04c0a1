package correction

import (
	"fmt"
	"math"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Item is an output that a judge scored, and perhaps a person too.
type Item struct {
	Item    string
	Cluster string   // empty: the item is its own cluster
	Judge   float64  // the judge's score
	Human   *float64 // the person's; nil without a label
	// Probability is the one with which the item was chosen for a label; zero if
	// nobody knows. Where there is a label it decides what the label may be used for.
	// Items without a label have one too where probabilities differ: it says that
	// they were in the draw.
	Probability float64
	Version     string // of the judge
}

// The labels that an estimate needs: below few it is shown as fragile.
const (
	minLabels = 15
	fewLabels = 50
	// fewUnbounded is the same for scores without a range, which nothing keeps
	// from a surprise.
	fewUnbounded = 200
)

// maxScore is the largest score that can be averaged: its square is still a
// number.
const maxScore = 1e100

// malformed says what is wrong with an input.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", stat.ErrInput, fmt.Errorf(format, args...))
}

func ptr[T any](v T) *T { return &v }

func clamp(x, low, high float64) float64 { return math.Min(high, math.Max(low, x)) }

// total is the sum of numbers, rounded once.
func total(x []float64) float64 {
	return stat.SumOf(len(x), func(i int) float64 { return x[i] })
}

// sum is the sum of f over numbers, rounded once.
func sum(x []float64, f func(x float64) float64) float64 {
	return stat.SumOf(len(x), func(i int) float64 { return f(x[i]) })
}

// negligible is a spread that rounding alone can cause, relative to the numbers
// that were spread.
const negligible = 1e-13

// rounding reports whether rounding numbers of at most this size could have caused
// a variance.
func rounding(variance, most float64) bool { return math.Sqrt(variance) <= negligible*most }

// largest returns the largest size of numbers.
func largest(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		most = math.Max(most, math.Abs(v))
	}
	return most
}

// check refuses items that cannot be averaged.
func check(items []Item, o stat.Options) error {
	for i, it := range items {
		scores := []float64{it.Judge}
		if it.Human != nil {
			scores = append(scores, *it.Human)
		}
		for _, x := range scores {
			if math.IsNaN(x) || math.Abs(x) > maxScore || o.Range != nil && (x < o.Range.Lower || x > o.Range.Upper) {
				return malformed("item %d: score %v cannot be averaged or lies outside the range", i, x)
			}
		}
		if !(it.Probability >= 0 && it.Probability <= 1) {
			return malformed("item %d: probability %v must lie between 0 and 1", i, it.Probability)
		}
	}
	return nil
}

// split is items by what they can be used for.
type split struct {
	labelled   []Item
	unlabelled []Item // also those whose label may not be used
	purposive  int    // labels that may not be used
	equal      bool   // all labelled items were chosen with the same probability
	versions   bool   // more than one version of the judge
	clustered  bool
}

func newSplit(items []Item) split {
	s := split{equal: true}
	for _, it := range items {
		s.versions = s.versions || it.Version != items[0].Version
		s.clustered = s.clustered || it.Cluster != ""
		switch {
		case it.Human != nil && it.Probability > 0:
			s.equal = s.equal && (len(s.labelled) == 0 || s.labelled[0].Probability == it.Probability)
			s.labelled = append(s.labelled, it)
		case it.Human != nil:
			s.purposive++
			s.unlabelled = append(s.unlabelled, it)
		default:
			s.unlabelled = append(s.unlabelled, it)
		}
	}
	return s
}
