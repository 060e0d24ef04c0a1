package metric

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Bounds of a schema.
const (
	maxSchema      = 256 << 10 // bytes
	maxSubschemas  = 2_000
	maxSchemaChain = 64 // schemas that one value meets one inside the other
)

// schema is a compiled JSON Schema. It is safe for concurrent use: each check
// takes a compiled copy of its own, as a copy holds the meter of its check.
type schema struct {
	text string
	idle chan *checker // copies that nobody uses now
}

// idleCheckers is how many copies are kept; more are made while they are needed.
const idleCheckers = 16

// checker is one compiled copy.
type checker struct {
	meter *work
	// fails is the schema inside a not. Under a not nothing keeps account of
	// what is wrong and where, which for a large value is more than the value.
	fails *jsonschema.Schema
	full  *jsonschema.Schema
}

// compileSchema compiles the text of a schema. The error continues the name of
// whatever holds the schema: "must be …".
func compileSchema(text string) (*schema, error) {
	first, err := newChecker(text)
	if err != nil {
		return nil, err
	}
	s := &schema{text: text, idle: make(chan *checker, idleCheckers)}
	s.put(first)
	return s, nil
}

func (s *schema) take() (*checker, error) {
	select {
	case c := <-s.idle:
		return c, nil
	default:
		return newChecker(s.text)
	}
}

func (s *schema) put(c *checker) {
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
	if len(text) > maxSchema {
		return nil, fmt.Errorf("must be a JSON Schema of at most %d KiB", maxSchema>>10)
	}
	meter := &work{allowance}
	doc, err := meter.decode([]byte(text))
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
	compiler.UseRegexpEngine(func(text string) (jsonschema.Regexp, error) { return compilePattern(text) })
	const own, not = "metric:schema", "metric:not"
	if err := errors.Join(compiler.AddResource(own, doc), compiler.AddResource(not, map[string]any{"not": map[string]any{"$ref": own}})); err != nil {
		return nil, errSchema
	}
	c = &checker{meter: meter}
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

// checkSchema reports whether the value matches and, if not, what is wrong.
func checkSchema(w *work, s *schema, v any) (complaint string, err error) {
	if !modest(v) {
		return "", errTooLarge
	}
	c, err := s.take()
	if err != nil {
		return "", err
	}
	defer s.put(c)
	ok, err := c.matches(w, v)
	if ok || err != nil {
		return "", err
	}
	return c.complaint(v), nil
}

func (c *checker) matches(w *work, v any) (ok bool, err error) {
	c.meter = w
	defer func() {
		switch recover().(type) {
		case nil:
		case spent:
			ok, err = false, errTooCostly
		default: // the library met what its authors did not think of
			ok, err = false, errBroken
		}
	}()
	return c.fails.Validate(v) != nil, nil
}

// complaintWork is what finding the words for a mismatch may take.
const complaintWork = 20_000_000

// complaint says what is wrong with a value that does not match: the first
// places in their order, and how many more there are.
func (c *checker) complaint(v any) (words string) {
	const general = "The output does not match the schema."
	c.meter = &work{complaintWork}
	defer func() {
		if recover() != nil {
			words = general
		}
	}()
	var failed *jsonschema.ValidationError
	if !errors.As(c.full.Validate(v), &failed) {
		return general
	}
	all := slices.Compact(slices.Sorted(slices.Values(violations(nil, failed))))
	if len(all) == 0 {
		return general
	}
	const shown = 3
	words = strings.Join(all[:min(shown, len(all))], "; ")
	if more := len(all) - shown; more > 0 {
		words += fmt.Sprintf("; and %d more", more)
	}
	return "The output does not match the schema: " + words + "."
}

func violations(to []string, e *jsonschema.ValidationError) []string {
	if len(e.Causes) > 0 {
		for _, c := range e.Causes {
			to = violations(to, c)
		}
		return to
	}
	place := "it"
	if len(e.InstanceLocation) > 0 {
		place = cut("/"+strings.Join(e.InstanceLocation, "/"), 100)
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return append(to, place+" lacks "+cut(strings.Join(k.Missing, ", "), 100))
	case *kind.Type:
		return append(to, place+" is of type "+k.Got+", not "+strings.Join(k.Want, " or "))
	case *kind.FalseSchema:
		return append(to, place+" must not be there")
	case *kind.AdditionalProperties:
		return append(to, place+" has members that the schema does not allow: "+strconv.Itoa(len(k.Properties)))
	}
	rule := "schema"
	if e.ErrorKind != nil {
		rule = cmp.Or(strings.Join(e.ErrorKind.KeywordPath(), "/"), rule)
	}
	return append(to, place+" breaks the rule "+cut(rule, 100))
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
