package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
)

// action joins what belongs to a call, or to a ledger entry that no call explains; nil
// for anything else.
func (g *graph) action(i int, now time.Time) *Action {
	r := &g.recs[i]
	if r.Kind != calls && (r.Kind != ledger || g.caller[i] != root) {
		return nil
	}
	decided, approved := g.decided(i)
	effects := g.effects(i)
	f := facts{now: now, first: r, decision: g.last(g.weighty(g.binding(decided))), approval: g.last(approved)}
	if r.Kind == calls {
		f.call = r
		f.status = r.Values.Status()
	} else if p := g.parent[i]; p != root {
		f.step = &g.recs[p]
	}
	for _, l := range effects {
		f.ledger = append(f.ledger, &g.recs[l])
	}
	f.class = f.riskiest()
	a := &Action{
		InvocationID: r.Values.InvocationID(), Tool: r.Values.ToolName(), Connector: r.Values.ConnectorKey(), SideEffectClass: f.class,
		Decision: refOf(f.decision), Approval: refOf(f.approval), Ledger: g.refs(effects), Failures: g.refs(g.failed([]int{i}, effects, decided)),
	}
	if r.Kind == ledger {
		a.Tool = r.Values.Operation()
	}
	a.Marks, a.Missing = f.marks()
	return a
}

// decided are the decisions and the approvals that concern a subject: those about it,
// the approvals that they lead to, and the decisions before and after those.
func (g *graph) decided(subject int) (found, approved []int) {
	for _, i := range g.decides[subject] {
		if g.recs[i].Kind == approvals {
			approved = insert(approved, i)
			continue
		}
		found = insert(found, i)
		approved = insert(approved, g.leads[i]...)
	}
	for _, a := range approved {
		if d, ok := g.asked[a]; ok {
			found = insert(found, d)
		}
		for _, d := range g.used[a] {
			if len(g.about[d]) == 0 {
				found = insert(found, d)
			}
		}
	}
	return found, approved
}

// binding leaves out decisions that were only a trial.
func (g *graph) binding(list []int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool {
		v := g.recs[i].Values
		return cmp.Or(v.Mode(), v.Attributes().Mode()) == "dry_run"
	})
}

// effects are the ledger entries of a call, or the entry itself.
func (g *graph) effects(i int) []int {
	if g.recs[i].Kind == ledger {
		return []int{i}
	}
	return g.caused[i]
}

// failed are the failures that concern any of the records.
func (g *graph) failed(lists ...[]int) (found []int) {
	for _, i := range slices.Concat(lists...) {
		found = insert(found, g.fails[i]...)
	}
	return found
}

// turn makes the links of actions findable from their other end.
func (g *graph) turn() {
	for i, list := range g.about {
		for _, a := range list {
			g.decides[a] = append(g.decides[a], i)
		}
	}
	for a, d := range g.asked {
		g.leads[d] = append(g.leads[d], a)
	}
	for a, list := range g.used {
		for _, d := range list {
			g.leads[d] = append(g.leads[d], a)
		}
	}
	for _, l := range g.of(ledger) {
		if c := g.caller[l]; c != root {
			g.caused[c] = append(g.caused[c], l)
		}
	}
	for _, f := range g.of(failures) {
		c := g.call(f)
		about := insert(nil, c, g.ref(f, kind.FieldSideEffectLedgerID, ledger))
		if c == root {
			about = insert(about, g.ref(f, kind.FieldPolicyDecisionID, decisions))
		}
		for _, i := range about {
			g.fails[i] = append(g.fails[i], f)
		}
	}
}

// last is the record that is written last, nil if there is none.
func (g *graph) last(list []int) *Record {
	if len(list) == 0 {
		return nil
	}
	return &g.recs[slices.MaxFunc(list, func(a, b int) int { return cmp.Compare(g.pos[a], g.pos[b]) })]
}

// refs names records, in the order in which they are written.
func (g *graph) refs(list []int) []Ref {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b int) int { return cmp.Compare(g.pos[a], g.pos[b]) })
	out := make([]Ref, len(list))
	for n, i := range list {
		out[n] = Ref{Resource: g.recs[i].Kind, ID: g.recs[i].ID}
	}
	return out
}

func refOf(r *Record) *Ref {
	if r == nil || r.ID == 0 {
		return nil
	}
	return &Ref{Resource: r.Kind, ID: r.ID}
}

// risk orders the classes of side effects. One that is not known is more than reading;
// a class that is known says more than that.
var risk = func() map[string]int {
	out := map[string]int{}
	for n, class := range kind.SideEffects {
		out[class] = 2 * n
	}
	out["unknown"] = out["read"] + 1
	return out
}()

// riskiest is the class of an action: the riskiest that any record about it gives. An
// action without a class is one whose class is not known.
func (f *facts) riskiest() string {
	classes := []string{}
	see := func(r *Record) {
		if r == nil {
			return
		}
		if c := r.Values.SideEffectClass(); c != "" {
			classes = append(classes, c)
		}
	}
	see(f.first)
	for _, l := range f.ledger {
		see(l)
	}
	if len(classes) == 0 {
		see(f.approval)
	}
	if len(classes) == 0 {
		return "unknown"
	}
	return slices.MaxFunc(classes, func(a, b string) int { return cmp.Compare(risk[a], risk[b]) })
}
