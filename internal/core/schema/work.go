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
type Work struct {
	left int64
	// over is whether more was asked for than was left, short whether a task has
	// got less than it may spend.
	over, short bool
}

// NewWork is the work of one task.
func NewWork() Work { return Work{left: allowance} }

// Spend takes so many units, and reports whether they were there. Once they were
// not, there are none.
func (w *Work) Spend(units int64) bool {
	if w.over || units < 0 || units > w.left { // a count that overflowed is negative
		w.over = true
		return false
	}
	w.left -= units
	return true
}

// tasks is how many tasks of one request may spend all they may: a third of the
// time that a request has, so that it is refused rather than stopped on a busy
// machine.
const tasks = 5

// NewAllowance is the work of all tasks of one request.
func NewAllowance() Work { return Work{left: tasks * allowance} }

// Task takes the work of one task out of that of a request.
func (w *Work) Task() Work {
	n := min(w.left, allowance)
	w.short = w.short || n < allowance
	w.left -= n
	return Work{left: n}
}

// Return gives back what a task has not spent.
func (w *Work) Return(t Work) { w.left += t.left }

// Short reports whether a task has got less than it may spend, because those
// before it have spent the rest.
func (w *Work) Short() bool { return w.short }
