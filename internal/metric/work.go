package metric

import "errors"

// Why a value of a case is not read. They never leave the package: a score says
// them with its reason.
var (
	errNotJSON   = errors.New("is not JSON")
	errTooLarge  = errors.New("is too large")
	errTooCostly = errors.New("needs too much work")
	errBroken    = errors.New("cannot be checked")
)

// allowance is the work of one score, in units of about a nanosecond on one
// core of a common server. Whatever people evaluate needs a thousandth of it;
// what was made to need more is stopped after a few seconds.
const allowance = 2_000_000_000

// work is what one score may still spend. It counts what is done and looks at no
// clock, so that a score does not depend on how busy the machine is.
type work struct{ left int64 }

// spend takes so many units, and reports whether they were there.
func (w *work) spend(units int64) bool {
	if units < 0 || units > w.left { // a count that overflowed is negative
		w.left = 0
		return false
	}
	w.left -= units
	return true
}

// What reading a byte costs, in units of work.
const (
	costDecode    = 150 // many small values; one long string takes a thirtieth
	costWrite     = 150
	costNormalize = 40
	costScan      = 2
	costCompile   = 2_000
)

// unread is the score of a case with a value that is not read. part names the
// value.
func unread(part string, err error) Score {
	switch {
	case errors.Is(err, errTooCostly):
		return tooCostly()
	case errors.Is(err, errTooLarge):
		return Missing(ReasonTooLarge, "The "+part+" is larger than 4 MiB, deeper than 200 levels, or has more than 500,000 values.")
	default:
		return Missing(ReasonBadValue, "The "+part+" is not JSON.")
	}
}

func tooCostly() Score {
	return Missing(ReasonTooCostly, "Computing the score takes more work than one score may; the texts are too long for this comparison, or the pattern or schema is too complex for them.")
}
