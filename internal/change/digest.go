package change

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DigestFormat is the version of how digests are made: the SHA-256 of the
// canonical JSON (RFC 8785) of a resource as GET shows it, without its volatile
// fields. Format 1 covered Go values, which nobody else can compute.
const DigestFormat = 2

// Resource is a value that an operation shows. What it shows is a struct with
// JSON names. A field with the tag volatile:"true" changes without an entry, as
// last_used_at does; no digest covers it, and the OpenAPI document marks it with
// x-volatile.
type Resource interface{ Shown() any }

// digest is the digest of a resource, nil if there is none.
func digest(r Resource) ([]byte, error) {
	if r == nil {
		return nil, nil
	}
	text, err := lasting(r)
	if err != nil {
		return nil, err
	}
	if err := text.Canonicalize(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return sum[:], nil
}

// same reports whether two states show the same, apart from volatile fields. The
// order of names does not count; how a number is written does, because values
// are kept as they were sent.
func same(a, b Resource) (bool, error) {
	left, err := lasting(a)
	if err != nil {
		return false, err
	}
	right, err := lasting(b)
	if err != nil {
		return false, err
	}
	for _, text := range []*jsontext.Value{&left, &right} {
		if err := text.Format(jsontext.ReorderRawObjects(true)); err != nil {
			return false, err
		}
	}
	return bytes.Equal(left, right), nil
}

// lasting is what a resource shows, without its volatile fields.
func lasting(r Resource) (jsontext.Value, error) {
	shown := r.Shown()
	text, err := json.Marshal(shown, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	return planOf(reflect.TypeOf(shown)).strip(text)
}

// plan says which fields of a JSON value are volatile; nil means none.
type plan struct {
	volatile map[string]bool
	fields   map[string]*plan
	each     *plan // of every element of a list, or every member of a map
}

var plans sync.Map // of *plan, by reflect.Type

// wrapper is a type whose JSON is that of another type.
type wrapper interface{ Wraps() reflect.Type }

func planOf(t reflect.Type) *plan {
	if known, ok := plans.Load(t); ok {
		return known.(*plan)
	}
	p := newPlan(t)
	plans.Store(t, p)
	return p
}

func newPlan(t reflect.Type) *plan {
	if w, ok := reflect.Zero(t).Interface().(wrapper); ok {
		return planOf(w.Wraps())
	}
	switch t.Kind() {
	case reflect.Pointer:
		return planOf(t.Elem())
	case reflect.Slice, reflect.Array, reflect.Map:
		if each := planOf(t.Elem()); each != nil {
			return &plan{each: each}
		}
	case reflect.Struct:
		p := plan{volatile: map[string]bool{}, fields: map[string]*plan{}}
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || name == "-" {
				continue
			}
			if f.Tag.Get("volatile") == "true" {
				p.volatile[name] = true
			} else if inner := planOf(f.Type); inner != nil {
				p.fields[name] = inner
			}
		}
		if len(p.volatile)+len(p.fields) > 0 {
			return &p
		}
	}
	return nil
}

// strip removes the volatile fields from a value.
func (p *plan) strip(v jsontext.Value) (jsontext.Value, error) {
	if p == nil || v.Kind() == 'n' {
		return v, nil
	}
	if v.Kind() == '[' {
		var list []jsontext.Value
		if err := json.Unmarshal(v, &list); err != nil {
			return nil, err
		}
		for i := range list {
			var err error
			if list[i], err = p.each.strip(list[i]); err != nil {
				return nil, err
			}
		}
		return json.Marshal(list)
	}
	var object map[string]jsontext.Value
	if err := json.Unmarshal(v, &object); err != nil {
		return nil, fmt.Errorf("read shown object: %w", err)
	}
	for name, value := range object {
		inner := p.each
		if inner == nil {
			inner = p.fields[name]
		}
		var err error
		if object[name], err = inner.strip(value); err != nil {
			return nil, err
		}
		if p.volatile[name] {
			delete(object, name)
		}
	}
	return json.Marshal(object, json.Deterministic(true))
}
