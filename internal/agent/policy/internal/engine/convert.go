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
	lists   lists
}

var (
	errTooMany = fmt.Errorf("the question has more than %d values", maxValues)
	errTooDeep = fmt.Errorf("the question is nested more than %d deep", maxDepth)
	errTooLong = fmt.Errorf("the question has more than %d bytes", maxBytes)
	errLists   = fmt.Errorf("the question has lists that are too long: their elements must not make more than %d pairs, as in one list of 2048 values. Send shorter lists, or only what policies need of them", maxPairs)
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
	m, _, err := c.object(d, 1)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); err == nil {
		return nil, errRecord
	}
	return m, nil
}

// value reads any value; nil for null, which Cedar does not have. Pairs is what it takes to
// compare the value with another.
func (c *converter) value(d *jsontext.Decoder, depth int) (v types.Value, pairs int, err error) {
	if c.values++; c.values > maxValues {
		return nil, 0, errTooMany
	}
	if depth > maxDepth {
		return nil, 0, errTooDeep
	}
	switch d.PeekKind() {
	case '{':
		m, pairs, err := c.object(d, depth)
		if err != nil {
			return nil, 0, err
		}
		return types.NewRecord(m), pairs, nil
	case '[':
		return c.array(d, depth)
	}
	t, err := d.ReadToken()
	if err != nil {
		return nil, 0, fmt.Errorf("the question is not JSON: %w", err)
	}
	switch t.Kind() {
	case 't', 'f':
		v = types.Boolean(t.Bool())
	case '"':
		v = c.text(t.String())
	case '0':
		v = c.number(t.String())
	}
	return v, 1, nil
}

func (c *converter) text(s string) types.String {
	c.longest = max(c.longest, len(s))
	return types.String(s)
}

func (c *converter) object(d *jsontext.Decoder, depth int) (out types.RecordMap, pairs int, err error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, 0, fmt.Errorf("the question is not JSON: %w", err)
	}
	out, pairs = types.RecordMap{}, 1
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, 0, fmt.Errorf("the question is not JSON: %w", err)
		}
		key := types.String(name.String())
		v, more, err := c.value(d, depth+1)
		if err != nil {
			return nil, 0, err
		}
		if pairs += more; v != nil {
			out[key] = v
		}
	}
	_, err = d.ReadToken()
	return out, pairs, err
}

func (c *converter) array(d *jsontext.Decoder, depth int) (set types.Value, pairs int, err error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, 0, fmt.Errorf("the question is not JSON: %w", err)
	}
	var out []types.Value
	before, each := c.values, 0
	for d.PeekKind() != ']' {
		v, more, err := c.value(d, depth+1)
		if err != nil {
			return nil, 0, err
		}
		if v != nil {
			out = append(out, v)
			each += more
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, 0, err
	}
	if pairs, err = c.lists.add(len(out), each, c.values-before); err != nil {
		return nil, 0, err
	}
	return types.NewSet(out...), pairs, nil
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
