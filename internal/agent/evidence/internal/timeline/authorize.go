package timeline

import (
	"slices"
	"time"
)

// authorized is done by a decision of the platform that allows the action. An approval
// alone does not allow anything: it has to be presented to a decision. A decision that was
// made elsewhere is only said to have been made: that it denied the action counts, and
// that it allowed it does not.
func (f *facts) authorized() Mark {
	if f.decision == nil {
		return f.undecided()
	}
	m := Mark{Stage: StageAuthorized, At: moment(f.decision.At), By: refOf(f.decision), Note: reason(f.decision)}
	switch f.decision.Values.Decision() {
	case "allow":
		return f.allowed(m)
	case "deny":
		m.State = StateDenied
		if f.sent() {
			f.lacks(StageAuthorized, "dispatched although it was denied")
		}
	case "require_approval":
		return f.approved(m)
	default:
		return f.undecided()
	}
	return m
}

// allowed is how an action stands whose last decision allows it.
func (f *facts) allowed(m Mark) Mark {
	said := elsewhere(f.decision)
	until, sent := f.decision.Values.ExpiresAt(), f.sentAt()
	switch {
	case said == "":
		m.State, m.Note = StateDone, ""
		if f.sent() && sent != nil && !until.IsZero() && sent.After(until) {
			m.Note = "the decision had expired when the action was dispatched"
		}
	case f.stopped() == "denied":
		m.State, m.At, m.By, m.Note = StateDenied, nil, refOf(f.first), said
	case f.harmless(), f.stopped() == "cancelled":
		m.State, m.Note = StateNotNeeded, said
	default:
		m.State, m.Note = StateMissing, said
		f.lacks(StageAuthorized, said)
	}
	return m
}

// elsewhere says who claims that a decision was made; empty if the platform made it.
func elsewhere(d *Record) string {
	switch d.Origin {
	case platform:
		return ""
	case "ingested":
		return "decided elsewhere, as telemetry says"
	default:
		return "decided elsewhere, as a client reports"
	}
}

// platform is the origin of what the platform itself decided.
const platform = "platform"

// weighty leaves out decisions that grant nothing: permission that was given elsewhere, if
// there is any other decision.
func (g *graph) weighty(list []int) []int {
	out := slices.DeleteFunc(slices.Clone(list), func(i int) bool {
		r := &g.recs[i]
		return r.Origin != platform && r.Values.Decision() == "allow"
	})
	if len(out) == 0 {
		return list
	}
	return out
}

// undecided is an action without a decision.
func (f *facts) undecided() Mark {
	switch {
	case f.stopped() == "denied":
		return Mark{Stage: StageAuthorized, State: StateDenied, By: refOf(f.first), Note: "no policy decision is recorded"}
	case f.harmless(), f.stopped() == "cancelled":
		return Mark{Stage: StageAuthorized, State: StateNotNeeded}
	case f.approval != nil && !f.sent():
		return f.approved(Mark{Stage: StageAuthorized})
	case f.status == "awaiting_approval":
		return f.absent(StageAuthorized, "an approval is required and there is none")
	}
	return f.absent(StageAuthorized, "no policy decision")
}

// approved is how an action stands whose last decision, if there is one, asked for an
// approval.
func (f *facts) approved(m Mark) Mark {
	if f.approval == nil {
		return f.absent(StageAuthorized, "an approval is required and there is none")
	}
	m.By, m.At = refOf(f.approval), moment(f.approval.Values.DecidedAt())
	switch state := approvalState(f.approval, f.now); state {
	case "consumed": // by the decision that allowed the action
		m.State, m.Note = StateDone, "the approval was used"
	case "approved":
		return f.unpresented(m)
	case "pending":
		m.State, m.Note = StateWaiting, "waiting for an approval"
		if f.sent() {
			m.State = StateMissing
			f.lacks(StageAuthorized, "dispatched before the approval was decided")
		}
	default:
		m.State, m.Note = StateDenied, "the approval was "+state
		if state == "expired" {
			m.Note = "the approval expired"
		}
		if f.sent() {
			f.lacks(StageAuthorized, "dispatched although "+m.Note)
		}
	}
	return m
}

// unpresented is an action that people agreed to, and that no decision allowed since.
func (f *facts) unpresented(m Mark) Mark {
	if f.sent() {
		f.lacks(StageAuthorized, "approved, but no policy decision allowed it afterwards")
		m.State, m.Note = StateMissing, "approved, but no policy decision allowed it afterwards"
		return m
	}
	m.State, m.Note = StateWaiting, "approved; a policy decision has to allow it now"
	return m
}

// approvalState is the state of an approval now: one that can no longer be used has
// expired, whether or not that was recorded.
func approvalState(a *Record, now time.Time) string {
	state := a.Values.State()
	if state == "" {
		state = "pending"
	}
	until := a.Values.ExpiresAt()
	if state == "pending" && !until.IsZero() && !now.Before(until) {
		return "expired"
	}
	return state
}
