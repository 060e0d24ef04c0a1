package metric

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/schema"
)

// maxAssertions bounds the assertions of an item, as a dataset does.
const maxAssertions = 1000

// assertion is a claim that an item makes about its output.
type assertion struct {
	// kind is the type that the assertion names, empty for one that is no object
	// with a type: it is words, for a judge.
	kind string
	// members are the others, by the names that were sent.
	members Params
}

// cost is what reading the parameters of an assertion takes, and compiling them
// if they are a schema or a pattern.
func (a assertion) cost() int64 {
	perByte := int64(2 * schema.CostDecode)
	switch a.kind {
	case "json_schema", "schema", "regex_match":
		perByte += costCompile
	}
	cost := int64(2_000)
	for name, v := range a.members {
		cost += perByte * int64(len(name)+len(v))
	}
	return cost
}

// What any assertion may carry for people and for other programs.
var assertionNotes = map[string]bool{"id": true, "description": true, "metadata": true}

// list reads the item's assertions once.
func (l *look) list() ([]assertion, error) {
	if l.wasListed {
		return l.assertions, nil
	}
	if len(l.Assertions) > maxAssertions {
		return nil, schema.ErrTooLarge
	}
	out := make([]assertion, len(l.Assertions))
	for i, raw := range l.Assertions {
		a, err := l.readAssertion(raw)
		if err != nil {
			return nil, err
		}
		out[i] = a
	}
	l.assertions, l.wasListed = out, true
	return out, nil
}

func (l *look) readAssertion(raw jsontext.Value) (assertion, error) {
	if raw.Kind() != '{' {
		return assertion{}, nil
	}
	if len(raw) > schema.MaxDocument {
		return assertion{}, schema.ErrTooLarge
	}
	if !l.Spend(schema.CostDecode * int64(len(raw))) {
		return assertion{}, schema.ErrTooCostly
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return assertion{}, schema.ErrNotJSON
	}
	a := assertion{members: Params{}}
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return assertion{}, schema.ErrNotJSON
		}
		name := tok.String()
		v, err := dec.ReadValue()
		switch {
		case err != nil:
			return assertion{}, schema.ErrNotJSON
		case name == "type" && v.Kind() == '"':
			text, _ := jsontext.AppendUnquote(nil, v)
			a.kind = string(text)
		case !assertionNotes[name]:
			a.members[name] = bytes.Clone(v)
		}
	}
	return a, nil
}

// thresholdParameters turn any metric into a claim that holds or not. Only
// goal_success looks at them.
var thresholdParameters = []Parameter{
	{Name: "at_least", Type: Number, Summary: "The claim holds from this score on; 1 if absent, for metrics of which more is better."},
	{Name: "at_most", Type: Number, Summary: "The claim holds up to this score."},
}

// badAssertion is the score of a case with an assertion that cannot be used.
func badAssertion(kind string, problems []Problem) Score {
	e := ParameterError{Metric: kind, Problems: problems}
	return Missing(ReasonBadAssertion, "An assertion of the item cannot be used: "+e.Error()+".")
}

// unlisted is the score of a case whose assertions cannot be read.
func unlisted(err error) Score {
	switch {
	case errors.Is(err, schema.ErrTooCostly):
		return tooCostly()
	case errors.Is(err, schema.ErrTooLarge):
		return Missing(ReasonTooLarge, fmt.Sprintf("The item has more than %d assertions, or one that is larger than 4 MiB.", maxAssertions))
	}
	return Missing(ReasonBadAssertion, "An assertion of the item is not JSON.")
}
