package report

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Bounds of what a report takes down while results pass by.
const (
	maxWorst   = 12
	maxCodes   = 200       // of errors; more are counted together
	maxSliced  = 1_000_000 // results; slices of longer runs are left out
	maxLabels  = 8         // labels that results are sliced by
	maxSampled = 100_000   // scores of an unbounded metric
	bins       = 20
)

// Findings are what a report says about single results. They are collected while
// the results are read once, in bounded memory.
type Findings struct {
	clusterKey string
	metrics    []Metric

	results, priced int
	errors          map[string]*errorGroup
	worst           []worstItem // the lowest first
	spread          map[string]*spread
	sliceBy         string
	slices          map[string][]stat.Observation
	labels          labelled
	unlabelled      bool // there are too many results
}

// errorGroup is the errors of one code.
type errorGroup struct {
	code, example string
	count         int
}

// worstItem is a result that scored low, with its texts cut short.
type worstItem struct {
	item                    int64
	epoch                   int
	passed                  bool
	status                  string
	overall                 *float64
	input, expected, output excerpt
	scores                  []Score
}

// spread is how the scores of a metric are distributed.
type spread struct {
	low, high float64 // of the bins
	bounded   bool
	counts    [bins]int
	n         int
	// sample is for metrics without a range: all scores, or as many drawn at
	// random.
	sample []float64
	random *rand.Rand
}

// NewFindings makes findings about the run of an id. Results are sliced by their
// clusters if there is a key of clusters, and by their splits otherwise, and by
// their labels.
func NewFindings(run int64, clusterKey string, metrics []Metric) *Findings {
	f := &Findings{clusterKey: clusterKey, metrics: metrics, errors: map[string]*errorGroup{}, spread: map[string]*spread{}, slices: map[string][]stat.Observation{}, sliceBy: "split", labels: labelled{}}
	if clusterKey != "" {
		f.sliceBy = clusterKey
	}
	for i, d := range metrics {
		if d.Kind != metric.Numeric {
			continue
		}
		s := &spread{random: rand.New(rand.NewPCG(uint64(run), uint64(i)))} //nolint:gosec // repeatable, not secret
		if span := d.Range; span != nil {
			s.bounded, s.low, s.high = true, span.Lower, span.Upper
		}
		f.spread[d.Name] = s
	}
	return f
}

// WantsRows reports whether quantiles are worth reading all scores again.
func (f *Findings) WantsRows() bool { return len(f.spread) > 0 && f.results <= maxSliced }

// Add adds one result.
func (f *Findings) Add(r Result) {
	f.results++
	if r.Priced {
		f.priced++
	}
	for _, sc := range r.Scores {
		if s := f.spread[sc.Metric]; s != nil && sc.Value != nil {
			s.add(*sc.Value)
		}
	}
	if r.Status == statusErrored {
		f.addError(r)
	}
	if r.Status == statusPassed || r.Status == statusFailed {
		f.addWorst(r)
	}
	if r.Status != statusSkipped {
		f.addSlice(r)
	}
}

func (f *Findings) addError(r Result) {
	code := r.ErrorCode
	if code == "" {
		code = "unknown"
	}
	g := f.errors[code]
	if g == nil && len(f.errors) >= maxCodes {
		code = "other codes"
		g = f.errors[code]
	}
	if g == nil {
		g = &errorGroup{code: code, example: shorten(r.ErrorMessage, 300).Text}
		f.errors[code] = g
	}
	g.count++
}

// addWorst keeps a result if it is among the lowest. One that scored all there
// is to score is no bad example.
func (f *Findings) addWorst(r Result) {
	if r.Status == statusPassed && (r.Overall == nil || *r.Overall >= 1) {
		return
	}
	w := worstItem{item: r.Item, epoch: r.Epoch, status: r.Status, passed: r.Status == statusPassed, overall: r.Overall}
	at, _ := slices.BinarySearchFunc(f.worst, w, worstItem.compare)
	if at >= maxWorst {
		return
	}
	w.input, w.expected, w.output = excerptOf(r.Input), excerptOf(r.Expected), excerptOf(r.Output)
	for _, sc := range r.Scores {
		sc.Explanation = shorten(sc.Explanation, 300).Text
		w.scores = append(w.scores, sc)
	}
	f.worst = slices.Insert(f.worst, at, w)
	f.worst = f.worst[:min(len(f.worst), maxWorst)]
}

// compare puts failed results before passed ones, low scores before high ones,
// and those without an overall score last.
func (w worstItem) compare(o worstItem) int {
	rank := func(w worstItem) (passed int, overall float64) {
		if w.passed {
			passed = 1
		}
		if w.overall == nil {
			return passed, math.Inf(1)
		}
		return passed, *w.overall
	}
	a, x := rank(w)
	b, y := rank(o)
	return cmp.Or(cmp.Compare(a, b), cmp.Compare(x, y), cmp.Compare(w.item, o.item), cmp.Compare(w.epoch, o.epoch))
}

func (f *Findings) addSlice(r Result) {
	if f.results > maxSliced {
		f.slices, f.labels, f.unlabelled = nil, nil, true
		return
	}
	name := r.Split
	if f.clusterKey != "" {
		name = r.Cluster
	}
	row := stat.Observation{Item: strconv.FormatInt(r.Item, 10), Epoch: r.Epoch}
	if f.clusterKey == "" {
		row.Cluster = r.Cluster // a slice that is a cluster has independent items
	}
	if r.Status == statusPassed {
		row.Score = 1
	}
	f.slices[name] = append(f.slices[name], row)
	if f.labels.rows(f.results) > maxSliced {
		f.unlabelled = true // they would not fit in memory
		for label := range f.labels {
			f.labels[label] = nil
		}
	}
	if !f.unlabelled {
		row.Cluster = r.Cluster
		delete(r.Labels, f.clusterKey) // they are the clusters
		f.labels.add(r.Labels, row)
	}
}

func (s *spread) add(v float64) {
	s.n++
	switch {
	case s.bounded:
		s.counts[s.bin(v)]++
	case len(s.sample) < maxSampled:
		s.sample = append(s.sample, v)
	default:
		if i := s.random.IntN(s.n); i < maxSampled {
			s.sample[i] = v
		}
	}
}

func (s *spread) bin(v float64) int {
	if !(s.high > s.low) {
		return 0
	}
	return min(bins-1, max(0, int(float64(bins)*(v-s.low)/(s.high-s.low))))
}

// settle bins the scores of an unbounded metric, up to its 99th percentile; what
// is above falls into the last bin, and over is how many that are.
func (s *spread) settle() (over int) {
	if s.bounded || len(s.sample) == 0 {
		return 0
	}
	slices.Sort(s.sample)
	s.low, s.high = math.Min(0, s.sample[0]), s.sample[len(s.sample)-1]
	if p99 := s.sample[(len(s.sample)-1)*99/100]; p99 > s.low && s.high > 2*p99 {
		s.high = p99
	}
	s.counts = [bins]int{}
	for _, v := range s.sample {
		if v > s.high {
			over++
		}
		s.counts[s.bin(v)]++
	}
	return over
}
