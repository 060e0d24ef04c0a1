package shape

import (
	"bytes"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/fault"
)

const (
	unstorable = "contains U+0000, which cannot be stored"
	twoCasings = "is sent in both casings with different values, or differs from a documented name only in case"
)

// refuse notes a violation. A %d in the message is the limit.
type refuse func(code, message string, limit any)

func violation(in, path, code, message string, limit any) fault.Field {
	if strings.Contains(message, "%d") {
		message = fmt.Sprintf(message, limit)
	}
	return fault.Field{In: in, Path: path, Code: code, Message: message, Limit: limit}
}

// expected says which type a value must have.
func (s *Shape) expected() string {
	switch s.kinds {
	case text:
		return "must be a string"
	case number:
		return "must be a number"
	case integer:
		return "must be an integer"
	case boolean:
		return "must be true or false"
	case array:
		return "must be an array"
	case object:
		return "must be an object"
	}
	return "must have one of the documented forms"
}

// checkText checks a string.
func (s *Shape) checkText(value []byte, bad refuse) {
	if bytes.IndexByte(value, 0) >= 0 {
		bad("format", unstorable, nil)
	}
	if s.enum != nil && !slices.Contains(s.enum, string(value)) {
		bad("enum", "must be one of: "+strings.Join(s.enum, ", "), nil)
	}
	if s.minLength > 0 && utf8.RuneCount(value) < s.minLength {
		bad("length", "must have a length of at least %d", s.minLength)
	}
	if s.maxLength >= 0 && len(value) > s.maxLength && utf8.RuneCount(value) > s.maxLength {
		bad("length", "must have a length of at most %d", s.maxLength)
	}
	if s.pattern != nil && !s.pattern.Match(value) {
		if s.patternDoc != "" {
			bad("pattern", "must have the form: "+s.patternDoc, nil)
		} else {
			bad("pattern", "must match the pattern "+s.pattern.String(), nil)
		}
	}
	if s.format != "" {
		if message := formatProblem(s.format, string(value)); message != "" {
			bad("format", message, nil)
		}
	}
}

func formatProblem(format, value string) string {
	switch format {
	case "date-time":
		if _, err := time.Parse(time.RFC3339, value); err != nil {
			return "must be an RFC 3339 date and time such as 2026-01-31T12:00:00Z"
		}
	case "email":
		if _, err := mail.ParseAddress(value); err != nil {
			return "must be an e-mail address"
		}
	case "uuid":
		if _, err := uuid.Parse(value); err != nil || len(value) != 36 {
			return "must be a UUID"
		}
	case "uri":
		if _, err := url.Parse(value); err != nil {
			return "must be a URI"
		}
	}
	return ""
}

// checkNumber checks a number as JSON writes it.
func (s *Shape) checkNumber(digits []byte, bad refuse) {
	if s.kinds&integer != 0 && !wholeNumber(digits) {
		bad("type", "must be an integer", nil)
		return
	}
	if s.low == nil && s.high == nil && s.overLow == nil && s.belowTop == nil {
		return
	}
	n, err := strconv.ParseFloat(string(digits), 64)
	if err != nil {
		bad("type", s.expected(), nil)
		return
	}
	switch {
	case s.low != nil && n < *s.low:
		bad("min", "must be at least "+plain(*s.low), *s.low)
	case s.overLow != nil && n <= *s.overLow:
		bad("min", "must be greater than "+plain(*s.overLow), *s.overLow)
	case s.high != nil && n > *s.high:
		bad("max", "must be at most "+plain(*s.high), *s.high)
	case s.belowTop != nil && n >= *s.belowTop:
		bad("max", "must be less than "+plain(*s.belowTop), *s.belowTop)
	}
}

func wholeNumber(digits []byte) bool {
	return !slices.ContainsFunc(digits, func(c byte) bool { return c == '.' || c == 'e' || c == 'E' })
}

// plain is a bound as its schema says it.
func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
