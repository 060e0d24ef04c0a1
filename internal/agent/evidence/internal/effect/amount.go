package effect

import (
	"math/big"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// amounts are decimals without an exponent and without a sign.
var amounts = regexp.MustCompile(`^[0-9]{1,18}(\.[0-9]{1,9})?$`)

// Members that the table leaves to those who write them: those of amounts, and of policies.
const currency, seconds, invocation, action = "currency", "within_seconds", "tool_invocation", "action"

// covers reports whether a side effect moves no more money than its decision allows. One of
// them without an amount, or without a currency, is not compared by it; amounts of which one
// cannot be read do not cover each other.
func covers(decision, effect kind.Values) bool {
	if absent(effect[kind.FieldAmount]) {
		return true
	}
	moved, in := effect[kind.FieldAmount], ""
	if money := effect.Within(kind.FieldAmount); money != nil {
		moved, in = money["value"], money.Text(currency)
	}
	arguments := decision.Within(kind.FieldInput).Within(invocation).Within(kind.FieldArguments)
	if allowed := arguments.Text(currency); allowed != "" && in != "" && !strings.EqualFold(allowed, in) {
		return false
	}
	limit := decision[kind.FieldAmount]
	if absent(limit) {
		limit = arguments[kind.FieldAmount] // one that cannot be read is recorded only there
	}
	if absent(limit) {
		return true
	}
	most, known := decimal(limit)
	sum, readable := decimal(moved)
	return known && readable && sum.Cmp(most) <= 0
}

func absent(v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' }

// decimal reads an amount exactly, whether it was sent as a text or as a number.
func decimal(v jsontext.Value) (*big.Rat, bool) {
	text := string(v)
	if v.Kind() == '"' {
		text = kind.Values{"": v}.Text("")
	}
	return Amount(text)
}

// Amount reads an amount of money exactly.
func Amount(text string) (*big.Rat, bool) {
	if !amounts.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}
