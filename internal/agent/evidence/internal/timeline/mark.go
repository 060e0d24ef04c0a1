package timeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// facts are what is known about one action.
type facts struct {
	now   time.Time
	first *Record // the call, or the ledger entry without one
	call  *Record // nil if there is none
	step  *Record // what an entry without a call is below, if anything
	// status is how far the call says it is.
	status             string
	class              string
	decision, approval *Record
	ledger             []*Record

	missing []string
}

// patience is how long a reply may take before it is missing. Calls of other agents and
// of queues last for minutes; after an hour something went wrong.
const patience = time.Hour

// marks are the five stages, and what would be expected and is not there.
func (f *facts) marks() ([]Mark, []string) {
	f.missing = []string{}
	requested := f.requested()
	authorized := f.authorized()
	dispatched := f.dispatched()
	acknowledged := f.acknowledged(dispatched)
	verified := f.verified(dispatched, acknowledged)
	return []Mark{requested, authorized, dispatched, acknowledged, verified}, f.missing
}

// lacks notes that something is not there, in a sentence that begins with the stage.
func (f *facts) lacks(stage Stage, what string) {
	f.missing = append(f.missing, string(stage)+": "+what)
}

// absent is a mark for what is missing, with its sentence.
func (f *facts) absent(stage Stage, what string) Mark {
	f.lacks(stage, what)
	return Mark{Stage: stage, State: StateMissing, Note: what}
}

// requested is done if there is a call, or a step that stands for it.
func (f *facts) requested() Mark {
	switch {
	case f.call != nil:
		return Mark{Stage: StageRequested, State: StateDone, At: moment(f.call.At), By: refOf(f.call)}
	case f.step != nil && f.step.Kind == steps:
		return Mark{Stage: StageRequested, State: StateDone, At: moment(f.step.At), By: refOf(f.step)}
	}
	return f.absent(StageRequested, "no call of a tool explains the side effect")
}

// harmless actions change nothing, and need no permission and no proof.
func (f *facts) harmless() bool { return f.class == "none" || f.class == "read" }

// sentCalls and sentEffects are the states that only what was dispatched can have.
var (
	sentCalls   = []string{"dispatched", "succeeded", "failed", "timed_out", "unknown"}
	sentEffects = []string{
		"dispatched", "acknowledged", "failed", "unknown", "verified", "not_applied", "conflicting", "compensating", "compensated", "compensation_failed",
	}
)

// sent reports whether the action was carried out, as far as is known.
func (f *facts) sent() bool {
	return slices.Contains(sentCalls, f.status) || slices.ContainsFunc(f.ledger, wasSent)
}

func wasSent(l *Record) bool { return slices.Contains(sentEffects, l.Values.State()) }

// stopped is how an action ended that was denied or cancelled before it was
// dispatched, so that nothing more is expected of it; empty for any other.
func (f *facts) stopped() string {
	status := f.status
	if f.call == nil {
		status = f.first.Values.State()
	}
	if !f.sent() && (status == "denied" || status == "cancelled") {
		return status
	}
	return ""
}

func (f *facts) dispatched() Mark {
	m := Mark{Stage: StageDispatched}
	switch refused := f.refused(); {
	case f.sent():
		m.State, m.At, m.By = StateDone, f.sentAt(), refOf(f.first)
		if f.status == "unknown" && !slices.ContainsFunc(f.ledger, wasSent) {
			m.Note = "the runtime does not know; it may have been dispatched"
		}
	case f.stopped() != "":
		m.State, m.Note = StateNotNeeded, "the action was "+f.stopped()
	case refused:
		m.State, m.Note = StateNotNeeded, "the action was denied"
	default:
		m.State = StateWaiting
	}
	return m
}

// refused reports whether the last decision, or the approval that it asked for, says no.
func (f *facts) refused() bool {
	if f.decision == nil {
		return false
	}
	switch f.decision.Values.Decision() {
	case "deny":
		return true
	case "require_approval":
		return f.approval != nil && slices.Contains([]string{"rejected", "expired", "cancelled", "revoked"}, approvalState(f.approval, f.now))
	}
	return false
}

// sentAt is when the action was dispatched: as the ledger says, else when the call
// began.
func (f *facts) sentAt() *time.Time {
	for _, l := range f.ledger {
		if at := reached(l, "dispatched"); at != nil {
			return at
		}
	}
	if f.call == nil {
		return nil
	}
	if at := f.call.Values.StartedAt(); !at.IsZero() {
		return &at
	}
	return moment(f.call.At)
}

// acknowledged is done by a reply, of whatever content; an error is a reply too.
func (f *facts) acknowledged(dispatched Mark) Mark {
	m := Mark{Stage: StageAcknowledged}
	if dispatched.State != StateDone {
		m.State = dispatched.State
		return m
	}
	if f.status == "succeeded" || f.status == "failed" {
		m.State, m.At, m.By = StateDone, ended(f.call), refOf(f.call)
		if f.status == "failed" || string(f.call.Values[kind.FieldIsError]) == "true" {
			m.State, m.Note = StateFailed, message(f.call)
		}
		return m
	}
	if l, state := f.replied(); l != nil {
		m.State, m.At, m.By = StateDone, reached(l, state), refOf(l)
		if state == "failed" {
			m.State = StateFailed
		}
		return m
	}
	return f.unanswered(dispatched.At)
}

// replied is the entry of the ledger that saw a reply, and the state that says so.
func (f *facts) replied() (*Record, string) {
	for _, state := range []string{"acknowledged", "failed"} {
		for _, l := range f.ledger {
			if l.Values.State() == state || reached(l, state) != nil {
				return l, state
			}
		}
	}
	return nil, ""
}

// unanswered is an action without a reply.
func (f *facts) unanswered(since *time.Time) Mark {
	switch f.status {
	case "timed_out":
		return f.absent(StageAcknowledged, "no reply, the call timed out")
	case "unknown":
		return f.absent(StageAcknowledged, "no reply, the outcome is not known")
	}
	if since != nil && f.now.Sub(*since) < patience {
		m := f.absent(StageAcknowledged, "no reply yet")
		m.State = StateWaiting
		return m
	}
	return f.absent(StageAcknowledged, "no reply is recorded")
}

// reached is when an entry of the ledger came into a state, nil if it never did or the
// history does not say.
func reached(l *Record, state string) *time.Time {
	for _, h := range l.Values.StateHistory() {
		if h.State() == state {
			return moment(h.At())
		}
	}
	return nil
}

// moment is a time, nil if it is not known.
func moment(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// plural is a number and what it counts.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
