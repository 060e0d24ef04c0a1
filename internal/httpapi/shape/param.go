package shape

import (
	"regexp"
	"strconv"

	"github.com/assayhq/assay/internal/core/fault"
)

// number as JSON writes it; a parser of Go would also take NaN, infinities and
// hexadecimal digits.
var plainNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// CheckParam checks the values of a parameter of the path, the query or a
// header, where everything is text.
func (s *Shape) CheckParam(in, name string, values ...string) []fault.Field {
	var found []fault.Field
	bad := func(code, message string, limit any) {
		found = append(found, violation(in, name, code, message, limit))
	}
	if s.kinds == array {
		if s.maxItems >= 0 && len(values) > s.maxItems {
			bad("length", "must have no more entries than %d", s.maxItems)
		}
		s = s.elements
	}
	for _, v := range values {
		if len(found) > 0 {
			break // one violation tells enough about a parameter
		}
		s.checkParam(v, bad)
	}
	return found
}

func (s *Shape) checkParam(value string, bad refuse) {
	if value == "" && s.kinds != number {
		return // the same as absent
	}
	switch s.kinds {
	case integer:
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			bad("type", "must be an integer", nil)
			return
		}
		s.checkNumber([]byte(value), bad)
	case number:
		if !plainNumber.MatchString(value) {
			bad("type", "must be a number in decimal digits", nil)
			return
		}
		s.checkNumber([]byte(value), bad)
	case boolean:
		if _, err := strconv.ParseBool(value); err != nil {
			bad("type", s.expected(), nil)
		}
	default:
		s.checkText([]byte(value), bad)
	}
}

// Repeats reports whether a parameter of this shape may have several values.
func (s *Shape) Repeats() bool { return s.kinds == array }
