package itemfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// builder puts an item together from the values of a line.
type builder struct {
	whole map[string]jsontext.Value
	parts map[string][]member
}

type member struct {
	name  string
	value jsontext.Value
}

func newBuilder() *builder {
	return &builder{whole: map[string]jsontext.Value{}, parts: map[string][]member{}}
}

func (b *builder) reset() {
	clear(b.whole)
	for field, list := range b.parts {
		b.parts[field] = list[:0]
	}
}

func placeOf(field string) place {
	name, part, _ := strings.Cut(field, ".")
	return place{name, part}
}

// text adds the text of a cell: JSON if it is an object, a list or a quoted string,
// or if the field is nothing else; a string otherwise.
func (b *builder) text(at place, cell string) error {
	switch at.field {
	case "weight":
		v, err := number(cell)
		if err != nil {
			return err
		}
		return b.value(at, v)
	case "messages", "tools", "assertions":
		v := jsontext.Value(cell)
		if !v.IsValid() {
			return errors.New("must be JSON")
		}
		return b.value(at, v)
	}
	if looksLikeJSON(cell) {
		return b.value(at, jsontext.Value(cell))
	}
	v, err := jsontext.AppendQuote(nil, cell)
	if err != nil {
		return errors.New("is not UTF-8: save the file as UTF-8")
	}
	return b.value(at, v)
}

// looksLikeJSON reports whether a text is an object, a list or a quoted string.
func looksLikeJSON(text string) bool {
	switch text[0] {
	case '{', '[', '"':
		return jsontext.Value(text).IsValid()
	}
	return false
}

// value adds a JSON value.
func (b *builder) value(at place, v jsontext.Value) error {
	if at.field == "split" {
		if s := string(v); s != `"train"` && s != `"dev"` && s != `"test"` {
			return fmt.Errorf("must be train, dev or test, and is %s", s)
		}
	}
	if at.part != "" {
		b.parts[at.field] = append(b.parts[at.field], member{at.part, slices.Clone(v)})
		return nil
	}
	b.whole[at.field] = slices.Clone(v)
	return nil
}

// item is what the values make, in the order of the interface.
func (b *builder) item() (jsontext.Value, error) {
	if b.whole["input"] == nil && len(b.parts["input"]) == 0 {
		return nil, errors.New("has no input")
	}
	out := jsontext.Value{'{'}
	add := func(name string, v jsontext.Value) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(append(out, '"'), name...), '"', ':'), v...)
	}
	for _, field := range slices.Concat(textFields, valueFields) {
		if v := b.whole[field]; v != nil {
			add(field, v)
		} else if list := b.parts[field]; len(list) > 0 {
			add(field, join(list))
		}
	}
	if kind := b.whole["sourceType"]; kind != nil {
		source := append(jsontext.Value(`{"type":`), kind...)
		if id := b.whole["sourceId"]; id != nil {
			source = append(append(source, `,"id":`...), id...)
		}
		add("source", append(source, '}'))
	} else if b.whole["sourceId"] != nil {
		return nil, errors.New("has a sourceId without a sourceType")
	}
	return append(out, '}'), nil
}

// join makes an object of members.
func join(list []member) jsontext.Value {
	slices.SortFunc(list, func(a, b member) int { return strings.Compare(a.name, b.name) })
	out := jsontext.Value{'{'}
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, m.name) // a name of a column is text
		out = append(append(out, ':'), m.value...)
	}
	return append(out, '}')
}
