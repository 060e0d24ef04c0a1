package agreement

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/assayhq/assay/internal/measure/stat"
)

// The smallest panel for which it can be said whether a judge may take a
// person's place.
const (
	minAnnotators = 3
	minShared     = 30
)

// What a person's time is worth in agreement: so much worse a judge may be and
// still take the place of one.
const (
	EpsilonExpert = 0.2
	EpsilonCrowd  = 0.1
)

// Panel is what several people and a judge said about the same items. Values
// are labels of a scale; with Numeric they are scores, and what is near agrees
// more than what is far.
type Panel struct {
	Annotators []map[string]float64 // item to value, for each of the people
	Judge      map[string]float64
	Numeric    bool
}

// Replacement says whether a judge may take the place of one of the people: the
// alternative annotator test.
type Replacement struct {
	Epsilon    float64       `json:"epsilon" doc:"By how much the judge may lose and still be preferred, because it is cheaper."`
	Annotators []Advantage   `json:"annotators" doc:"The judge compared with each of the people."`
	Winning    *float64      `json:"winning_rate" doc:"Share of the people that the judge does better than, at a false discovery rate of 5 %; null if some of them cannot be tested."`
	Advantage  stat.Estimate `json:"advantage" doc:"Chance that the judge agrees with the others at least as well as one of the people does."`
	May        bool          `json:"may_replace" doc:"The judge does better than at least half of them."`
	Status     stat.Status   `json:"status" enum:"ok,fragile,degenerate,insufficient,undefined,not_identified,not_comparable,disconnected,stale,uncalibrated" doc:"Whether there is an answer."`
	Reason     stat.Note     `json:"reason" nullable:"true" doc:"What an answer would need; null if there is one."`
}

// Advantage compares the judge with one of the people.
type Advantage struct {
	Items     int      `json:"n_items" doc:"Items that both rated, and others too."`
	Share     *float64 `json:"share" doc:"Share of the items on which the judge agrees with the others at least as well."`
	P         *float64 `json:"p" doc:"p-value of the judge being worse by epsilon or more; null if there are too few items."`
	PAdjusted *float64 `json:"p_adjusted" doc:"The same, adjusted for the number of people after Benjamini and Yekutieli."`
}

// Replace runs the test. Epsilon is a choice and not an estimate: EpsilonExpert
// where people are dear, EpsilonCrowd where they are not.
func Replace(p Panel, epsilon float64, o stat.Options) (Replacement, error) {
	o, err := o.Checked()
	if err != nil {
		return Replacement{}, err
	}
	if !(epsilon >= 0 && epsilon < 1) {
		return Replacement{}, malformed("epsilon %v must be at least 0 and below 1", epsilon)
	}
	if err := p.check(); err != nil {
		return Replacement{}, err
	}
	r := Replacement{Epsilon: epsilon, Status: stat.StatusOK}
	contests := make([]contest, len(p.Annotators))
	for j := range contests {
		contests[j] = p.against(j)
	}
	if r.Advantage, err = advantage(contests, o); err != nil {
		return Replacement{}, err
	}
	if len(p.Annotators) < minAnnotators {
		r.Status, r.Reason = stat.StatusInsufficient, "fewer than three annotators"
	}
	for _, c := range contests {
		a := Advantage{Items: len(c.items)}
		if len(c.items) > 0 {
			a.Share = ptr(c.share())
		}
		if len(c.items) < minShared {
			r.Status, r.Reason = stat.StatusInsufficient, "an annotator shares fewer than 30 items with others"
		}
		r.Annotators = append(r.Annotators, a)
	}
	if r.Status != stat.StatusOK {
		r.Advantage.Weaken(string(r.Reason))
		return r, nil
	}
	raw, adjusted, err := tested(contests, epsilon)
	if err != nil {
		return Replacement{}, err
	}
	for j := range r.Annotators {
		r.Annotators[j].P, r.Annotators[j].PAdjusted = &raw[j], &adjusted[j]
	}
	r.Winning = ptr(winning(adjusted))
	r.May = *r.Winning >= 0.5
	return r, nil
}

func (p Panel) check() error {
	for _, who := range slices.Concat(p.Annotators, []map[string]float64{p.Judge}) {
		for _, item := range slices.Sorted(maps.Keys(who)) {
			x := who[item]
			if math.IsNaN(x) || math.Abs(x) > maxValue {
				return malformed("item %q: value %v cannot be compared", item, x)
			}
		}
	}
	return nil
}

