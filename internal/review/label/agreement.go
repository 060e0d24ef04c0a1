package label

import (
	"maps"
	"math"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Agreement is how far the answers to one item agree, from 0 to 1: the share of
// people that gave the most frequent answer, and for numbers one minus the mean
// distance between two people, as a share of the scale. Of several parts of an
// answer the one with the least agreement counts. It is nil if nothing can be
// compared: a single answer, or texts, which two people never write alike.
func Agreement(s Schema, answers []Answer) *float64 {
	if len(answers) < 2 {
		return nil
	}
	var least *float64
	note := func(a float64, ok bool) {
		if ok && (least == nil || a < *least) {
			least = &a
		}
	}
	var ratings []float64
	var labels []string
	low, high := math.Inf(1), math.Inf(-1)
	keys := map[string]bool{}
	for _, a := range answers {
		if a.Rating != nil {
			ratings = append(ratings, *a.Rating)
			low, high = min(low, a.Scale.Min), max(high, a.Scale.Max)
		}
		if a.Label != "" {
			labels = append(labels, a.Label)
		}
		for key := range a.Labels {
			keys[key] = true
		}
	}
	note(near(ratings, high-low))
	note(same(labels))
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		note(agreementOn(s.field(key), key, answers))
	}
	return least
}

// agreementOn compares one label of several. A label that a person left out is an
// answer of its own.
func agreementOn(f *Field, key string, answers []Answer) (float64, bool) {
	if f != nil && f.Type == FieldText {
		return 0, false
	}
	var texts []string
	var numbers []float64
	for _, a := range answers {
		v := a.Labels[key]
		if n, ok := Number(v); ok {
			numbers = append(numbers, n)
		}
		texts = append(texts, canonical(v))
	}
	if f != nil && f.Min != nil && f.Max != nil && len(numbers) == len(answers) {
		return near(numbers, *f.Max-*f.Min)
	}
	return same(texts)
}

// canonical is one text for equal values.
func canonical(v jsontext.Value) string {
	if v == nil {
		return ""
	}
	c := v.Clone()
	if c.Canonicalize() != nil {
		return string(v)
	}
	return string(c)
}

// same is the share of the most frequent text.
func same(texts []string) (float64, bool) {
	if len(texts) < 2 {
		return 0, false
	}
	counts, most := map[string]int{}, 0
	for _, t := range texts {
		counts[t]++
		most = max(most, counts[t])
	}
	return float64(most) / float64(len(texts)), true
}

// near is one minus the mean distance of two numbers as a share of the width.
func near(numbers []float64, width float64) (float64, bool) {
	if len(numbers) < 2 || !(width > 0) {
		return 0, false
	}
	sum, pairs := 0.0, 0
	for i, a := range numbers {
		for _, b := range numbers[i+1:] {
			sum += math.Abs(a - b)
			pairs++
		}
	}
	return max(0, 1-sum/float64(pairs)/width), true
}
