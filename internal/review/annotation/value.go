package annotation

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	agree "github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/review/label"
)

// Vote is an answer as far as it can be compared with others.
type Vote struct {
	Item     int64
	Person   uuid.UUID
	Asserted bool
	// Status of the item, and how far its answers agree once it is complete.
	Status    ItemStatus
	Agreement *float64
	Millis    int64
	// Label is the value, and Rating the same as a number if the task asks for ratings.
	Label  string
	Rating float64
}

// set reads the value of an answer, and reports whether there is one.
func (v *Vote) set(t Task, a label.Answer) bool {
	if t.Type == label.Rating {
		if a.Rating == nil {
			return false
		}
		v.Rating = *a.Rating + 0 // a negative zero is a zero
		v.Label = ratingText(v.Rating)
		return true
	}
	v.Label = a.Label
	if main := t.Schema.Main(); v.Label == "" && main != nil {
		if text := a.Labels[main.Key]; text.Kind() != '"' || json.Unmarshal(text, &v.Label) != nil {
			return false
		}
	}
	return v.Label != ""
}

func ratingText(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// mostLabels is the largest number of labels that agreement is measured on.
const mostLabels = 100

// Labels is what people choose from, or why there is no such scale. Labels that
// nobody gave are on it if the task names them: chance agreement depends on them.
func (t Task) Labels(all []Vote) (s agree.Scale, why string) {
	if t.Type == label.Rating {
		s.Labels, s.Ordered = ratings(t.Schema.Scale(), all), true
	} else if main := t.Schema.Main(); main != nil {
		s.Labels = slices.DeleteFunc(slices.Clone(main.Options), func(label string) bool { return label == "" })
	} else {
		given := map[string]bool{}
		for _, v := range all {
			given[v.Label] = true
		}
		s.Labels = slices.Sorted(maps.Keys(given))
	}
	switch {
	case len(s.Labels) < 2:
		return s, "there is only one label; a label schema says which others there are"
	case len(s.Labels) > mostLabels:
		return s, "there are more than 100 different labels"
	}
	return s, ""
}

// ratings are the steps of a scale: all of them if people gave whole numbers, else
// those that they gave.
func ratings(s label.Scale, all []Vote) (labels []string) {
	given, whole := map[float64]bool{}, s.Min == math.Trunc(s.Min) && s.Max-s.Min < mostLabels
	for _, v := range all {
		given[v.Rating] = true
		whole = whole && v.Rating == math.Trunc(v.Rating)
	}
	if whole {
		for n := s.Min; n <= s.Max; n++ {
			given[n] = true
		}
	}
	for _, n := range slices.Sorted(maps.Keys(given)) {
		labels = append(labels, ratingText(n))
	}
	return labels
}
