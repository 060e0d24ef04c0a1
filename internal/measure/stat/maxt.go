package stat

import (
	"math"
	"slices"
)

// Pair is what two runs measured with one metric.
type Pair struct {
	Name                string
	Baseline, Candidate []Observation
}

// Together is what several metrics of the same items say, looked at together.
type Together struct {
	// P is a two-sided p-value for each metric, adjusted for the others. It is
	// nil where a metric shows no difference at all or has no matched items.
	P []*float64 `json:"p"`
	// Critical is what a metric's difference, in standard errors, has to exceed
	// for its interval to hold together with the others'.
	Critical *float64 `json:"critical"`
	Clusters int      `json:"clusters"`
	Method   string   `json:"method"`
	Seed     string   `json:"seed,omitzero"`
}

// MaxT tests several metrics of the same items at once. The signs of all
// differences of a cluster are flipped together, so that metrics which move
// together cost less than Holm's adjustment takes.
func MaxT(metrics []Pair, o Options) (Together, error) {
	o, err := o.Checked()
	if err != nil {
		return Together{}, err
	}
	out := Together{P: make([]*float64, len(metrics)), Method: "max_t_exact"}
	sums, err := clusterSums(metrics, o)
	if err != nil {
		return Together{}, err
	}
	out.Clusters = len(sums)
	if len(sums) < 2 {
		return out, nil
	}
	m := newMaxT(sums, len(metrics))
	var highest []float64
	if len(sums) <= exactFlips {
		highest = make([]float64, 0, 1<<len(sums))
		for signs := range uint64(1) << len(sums) {
			highest = append(highest, m.max([]uint64{signs}))
		}
	} else {
		random, seed := o.Seed.Draws("max_t")
		out.Method, out.Seed = "max_t_random", seed
		signs := make([]uint64, m.tables[0].words())
		highest = []float64{math.Inf(1)} // the data themselves
		for range drawnFlips(len(sums)) {
			fill(signs, random)
			highest = append(highest, m.max(signs))
		}
	}
	slices.Sort(highest)
	for j := range metrics {
		if m.norm[j] == 0 {
			continue
		}
		at, _ := slices.BinarySearch(highest, m.observed(j)*(1-1e-12))
		out.P[j] = ptr(float64(len(highest)-at) / float64(len(highest)))
	}
	out.Critical = finite(highest[min(len(highest)-1, int(math.Ceil(o.Level*float64(len(highest))))-1)])
	return out, nil
}

// maxT holds, for each metric, the sums over clusters and their length.
type maxT struct {
	tables []flips
	norm   []float64
	sums   []float64 // over all clusters
}

func newMaxT(sums [][]float64, metrics int) maxT {
	m := maxT{make([]flips, metrics), make([]float64, metrics), make([]float64, metrics)}
	column := make([]float64, len(sums))
	for j := range metrics {
		for i := range sums {
			column[i] = sums[i][j]
		}
		m.tables[j], m.sums[j] = newFlips(column), total(column)
		m.norm[j] = math.Sqrt(SumOf(len(column), func(i int) float64 { return column[i] * column[i] }))
	}
	return m
}

// observed is a metric's difference in standard errors. Flipping signs leaves
// the standard error as it is.
func (m maxT) observed(j int) float64 { return math.Abs(m.sums[j]) / m.norm[j] }

// max is the largest difference of any metric under a pattern of signs.
func (m maxT) max(signs []uint64) float64 {
	var highest float64
	for j, f := range m.tables {
		if m.norm[j] > 0 {
			highest = math.Max(highest, math.Abs(f.sum(signs))/m.norm[j])
		}
	}
	return highest
}

// clusterSums returns the summed differences of each cluster, one for each
// metric. Clusters stand in the order of their sums, so that the order of rows
// does not decide which signs they get.
func clusterSums(metrics []Pair, o Options) ([][]float64, error) {
	index := map[string]int{}
	var sums [][]float64
	for j, metric := range metrics {
		a, err := gather(metric.Baseline, &o)
		if err != nil {
			return nil, inputErrorf("metric %q: baseline: %w", metric.Name, err)
		}
		b, err := gather(metric.Candidate, &o)
		if err != nil {
			return nil, inputErrorf("metric %q: candidate: %w", metric.Name, err)
		}
		m, err := matchItems(a, b, o.Weighted)
		if err != nil {
			return nil, inputErrorf("metric %q: %w", metric.Name, err)
		}
		own := map[string]*sum{}
		m.scored(o).each(m, o, func(cluster string, difference float64) {
			s := own[cluster]
			if s == nil {
				s = &sum{}
				own[cluster] = s
			}
			s.add(difference)
		})
		for cluster, s := range own {
			n, ok := index[cluster]
			if !ok {
				n = len(sums)
				index[cluster] = n
				sums = append(sums, make([]float64, len(metrics)))
			}
			sums[n][j] = s.total()
		}
	}
	slices.SortFunc(sums, slices.Compare[[]float64])
	return sums, nil
}

// each visits the differences with the name of their cluster. An item without
// one is named after itself; the name cannot be that of a cluster.
func (p pairs) each(m *match, o Options, visit func(cluster string, difference float64)) {
	at := 0
	for i, j := range m.partner {
		r := &m.a.rows[m.a.items[i].row]
		if j < 0 || m.a.items[i].scored == 0 || m.b.items[j].scored == 0 || o.Weighted && r.Weight == 0 {
			continue
		}
		name := "cluster " + r.Cluster
		if r.Cluster == "" {
			name = "item " + r.Item
		}
		visit(name, p.d.weight(at)*p.d.x[at])
		at++
	}
}
