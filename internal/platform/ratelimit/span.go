package ratelimit

import "time"

// span is the shape of a window, in nanoseconds. Both are whole microseconds,
// the unit of Redis's clock.
type span struct {
	length int64
	step   int64
}

// newSpan shapes a window. A millisecond is the shortest, because keys in Redis
// expire by the millisecond.
func newSpan(window time.Duration) span {
	length := max(window, time.Millisecond).Truncate(time.Microsecond)
	micros := (length.Microseconds() + Steps - 1) / Steps
	return span{length: int64(length), step: micros * int64(time.Microsecond)}
}

// stamp is the time under which a request at now is kept. For limits above
// ExactLimit it is the end of the step that now is in: later, never sooner, so
// that the request counts for at least a whole window.
func (s span) stamp(now, limit int64) int64 {
	if limit <= ExactLimit {
		return now
	}
	return (now + s.step - 1) / s.step * s.step
}

// entries is the most that a log of this limit needs to keep.
func (s span) entries(limit int64) int {
	if limit <= ExactLimit {
		return int(limit)
	}
	return Steps + 2 // both ends of the window are partial steps
}
