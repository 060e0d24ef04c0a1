package label

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
)

// Scale is what a rating lies within.
type Scale struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// Answer is what a person says. An empty field says nothing.
type Answer struct {
	Rating          *float64                  `json:"rating,omitempty"`
	Scale           Scale                     `json:"rating_scale,omitzero"`
	Label           string                    `json:"label,omitempty"`
	Labels          map[string]jsontext.Value `json:"labels,omitempty"`
	Feedback        string                    `json:"feedback,omitempty"`
	CorrectedOutput jsontext.Value            `json:"corrected_output,omitempty"`
	Confidence      *float64                  `json:"confidence,omitempty"`
}

// maxAnswer is how many bytes an answer can have, all fields together.
const maxAnswer = 256 << 10

// Size is how many bytes the answer has.
func (a Answer) Size() int {
	return len(a.Label) + len(a.Feedback) + len(a.CorrectedOutput) + a.labelled()
}

func (a Answer) labelled() (n int) {
	for key, v := range a.Labels {
		n += len(key) + len(v)
	}
	return n
}

// empty reports whether the answer says nothing.
func (a Answer) empty() bool {
	return a.Rating == nil && a.Label == "" && len(a.Labels) == 0 && a.Feedback == "" && a.CorrectedOutput == nil
}

// Plain is an answer to a task in the one form that equal answers share: label and
// rating are written into the field that they are short for, and choices have the
// order of their names, unless their order is the answer.
func (a Answer) Plain(t Type, s Schema) Answer {
	a.Labels = maps.Clone(a.Labels)
	write := func(key string, v any) {
		if a.Labels == nil {
			a.Labels = map[string]jsontext.Value{}
		}
		if text, err := json.Marshal(v); err == nil {
			a.Labels[key] = text
		}
	}
	if main := s.Main(); main != nil && a.Label != "" {
		write(main.Key, a.Label)
		a.Label = ""
	}
	if f := s.field("rating"); f != nil && f.Min != nil && f.Max != nil {
		if a.Rating != nil {
			write(f.Key, *a.Rating)
		}
		a.Rating = nil
	} else if n, ok := Number(a.Labels["rating"]); f != nil && ok {
		// Without bounds of its own the field has the scale of ratings.
		if a.Rating == nil {
			a.Rating = &n
		}
		delete(a.Labels, f.Key)
	}
	for _, f := range s.Fields {
		var chosen []string
		if f.Type != FieldChoices || t == Ranking || a.Labels[f.Key] == nil || json.Unmarshal(a.Labels[f.Key], &chosen) != nil {
			continue
		}
		slices.Sort(chosen)
		write(f.Key, slices.Compact(chosen))
	}
	return a
}

// checker gathers what is wrong with an answer at a place of a body.
type checker struct {
	at     string
	fields []fault.Field
}

func (c *checker) say(field, code, format string, args ...any) {
	c.fields = append(c.fields, fault.Field{In: "body", Path: c.at + "/" + field, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) err() error {
	if len(c.fields) == 0 {
		return nil
	}
	return fault.New(fault.Validation, "invalid_request", "The annotation is invalid.").WithFields(c.fields...)
}

// Check refuses an answer that says nothing or too much, or a rating outside its scale. At is the
// place of the answer in the body.
func (a Answer) Check(at string) error {
	c := checker{at: at}
	if a.empty() {
		c.say("rating", "one_of_required", "is required: send rating, label, labels, feedback or correctedOutput")
	}
	c.size(a)
	c.rating(a)
	return c.err()
}

func (c *checker) size(a Answer) {
	if a.Size() <= maxAnswer {
		return
	}
	largest := "correctedOutput"
	if a.labelled() > len(a.CorrectedOutput) {
		largest = "labels"
	}
	c.say(largest, "length", "is too large: an annotation has at most 256 KiB")
}

func (c *checker) rating(a Answer) {
	switch {
	case a.Scale.Min >= a.Scale.Max:
		c.say("ratingScale", "format", "must have a max that is greater than its min")
	case a.Rating != nil && (*a.Rating < a.Scale.Min || *a.Rating > a.Scale.Max):
		c.say("rating", "min", "must be between %v and %v", a.Scale.Min, a.Scale.Max)
	}
}

// CheckFor refuses an answer that the task did not ask for.
func (a Answer) CheckFor(t Type, s Schema, at string) error {
	c := checker{at: at}
	c.needs(t, a)
	c.size(a)
	c.rating(a)
	if scale := s.Scale(); a.Scale != scale {
		c.say("ratingScale", "format", "must be that of the task, from %v to %v", scale.Min, scale.Max)
	}
	if main := s.Main(); main != nil && a.Label != "" && !slices.Contains(main.Options, a.Label) {
		c.say("label", "enum", "must be one of the options of %s", main.Key)
	}
	if len(s.Fields) > 0 {
		c.labels(s, a)
	}
	return c.err()
}

// needs says which part of the answer a type of task cannot do without.
func (c *checker) needs(t Type, a Answer) {
	switch t {
	case Rating:
		if a.Rating == nil {
			c.say("rating", "required", "is required: the task asks for a rating")
		}
	case Classification, Pairwise:
		if a.Label == "" && len(a.Labels) == 0 {
			c.say("label", "required", "is required: the task asks for a label")
		}
	case MultiLabel, Ranking:
		if len(a.Labels) == 0 {
			c.say("labels", "required", "is required: the task asks for labels")
		}
	case FreeText:
		if a.Feedback == "" {
			c.say("feedback", "required", "is required: the task asks for a text")
		}
	case Correction:
		if a.CorrectedOutput == nil {
			c.say("correctedOutput", "required", "is required: the task asks for a correction")
		}
	}
}

func (c *checker) labels(s Schema, a Answer) {
	for _, key := range slices.Sorted(maps.Keys(a.Labels)) {
		f := s.field(key)
		if f == nil {
			c.say("labels/"+key, "unknown_field", "is not a label of the task")
			continue
		}
		if w := f.wrong(a.Labels[key]); w != "" {
			c.say("labels/"+key, "format", "%s", w)
		}
	}
	for _, f := range s.Fields {
		_, given := a.Labels[f.Key]
		short := a.Label != "" && s.Main() != nil && s.Main().Key == f.Key
		rated := f.Key == "rating" && a.Rating != nil
		if f.Required && !given && !short && !rated {
			c.say("labels/"+f.Key, "required", "is required")
		}
	}
}
