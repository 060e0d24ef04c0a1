package timeline

import (
	"strconv"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// verified is done when the effect was looked for in the world and found. A reply is
// not enough.
func (f *facts) verified(dispatched, acknowledged Mark) Mark {
	checked := f.checks()
	m := Mark{Stage: StageVerified}
	switch {
	case checked.failed != nil:
		m.State, m.At, m.By, m.Note = StateFailed, checkedAt(checked.failed), refOf(checked.failed), finding(checked.failed)
	case dispatched.State != StateDone:
		m.State = dispatched.State
	case checked.done > 0 && checked.open == 0:
		m.State, m.At, m.By, m.Note = StateDone, checkedAt(checked.last), refOf(checked.last), finding(checked.last)
	case f.harmless():
		m.State = StateNotNeeded
	case checked.open == 0 && acknowledged.State == StateFailed:
		m.State, m.Note = StateNotNeeded, "the reply was an error"
	case acknowledged.State == StateWaiting:
		m.State = StateWaiting
	case checked.done > 0:
		of := strconv.Itoa(checked.done + checked.open)
		return f.absent(StageVerified, plural(checked.open, "of "+of+" side effects was not checked", "of "+of+" side effects were not checked"))
	case acknowledged.State == StateMissing:
		return f.absent(StageVerified, "whether it took effect was not checked")
	default:
		return f.absent(StageVerified, "the reply was not checked")
	}
	return m
}

// checks is how many effects of an action were checked, and with which result.
type checks struct {
	done, open   int
	last, failed *Record
}

func (f *facts) checks() (c checks) {
	for _, l := range f.ledger {
		switch outcome(l) {
		case StateDone:
			c.done++
			if c.last == nil || later(checkedAt(l), checkedAt(c.last)) {
				c.last = l
			}
		case StateFailed:
			if c.failed == nil {
				c.failed = l
			}
		case StateMissing:
			c.open++
		}
	}
	return c
}

// outcome is whether the effect of one entry was verified: it has to have been in that
// state, whatever a report says of a check. Nothing is expected of an entry that was
// not dispatched, that failed, or that changes nothing. One that was undone should be absent.
func outcome(l *Record) string {
	state, result := l.Values.State(), l.Values.Verification().Text(kind.FieldResult)
	switch {
	case state == "compensated" && result == "absent":
		return StateDone
	case state == "not_applied" || state == "conflicting" || result == "absent" || result == "different":
		return StateFailed
	case state == "verified" || reached(l, "verified") != nil:
		return StateDone
	case !wasSent(l) || state == "failed":
		return StateNotNeeded
	}
	if class := l.Values.SideEffectClass(); class == "none" || class == "read" {
		return StateNotNeeded
	}
	return StateMissing
}

// checkedAt is when the effect of an entry was looked for, nil if that is not known.
func checkedAt(l *Record) *time.Time {
	if at := l.Values.Verification().ObservedAt(); !at.IsZero() {
		return &at
	}
	for _, state := range []string{"compensated", "verified", "not_applied", "conflicting"} {
		if at := reached(l, state); at != nil {
			return at
		}
	}
	return nil
}

func later(a, b *time.Time) bool { return a != nil && (b == nil || a.After(*b)) }

// finding says what was found when an effect was looked for, and what became of it.
func finding(l *Record) string {
	v := l.Values.Verification()
	text := ""
	switch state := l.Values.State(); {
	case v.Text(kind.FieldResult) == "absent" && state == "compensated":
		text = "undone: the effect is absent"
	case v.Text(kind.FieldResult) == "absent" || state == "not_applied":
		text = "the effect is absent"
	case v.Text(kind.FieldResult) == "different" || state == "conflicting":
		text = "the effect is not what was asked for"
	case state == "compensating":
		text = "confirmed, now being undone"
	case state == "compensated":
		text = "confirmed, then undone"
	case state == "compensation_failed":
		text = "confirmed; undoing it failed"
	default:
		text = "confirmed"
	}
	if method := v.Method(); method != "" {
		text += " (" + method + ")"
	}
	return text
}
