package schema

import "errors"

// Why a value is not read or checked.
var (
	ErrNotJSON   = errors.New("is not JSON")
	ErrTooLarge  = errors.New("is too large")
	ErrTooCostly = errors.New("needs too much work")
	errBroken    = errors.New("cannot be checked")
)

// allowance is the work of one task, in units of about a nanosecond on one core
// of a common server. Whatever people evaluate needs a thousandth of it; what
// was made to need more is stopped after a few seconds.
const allowance = 2_000_000_000

// CostDecode is what reading a byte of JSON costs: many small values; one long
// string takes a thirtieth.
const CostDecode = 150

// Work is what one task may still spend, such as computing a score or checking
// the items of a request. It counts what is done and looks at no clock, so that
// a result does not depend on how busy the machine is.
type Work struct{ left int64 }

// NewWork is the work of one task.
func NewWork() Work { return Work{allowance} }

// Spend takes so many units, and reports whether they were there.
func (w *Work) Spend(units int64) bool {
	if units < 0 || units > w.left { // a count that overflowed is negative
		w.left = 0
		return false
	}
	w.left -= units
	return true
}
