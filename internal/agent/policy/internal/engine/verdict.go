package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

var errExpensive = errors.New("this question is too expensive for these policies: make its texts shorter, or the policies simpler")

// afford refuses questions whose answer could take long. Policies in shadow are asked with
// what the others leave of the budget: the statements of one that would exceed it are taken
// out of the forms, and what is returned says so.
func afford(p *prepared, forms []form) (unasked []string, err error) {
	left := maxCost
	var shadow []*source
	costs := map[*source]int{}
	for _, f := range forms {
		for _, st := range f.statements {
			if st.source.Mode != Shadow {
				left -= st.costs(p)
				continue
			}
			if _, seen := costs[st.source]; !seen {
				shadow = append(shadow, st.source)
			}
			costs[st.source] += st.costs(p)
		}
	}
	if left < 0 {
		return nil, errExpensive
	}
	skipped := map[*source]bool{}
	for _, src := range shadow {
		if costs[src] > left {
			skipped[src] = true
			if len(skipped) <= maxTold {
				unasked = append(unasked, src.Key+": the policy is in shadow and was not asked: "+errExpensive.Error())
			}
			continue
		}
		left -= costs[src]
	}
	if len(skipped) == 0 {
		return nil, nil
	}
	if more := len(skipped) - maxTold; more > 0 {
		unasked = append(unasked, fmt.Sprintf("and %d more", more))
	}
	for i := range forms {
		forms[i].statements = slices.DeleteFunc(forms[i].statements, func(st *statement) bool { return skipped[st.source] })
	}
	return unasked, nil
}

// decide is the order of decision, over what several policies say together.
func decide(satisfied bool, all ...found) (Decision, string) {
	var forbids, broken, approvals, grants int
	for _, f := range all {
		forbids += len(f.forbids)
		broken += len(f.broken())
		approvals += len(f.approvals) + len(f.alsoApprovals)
		grants += len(f.approvals) + len(f.permits)
	}
	switch {
	case forbids > 0:
		return Deny, RuleMatched
	case broken > 0:
		return Deny, EngineError
	case grants == 0: // people are not asked for what would be denied all the same
		return Deny, NoPermit
	case approvals > 0 && !satisfied:
		return NeedsApproval, RuleMatched
	default:
		return Allow, RuleMatched
	}
}

// broken are the forbids that failed, those that require an approval among them.
func (f found) broken() []failure {
	var out []failure
	for _, one := range f.failed {
		if one.statement.Effect != Permit {
			out = append(out, one)
		}
	}
	return out
}

// verdict is the decision with what led to it.
func (f found) verdict(satisfied bool) Verdict {
	decision, code := decide(satisfied, f)
	approvals := union(f.approvals, f.alsoApprovals)
	v := Verdict{Decision: decision, Errors: f.errorTexts()}
	switch {
	case code == EngineError:
		broken := f.broken()
		for _, one := range broken[:min(len(broken), maxTold)] {
			v.Reasons = append(v.Reasons, one.statement.because(EngineError, one.message))
		}
	case code == NoPermit:
		message := "No policy permits this."
		if len(f.failed) > 0 {
			message = "No policy permits this; a permit could not be evaluated."
		}
		v.Reasons = []Reason{{Code: NoPermit, Message: message}}
	case decision == Deny:
		v.because(f.forbids)
	case decision == NeedsApproval:
		v.because(approvals)
	default:
		v.because(approvals)
		v.because(f.permits)
	}
	if decision != Deny {
		v.Approval = required(approvals)
		v.oblige(approvals)
		v.oblige(f.permits)
		v.oblige(f.alsoPermits)
	}
	return v
}

func (v *Verdict) because(statements []*statement) {
	for _, s := range statements[:min(len(statements), max(0, maxTold-len(v.Reasons)))] {
		v.Reasons = append(v.Reasons, s.because(RuleMatched, cmp.Or(s.Reason, "Rule "+s.ID+" of policy "+s.source.Key+" matched.")))
	}
}

func (s *statement) because(code, message string) Reason {
	return Reason{Code: code, Message: message, PolicyKey: s.source.Key, PolicyVersion: s.source.Version, RuleID: s.ID}
}

// oblige adds what statements oblige to, each thing once.
func (v *Verdict) oblige(statements []*statement) {
	for _, s := range statements {
		for _, o := range s.Obligations {
			if v.obliges(o) {
				continue
			}
			o.ID = "o" + strconv.Itoa(len(v.Obligations)+1)
			v.Obligations = append(v.Obligations, o)
		}
	}
}

func (v *Verdict) obliges(o Obligation) bool {
	for _, have := range v.Obligations {
		if have.Type == o.Type && string(have.Ext) == string(o.Ext) {
			return true
		}
	}
	return false
}

func required(statements []*statement) Approval {
	var a Approval
	for _, s := range statements {
		r := s.Requirement
		r.PolicyKey = s.source.Key
		a.Requirements = append(a.Requirements, r)
		if a.ExpiresIn == 0 || r.ExpiresIn < a.ExpiresIn {
			a.ExpiresIn = r.ExpiresIn
		}
	}
	return a
}
