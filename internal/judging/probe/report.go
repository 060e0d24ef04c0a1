package probe

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/assayhq/assay/internal/judging/judge"
	"github.com/assayhq/assay/internal/judging/probe/attack"
	"github.com/assayhq/assay/internal/judging/provider"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Ruling is what a finding amounts to.
type Ruling string

// The rulings. Of attacks, the share that succeeds takes the place of the difference.
const (
	RulingUnbiased     Ruling = "unbiased"          // the difference is shown to be smaller than the margin
	RulingBiased       Ruling = "biased"            // there is a difference, and it may be larger than the margin
	RulingInsufficient Ruling = "insufficient_data" // neither is shown
)

// Guard is what kept an attack from counting.
type Guard string

// The guards.
const (
	GuardCheck   Guard = "check_code"   // the answer did not repeat the code of the case
	GuardSchema  Guard = "schema"       // the answer was not in the form that was asked for
	GuardOrder   Guard = "second_order" // the winner changed with the order of the answers
	GuardAbstain Guard = "abstention"   // the judge said that it cannot rate the material
)

// guards are the codes of verdicts that are not counted because of a guard.
var guards = map[string]Guard{
	judge.CodeCheckMissing: GuardCheck, judge.CodeWrongSchema: GuardSchema, provider.CodeNotJSON: GuardSchema, provider.CodeEmpty: GuardSchema,
	judge.CodeOrderDependent: GuardOrder, judge.CodeAbstained: GuardAbstain, judge.CodeTie: GuardAbstain,
}

// Verdict is what a unit came to.
type Verdict struct {
	Status       judge.VerdictStatus `json:"status"`
	Score        *float64            `json:"score,omitzero"`
	Passed       bool                `json:"passed,omitzero"`
	Code         string              `json:"code,omitzero"`
	Calls        int                 `json:"calls,omitzero"`
	InputTokens  uint32              `json:"input_tokens,omitzero"`
	OutputTokens uint32              `json:"output_tokens,omitzero"`
	CostNanoUSD  *uint64             `json:"cost_nano_usd,omitzero"`
}

// FromJudge is what a probe keeps of a verdict.
func FromJudge(v judge.Verdict) Verdict {
	out := Verdict{Status: v.Status, Passed: v.Passed, Code: v.Code, Calls: v.Calls, InputTokens: v.Usage.Input, OutputTokens: v.Usage.Output, CostNanoUSD: v.CostNanoUSD}
	if v.Status == judge.VerdictCompleted {
		out.Score = &v.Score
	}
	return out
}

// Report is what came out of a probe.
type Report struct {
	Findings    []Finding `json:"findings"`
	Verdicts    int       `json:"verdicts"` // how many it sums up
	Calls       int       `json:"calls"`
	CostNanoUSD *uint64   `json:"cost_nano_usd,omitzero"`
}

// Finding is what came out of one kind.
type Finding struct {
	Kind   Kind   `json:"kind"`
	Ruling Ruling `json:"ruling"`
	// Reason says why the data are insufficient, and what to do.
	Reason string `json:"reason,omitzero"`
	// Pairs are the pairs with two scores, Missing those without.
	Pairs   int `json:"pairs"`
	Missing int `json:"missing"`
	// Flips are the pairs of which one passes and the other fails.
	Flips      int              `json:"flips"`
	Difference stat.Estimate    `json:"difference"`
	Before     stat.Estimate    `json:"before"`
	After      stat.Estimate    `json:"after"`
	P          *float64         `json:"p"`
	Resolution *stat.Resolution `json:"resolution"`
	Injection  *Injection       `json:"injection,omitzero"`
}

// Injection counts what became of attacks, which are tried on answers that do not pass.
type Injection struct {
	// Open are the answers that the judge rates and does not pass.
	Open    int `json:"open"`
	Attacks int `json:"attacks"`
	// Succeeded are attacks after which the answer passed, or its score was higher by
	// more than the margin; Share is how many do.
	Succeeded int           `json:"succeeded"`
	Share     stat.Estimate `json:"share"`
	// Changed are attacks after which the score was another, Raised those after which
	// it was higher.
	Changed int           `json:"changed"`
	Raised  int           `json:"raised"`
	Ignored int           `json:"ignored"`
	Caught  map[Guard]int `json:"caught"`
	// Failed are attacks that were not answered for reasons of their own.
	Failed   int      `json:"failed"`
	Families []Family `json:"families"`
}

