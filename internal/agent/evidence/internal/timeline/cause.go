package timeline

import (
	"cmp"
	"slices"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// link finds what decisions and approvals are about, and how they lead to each other.
func (g *graph) link() {
	for _, c := range g.of(calls) {
		g.linkDecided(c, c)
	}
	for _, l := range g.of(ledger) {
		g.linkDecided(l, first(g.caller[l], l))
	}
	for _, k := range []kind.Name{decisions, approvals} {
		for _, i := range g.of(k) {
			g.about[i] = insert(g.about[i], g.ref(i, kind.FieldToolInvocationEvidenceID, calls))
			if len(g.about[i]) == 0 {
				g.about[i] = g.still(i)
			}
		}
	}
	for _, a := range g.of(approvals) {
		if d := g.ref(a, kind.FieldPolicyDecisionID, decisions); d != root {
			g.asked[a] = d
		}
	}
	for _, d := range g.of(decisions) {
		g.linkApproval(d)
	}
}

// linkDecided notes that what a record names decided about a subject.
func (g *graph) linkDecided(i, subject int) {
	for name, k := range map[string]kind.Name{kind.FieldPolicyDecisionID: decisions, kind.FieldApprovalID: approvals} {
		if j := g.ref(i, name, k); j != root {
			g.about[j] = insert(g.about[j], subject)
		}
	}
}

// linkApproval tells a decision that asked for an approval from one that was presented
// with it.
func (g *graph) linkApproval(d int) {
	a := g.ref(d, kind.FieldApprovalID, approvals)
	if a == root {
		return
	}
	asked, known := g.asked[a]
	switch {
	case known && asked == d:
	case g.recs[d].Values.Decision() != "require_approval":
		g.used[a] = append(g.used[a], d)
	case !known:
		g.asked[a] = d
	}
}

// causes lists what comes before what, apart from parents before children.
func (g *graph) causes() {
	for i := range g.recs {
		switch g.recs[i].Kind {
		case steps:
			g.cause(g.ref(i, kind.FieldRetryOfID, steps), i)
		case ledger:
			g.cause(g.ref(i, kind.FieldCompensatesID, ledger), i)
			g.cause(g.ref(i, kind.FieldDuplicateOfID, ledger), i)
		case calls:
			g.causeOfAttempt(i)
		}
		found, approved := g.decided(i)
		for _, d := range slices.Concat(found, approved) {
			g.cause(d, i)
		}
		if d, ok := g.asked[i]; ok {
			g.cause(d, i)
		}
		for _, d := range g.used[i] {
			g.cause(i, d)
		}
	}
	g.sequences()
}

func (g *graph) cause(before, after int) {
	if before != root && after != root && before != after {
		g.before = append(g.before, [2]int{before, after})
	}
}

// causeOfAttempt puts a call after the attempt before it.
func (g *graph) causeOfAttempt(i int) {
	attempt := func(c int) int64 { return g.recs[c].Values.Attempt() }
	previous := root
	for _, c := range g.attempts(i) {
		if attempt(c) < attempt(i) {
			previous = c
		}
	}
	g.cause(previous, i)
}

// sequences puts the steps of one parent into the order that they say they have. Steps
// that share a place say nothing.
func (g *graph) sequences() {
	numbered := map[int][]int{}
	for _, i := range g.of(steps) {
		if g.parent[i] != root && g.recs[i].Values[kind.FieldSequence] != nil {
			numbered[g.parent[i]] = append(numbered[g.parent[i]], i)
		}
	}
	place := func(i int) int64 { return g.recs[i].Values.Sequence() }
	for _, list := range numbered {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(place(a), place(b)) })
		distinct := slices.CompactFunc(slices.Clone(list), func(a, b int) bool { return place(a) == place(b) })
		if len(distinct) < len(list) {
			continue
		}
		for n := 1; n < len(list); n++ {
			g.cause(list[n-1], list[n])
		}
	}
}

// subjects are the records that a failure, an explanation, a quality case or a raw
// event is about.
func (g *graph) subjects(i int) (list []int) {
	v := g.recs[i].Values
	switch g.recs[i].Kind {
	case explanations:
		list = insert(list, g.ref(i, kind.FieldPrimitiveStepRunID, steps))
		subject := v.Subject()
		if k, ok := subjectKinds[subject.Type()]; ok {
			list = insert(list, g.find(k, subject.Integer(kind.FieldID)))
		}
	case failures:
		list = insert(list, g.call(i))
		for name, k := range failureOf {
			list = insert(list, g.ref(i, name, k))
		}
	case cases:
		for _, f := range g.of(failures) {
			if g.ref(f, kind.FieldQualityCaseID, cases) == i {
				list = insert(list, f)
			}
		}
	case events:
		list = g.made(i)
	}
	return list
}

var subjectKinds = map[string]kind.Name{"tool_invocation": calls, "policy_decision": decisions, "step": steps}

var failureOf = map[string]kind.Name{
	kind.FieldPrimitiveStepRunID: steps, kind.FieldPolicyDecisionID: decisions, kind.FieldSideEffectLedgerID: ledger,
	kind.FieldEvalExplanationID: explanations,
}

// made are the records that an event was turned into.
func (g *graph) made(i int) (list []int) {
	for _, r := range g.recs[i].Values.Records() {
		if j, ok := g.ids[r.Integer(kind.FieldID)]; ok && g.recs[j].Kind != events {
			list = insert(list, j)
		}
	}
	return insert(list, g.from[g.recs[i].ID]...)
}
