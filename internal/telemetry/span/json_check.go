package span

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/fault"
)

// FieldCheck reads values and remembers what is wrong with them. Null reads as
// absent.
type FieldCheck struct{ Fields []fault.Field }

// Add notes what is wrong with a field.
func (c *FieldCheck) Add(at, code, message string) {
	c.Fields = append(c.Fields, fault.Field{In: "body", Path: at, Code: code, Message: message})
}

func (c *FieldCheck) limit(at, code, message string, limit any) {
	c.Fields = append(c.Fields, fault.Field{In: "body", Path: at, Code: code, Message: message, Limit: limit})
}

// required reports a value that is absent, unless something else is wrong
// with it already.
func (c *FieldCheck) required(at string, raw jsontext.Value) {
	switch {
	case len(raw) == 0 || raw.Kind() == 'n':
		c.Add(at, "required", "is required")
	case string(raw) == `""`:
		c.limit(at, "length", "must have a length of at least 1", 1)
	}
}

func (c *FieldCheck) text(at string, raw jsontext.Value, most int) (string, bool) {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return "", false
	}
	if raw.Kind() != '"' {
		c.Add(at, "type", "must be a string")
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if bytes.IndexByte(text, 0) >= 0 {
		c.Add(at, "format", "contains U+0000, which cannot be stored")
		return "", false
	}
	if err != nil || utf8.RuneCount(text) > most {
		c.limit(at, "length", "must have a length of at most "+strconv.Itoa(most), most)
		return "", false
	}
	return string(text), true
}

// time reads RFC 3339 as microseconds since 1970.
func (c *FieldCheck) time(at string, raw jsontext.Value) (int64, bool) {
	text, ok := c.text(at, raw, 64)
	if !ok {
		return 0, false
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() < 1970 || t.Year() > 2261 {
		c.Add(at, "format", "must be an RFC 3339 date and time such as 2026-01-31T12:00:00Z")
		return 0, false
	}
	return t.UnixMicro(), true
}

func (c *FieldCheck) number(at string, raw jsontext.Value, least, most float64) (float64, bool) {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case raw.Kind() != '0' || err != nil:
		c.Add(at, "type", "must be a number")
	case n < least:
		c.limit(at, "min", "must be at least "+strconv.FormatFloat(least, 'f', -1, 64), least)
	case n > most:
		c.limit(at, "max", "must be at most "+strconv.FormatFloat(most, 'f', -1, 64), most)
	default:
		return n, true
	}
	return 0, false
}

func (c *FieldCheck) tokens(at string, raw jsontext.Value) *uint32 {
	n, ok := c.number(at, raw, 0, MaxTokens)
	if !ok {
		return nil
	}
	if n != math.Trunc(n) {
		c.Add(at, "type", "must be an integer")
		return nil
	}
	count := uint32(n)
	return &count
}

// object reads an object into a struct of raw values.
func (c *FieldCheck) object(at string, raw jsontext.Value, to any) bool {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return false
	}
	if raw.Kind() != '{' {
		c.Add(at, "type", "must be an object")
		return false
	}
	// The edge has dropped what is no field; what is left is a field in a
	// casing of its own, or sent twice.
	err := json.Unmarshal(raw, to, json.RejectUnknownMembers(true))
	var semantic *json.SemanticError
	switch {
	case err == nil:
		return true
	case errors.As(err, &semantic) && errors.Is(err, json.ErrUnknownName):
		c.Add(at+string(semantic.JSONPointer), "unknown_field", "is not a field of this request")
	default:
		c.Add(at, "format", "cannot be read as its type")
	}
	return false
}

func (c *FieldCheck) array(at string, raw jsontext.Value, most int) (list []jsontext.Value) {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return nil
	}
	if raw.Kind() != '[' || json.Unmarshal(raw, &list) != nil {
		c.Add(at, "type", "must be an array")
		return nil
	}
	if len(list) > most {
		c.limit(at, "length", "must have no more entries than "+strconv.Itoa(most), most)
		return nil
	}
	return list
}
