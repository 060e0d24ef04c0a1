package effect

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/assayhq/assay/internal/agent/evidence/internal/record"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/core/principal"
)

// What a policy decision says about a side effect, when it is dispatched.
const (
	Allowed = "allowed"
	None    = "none"    // there is no decision
	Denied  = "denied"  // the decision does not allow it
	Claimed = "claimed" // the decision was only reported
	Expired = "expired"
	Other   = "other" // the decision is about something else, or about less
	Spent   = "spent" // the decision was used for another effect
)

const (
	// verifyWithin is how long an effect may stay unverified if its policy obliges the
	// caller to verify it and does not say when.
	verifyWithin = 24 * time.Hour
	// longest is what a policy can ask for.
	longest = 30 * 24 * time.Hour
)

// Dispatched reports whether a side effect was sent to the world.
func Dispatched(v kind.Values) bool {
	return !slices.Contains([]string{"", "planned", "authorized", "denied", "cancelled"}, v.State())
}

// Unsettled reports whether it is not known what became of a side effect that was sent. To
// begin to undo it is not to look at it.
func Unsettled(v kind.Values) bool {
	switch v.State() {
	case "dispatched", "acknowledged", "unknown":
		return true
	case "compensating", "compensation_failed":
		return v[kind.FieldVerification] == nil
	}
	return false
}

// Known reports whether somebody has looked, and a side effect is done, or undone again.
func Known(v kind.Values) bool {
	return slices.Contains([]string{"verified", "compensated"}, v.State()) && v[kind.FieldVerification] != nil
}

// Harmless reports whether a side effect changes nothing.
func Harmless(v kind.Values) bool {
	c := v.SideEffectClass()
	return c == "none" || c == "read"
}

// maxHistory is how many states a side effect shows; the record has been kept in all of them.
const maxHistory = 1000

// Pass notes the state that a side effect has come to, and who said so.
func Pass(v kind.Values, at time.Time, by principal.Actor) error {
	history := kind.Elements(v[kind.FieldStateHistory])
	if n := len(history) - maxHistory; n >= 0 {
		history = history[n+1:]
	}
	entry := kind.Values{kind.FieldState: v[kind.FieldState], kind.FieldAt: kind.TimeValue(at), kind.FieldActor: kind.TextValue(by.String())}
	text, err := json.Marshal(append(history, entry.JSON()))
	v[kind.FieldStateHistory] = text
	return err
}

// Blurred is a field that tells effects apart, and that is not what was sent any more; empty if
// there is none.
func Blurred(sent, stored kind.Values) string {
	if sent.EffectKey() == "" {
		return ""
	}
	for _, name := range []string{kind.FieldEffectKey, kind.FieldOperation, kind.FieldTarget} {
		if !bytes.Equal(sent[name], stored[name]) {
			return name
		}
	}
	return ""
}

// Name is what two reports of the same effect have in common: what the external system
// recognizes a repetition by. The zero key names nothing.
func Name(v kind.Values, l record.Links) record.Key {
	if v.EffectKey() == "" {
		return record.Key{}
	}
	t := v.Target()
	return record.Hashed("effect", l.ConnectorKey, t.System(), t.Type(), t.Text(kind.FieldID), v.Operation(), v.EffectKey())
}

// Idle reports whether a side effect is known not to have happened.
func Idle(v kind.Values) bool {
	state := v.State()
	return state == "failed" || state == "not_applied"
}

// Judge notes what a decision says about a side effect that changes something, and whose
// dispatch was received at a time: its authorization, which it returns, and until when the
// effect must be verified. A decision without an id is none.
func Judge(r, d *record.Record, received time.Time) string {
	if d.ID != 0 {
		r.Values[kind.FieldPolicyDecisionID] = kind.IntegerValue(d.ID)
	}
	if within, obliged := verifiedWithin(d.Values); obliged {
		r.Values[kind.FieldVerifyBy] = kind.TimeValue(received.Add(within))
	}
	said := authorization(r, d, received)
	r.Values[kind.FieldAuthorization] = kind.TextValue(said)
	return said
}

// authorization is what a decision says, if no other effect has used it.
func authorization(r, d *record.Record, received time.Time) string {
	v := d.Values
	switch {
	case d.ID == 0:
		return None
	case d.Origin != record.Platform:
		return Claimed
	case v.Decision() != "allow" || v.Mode() != "enforce":
		return Denied
	case !about(r, d) || exceeds(v, r.Values) || !covers(v, r.Values):
		return Other
	case !received.Before(v.ExpiresAt()):
		return Expired
	}
	return Allowed
}

// foreign are the characters that the types of decisions do not have: a policy cannot write
// them.
var foreign = regexp.MustCompile(`[^A-Za-z0-9_:]`)

// about reports whether a decision is about a side effect. One that names no call is about
// any call. The target of the effect has to be the resource that was asked about, unless that
// is the tool itself. If the decision names no tool, the operation has to be the action.
func about(r, d *record.Record) bool {
	call, made := d.Values.InvocationID(), r.Values.InvocationID()
	if d.RuntimeKey != r.RuntimeKey || d.ConnectorKey != r.ConnectorKey || call != "" && made != "" && call != made {
		return false
	}
	operation := r.Values.Operation()
	asked, target := d.Values.Within(kind.FieldInput), r.Values.Target()
	resource := asked.Within(kind.FieldResource)
	its := resource.Type() == foreign.ReplaceAllString(target.Type(), "_") && resource.Text(kind.FieldID) == target.Text(kind.FieldID)
	if tool := d.Values.ToolName(); tool != "" {
		return tool == operation && (its || strings.EqualFold(resource.Type(), "Tool"))
	}
	return its && asked.Within(action).Text(kind.FieldID) == operation
}

// exceeds reports whether a side effect does more to the world than the action that was
// decided on. Whoever allows what is not known allows whatever it does.
func exceeds(decision, effect kind.Values) bool {
	class := decision.SideEffectClass()
	return class != "unknown" && slices.Index(kind.SideEffects, effect.SideEffectClass()) > slices.Index(kind.SideEffects, class)
}

// verifiedWithin is how soon a decision obliges its caller to verify the effect. Of several
// obligations the strictest counts.
func verifiedWithin(decision kind.Values) (within time.Duration, obliged bool) {
	within = longest
	for _, v := range decision.Obligations() {
		if v.Type() != "verify_side_effect" {
			continue
		}
		obliged = true
		if n := v.Ext().Integer(seconds); n > 0 {
			within = min(within, time.Duration(min(n, int64(longest/time.Second)))*time.Second)
		} else {
			within = min(within, verifyWithin)
		}
	}
	return within, obliged
}
