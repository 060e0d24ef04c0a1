package stat

import "fmt"

// Trials are the repetitions of one item: how many there were and how many
// passed.
type Trials struct {
	Item    string `json:"item"`
	Cluster string `json:"cluster,omitzero"`
	N       int    `json:"n"`
	Passed  int    `json:"passed"`
	Source  Source `json:"source,omitzero"` // of whoever says that they passed
}

// PassAtK estimates the chance that at least one of k trials of an item passes
// or, if all are to pass, that every one of them does. Items with fewer than k
// trials do not count and are mentioned.
func PassAtK(trials []Trials, k int, all bool, o Options) (Estimate, error) {
	o.Range = Unit()
	o, err := o.Checked()
	if err != nil {
		return Estimate{}, err
	}
	if err := o.allows(MethodDefault, MethodBCa, MethodPercentile); err != nil {
		return Estimate{}, err
	}
	if k < 1 {
		return Estimate{}, inputErrorf("k is %d and must be at least 1", k)
	}
	rows := make([]Observation, 0, len(trials))
	short := 0
	seen := make(map[string]bool, len(trials))
	for i, t := range trials {
		switch {
		case t.Passed < 0 || t.N < t.Passed:
			return Estimate{}, inputErrorf("trials %d: %d of %d passed", i, t.Passed, t.N)
		case seen[t.Item]:
			return Estimate{}, inputErrorf("trials %d: item %q comes twice", i, t.Item)
		}
		seen[t.Item] = true
		if t.N < k {
			short++
			continue
		}
		rows = append(rows, Observation{Item: t.Item, Cluster: t.Cluster, Score: passAtK(t.N, t.Passed, k, all), Provenance: Provenance{Source: t.Source}})
	}
	o.Weighted, o.Estimand = false, EstimandPopulation
	t, err := gather(rows, &o)
	if err != nil {
		return Estimate{}, err
	}
	e := t.mean(o)
	e.Method = fmt.Sprintf("pass_at_%d", k)
	if all {
		e.Method = fmt.Sprintf("pass_hat_%d", k)
	}
	if short > 0 {
		e.Warn(fmt.Sprintf("%d items with fewer than %d trials do not count", short, k))
	}
	return e, nil
}

// TrialsOf counts the trials and passes of each item. Missing scores are
// not trials, or are failed ones if the policy says so; those of an item that cannot
// be scored never are.
func TrialsOf(rows []Observation, policy MissingPolicy) []Trials {
	index := make(map[string]int, len(rows))
	var out []Trials
	for i := range rows {
		r := &rows[i]
		n, ok := index[r.Item]
		if !ok {
			n = len(out)
			index[r.Item] = n
			out = append(out, Trials{Item: r.Item, Cluster: r.Cluster})
		}
		if r.Missing == CauseItem || r.Missing != Present && policy != MissingFail {
			continue
		}
		out[n].Source = out[n].Source.And(r.Source)
		out[n].N++
		if r.Missing == Present && r.Score >= 1 {
			out[n].Passed++
		}
	}
	return out
}

// passAtK is unbiased: it draws k of the n trials without replacement.
func passAtK(n, passed, k int, all bool) float64 {
	chosen := n - passed // none of the draws passes
	if all {
		chosen = passed
	}
	p := 1.0
	for j := range k {
		if chosen-j <= 0 {
			p = 0
			break
		}
		p *= float64(chosen-j) / float64(n-j)
	}
	if all {
		return p
	}
	return 1 - p
}