// contest is a judge and a person on the items that both rated.
type contest struct {
	items []string
	judge []bool // agrees with the others at least as well as the person
	human []bool // the reverse; both may be true
}

// against compares the judge with annotator j on every item that both rated,
// together with some of the others.
func (p Panel) against(j int) contest {
	var c contest
	for item, own := range p.Annotators[j] {
		judge, ok := p.Judge[item]
		if !ok {
			continue
		}
		var others, ofJudge, ofHuman float64
		for k, other := range p.Annotators {
			if x, ok := other[item]; ok && k != j {
				others++
				ofJudge += p.near(judge, x)
				ofHuman += p.near(own, x)
			}
		}
		if others == 0 {
			continue
		}
		if p.Numeric { // the root of the mean squared error, the smaller the better
			ofJudge, ofHuman = -math.Sqrt(-ofJudge), -math.Sqrt(-ofHuman)
		}
		c.items = append(c.items, item)
		c.judge = append(c.judge, ofJudge >= ofHuman)
		c.human = append(c.human, ofHuman >= ofJudge)
	}
	c.sort()
	return c
}

// near is how much two values agree.
func (p Panel) near(a, b float64) float64 {
	switch {
	case p.Numeric:
		return -(a - b) * (a - b)
	case a == b:
		return 1
	}
	return 0
}

// sort brings the items into the order of their names, since a map has none.
func (c *contest) sort() {
	order := upTo(len(c.items))
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(c.items[a], c.items[b]) })
	sorted := contest{make([]string, len(order)), make([]bool, len(order)), make([]bool, len(order))}
	for to, from := range order {
		sorted.items[to], sorted.judge[to], sorted.human[to] = c.items[from], c.judge[from], c.human[from]
	}
	*c = sorted
}

// share is the part of the items on which the judge does at least as well.
func (c contest) share() float64 {
	n := 0
	for _, won := range c.judge {
		if won {
			n++
		}
	}
	return float64(n) / float64(len(c.judge))
}

// p is the p-value of the judge being worse than the person by epsilon or more.
func (c contest) p(epsilon float64) float64 {
	n := float64(len(c.items))
	d := make([]float64, len(c.items))
	for i := range d {
		if c.human[i] {
			d[i]++
		}
		if c.judge[i] {
			d[i]--
		}
	}
	mean := stat.SumOf(len(d), func(i int) float64 { return d[i] }) / n
	squares := stat.SumOf(len(d), func(i int) float64 { return (d[i] - mean) * (d[i] - mean) })
	if squares == 0 {
		if mean < epsilon {
			return smallestP
		}
		return 1
	}
	t := (mean - epsilon) / math.Sqrt(squares/(n-1)/n)
	if t < 0 {
		return stat.TTest(t, n-1) / 2
	}
	return 1 - stat.TTest(t, n-1)/2
}

// smallestP is the smallest p-value that is shown; nothing is impossible.
const smallestP = 1e-16

// tested returns the p-values of all contests, as they are and adjusted for
// their number.
func tested(contests []contest, epsilon float64) (raw, adjusted []float64, err error) {
	raw = make([]float64, len(contests))
	for j, c := range contests {
		raw[j] = c.p(epsilon)
	}
	adjusted, err = stat.Adjust(raw, stat.AdjustBY)
	return raw, adjusted, err
}

// winning is the share of p-values below 5 %.
func winning(adjusted []float64) float64 {
	n := 0
	for _, p := range adjusted {
		if p < 0.05 {
			n++
		}
	}
	return float64(n) / float64(len(adjusted))
}

// advantage estimates the mean over people of the share of items that the judge
// wins or ties. Every person counts alike, however many items they rated.
func advantage(contests []contest, o stat.Options) (stat.Estimate, error) {
	var rows []stat.Observation
	for j, c := range contests {
		for i, item := range c.items {
			r := stat.Observation{
				Item: itemName(j) + item, Cluster: item, Weight: 1 / float64(len(c.items)),
				Provenance: stat.Provenance{Source: stat.SourceHybrid},
			}
			if c.judge[i] {
				r.Score = 1
			}
			rows = append(rows, r)
		}
	}
	e, err := stat.Mean(rows, stat.Options{Level: o.Level, Range: stat.Unit(), Weighted: true})
	e.Method = "advantage_probability"
	return e, err
}
