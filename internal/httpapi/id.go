package httpapi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/httpapi/shape"
)

// ID is an identifier of a response: decimal digits, as a string. It is always
// a positive safe integer.
type ID int64

// ParseID reads an identifier from a path or filter, where one that cannot be
// an identifier names nothing: ok is false and the answer is "not found".
func ParseID(s string) (id int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 || n > shape.MaxSafeInteger || s != strconv.FormatInt(n, 10) {
		return 0, false
	}
	return n, true
}

// Number is the number behind an id of a path; any other text is the id of what is missing.
func Number(id string, missing error) (int64, error) {
	n, ok := ParseID(id)
	if !ok {
		return 0, missing
	}
	return n, nil
}

// String is the wire form.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// MarshalJSON writes the digits as a string.
func (id ID) MarshalJSON() ([]byte, error) { return []byte(`"` + id.String() + `"`), nil }

// UnmarshalJSON reads a string or a number.
func (id *ID) UnmarshalJSON(b []byte) error {
	n, ok := ParseID(strings.Trim(string(b), `"`))
	if !ok {
		return fmt.Errorf("not an identifier")
	}
	*id = ID(n)
	return nil
}

// Schema documents the form of responses.
func (ID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: idPattern, Examples: []any{"1042"}}
}

// NullID is an identifier, null if it is zero.
func NullID(id int64) Null[ID] { return NullOf(OrNull(ID(id))) }

// IDInput is an identifier of a request: a string of decimal digits or the
// number itself.
type IDInput int64

// MarshalJSON writes the number.
func (id IDInput) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, int64(id), 10), nil }

// UnmarshalJSON reads a string or a number.
func (id *IDInput) UnmarshalJSON(b []byte) error { return (*ID)(id).UnmarshalJSON(b) }

// Schema documents both forms.
func (IDInput) Schema(huma.Registry) *huma.Schema {
	low := 1.0
	high := float64(shape.MaxSafeInteger)
	return &huma.Schema{
		OneOf: []*huma.Schema{
			{Type: huma.TypeString, Pattern: idPattern},
			{Type: huma.TypeInteger, Minimum: &low, Maximum: &high},
		},
		Examples: []any{"1042"},
	}
}

const idPattern = "^[1-9][0-9]{0,15}$"
