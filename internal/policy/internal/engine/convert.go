package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/go-json-experiment/json/jsontext"
)

// converter turns JSON into values of Cedar. Its budget is shared by all parts of a
// question.
type converter struct {
	values  int
	longest int // bytes of the longest text
	bytes   int
}

var (
	errTooMany = fmt.Errorf("the question has more than %d values", maxValues)
	errTooDeep = fmt.Errorf("the question is nested more than %d deep", maxDepth)
	errTooLong = fmt.Errorf("the question has more than %d bytes", maxBytes)
	errRecord  = errors.New("this is not a JSON object")
)

// record reads an object. Nothing is an empty one.
func (c *converter) record(raw jsontext.Value) (types.RecordMap, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return types.RecordMap{}, nil
	}
	if c.bytes += len(raw); c.bytes > maxBytes {
		return nil, errTooLong
	}
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	switch d.PeekKind() {
	case 'n':
		return types.RecordMap{}, nil
	case '{':
	default:
		return nil, errRecord
	}
	m, err := c.object(d, 1)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); err == nil {
		return nil, errRecord
	}
	return m, nil
}

// value reads any value; nil for null, which Cedar does not have.
func (c *converter) value(d *jsontext.Decoder, depth int) (types.Value, error) {
	if c.values++; c.values > maxValues {
		return nil, errTooMany
	}
	if depth > maxDepth {
		return nil, errTooDeep
	}
	switch d.PeekKind() {
	case '{':
		m, err := c.object(d, depth)
		if err != nil {
			return nil, err
		}
		return types.NewRecord(m), nil
	case '[':
		return c.array(d, depth)
	}
	t, err := d.ReadToken()
	if err != nil {
		return nil, fmt.Errorf("the question is not JSON: %w", err)
	}
	switch t.Kind() {
	case 't', 'f':
		return types.Boolean(t.Bool()), nil
	case '"':
		return c.text(t.String()), nil
	case '0':
		return c.number(t.String()), nil
	default:
		return nil, nil //nolint:nilnil // null has no value
	}
}

func (c *converter) text(s string) types.String {
	c.longest = max(c.longest, len(s))
	return types.String(s)
}

func (c *converter) object(d *jsontext.Decoder, depth int) (types.RecordMap, error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, fmt.Errorf("the question is not JSON: %w", err)
	}
	out := types.RecordMap{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("the question is not JSON: %w", err)
		}
		key := types.String(name.String())
		v, err := c.value(d, depth+1)
		if err != nil {
			return nil, err
		}
		if v != nil {
			out[key] = v
		}
	}
	_, err := d.ReadToken()
	return out, err
}

func (c *converter) array(d *jsontext.Decoder, depth int) (types.Value, error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, fmt.Errorf("the question is not JSON: %w", err)
	}
	var out []types.Value
	for d.PeekKind() != ']' {
		v, err := c.value(d, depth+1)
		if err != nil {
			return nil, err
		}
		if v != nil {
			out = append(out, v)
		}
	}
	_, err := d.ReadToken()
	return types.NewSet(out...), err
}

// number is a Long if it is written as one, a decimal if Cedar can hold it exactly, and
// otherwise its text: nothing is rounded.
func (c *converter) number(text string) types.Value {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return types.Long(i)
	}
	if d, ok := exact(text); ok && strings.ContainsAny(text, ".eE") {
		return d
	}
	return c.text(text)
}

// Decimal is a number as a decimal with four places, written without an exponent; false if
// Cedar cannot hold it exactly.
func Decimal(text string) (string, bool) {
	if _, ok := exact(text); !ok {
		return "", false
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return "", false
	}
	return r.FloatString(4), true
}

var number = regexp.MustCompile(`^-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?$`)

// exact is a number as a decimal of Cedar, if it has at most four places and is in range.
func exact(text string) (types.Value, bool) {
	if !number.MatchString(text) {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, false
	}
	r.Mul(r, big.NewRat(10000, 1))
	if !r.IsInt() || !r.Num().IsInt64() {
		return nil, false
	}
	d, err := types.NewDecimal(r.Num().Int64(), -4)
	return d, err == nil
}
