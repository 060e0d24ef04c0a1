package correction

import (
	"cmp"
	"slices"
)

// Steps turns a score into a probability that never falls as the score rises. It
// is linear between the ends of blocks, and constant beyond the first and the last.
type Steps struct {
	_      struct{}  `nullable:"true"` // documents say that there may be none
	Scores []float64 `json:"scores" doc:"Ends of blocks, in rising order."`
	Values []float64 `json:"values" doc:"Probabilities at these ends."`
}

// At returns the probability of a score.
func (s Steps) At(score float64) float64 {
	n := len(s.Scores)
	switch i, found := slices.BinarySearch(s.Scores, score); {
	case n == 0:
		return 0
	case found:
		return s.Values[i]
	case i == 0:
		return s.Values[0]
	case i == n:
		return s.Values[n-1]
	default:
		part := (score - s.Scores[i-1]) / (s.Scores[i] - s.Scores[i-1])
		return s.Values[i-1] + part*(s.Values[i]-s.Values[i-1])
	}
}

// Isotonic fits the steps that are nearest to the values: neighbours in the wrong
// order are averaged until none is left. Equal scores are averaged first. Without
// weights all count alike.
func Isotonic(score, value, weight []float64) (Steps, error) {
	if len(score) != len(value) || weight != nil && len(weight) != len(score) {
		return Steps{}, malformed("%d scores, %d values, %d weights", len(score), len(value), len(weight))
	}
	order := make([]int, len(score))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(score[a], score[b]), cmp.Compare(value[a], value[b])) })
	type block struct{ first, last, sum, weight float64 }
	var blocks []block
	for _, i := range order {
		w := 1.0
		if weight != nil {
			w = weight[i]
		}
		if !(w > 0 && w <= maxScore) || !(score[i] >= -maxScore && score[i] <= maxScore) || !(value[i] >= -maxScore && value[i] <= maxScore) {
			return Steps{}, malformed("point %d: score %v, value %v, weight %v", i, score[i], value[i], w)
		}
		if n := len(blocks); n > 0 && blocks[n-1].last == score[i] {
			blocks[n-1].sum += w * value[i]
			blocks[n-1].weight += w
			continue
		}
		blocks = append(blocks, block{score[i], score[i], w * value[i], w})
	}
	kept := blocks[:0]
	for _, b := range blocks {
		for len(kept) > 0 && kept[len(kept)-1].sum*b.weight >= b.sum*kept[len(kept)-1].weight {
			before := kept[len(kept)-1]
			kept = kept[:len(kept)-1]
			b = block{before.first, b.last, before.sum + b.sum, before.weight + b.weight}
		}
		kept = append(kept, b)
	}
	var s Steps
	for _, b := range kept {
		s.Scores, s.Values = append(s.Scores, b.first), append(s.Values, b.sum/b.weight)
		if b.last > b.first {
			s.Scores, s.Values = append(s.Scores, b.last), append(s.Values, b.sum/b.weight)
		}
	}
	return s, nil
}
