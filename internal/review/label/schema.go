package label

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
)

// FieldType says what values a label can have.
type FieldType string

// The types of labels.
const (
	FieldChoice  FieldType = "choice"  // one of the options
	FieldChoices FieldType = "choices" // some of the options
	FieldNumber  FieldType = "number"
	FieldInteger FieldType = "integer"
	FieldBoolean FieldType = "boolean"
	FieldText    FieldType = "text"
)

// Field is one label that a task asks for.
type Field struct {
	Key      string    `json:"key"`
	Type     FieldType `json:"type"`
	Required bool      `json:"required,omitzero"`
	Options  []string  `json:"options,omitempty"`
	Min      *float64  `json:"min,omitempty"`
	Max      *float64  `json:"max,omitempty"`
}

// Schema says which labels a task asks for. Without fields any label is valid.
type Schema struct {
	Fields []Field `json:"fields"`
}

// maxText is how long a text in a label can be.
const maxText = 10_000

// field is the field of a key, nil if there is none.
func (s Schema) field(key string) *Field {
	for i := range s.Fields {
		if s.Fields[i].Key == key {
			return &s.Fields[i]
		}
	}
	return nil
}

// Main is the field that label is short for: the only choice of the schema. It is nil
// if there is none, or several.
func (s Schema) Main() (found *Field) {
	for i := range s.Fields {
		if s.Fields[i].Type == FieldChoice {
			if found != nil {
				return nil
			}
			found = &s.Fields[i]
		}
	}
	return found
}

// Scale is what ratings lie within: that of the number called rating, or 1 to 5.
func (s Schema) Scale() Scale {
	if f := s.field("rating"); f != nil && f.Min != nil && f.Max != nil {
		return Scale{*f.Min, *f.Max}
	}
	return Scale{1, 5}
}

// Equal reports whether both ask for the same labels.
func (s Schema) Equal(other Schema) bool {
	x, errX := json.Marshal(s)
	y, errY := json.Marshal(other)
	return errors.Join(errX, errY) == nil && string(x) == string(y)
}

// Check refuses a schema that no answer, or any, would satisfy by mistake.
func (s Schema) Check() error {
	var bad []fault.Field
	say := func(i int, name, code, message string) {
		bad = append(bad, fault.Field{In: "body", Path: "/labelSchema/fields/" + strconv.Itoa(i) + "/" + name, Code: code, Message: message})
	}
	seen := map[string]bool{}
	for i, f := range s.Fields {
		if seen[f.Key] {
			say(i, "key", "format", "is the key of another field")
		}
		seen[f.Key] = true
		numeric, choice := f.Type == FieldNumber || f.Type == FieldInteger, f.Type == FieldChoice || f.Type == FieldChoices
		switch {
		case choice && len(f.Options) == 0:
			say(i, "options", "required", "is required for "+string(f.Type))
		case !choice && len(f.Options) > 0:
			say(i, "options", "format", "is only for choice and choices")
		case len(slices.Compact(slices.Sorted(slices.Values(f.Options)))) != len(f.Options):
			say(i, "options", "format", "has the same option twice")
		}
		switch {
		case !numeric && (f.Min != nil || f.Max != nil):
			say(i, "min", "format", "and max are only for number and integer")
		case f.Min != nil && f.Max != nil && *f.Min >= *f.Max:
			say(i, "max", "min", "must be greater than min")
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return fault.New(fault.Validation, "invalid_request", "The label schema is invalid.").WithFields(bad...)
}

// Number reads a JSON number.
func Number(v jsontext.Value) (n float64, ok bool) {
	ok = v.Kind() == '0' && json.Unmarshal(v, &n) == nil
	return n, ok
}

// wrong says what is wrong with a label, empty if nothing is.
func (f Field) wrong(v jsontext.Value) string {
	switch f.Type {
	case FieldChoice:
		return f.wrongOption(v)
	case FieldChoices:
		var list []jsontext.Value
		if v.Kind() != '[' || json.Unmarshal(v, &list) != nil {
			return "must be a list of options"
		}
		for _, one := range list {
			if w := f.wrongOption(one); w != "" {
				return w
			}
		}
	case FieldNumber, FieldInteger:
		n, ok := Number(v)
		switch {
		case !ok:
			return "must be a number"
		case f.Type == FieldInteger && n != float64(int64(n)):
			return "must be an integer"
		case f.Min != nil && n < *f.Min:
			return fmt.Sprint("must be at least ", *f.Min)
		case f.Max != nil && n > *f.Max:
			return fmt.Sprint("must be at most ", *f.Max)
		}
	case FieldBoolean:
		if k := v.Kind(); k != 't' && k != 'f' {
			return "must be true or false"
		}
	case FieldText:
		if v.Kind() != '"' || len(v) > maxText {
			return fmt.Sprintf("must be a text of at most %d bytes", maxText)
		}
	}
	return ""
}

func (f Field) wrongOption(v jsontext.Value) string {
	var text string
	if v.Kind() != '"' || json.Unmarshal(v, &text) != nil || !slices.Contains(f.Options, text) {
		return "must be one of " + strings.Join(f.Options, ", ")
	}
	return ""
}
