package provider

import "time"

// How processes share a cap.
const (
	// settleEvery is how often a process writes down what it has spent. A process
	// that is killed forgets at most what it spent in that time.
	settleEvery = 5 * time.Second
	// holdFor is how long an allowance is kept for a process that does not write:
	// many times settleEvery, and more than clocks of servers differ.
	holdFor = time.Minute
	// share is the part of what is left that one process takes at a time. It is
	// small, so that no process finds nothing left while others hold much of it.
	share = 64
	// maxAllowance bounds what a process that is killed can have spent unseen.
	maxAllowance = 1_000_000_000 // one dollar
)

// ledger is what is known about a purse: what was spent, and the allowances that
// processes hold, by their names.
//
// A call may begin while its process has something left of its allowance, and what
// it costs is known when it has ended. So a cap is exceeded at most by the calls
// that were being made when it was reached, one for each caller. An
// allowance whose process was killed comes back when its time is over; what that
// process had spent since it wrote last, at most settleEvery ago and at most its
// allowance and one call for each caller, is not counted.
type ledger struct {
	spent   int64
	holds   map[string]hold
	version int64
}

// hold is an allowance: what is left of it, and until when it is kept.
type hold struct {
	Left  int64     `json:"left"`
	Until time.Time `json:"until"`
}

// settle adds what a process has spent and ends its allowance. Allowances whose
// time is over come back.
func (l *ledger) settle(now time.Time, holder string, used int64) {
	l.spent += used
	for name, h := range l.holds {
		if name == holder || !h.Until.After(now) {
			delete(l.holds, name)
		}
	}
}

// take gives a process an allowance, which is zero if the cap is reached.
func (l *ledger) take(now time.Time, holder string, limit int64) int64 {
	free := limit - l.spent
	for _, h := range l.holds {
		free -= h.Left
	}
	if free <= 0 {
		return 0
	}
	got := min(max(free/share, 1), maxAllowance)
	if l.holds == nil {
		l.holds = map[string]hold{}
	}
	l.holds[holder] = hold{got, now.Add(holdFor)}
	return got
}
