package label_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/review/label"
)

func rated(ratings ...float64) (out []label.Answer) {
	for _, r := range ratings {
		out = append(out, label.Answer{Rating: &r, Scale: label.Scale{Min: 1, Max: 5}})
	}
	return out
}

func labelled(labels ...string) (out []label.Answer) {
	for _, l := range labels {
		out = append(out, label.Answer{Label: l})
	}
	return out
}

func with(key string, values ...string) (out []label.Answer) {
	for _, v := range values {
		a := label.Answer{}
		if v != "" {
			a.Labels = map[string]jsontext.Value{key: jsontext.Value(v)}
		}
		out = append(out, a)
	}
	return out
}

func TestAgreement(t *testing.T) {
	t.Parallel()
	low, high := 0.0, 10.0
	s := label.Schema{Fields: []label.Field{{Key: "words", Type: label.FieldNumber, Min: &low, Max: &high}, {Key: "why", Type: label.FieldText}}}
	for name, one := range map[string]struct {
		answers []label.Answer
		want    float64 // negative if nothing can be compared
	}{
		"one answer":              {rated(3), -1},
		"equal ratings":           {rated(3, 3, 3), 1},
		"ratings at the ends":     {rated(1, 5), 0},
		"ratings one apart":       {rated(3, 4), 0.75},
		"three ratings":           {rated(1, 3, 5), 1 - (2.0+4+2)/3/4},
		"equal labels":            {labelled("a", "a"), 1},
		"two of three":            {labelled("a", "a", "b"), 2.0 / 3},
		"three labels":            {labelled("a", "b", "c"), 1.0 / 3},
		"lists in another form":   {with("flags", `["a", "b"]`, `["a","b"]`), 1},
		"a label that one forgot": {with("flag", `true`, ""), 0.5},
		"numbers with bounds":     {with("words", `2`, `4`), 0.8},
		"numbers without bounds":  {with("other", `2`, `4`), 0.5},
		"texts":                   {with("why", `"So."`, `"Because."`), -1},
		"feedback":                {[]label.Answer{{Feedback: "So."}, {Feedback: "Because."}}, -1},
	} {
		got := label.Agreement(s, one.answers)
		if one.want < 0 {
			require.Nil(t, got, name)
			continue
		}
		require.NotNil(t, got, name)
		require.InDelta(t, one.want, *got, 1e-12, name)
	}
	least := label.Agreement(label.Schema{}, []label.Answer{{Label: "a", Labels: map[string]jsontext.Value{"x": jsontext.Value(`1`)}}, {Label: "a", Labels: map[string]jsontext.Value{"x": jsontext.Value(`2`)}}})
	require.InDelta(t, 0.5, *least, 1e-12, "the part with the least agreement counts")
}

// FuzzAnswers checks and compares answers to tasks: whatever both say, it ends with a
// verdict, and agreement is a share.
func FuzzAnswers(f *testing.F) {
	f.Add(`{"fields":[{"key":"topic","type":"choice","options":["a"],"required":true}]}`, `{"label":"a","labels":{"topic":"a"}}`, `{"rating":3,"rating_scale":{"min":1,"max":5}}`)
	f.Add(`{"fields":[{"key":"n","type":"integer","min":0,"max":3}]}`, `{"labels":{"n":1e308}}`, `{"labels":{"n":-0}}`)
	f.Add(`{"fields":[{"key":"c","type":"choices","options":["a","b"]},{"key":"t","type":"text"},{"key":"b","type":"boolean"}]}`, `{"labels":{"c":["b",1],"t":{},"b":null}}`, `{}`)
	f.Fuzz(func(t *testing.T, schema, one, other string) {
		var s label.Schema
		var a, b label.Answer
		if json.Unmarshal([]byte(schema), &s) != nil || json.Unmarshal([]byte(one), &a) != nil || json.Unmarshal([]byte(other), &b) != nil {
			return
		}
		if s.Check() != nil {
			return
		}
		for _, kind := range []label.Type{label.Rating, label.Classification, label.MultiLabel, label.Pairwise, label.Ranking, label.FreeText, label.Correction} {
			if a.CheckFor(kind, s, "") != nil || b.CheckFor(kind, s, "") != nil {
				continue
			}
			if got := label.Agreement(s, []label.Answer{a.Plain(kind, s), b.Plain(kind, s), a.Plain(kind, s)}); got != nil && !(*got >= 0 && *got <= 1) {
				t.Fatalf("agreement %v", *got)
			}
		}
	})
}
