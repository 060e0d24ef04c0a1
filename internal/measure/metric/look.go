package metric

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/schema"
)

// look is one case while a metric looks at it.
type look struct {
	*Case
	work

	output    any // read once
	outputErr error
	wasRead   bool

	assertions []assertion
	wasListed  bool

	calls []call // those that were made
}

// errAbsent says that a case lacks a value.
var errAbsent = errors.New("is absent")

// scorer computes a score by settings that it was built with.
type scorer func(*look) Score

// readOutput reads the output.
func (l *look) readOutput() (any, error) {
	if !l.wasRead {
		l.wasRead = true
		if len(l.Output) == 0 {
			l.outputErr = errAbsent
		} else {
			l.output, l.outputErr = l.Decode(l.Output)
		}
	}
	return l.output, l.outputErr
}

// readExpected reads the expected output. JSON null is none.
func (l *look) readExpected() (any, error) {
	if len(l.ExpectedOutput) == 0 || l.ExpectedOutput.Kind() == 'n' {
		return nil, errAbsent
	}
	return l.Decode(l.ExpectedOutput)
}

// Parameters that several metrics share.
var (
	pathParameter = Parameter{
		Name: "path", Type: String, Empty: true, MaxLength: 1000,
		Summary: "JSON Pointer to the part of the output that counts. An output that is text is read as JSON first.",
	}
	expectedPathParameter = Parameter{
		Name: "expected_path", Type: String, Empty: true, MaxLength: 1000,
		Summary: "JSON Pointer to the part of the expected output that counts.",
	}
	expectedParameter = Parameter{
		Name: "expected", Type: Any, MaxLength: 1 << 20,
		Summary: "What is expected, in place of the item's expected output.",
	}
	caseParameter = Parameter{
		Name: "case", Type: String, Enum: []string{caseSensitive, caseInsensitive}, Default: jsontext.Value(`"sensitive"`),
		Summary: "Whether upper and lower case differ.",
	}
)

func whitespaceParameter(def string) Parameter {
	return Parameter{
		Name: "whitespace", Type: String, Enum: []string{whitespaceExact, whitespaceTrim, whitespaceCollapse}, Default: jsontext.Value(`"` + def + `"`),
		Summary: "Whether white space counts as it is (`exact`), not at the ends (`trim`), or each run of it as one space and not at the ends (`collapse`).",
	}
}

// checkPaths finds settings that are no JSON Pointers.
func checkPaths(s settings) []Problem {
	var problems []Problem
	for _, name := range [...]string{"path", "expected_path"} {
		if p := s.text(name); p != "" && !jsontext.Pointer(p).IsValid() {
			problems = append(problems, Problem{name, "format", "must be a JSON Pointer, such as /answer/0"})
		}
	}
	return problems
}

// part returns what a metric compares of the output. A missing part of an
// output that is there is the output's fault: it scores zero.
func (l *look) part(s settings) (v any, instead Score, ok bool) {
	v, err := l.readOutput()
	switch {
	case errors.Is(err, errAbsent):
		return nil, Missing(ReasonNoOutput, "There is no output."), false
	case err != nil:
		return nil, unread("output", err), false
	}
	pointer := s.text("path")
	if pointer == "" {
		return v, Score{}, true
	}
	if text, isText := v.(string); isText {
		if v, err = l.Decode([]byte(text)); errors.Is(err, schema.ErrNotJSON) {
			return nil, Scored(0, "The output is not JSON, so it has no "+pointer+"."), false
		} else if err != nil {
			return nil, unread("output", err), false
		}
	}
	if v, ok = at(v, pointer); !ok {
		return nil, Scored(0, "The output has no "+pointer+"."), false
	}
	return v, Score{}, true
}

// expectation returns what a metric compares the output with.
func (l *look) expectation(s settings) (v any, instead Score, ok bool) {
	if s.has("expected") {
		return s.document("expected").value, Score{}, true
	}
	v, err := l.readExpected()
	switch {
	case errors.Is(err, errAbsent):
		return nil, Missing(ReasonNoExpectation, "The item has no expected output."), false
	case err != nil:
		return nil, unread("expected output", err), false
	}
	pointer := s.text("expected_path")
	if v, ok = at(v, pointer); !ok {
		return nil, Missing(ReasonBadExpectation, "The expected output has no "+pointer+"."), false
	}
	return v, Score{}, true
}

// sides returns both. Without an expectation the output is not looked at.
func (l *look) sides(s settings) (output, expected any, instead Score, ok bool) {
	if expected, instead, ok = l.expectation(s); !ok {
		return nil, nil, instead, false
	}
	output, instead, ok = l.part(s)
	return output, expected, instead, ok
}

// text returns a value as text.
func (l *look) text(v any) (string, error) {
	text := textOf(v)
	if _, plain := v.(string); !plain && !l.Spend(costWrite*int64(len(text))) {
		return "", schema.ErrTooCostly
	}
	return text, nil
}

// textual returns a value as text, made comparable.
func (l *look) textual(v any, n normal) (string, error) {
	text, err := l.text(v)
	if err != nil {
		return "", err
	}
	return n.apply(&l.work, text)
}

// binary is 1 or 0.
func binary(holds bool, explanation string) Score {
	if holds {
		return Scored(1, explanation)
	}
	return Scored(0, explanation)
}

// excerpt quotes the beginning of a text.
func excerpt(text string) string {
	quoted, _ := jsontext.AppendQuote(nil, cut(text, 80))
	return string(quoted)
}
