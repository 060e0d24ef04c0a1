package judge

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/measure/agreement"
)

// ScaleType is what values a rating has.
type ScaleType string

// The types of scales.
const (
	ScaleBinary      ScaleType = "binary"      // pass or fail
	ScaleNumeric     ScaleType = "numeric"     // any number between two bounds
	ScaleLikert      ScaleType = "likert"      // whole numbers between two bounds
	ScaleCategorical ScaleType = "categorical" // one of several labels
)

// The labels of a binary scale.
const (
	LabelPass = "pass"
	LabelFail = "fail"
)

// Bounds of scales.
const (
	maxLabels = 20
	maxSteps  = 100 // of a likert scale
	maxBound  = 1e6
)

// Scale is what a judge rates on.
type Scale struct {
	Type ScaleType `json:"type"`
	// Min and Max bound a numeric or likert scale.
	Min float64 `json:"min,omitzero"`
	Max float64 `json:"max,omitzero"`
	// Labels are those of a categorical scale.
	Labels []Label `json:"labels,omitzero"`
}

// Label is a category with the score, between 0 and 1, that it stands for.
type Label struct {
	Name        string  `json:"name"`
	Score       float64 `json:"score"`
	Description string  `json:"description,omitzero"`
}

// check says what is wrong with a scale.
func (s Scale) check() (fields []fault.Field) {
	add := func(path, code, message string) {
		fields = append(fields, fault.Field{In: "body", Path: "/scale" + path, Code: code, Message: message})
	}
	bounded := s.Type == ScaleNumeric || s.Type == ScaleLikert
	switch {
	case bounded && !(s.Min < s.Max && math.Abs(s.Min) <= maxBound && math.Abs(s.Max) <= maxBound):
		add("/max", "min", "must be above min, and both between -1000000 and 1000000")
	case s.Type == ScaleLikert && (s.Min != math.Trunc(s.Min) || s.Max != math.Trunc(s.Max) || s.Max-s.Min > maxSteps):
		add("/max", "max", fmt.Sprintf("and min must be whole numbers that are at most %d apart", maxSteps))
	case !bounded && (s.Min != 0 || s.Max != 0):
		add("/min", "format", "and max belong to numeric and likert scales")
	}
	switch {
	case s.Type != ScaleCategorical && len(s.Labels) > 0:
		add("/labels", "format", "belong to categorical scales")
	case s.Type == ScaleCategorical && (len(s.Labels) < 2 || len(s.Labels) > maxLabels):
		add("/labels", "min_items", fmt.Sprintf("must be 2 to %d", maxLabels))
	}
	for i, l := range s.Labels {
		if slices.ContainsFunc(s.Labels[:i], func(o Label) bool { return o.Name == l.Name }) {
			add(fmt.Sprintf("/labels/%d/name", i), "format", "repeats "+l.Name)
		}
	}
	return fields
}

// Rating is a value on a scale.
type Rating struct {
	// Raw is the number that was given; nil on a scale of labels.
	Raw *float64
	// Label is the label that was given, or the number as text.
	Label string
	// Score is the rating between 0 and 1.
	Score float64
}

// labelled is the rating that a label stands for.
func (s Scale) labelled(label string) (Rating, bool) {
	switch s.Type {
	case ScaleBinary:
		switch label {
		case LabelPass:
			return Rating{Label: label, Score: 1}, true
		case LabelFail:
			return Rating{Label: label, Score: 0}, true
		}
	case ScaleCategorical:
		for _, l := range s.Labels {
			if l.Name == label {
				return Rating{Label: label, Score: l.Score}, true
			}
		}
	case ScaleNumeric, ScaleLikert:
		if v, err := strconv.ParseFloat(label, 64); err == nil {
			return s.numbered(v)
		}
	}
	return Rating{}, false
}

// numbered is the rating that a number stands for.
func (s Scale) numbered(v float64) (Rating, bool) {
	switch s.Type {
	case ScaleBinary: // people label with 0 and 1
		if v == 0 || v == 1 {
			return s.labelled([]string{LabelFail, LabelPass}[int(v)])
		}
		return Rating{}, false
	case ScaleCategorical:
		return Rating{}, false
	}
	if v == 0 {
		v = 0 // never -0, which no scale has
	}
	if !(v >= s.Min && v <= s.Max) || s.Type == ScaleLikert && v != math.Trunc(v) {
		return Rating{}, false
	}
	return Rating{Raw: &v, Label: number(v), Score: (v - s.Min) / (s.Max - s.Min)}, true
}

// names are the labels of a scale, the worst first; nil if there are too many to
// count.
func (s Scale) names() (all []string) {
	switch s.Type {
	case ScaleBinary:
		return []string{LabelFail, LabelPass}
	case ScaleCategorical:
		sorted := slices.Clone(s.Labels)
		slices.SortStableFunc(sorted, func(a, b Label) int {
			if a.Score < b.Score {
				return -1
			} else if a.Score > b.Score {
				return 1
			}
			return 0
		})
		for _, l := range sorted {
			all = append(all, l.Name)
		}
	case ScaleLikert:
		for v := s.Min; v <= s.Max; v++ {
			all = append(all, number(v))
		}
	}
	return all
}

// Agreement is the scale as agreement is measured on it: by its labels if there are
// few, and otherwise by whether the answer passed.
func (s Scale) Agreement() agreement.Scale {
	switch s.Type {
	case ScaleCategorical:
		return agreement.Scale{Labels: s.names(), Ordered: s.ordered()}
	case ScaleLikert:
		if names := s.names(); len(names) <= maxLabels {
			return agreement.Scale{Labels: names, Ordered: true}
		}
	}
	return passFail
}

// passFail is the scale of verdicts.
var passFail = agreement.Scale{Labels: []string{LabelFail, LabelPass}, Positive: LabelPass}

// ordered reports whether the labels of a categorical scale have different scores.
func (s Scale) ordered() bool {
	seen := map[float64]bool{}
	for _, l := range s.Labels {
		if seen[l.Score] {
			return false
		}
		seen[l.Score] = true
	}
	return true
}
