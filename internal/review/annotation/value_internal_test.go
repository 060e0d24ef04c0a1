package annotation

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/review/label"
)

func TestScaleOfValues(t *testing.T) {
	t.Parallel()
	rated := func(all ...float64) (out []Vote) {
		for _, r := range all {
			out = append(out, Vote{Rating: r, Label: ratingText(r)})
		}
		return out
	}
	one, ten, zero := 1.0, 10.0, 0.0
	wide := label.Schema{Fields: []label.Field{{Key: "rating", Type: label.FieldNumber, Min: &zero, Max: &ten}}}
	part := label.Schema{Fields: []label.Field{{Key: "rating", Type: label.FieldNumber, Min: &zero, Max: &one}}}
	var many []Vote
	for i := range 101 {
		many = append(many, Vote{Label: strconv.Itoa(i)})
	}
	for name, x := range map[string]struct {
		task   Task
		all    []Vote
		labels []string
		why    string
	}{
		"whole ratings have all steps": {Task{Type: label.Rating, Schema: wide}, rated(10, 2), []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}, ""},
		"others have those given":      {Task{Type: label.Rating, Schema: part}, rated(.75, .5, 1), []string{"0.5", "0.75", "1"}, ""},
		"labels without a schema":      {Task{Type: label.Pairwise}, []Vote{{Label: "b"}, {Label: "a"}, {Label: "b"}}, []string{"a", "b"}, ""},
		"options in their order":       {Task{Type: label.Classification, Schema: label.Schema{Fields: []label.Field{{Key: "k", Type: label.FieldChoice, Options: []string{"z", "", "a"}}}}}, nil, []string{"z", "a"}, ""},
		"one label is no scale":        {Task{Type: label.Classification}, []Vote{{Label: "a"}}, []string{"a"}, "there is only one label; a label schema says which others there are"},
		"more than a hundred labels":   {Task{Type: label.Classification}, many, nil, "there are more than 100 different labels"},
	} {
		s, why := x.task.Labels(x.all)
		require.Equal(t, x.why, why, name)
		if x.labels != nil {
			require.Equal(t, x.labels, s.Labels, name)
		}
		require.Equal(t, x.task.Type == label.Rating, s.Ordered, name)
	}
}
