package schema

import (
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Violation is a place of a value that breaks a rule of its schema. It repeats
// nothing of the value but the names that lead to the place.
type Violation struct {
	// Pointer is the place as a JSON Pointer (RFC 6901); empty is the whole.
	Pointer string
	// Rule is the keyword of the schema, such as minimum; empty if there is none,
	// as for the schema false.
	Rule string
	// Missing are members that the place lacks.
	Missing []string
	// Got and Want are JSON types, if it has the wrong one.
	Got  string
	Want []string
	// Extra is how many members it has that the schema does not allow.
	Extra int
}

// explainWork is what finding the violations of a value may take.
const explainWork = 20_000_000

// explain finds what is wrong with a value that does not match.
func (c *checker) explain(v any) (found []Violation) {
	c.meter = &Work{left: explainWork}
	defer func() {
		if recover() != nil { // as in matches
			found = nil
		}
	}()
	var failed *jsonschema.ValidationError
	if !errors.As(c.full.Validate(v), &failed) {
		return nil
	}
	return violations(nil, failed)
}

func violations(to []Violation, e *jsonschema.ValidationError) []Violation {
	if len(e.Causes) > 0 {
		for _, c := range e.Causes {
			to = violations(to, c)
		}
		return to
	}
	found := Violation{Pointer: pointer(e.InstanceLocation)}
	if e.ErrorKind != nil {
		found.Rule = strings.Join(e.ErrorKind.KeywordPath(), "/")
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		found.Missing = k.Missing
	case *kind.Type:
		found.Got, found.Want = k.Got, k.Want
	case *kind.AdditionalProperties:
		found.Extra = len(k.Properties)
	}
	return append(to, found)
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func pointer(names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteByte('/')
		b.WriteString(pointerEscapes.Replace(name))
	}
	return b.String()
}
