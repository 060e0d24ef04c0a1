package annotate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/command/client/api"
)

// field is one thing that a person is asked about an item.
type field struct {
	name     string
	required bool
	// options are answered with one key. Without any, the person writes a line.
	options []option
	hint    string
	read    func(line string) (any, error)
	put     func(*api.AnnotationValue, any)
}

// option is a key and the value that it stands for.
type option struct {
	key   rune
	text  string
	value any
}

// mostKeys is how many options keys can stand for: 1 to 9.
const mostKeys = 9

// fieldsOf is what a task asks about an item whose answer was output.
func fieldsOf(t api.AnnotationTask, output jsontext.Value) (all []field) {
	switch t.Type {
	case "rating":
		all = append(all, ratingField(t.LabelSchema))
	case "free_text":
		all = append(all, field{name: "text", required: true, hint: "Write your answer.", read: text, put: func(v *api.AnnotationValue, x any) { said := x.(string); v.Feedback = &said }})
	case "correction":
		all = append(all, correctionField(output))
	}
	main := mainField(t.LabelSchema)
	for _, f := range t.LabelSchema.Fields {
		if f.Key == "rating" && t.Type == "rating" {
			continue
		}
		all = append(all, labelField(f, f.Key == main))
	}
	if len(all) > 0 {
		return all
	}
	if t.Type == "classification" || t.Type == "pairwise" {
		return []field{{name: "label", required: true, hint: "Write a label.", read: text, put: func(v *api.AnnotationValue, x any) { said := x.(string); v.Label = &said }}}
	}
	return []field{{name: "labels", required: true, hint: "Write labels with commas between them.", read: freeLabels, put: func(v *api.AnnotationValue, x any) { v.Labels = x.(map[string]any) }}}
}

// mainField is the key of the only choice of a schema, which a label is short for.
func mainField(s api.AnnotationLabelSchema) string {
	key, n := "", 0
	for _, f := range s.Fields {
		if f.Type == "choice" {
			key, n = f.Key, n+1
		}
	}
	if n != 1 {
		return ""
	}
	return key
}

// ratingField asks for a rating on the scale of the task: with a digit if all steps
// are digits.
func ratingField(s api.AnnotationLabelSchema) field {
	least, most := 1.0, 5.0
	for _, f := range s.Fields {
		if f.Key == "rating" && f.Min != nil && f.Max != nil {
			least, most = *f.Min, *f.Max
		}
	}
	f := field{name: "rating", required: true, hint: fmt.Sprintf("Write a number from %v to %v.", least, most), read: numberBetween(&least, &most, false)}
	f.put = func(v *api.AnnotationValue, x any) { n := x.(float64); v.Rating = &n }
	if least != math.Trunc(least) || most != math.Trunc(most) || least < 0 || most > 9 {
		return f
	}
	for n := least; n <= most; n++ {
		f.options = append(f.options, option{key: '0' + rune(n), value: n})
	}
	f.options[0].text, f.options[len(f.options)-1].text = "worst", "best"
	return f
}

// correctionField asks what the answer should have been: a text if it was one.
func correctionField(output jsontext.Value) field {
	f := field{name: "correction", required: true, hint: "Write what the answer should have been.", read: text, put: func(v *api.AnnotationValue, x any) { v.CorrectedOutput = x }}
	if kind := output.Kind(); len(output) > 0 && kind != '"' && kind != 'n' {
		f.hint = "Write what the answer should have been, as JSON."
		f.read = func(line string) (any, error) {
			if v := jsontext.Value(line); v.IsValid() && v.Kind() != 'n' {
				return v, nil
			}
			return nil, errors.New("this is not JSON, and the answer to correct is: write an object, a list, a number or a text in quotes")
		}
	}
	return f
}

// labelField asks for a label of the schema.
func labelField(f api.AnnotationLabelField, isMain bool) field {
	out := field{name: f.Key, required: f.Required, put: func(v *api.AnnotationValue, x any) {
		if said, ok := x.(string); ok && isMain {
			v.Label = &said
			return
		}
		if v.Labels == nil {
			v.Labels = map[string]any{}
		}
		v.Labels[f.Key] = x
	}}
	switch f.Type {
	case "choice":
		if len(f.Options) <= mostKeys {
			for i, o := range f.Options {
				out.options = append(out.options, option{key: '1' + rune(i), text: o, value: o})
			}
			return out
		}
		out.hint = "Write one of: " + numbered(f.Options)
		out.read = func(line string) (any, error) { return chosen(f.Options, line) }
	case "boolean":
		out.options = []option{{'1', "yes", true}, {'0', "no", false}}
	case "choices":
		out.hint = "Write some of these, with commas between them: " + numbered(f.Options)
		out.read = func(line string) (any, error) { return several(f.Options, line) }
	case "number", "integer":
		out.hint = "Write a number" + between(f.Min, f.Max) + "."
		out.read = numberBetween(f.Min, f.Max, f.Type == "integer")
	default:
		out.hint, out.read = "Write a text.", text
	}
	return out
}

// numbered lists options with the numbers that can be written in their place.
func numbered(options []string) string {
	all := make([]string, len(options))
	for i, o := range options {
		all[i] = strconv.Itoa(i+1) + " " + o
	}
	return strings.Join(all, " · ")
}

// chosen is the option that was written, by itself or by its number.
func chosen(options []string, line string) (string, error) {
	if slices.Contains(options, line) {
		return line, nil
	}
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(options) {
		return options[n-1], nil
	}
	for _, o := range options {
		if strings.EqualFold(o, line) {
			return o, nil
		}
	}
	return "", fmt.Errorf("%q is not an option: write one of %s", line, strings.Join(options, ", "))
}

// several are the options that were written, each once.
func several(options []string, line string) (any, error) {
	out := []string{}
	for part := range strings.SplitSeq(line, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		one, err := chosen(options, part)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out, nil
}

// freeLabels are labels of a task that does not say which there are.
func freeLabels(line string) (any, error) {
	out := map[string]any{}
	for part := range strings.SplitSeq(line, ",") {
		if name := strings.TrimSpace(part); name != "" {
			out[name] = true
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no label was written: write at least one")
	}
	return out, nil
}

func text(line string) (any, error) { return line, nil }

// numberBetween reads a number within bounds that it may have.
func numberBetween(least, most *float64, whole bool) func(string) (any, error) {
	return func(line string) (any, error) {
		n, err := strconv.ParseFloat(line, 64)
		switch {
		case err != nil || math.IsNaN(n) || math.IsInf(n, 0), least != nil && n < *least, most != nil && n > *most:
			return nil, fmt.Errorf("%q is not a number%s", line, between(least, most))
		case whole && n != math.Trunc(n):
			return nil, fmt.Errorf("%q is not a whole number", line)
		}
		return n, nil
	}
}

func between(least, most *float64) string {
	switch {
	case least != nil && most != nil:
		return fmt.Sprintf(" from %v to %v", *least, *most)
	case least != nil:
		return fmt.Sprintf(" of at least %v", *least)
	case most != nil:
		return fmt.Sprintf(" of at most %v", *most)
	}
	return ""
}
