package consensus

import (
	"math"
	"slices"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Work is what annotators did on a task.
type Work struct {
	Votes []Vote
	// Repeats are further labels that annotators gave items which they had voted
	// on, to see whether they say the same again. They do not count as votes.
	Repeats []Vote
	// Truth has the labels of gold items.
	Truth Truth
	// Watched are annotators, such as a judge, who have no part in the consensus.
	Watched []string
	// Without is what agreement says about the same votes without each annotator;
	// it is computed if it is nil.
	Without []agreement.Without
}

// QualityOptions say how to grade annotators.
type QualityOptions struct {
	// Required is the accuracy that an annotator has to have, zero is 0.8.
	Required float64
	// Method of the consensus; chosen by the number of votes if it is empty.
	Method Method
	stat.Options
}

// Standing is what gold items say about an annotator.
type Standing string

// The standings. What the interval does not settle is open.
const (
	StandingTrusted      Standing = "trusted"      // the whole interval is above the required accuracy
	StandingFlagged      Standing = "flagged"      // all of it is below
	StandingOpen         Standing = "open"         // it holds the required accuracy
	StandingInsufficient Standing = "insufficient" // too few gold items
)

const (
	defaultRequired = 0.8
	// leastGold is the number of gold items below which an annotator is not graded.
	leastGold = 10
)

// Gold is how an annotator does on items whose label is known.
type Gold struct {
	Items    int           `json:"items" doc:"Gold items that the annotator voted on."`
	Correct  int           `json:"correct" doc:"Those with the right label."`
	Accuracy stat.Estimate `json:"accuracy" doc:"Accuracy with Jeffreys' prior, which counts half an item right and half an item wrong in advance."`
	Standing Standing      `json:"standing" enum:"trusted,flagged,open,insufficient" doc:"trusted: the whole interval is above the required accuracy; flagged: all of it is below; insufficient: fewer than 10 gold items."`
}

// Variety is how much the labels of an annotator vary.
type Variety struct {
	Own   *float64 `json:"own" doc:"Entropy of the annotator's labels in bits; 0 is one label throughout."`
	Peers *float64 `json:"peers" doc:"Entropy of the others' labels of the same items."`
	// Difference of the two: far below zero for somebody who clicks one label.
	Difference stat.Estimate `json:"difference" doc:"Entropy of the annotator's labels minus that of the others'; far below 0 for somebody who gives one label whatever the item."`
}

// Quality is how well an annotator works.
type Quality struct {
	Annotator string        `json:"annotator" doc:"The annotator."`
	Votes     int           `json:"n" doc:"Votes of the annotator."`
	Gold      Gold          `json:"gold" doc:"How the annotator does on items whose label is known."`
	Consensus stat.Estimate `json:"consensus" doc:"Accuracy measured by the consensus of the others, on items that no expert decided; how unsure the others are is taken into account."`
	// Change of alpha without the annotator.
	Change stat.Estimate `json:"alpha_change" doc:"Krippendorff's alpha without the annotator minus that with the annotator: above 0 the annotator lowers agreement."`
	Self   stat.Estimate `json:"self_consistency" doc:"Share of items on which the annotator said the same when asked again; with more than two answers, of pairs of answers."`
	Labels Variety       `json:"labels" doc:"How much the annotator's labels vary, compared with the others'."`
	Time   stat.Estimate `json:"median_ms" doc:"Median time for a vote, in milliseconds."`
}

// Grade says how well each annotator works, in the order of their names. The
// order is not a ranking: intervals that overlap rank nobody.
func Grade(w Work, scale agreement.Scale, o QualityOptions) (all []Quality, err error) {
	defer stat.Stoppable(&err)
	if o.Required == 0 {
		o.Required = defaultRequired
	}
	if !(o.Required > 0 && o.Required < 1) {
		return nil, malformed("required accuracy %v must lie between 0 and 1", o.Required)
	}
	checked, err := o.Checked()
	if err != nil {
		return nil, err
	}
	o.Options = checked
	v, err := read(w.Votes, scale, w.Truth, w.Watched)
	if err != nil {
		return nil, err
	}
	fit, m, err := v.consensus(o.Method, o.Options)
	if err != nil {
		return nil, err
	}
	changes, err := v.changes(w, scale, o.Options)
	if err != nil {
		return nil, err
	}
	again, err := v.again(w, o.Options)
	if err != nil {
		return nil, err
	}
	times, err := v.times(w.Votes, o.Options)
	if err != nil {
		return nil, err
	}
	gold, peers, varieties := v.gold(), m.peers(), v.varieties(o.Options)
	out := make([]Quality, len(v.annotators))
	for j, n := range v.counts() {
		out[j] = Quality{
			Annotator: v.annotators[j], Votes: n, Change: changes[j], Self: again[j], Labels: varieties[j], Time: times[j],
			Consensus: peers[j].estimate(fit, o.Options),
		}
		if out[j].Gold, err = gold[j].graded(o); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// gold counts gold items and those with the right label for each annotator.
func (v *votes) gold() []Gold {
	out := make([]Gold, len(v.annotators))
	for i, truth := range v.truth {
		if truth == unknown {
			continue
		}
		v.each(i, func(by, said int32) {
			out[by].Items++
			if int(said) == truth {
				out[by].Correct++
			}
		})
	}
	return out
}

// graded estimates the accuracy on gold items and compares it with the required
// one.
func (g Gold) graded(o QualityOptions) (Gold, error) {
	e, err := stat.Proportion(g.Correct, g.Items, stat.Options{Level: o.Level, Method: stat.MethodJeffreys})
	if err != nil {
		return g, err
	}
	e.Method, e.Source = "gold_accuracy", stat.SourceHuman
	if g.Items > 0 {
		n := float64(g.Items)
		mean := (float64(g.Correct) + .5) / (n + 1)
		sd := math.Sqrt(mean * (1 - mean) / (n + 2))
		e.Value, e.SE = &mean, &sd
	}
	g.Standing = StandingInsufficient
	if g.Items < leastGold {
		e.Warnings = nil
		e.Abstain(stat.StatusInsufficient, "fewer than 10 gold items")
		g.Accuracy = e
		return g, nil
	}
	switch g.Accuracy = e; {
	case *e.CI.Upper < o.Required:
		g.Standing = StandingFlagged
	case *e.CI.Lower > o.Required:
		g.Standing = StandingTrusted
	default:
		g.Standing = StandingOpen
	}
	return g, nil
}

// changes returns how alpha changes without each annotator.
func (v *votes) changes(w Work, scale agreement.Scale, o stat.Options) ([]stat.Estimate, error) {
	watched := map[string]bool{}
	out := make([]stat.Estimate, len(v.annotators))
	for j, name := range v.annotators {
		watched[name] = v.watched[j]
		out[j] = o.Estimate("krippendorff_alpha_change")
		out[j].Source = stat.SourceHuman
		out[j].Abstain(stat.StatusUndefined, "the annotator has no part in the consensus")
	}
	without := w.Without
	if without == nil {
		ratings := make([]agreement.Rating, 0, len(w.Votes))
		for _, x := range w.Votes {
			if !watched[x.Annotator] {
				ratings = append(ratings, agreement.Rating{Item: x.Item, Rater: x.Annotator, Label: x.Label})
			}
		}
		var err error
		if without, err = agreement.WithoutEach(ratings, scale, stat.SourceHuman, o); err != nil {
			return nil, err
		}
	}
	for _, x := range without {
		if j, ok := slices.BinarySearch(v.annotators, x.Rater); ok && !v.watched[j] {
			out[j] = x.Change
		}
	}
	return out, nil
}

// again estimates how often annotators say the same when asked again.
func (v *votes) again(w Work, o stat.Options) ([]stat.Estimate, error) {
	type key struct{ item, annotator string }
	first, more := make(map[key]string, len(w.Votes)), map[key][]string{}
	for _, x := range w.Votes {
		first[key{x.Item, x.Annotator}] = x.Label
	}
	order := []key{}
	for i, x := range w.Repeats {
		at := key{x.Item, x.Annotator}
		switch label, ok := first[at]; {
		case !ok:
			return nil, malformed("repeat %d: annotator %q has no vote on item %q", i, x.Annotator, x.Item)
		case !slices.Contains(v.labels, x.Label):
			return nil, malformed("repeat %d: label %q is not on the scale", i, x.Label)
		case more[at] == nil:
			order = append(order, at)
			more[at] = []string{label}
		}
		more[at] = append(more[at], x.Label)
	}
	rows, partly := map[string][]stat.Observation{}, map[string]bool{}
	for _, at := range order {
		same, pairs := 0.0, 0.0
		for a, x := range more[at] {
			for _, y := range more[at][a+1:] {
				pairs++
				if x == y {
					same++
				}
			}
		}
		score := same / pairs
		partly[at.annotator] = partly[at.annotator] || score > 0 && score < 1
		rows[at.annotator] = append(rows[at.annotator], stat.Observation{Item: at.item, Score: score, Provenance: stat.Provenance{Source: stat.SourceHuman}})
	}
	out := make([]stat.Estimate, len(v.annotators))
	for j, name := range v.annotators {
		estimate := stat.PassRate
		if partly[name] {
			estimate = stat.Mean
		}
		e, err := estimate(rows[name], stat.Options{Level: o.Level, Range: stat.Unit()})
		if err != nil {
			return nil, err
		}
		e.Method, e.Source, e.FailingClusters = "self_consistency", stat.SourceHuman, nil
		if e.N == 0 {
			e.Warnings = nil
			e.Abstain(stat.StatusInsufficient, "no item was labelled again")
		}
		out[j] = e
	}
	return out, nil
}

// times estimates the median time of votes.
func (v *votes) times(all []Vote, o stat.Options) ([]stat.Estimate, error) {
	rows := map[string][]stat.Observation{}
	for i, x := range all {
		if !(x.Millis >= 0) || math.IsInf(x.Millis, 0) {
			return nil, malformed("vote %d: time %v must be a number of at least 0", i, x.Millis)
		}
		if x.Millis > 0 {
			rows[x.Annotator] = append(rows[x.Annotator], stat.Observation{Item: x.Item, Score: x.Millis})
		}
	}
	out := make([]stat.Estimate, len(v.annotators))
	for j, name := range v.annotators {
		e, err := stat.Quantile(rows[name], .5, stat.Options{Level: o.Level})
		if err != nil {
			return nil, err
		}
		e.Method = "median_time"
		if e.N == 0 {
			e.Warnings = nil
			e.Abstain(stat.StatusInsufficient, "no time was measured")
		}
		out[j] = e
	}
	return out, nil
}
