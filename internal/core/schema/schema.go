package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// MaxBytes bounds the text of a schema.
const MaxBytes = 256 << 10

// Bounds of what a schema is made of.
const (
	maxSubschemas  = 2_000
	maxSchemaChain = 64 // schemas that one value meets one inside the other
)

// Schema is a compiled JSON Schema. It is safe for concurrent use: each check
// takes a compiled copy of its own, as a copy holds the meter of its check.
type Schema struct {
	text string
	idle chan *checker // copies that nobody uses now
}

// idleCheckers is how many copies are kept; more are made while they are needed.
const idleCheckers = 16

// checker is one compiled copy.
type checker struct {
	meter *Work
	// fails is the schema inside a not. Under a not nothing keeps account of
	// what is wrong and where, which for a large value is more than the value.
	fails *jsonschema.Schema
	full  *jsonschema.Schema
}

// Compile compiles the text of a schema. The error continues the name of
// whatever holds the schema: "must be …".
func Compile(text string) (*Schema, error) {
	first, err := newChecker(text)
	if err != nil {
		return nil, err
	}
	s := &Schema{text: text, idle: make(chan *checker, idleCheckers)}
	s.put(first)
	return s, nil
}

func (s *Schema) take() (*checker, error) {
	select {
	case c := <-s.idle:
		return c, nil
	default:
		return newChecker(s.text)
	}
}

func (s *Schema) put(c *checker) {
	c.meter = nil
	select {
	case s.idle <- c:
	default:
	}
}

var errSchema = errors.New("must be a JSON Schema that refers only to itself")

// noLoader keeps a schema from reading files or calling out.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errSchema
}

func newChecker(text string) (c *checker, err error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("must be a JSON Schema of at most %d KiB", MaxBytes>>10)
	}
	meter := NewWork()
	doc, err := meter.Decode([]byte(text))
	if err != nil || !modest(doc) {
		return nil, errSchema
	}
	switch doc.(type) {
	case map[string]any, bool:
	default:
		return nil, errSchema
	}
	defer func() {
		if recover() != nil { // as in matches
			c, err = nil, errSchema
		}
	}()
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseRegexpEngine(func(text string) (jsonschema.Regexp, error) { return CompilePattern(text) })
	const own, not = "schema:own", "schema:not"
	if err := errors.Join(compiler.AddResource(own, doc), compiler.AddResource(not, map[string]any{"not": map[string]any{"$ref": own}})); err != nil {
		return nil, errSchema
	}
	c = &checker{meter: &meter}
	if c.fails, err = compiler.Compile(not); err != nil {
		return nil, errSchema
	}
	if c.full, err = compiler.Compile(own); err != nil {
		return nil, errSchema
	}
	return c, survey(c)
}

// spent is what a check panics with when its work is used up; the library has
// no other way out.
type spent struct{}

// Check reports whether a value that Decode returned matches. For one that does
// not it lists what is wrong, or nothing if that takes too much work.
func (s *Schema) Check(w *Work, v any) (matches bool, wrong []Violation, err error) {
	if !modest(v) {
		return false, nil, ErrTooLarge
	}
	c, err := s.take()
	if err != nil {
		return false, nil, err
	}
	defer s.put(c)
	if matches, err = c.matches(w, v); matches || err != nil {
		return matches, nil, err
	}
	return false, c.explain(v), nil
}

func (c *checker) matches(w *Work, v any) (ok bool, err error) {
	c.meter = w
	defer func() {
		switch recover().(type) {
		case nil:
		case spent:
			ok, err = false, ErrTooCostly
		default: // the library met what its authors did not think of
			ok, err = false, errBroken
		}
	}()
	return c.fails.Validate(v) != nil, nil
}

// modest reports whether all numbers of a document are such as people write.
// The library computes with them exactly, for which 1e999999 needs a million
// digits.
func modest(v any) bool {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return err == nil && len(v) <= 100 && (f != 0 || strings.Trim(string(v), "-0.") == "")
	case []any:
		for _, e := range v {
			if !modest(e) {
				return false
			}
		}
	case map[string]any:
		for _, e := range v {
			if !modest(e) {
				return false
			}
		}
	}
	return true
}
