package shape

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
)

// Limits of the JSON that the interface takes. Without them a small body could
// cost much more memory than it has bytes, or lose digits silently.
const (
	maxDepth        = 64
	maxMembers      = 10_000
	maxNumberLength = 64
	// MaxSafeInteger is the largest integer that every reader of JSON keeps.
	MaxSafeInteger = 1<<53 - 1
)

// Faults of a body that is not JSON as the interface takes it.
var (
	ErrInvalidJSON = fault.New(fault.Validation, "invalid_json", "The body is not valid JSON in UTF-8 with unique field names.")
	ErrCut         = fault.New(fault.Validation, "body_truncated", "The body ended before it was complete. Send it again.")
)

// checkBounds refuses nesting, members and numbers beyond the limits, before a
// parser sees them. It looks at the bytes only: what is not JSON passes, and
// the parser refuses it.
func checkBounds(body []byte) error {
	var members [maxDepth + 1]int
	depth := 0
	for i := 0; i < len(body); i++ {
		switch c := body[i]; c {
		case '"':
			i = endOfString(body, i)
		case '{', '[':
			depth++
			if depth > maxDepth {
				return outOfBounds(body, i, "length", "is nested deeper than 64 levels", maxDepth)
			}
			members[depth] = 0
		case '}', ']':
			depth = max(depth-1, 0)
		case ':':
			members[depth]++
			if members[depth] > maxMembers {
				return outOfBounds(body, i, "length", "is one of more than 10000 members of its object", maxMembers)
			}
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			end := i + 1
			for end < len(body) && partOfNumber(body[end]) {
				end++
			}
			if message := numberProblem(body[i:end]); message != "" {
				return outOfBounds(body, i, "format", message, nil)
			}
			i = end - 1
		}
	}
	return nil
}

// endOfString is the place of the quotation mark that ends the string at i.
func endOfString(body []byte, i int) int {
	for i++; i < len(body); i++ {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			return len(body)
		}
		i += n
		slashes := 0
		for body[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
	return i
}

func partOfNumber(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}

func numberProblem(digits []byte) string {
	if len(digits) > maxNumberLength {
		return "is a number of more than 64 characters"
	}
	exponent, fraction := false, false
	for _, c := range digits {
		exponent = exponent || c == 'e' || c == 'E'
		fraction = fraction || c == '.'
	}
	switch {
	case exponent:
		if f, err := strconv.ParseFloat(string(digits), 64); err != nil && errors.Is(err, strconv.ErrRange) || math.IsInf(f, 0) {
			return "is not a finite number"
		}
	case len(digits) > 15 && !fraction:
		n, err := strconv.ParseInt(string(digits), 10, 64)
		if err != nil || n > MaxSafeInteger || n < -MaxSafeInteger {
			return "is an integer outside ±(2^53−1); send it as a string"
		}
	}
	return ""
}

// outOfBounds names the place of a byte that breaks a limit.
func outOfBounds(body []byte, at int, code, message string, limit any) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body[:at]))
	for {
		if _, err := dec.ReadToken(); err != nil {
			var syntactic *jsontext.SyntacticError
			if errors.As(err, &syntactic) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return syntaxError(dec, err)
			}
			return notJSON(dec.StackPointer(), code, message, limit)
		}
	}
}

func syntaxError(dec *jsontext.Decoder, err error) error {
	pointer, at := dec.StackPointer(), dec.InputOffset()
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		pointer, at = syntactic.JSONPointer, syntactic.ByteOffset
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return ErrCut
	case errors.Is(err, jsontext.ErrDuplicateName):
		return notJSON(pointer, "ambiguous_field", "occurs twice in its object", nil)
	case strings.Contains(err.Error(), "UTF-8"):
		return notJSON(pointer, "format", "is not valid UTF-8", nil)
	default:
		return notJSON(pointer, "format", "is not JSON at byte "+strconv.FormatInt(at, 10), nil)
	}
}

func notJSON(pointer jsontext.Pointer, code, message string, limit any) error {
	return ErrInvalidJSON.WithFields(fault.Field{In: "body", Path: shorten(string(pointer)), Code: code, Message: message, Limit: limit})
}
