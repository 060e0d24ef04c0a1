package consensus

import (
	"math"
	"slices"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Options say how to reach a consensus.
type Options struct {
	// Method is chosen by the number of votes if it is empty.
	Method Method
	// Truth has the items that an expert decided. Their labels are known, and
	// annotators are graded by them. What it says about items without votes does
	// not matter.
	Truth Truth
	// Watched are annotators, such as a judge, who are graded by the consensus and
	// have no part in it. Labels that a judge had a part in must not grade it.
	Watched []string
	// Level of intervals, zero is 0.95.
	Level float64
	// Pause is that of stat.Options.
	Pause func() error
}

// Item is the consensus about an item.
type Item struct {
	Item  string    `json:"item" doc:"The item."`
	Label stat.Note `json:"label" nullable:"true" doc:"Label that the votes come to; null if they are tied or come to nothing."`
	// Posterior is in the order of the scale.
	Posterior    []float64 `json:"posterior" nullable:"true" doc:"Probability of each label, in the order of the scale; null if the consensus is not identified."`
	Probability  *float64  `json:"probability" doc:"Probability of the most probable label."`
	Entropy      *float64  `json:"entropy" doc:"Uncertainty of the label in bits: 0 is certainty, 1 a coin."`
	Votes        int       `json:"n" doc:"Votes that count."`
	Disagreement bool      `json:"disagreement" doc:"Whether annotators gave different labels."`
	Tied         bool      `json:"tied" doc:"Whether the most probable label is not the only one. Ties stay open; none is broken at random."`
	Method       Method    `json:"method" enum:"majority_vote,dawid_skene,one_coin,glad,dawid_skene_ml,one_coin_ml,expert" doc:"How the label was found; expert: an expert decided it."`
}

// Annotator is what the consensus says about an annotator.
type Annotator struct {
	Annotator string        `json:"annotator" doc:"The annotator."`
	Votes     int           `json:"n" doc:"Votes of the annotator."`
	Confusion [][]float64   `json:"confusion" doc:"Probability of each label (columns) that the annotator gives an item whose label is another (rows), in the order of the scale."`
	Accuracy  stat.Estimate `json:"accuracy" doc:"Probability that the annotator is right about an item, as the consensus sees it."`
	// Weight is the information of a vote, zero if votes do not count.
	Weight      float64 `json:"weight_of_evidence" doc:"What a vote of the annotator tells about the label on average, in bits; 0 is guessing, or an annotator whose votes do not count."`
	BelowChance bool    `json:"below_chance" doc:"Whether the annotator is right less often than guessing would be: labels may be swapped, or the task misunderstood."`
	Excluded    bool    `json:"excluded" doc:"Whether the annotator's votes were left out of the consensus for that reason."`
	Watched     bool    `json:"watched" doc:"Whether the annotator is graded by the consensus without a part in it, as a judge is."`
}

// Consensus is what votes come to.
type Consensus struct {
	Status     stat.Status `json:"status" enum:"ok,fragile,insufficient,not_identified" doc:"not_identified: most annotators are right less often than guessing would be, so that nobody can tell who is right."`
	Method     Method      `json:"method" enum:"majority_vote,dawid_skene,one_coin,glad,dawid_skene_ml,one_coin_ml" doc:"How labels were found."`
	Reason     stat.Note   `json:"reason" nullable:"true" doc:"Why this method was chosen; null if it was asked for."`
	Labels     []string    `json:"labels" doc:"Labels of the scale."`
	Prior      []float64   `json:"prior" doc:"Share of each label among the items, in the order of the scale."`
	Items      []Item      `json:"items" doc:"The items, in the order of their names."`
	Annotators []Annotator `json:"annotators" doc:"The annotators, in the order of their names."`
	Rounds     int         `json:"rounds" doc:"Rounds until the posteriors stood still; 0 if votes are counted."`
	Warnings   []string    `json:"warnings" doc:"Reasons for caution."`

	AlgoVersion string `json:"algo_version" doc:"Generation of the algorithms."`
}

// Fit finds the consensus of votes.
func Fit(all []Vote, scale agreement.Scale, o Options) (c Consensus, err error) {
	defer stat.Stoppable(&err)
	v, err := read(all, scale, o.Truth, o.Watched)
	if err != nil {
		return Consensus{}, err
	}
	checked, err := stat.Options{Level: o.Level, Pause: o.Pause}.Checked()
	if err != nil {
		return Consensus{}, err
	}
	c, m, err := v.consensus(o.Method, checked)
	if err != nil {
		return Consensus{}, err
	}
	c.describe(m, checked)
	return c, nil
}

// consensus fits a model, and says how.
func (v *votes) consensus(method Method, o stat.Options) (Consensus, *model, error) {
	c := Consensus{Status: stat.StatusOK, Method: method, Labels: v.labels, AlgoVersion: stat.AlgoVersion}
	if method == "" {
		c.Method, c.Reason = v.choose()
	}
	var m *model
	switch c.Method {
	case MethodMajority:
		m = v.count()
	case MethodDawidSkene, MethodOneCoin:
		m = v.guarded(&c, func(excluded []bool) (*model, func(int) bool) {
			m := newModel(v, c.Method == MethodOneCoin, true, excluded)
			m.fit(mostRounds, o.Step)
			return m, func(j int) bool { return m.accuracy(j) < m.chance() }
		})
	case MethodGLAD:
		if len(v.said) > mostForGLAD {
			return Consensus{}, nil, malformed("%d votes are too many for %s, which takes at most %d; %s takes any number", len(v.said), MethodGLAD, mostForGLAD, MethodDawidSkene)
		}
		m = v.guarded(&c, func(excluded []bool) (*model, func(int) bool) {
			g := newGlad(v, excluded)
			g.fit(gladRounds, o.Step)
			return g.model, func(j int) bool { return g.alpha[j] < 0 }
		})
		if len(v.said) < votesForGLAD*len(v.items) {
			c.warn("fewer than 5 votes per item, which do not tell hard items from poor annotators")
		}
	case MethodDawidSkeneML, MethodOneCoinML:
		m = newModel(v, c.Method == MethodOneCoinML, false, v.watched)
		m.fit(mostRounds, o.Step)
		c.warn("without smoothing a few votes look like certainty")
	default:
		return Consensus{}, nil, malformed("method %q is not known", method)
	}
	c.Rounds = m.rounds
	switch {
	case len(v.items) == 0:
		c.Status = stat.StatusInsufficient
		c.warn("no votes")
	case c.Status != stat.StatusNotIdentified && c.Method != MethodMajority && !m.converged:
		c.Status = stat.StatusFragile
		c.warn("the posteriors did not stand still")
	}
	return c, m, nil
}

// guarded fits a model, leaves out annotators who do worse than guessing, and
// fits again until there are none.
func (v *votes) guarded(c *Consensus, fit func(excluded []bool) (m *model, guesses func(annotator int) bool)) *model {
	excluded := slices.Clone(v.watched)
	all := 0
	for _, watched := range v.watched {
		if !watched {
			all++
		}
	}
	left := all
	for {
		m, guesses := fit(slices.Clone(excluded))
		found := false
		for j := range excluded {
			if !excluded[j] && guesses(j) {
				excluded[j], found = true, true
				left--
			}
		}
		if 2*left < all {
			c.Status = stat.StatusNotIdentified
			c.warn("most annotators are right less often than guessing would be")
			return m
		}
		if !found {
			return m
		}
	}
}

// chance is the accuracy of guessing.
func (v *votes) chance() float64 { return 1 / float64(v.k()) }

// count takes shares of votes for posteriors, with one vote more that is spread
// as the labels are among the items.
func (v *votes) count() *model {
	const extra = 1
	k := v.k()
	m := newModel(v, false, true, v.watched)
	m.start()
	m.maximize()
	for i := range v.items {
		if v.truth[i] != unknown {
			continue
		}
		n := 0.0
		v.counting(i, func(_, _ int32) { n++ })
		if n == 0 {
			copy(m.post[i*k:(i+1)*k], m.prior)
			continue
		}
		for c := range k {
			m.post[i*k+c] = (m.post[i*k+c]*n + extra*m.prior[c]) / (n + extra)
		}
	}
	prior := slices.Clone(m.prior)
	m.maximize() // what annotators do; the shares of the labels are those that were used
	m.prior, m.converged = prior, true
	return m
}

// describe fills a consensus from its model.
func (c *Consensus) describe(m *model, o stat.Options) {
	c.Prior = m.prior
	c.Items = make([]Item, len(m.items))
	for i := range c.Items {
		c.Items[i] = c.item(m, i)
	}
	rights, counts := m.rights(), m.counts()
	c.Annotators = make([]Annotator, len(m.annotators))
	excluded := 0
	for j, name := range m.annotators {
		a := Annotator{Annotator: name, Votes: counts[j], BelowChance: m.accuracy(j) < m.chance(), Excluded: m.excluded[j] && !m.watched[j], Watched: m.watched[j]}
		a.Confusion = make([][]float64, m.k())
		for row := range a.Confusion {
			from := (j*m.k() + row) * m.k()
			a.Confusion[row] = slices.Clone(m.theta[from : from+m.k()])
		}
		a.Accuracy = m.graded(j, rights[j], c.Method, o)
		if a.Excluded {
			excluded++
		}
		if !m.excluded[j] {
			a.Weight = m.information(j)
		}
		if c.Status == stat.StatusNotIdentified {
			a.Weight = 0
			a.Accuracy.Abstain(stat.StatusNotIdentified, "there is no consensus to compare with")
		}
		c.Annotators[j] = a
	}
	if excluded > 0 {
		c.warn("annotators who are right less often than guessing would be are left out")
	}
}

// tie is the difference of two posteriors that rounding alone can cause.
const tie = 1e-9

func (c *Consensus) item(m *model, i int) Item {
	k := m.k()
	it := Item{Item: m.items[i], Method: c.Method}
	tally, first, said := make([]int, k), int32(unknown), 0
	m.counting(i, func(by, label int32) {
		if first >= 0 && label != first {
			it.Disagreement = true
		}
		first = label
		if !m.excluded[by] {
			tally[label]++
			said++
		}
	})
	it.Votes = said
	expert := m.truth[i] != unknown
	if expert {
		it.Method = MethodExpert
	}
	if c.Status == stat.StatusNotIdentified && !expert {
		return it
	}
	it.Posterior = slices.Clone(m.post[i*k : (i+1)*k])
	best, entropy := 0, 0.0
	for label, p := range it.Posterior {
		if p > it.Posterior[best] {
			best = label
		}
		if p > 0 {
			entropy -= p * math.Log2(p)
		}
	}
	entropy = math.Max(0, entropy)
	it.Probability, it.Entropy = &it.Posterior[best], &entropy
	for label, p := range it.Posterior {
		it.Tied = it.Tied || label != best && it.Posterior[best]-p < tie
	}
	if c.Method == MethodMajority && !expert {
		_, it.Tied = most(tally)
	}
	if !it.Tied && (said > 0 || expert) {
		it.Label = stat.Note(m.labels[best])
	}
	return it
}

func (c *Consensus) warn(text string) {
	if !slices.Contains(c.Warnings, text) {
		c.Warnings = append(c.Warnings, text)
	}
}
