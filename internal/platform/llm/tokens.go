package llm

import (
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// tokens is a number of tokens as providers write it. What is not a number is
// none, and what is too large is the most: an answer is worth more than its
// bill.
type tokens uint32

// UnmarshalJSONFrom reads any JSON value.
func (t *tokens) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	*t = 0
	if v.Kind() != '0' {
		return nil
	}
	switch n, _ := strconv.ParseFloat(string(v), 64); {
	case n >= math.MaxUint32:
		*t = math.MaxUint32
	case n > 0:
		*t = tokens(n)
	}
	return nil
}

// plus adds without going around.
func (t tokens) plus(u tokens) tokens {
	if sum := t + u; sum >= t {
		return sum
	}
	return math.MaxUint32
}
