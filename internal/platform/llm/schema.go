package llm

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The keywords that the strict modes of providers refuse or leave unheeded. They
// are sent in words instead, at the end of the description, as the vendors' own
// clients do: the model reads them, and whoever asked checks them.
var (
	chatUnheeded     = []string{"minLength", "maxLength", "minProperties", "maxProperties", "uniqueItems"}
	generateUnheeded = []string{"minLength", "maxLength", "minProperties", "maxProperties", "uniqueItems", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern"}
	messagesUnheeded = []string{
		"minLength", "maxLength", "minProperties", "maxProperties", "uniqueItems", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minimum", "maximum", "minItems", "maxItems",
	}
)

// strictSchema is a schema without the keywords of unheeded. The order of members
// stays: models write properties in the order of the schema, and a reason that
// comes before its verdict is another answer than one that comes after.
func strictSchema(schema jsontext.Value, unheeded []string) (jsontext.Value, error) {
	if schema.Kind() != '{' {
		return schema, nil
	}
	var out, said []byte
	description := jsontext.Value(nil)
	err := members(schema, func(name string, v jsontext.Value) error {
		if slices.Contains(unheeded, name) {
			said = appendMember(said, name, v)
			return nil
		}
		var err error
		switch name {
		case "description":
			description = v
			return nil
		case "properties", "$defs", "definitions", "patternProperties":
			v, err = eachMember(v, unheeded)
		case "anyOf", "oneOf", "allOf", "prefixItems":
			v, err = eachElement(v, unheeded)
		case "items", "additionalProperties", "not":
			v, err = strictSchema(v, unheeded)
		}
		out = appendMember(out, name, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(said) > 0 {
		words := strings.TrimSpace(text(description) + " {" + string(said) + "}")
		if description, err = jsontext.AppendQuote(nil, words); err != nil {
			return nil, err
		}
	}
	if description != nil {
		out = appendMember(out, "description", description)
	}
	return slices.Concat([]byte("{"), out, []byte("}")), nil
}

func eachMember(object jsontext.Value, unheeded []string) (jsontext.Value, error) {
	if object.Kind() != '{' {
		return object, nil
	}
	var out []byte
	err := members(object, func(name string, v jsontext.Value) error {
		simple, err := strictSchema(v, unheeded)
		out = appendMember(out, name, simple)
		return err
	})
	return slices.Concat([]byte("{"), out, []byte("}")), err
}

func eachElement(list jsontext.Value, unheeded []string) (jsontext.Value, error) {
	if list.Kind() != '[' {
		return list, nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(list))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var all [][]byte
	for d.PeekKind() != ']' {
		v, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		simple, err := strictSchema(v.Clone(), unheeded)
		if err != nil {
			return nil, err
		}
		all = append(all, simple)
	}
	return slices.Concat([]byte("["), bytes.Join(all, []byte(",")), []byte("]")), nil
}

// members calls do for each member of an object, in its order.
func members(object jsontext.Value, do func(name string, v jsontext.Value) error) error {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		if err := do(key, v.Clone()); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

func appendMember(to []byte, name string, v jsontext.Value) []byte {
	if len(to) > 0 {
		to = append(to, ',')
	}
	to, _ = jsontext.AppendQuote(to, name) // it was read from JSON
	return append(append(to, ':'), v...)
}