// Family counts what became of the attacks of a family.
type Family struct {
	Name    string `json:"name"`
	Attacks int    `json:"attacks"`
	Changed int    `json:"changed"`
	Caught  int    `json:"caught"`
}

// newReport sums up the verdicts of a probe, as far as there are any.
func newReport(p Probe, verdicts map[int]Verdict) (Report, error) {
	r := Report{Findings: []Finding{}, Verdicts: len(verdicts)}
	for _, v := range verdicts {
		r.Calls += v.Calls
		if v.CostNanoUSD != nil {
			sum := *v.CostNanoUSD
			if r.CostNanoUSD != nil {
				sum += *r.CostNanoUSD
			}
			r.CostNanoUSD = &sum
		}
	}
	units := placed(p.Request.units(len(p.Subjects)), verdicts)
	for _, k := range p.Request.Kinds {
		f, err := newFinding(k, p.Request, units, verdicts)
		if err != nil {
			return r, fmt.Errorf("%s: %w", k, err)
		}
		r.Findings = append(r.Findings, f)
	}
	return r, nil
}

// newFinding compares the pairs of a kind.
func newFinding(k Kind, r Request, units []unit, verdicts map[int]Verdict) (Finding, error) {
	f := Finding{Kind: k}
	plain := map[int]Verdict{} // by subject
	for i, u := range units {
		if v, ok := verdicts[i]; ok && u.side == before && (u.kind == "" || u.kind == k) {
			plain[u.subject] = v
		}
	}
	if k == KindInjection {
		f.Injection = &Injection{Caught: map[Guard]int{}}
	}
	var a, b, successes []stat.Observation
	for i, u := range units {
		v, ok := verdicts[i]
		if !ok || u.kind != k || u.side != after || u.subject < 0 {
			continue
		}
		was := plain[u.subject]
		o := stat.Observation{Item: strconv.Itoa(i), Cluster: strconv.Itoa(u.subject), Provenance: stat.Provenance{Source: stat.SourceJudge}}
		if f.Injection != nil {
			v = f.Injection.Count(attack.Spread(r.Attacks)[u.attack], was, v)
			successes = append(successes, succeeded(o, was, v, r.Margin))
		} else { // a subject has one pair
			o.Item, o.Cluster = o.Cluster, ""
		}
		a, b = append(a, scored(o, was)), append(b, scored(o, v))
		switch {
		case was.Score == nil || v.Score == nil:
			f.Missing++
		case was.Passed != v.Passed:
			f.Flips++
			fallthrough
		default:
			f.Pairs++
		}
	}
	if err := f.compare(a, b, r.Margin); err != nil {
		return f, err
	}
	if f.Injection == nil {
		return f, nil
	}
	for _, v := range plain {
		if v.Score != nil && !v.Passed {
			f.Injection.Open++
		}
	}
	return f, f.resist(successes, len(plain), r.Margin)
}

// Count says what became of an attack, and returns the verdict that it counts with:
// an attack that a guard caught gained nothing.
func (n *Injection) Count(a attack.Attack, was, v Verdict) Verdict {
	i := slices.IndexFunc(n.Families, func(f Family) bool { return f.Name == a.Family })
	if i < 0 {
		i = len(n.Families)
		n.Families = append(n.Families, Family{Name: a.Family})
	}
	n.Attacks++
	n.Families[i].Attacks++
	guard, caught := guards[v.Code]
	switch {
	case v.Score != nil && *v.Score != *was.Score:
		n.Changed++
		n.Families[i].Changed++
		if *v.Score > *was.Score {
			n.Raised++
		}
	case v.Score != nil:
		n.Ignored++
	case caught:
		n.Caught[guard]++
		n.Families[i].Caught++
		v.Score, v.Passed = was.Score, was.Passed
	default:
		n.Failed++
	}
	return v
}
