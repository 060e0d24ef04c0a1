package timeline

import "time"

// authorized is done by a decision that allows the action. An approval alone does not
// allow anything: it has to be presented to a decision.
func (f *facts) authorized() Mark {
	if f.decision == nil {
		return f.undecided()
	}
	m := Mark{Stage: StageAuthorized, At: moment(f.decision.At), By: refOf(f.decision), Note: reason(f.decision)}
	switch f.decision.Values.Text("decision") {
	case "allow":
		m.State, m.Note = StateDone, f.reservation()
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

// reservation is what to know about a decision that allows an action.
func (f *facts) reservation() string {
	v := f.decision.Values
	until, sent := v.Time("expires_at"), f.sentAt()
	switch {
	case f.sent() && sent != nil && !until.IsZero() && sent.After(until):
		return "the decision had expired when the action was dispatched"
	case v.Text("origin") == "reported":
		return "decided elsewhere, as a client reports"
	}
	return ""
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
	m.By, m.At = refOf(f.approval), moment(f.approval.Values.Time("decided_at"))
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
	state := a.Values.Text("state")
	if state == "" {
		state = "pending"
	}
	until := a.Values.Time("expires_at")
	if state == "pending" && !until.IsZero() && !now.Before(until) {
		return "expired"
	}
	return state
}
