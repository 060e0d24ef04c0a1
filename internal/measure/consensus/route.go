package consensus

import (
	"slices"

	"github.com/assayhq/assay/internal/measure/agreement"
)

// Reason says why a person should decide an item.
type Reason string

// The reasons. Any one of them is enough.
const (
	ReasonNoConsensus   Reason = "no_consensus"      // the consensus is not identified, or the votes do not count
	ReasonPosterior     Reason = "low_posterior"     // the most probable label is not probable enough
	ReasonEntropy       Reason = "high_entropy"      // the labels are too open
	ReasonDistance      Reason = "distant_labels"    // annotators are far apart on an ordered scale
	ReasonContradiction Reason = "judge_contradicts" // the judge's label is improbable
	ReasonConfidence    Reason = "low_confidence"    // the judge is not sure enough
	ReasonGold          Reason = "gold_mismatch"     // the consensus is not the label that the item is known to have
	ReasonCritical      Reason = "critical_label"    // somebody gave a label that a policy wants a person to see
	ReasonAudit         Reason = "random_audit"      // nothing is wrong; the item was drawn
)

// Rules say when a person should decide. The zero value has the usual ones.
type Rules struct {
	// Posterior is the least probability of a label, zero is 0.9; Entropy is the
	// most bits, zero is 0.5.
	Posterior, Entropy float64
	// Steps is the distance of labels on an ordered scale that is too far, zero is 2.
	Steps int
	// Contradiction is the probability of the judge's label below which the judge
	// contradicts people, zero is 0.2.
	Contradiction float64
	// Confidence is the least confidence of the judge, as its calibration says.
	Confidence *float64
	// Critical are labels that a person sees whenever anybody gives them.
	Critical []string
	// Audit is the probability with which an item is drawn anyway, zero is 0.02.
	Audit float64
}

func (r Rules) checked(scale agreement.Scale) (Rules, error) {
	for _, x := range []struct {
		value *float64
		usual float64
		most  float64
		what  string
	}{{&r.Posterior, .9, 1, "posterior"}, {&r.Entropy, .5, 7, "entropy"}, {&r.Contradiction, .2, 1, "contradiction"}, {&r.Audit, .02, 1, "audit"}} {
		if *x.value == 0 {
			*x.value = x.usual
		}
		if !(*x.value > 0 && *x.value <= x.most) {
			return r, malformed("%s %v must lie between 0 and %v", x.what, *x.value, x.most)
		}
	}
	if r.Steps == 0 {
		r.Steps = 2
	}
	if r.Steps < 0 {
		return r, malformed("steps %d must be above 0", r.Steps)
	}
	if r.Confidence != nil && !(*r.Confidence >= 0 && *r.Confidence <= 1) {
		return r, malformed("confidence %v must lie between 0 and 1", *r.Confidence)
	}
	for _, label := range r.Critical {
		if !slices.Contains(scale.Labels, label) {
			return r, malformed("critical label %q is not on the scale", label)
		}
	}
	return r, nil
}

// Case is an item with what is known about it.
type Case struct {
	Organization string
	Task         string
	Consensus    Item
	Said         []string // what annotators said
	Judge        string   // what the judge said; empty if it said nothing
	Confidence   *float64 // of the judge
	Gold         string   // the label that the item is known to have; empty if nobody knows
}

// Routing says whether a person should decide an item.
type Routing struct {
	Reasons []Reason `json:"reasons" doc:"Why a person should decide the item; empty if nobody needs to."`
	// Probability is the one with which the item comes to a person. What people say
	// about such items is weighed by it.
	Probability float64 `json:"probability" doc:"Probability with which an item like this comes to a person: 1 if anything but chance sends it."`
}

// Adjudicate reports whether the item goes to a person.
func (r Routing) Adjudicate() bool { return len(r.Reasons) > 0 }

// Audited reports whether chance alone sends the item to a person. The errors of
// such items are those of all that nobody looks at.
func (r Routing) Audited() bool { return slices.Equal(r.Reasons, []Reason{ReasonAudit}) }

// Route says whether a person should decide an item, and why.
func Route(c Case, scale agreement.Scale, rules Rules) (Routing, error) {
	at, err := scale.Index()
	if err != nil {
		return Routing{}, err
	}
	rules, err = rules.checked(scale)
	if err != nil {
		return Routing{}, err
	}
	for _, label := range append(slices.Clone(c.Said), c.Judge, c.Gold, string(c.Consensus.Label)) {
		if _, ok := at[label]; !ok && label != "" {
			return Routing{}, malformed("item %q: label %q is not on the scale", c.Consensus.Item, label)
		}
	}
	if c.Confidence != nil && !(*c.Confidence >= 0 && *c.Confidence <= 1) {
		return Routing{}, malformed("item %q: confidence %v must lie between 0 and 1", c.Consensus.Item, *c.Confidence)
	}
	if n := len(c.Consensus.Posterior); n != 0 && n != len(scale.Labels) {
		return Routing{}, malformed("item %q: %d posteriors for %d labels", c.Consensus.Item, n, len(scale.Labels))
	}
	out := Routing{Reasons: []Reason{}, Probability: 1}
	add := func(is bool, why Reason) {
		if is {
			out.Reasons = append(out.Reasons, why)
		}
	}
	it := c.Consensus
	known := len(it.Posterior) > 0
	add(!known || it.Votes == 0 && it.Method != MethodExpert, ReasonNoConsensus)
	if known {
		add(slices.Max(it.Posterior) < rules.Posterior, ReasonPosterior)
		add(entropy(it.Posterior) > rules.Entropy, ReasonEntropy)
	}
	add(scale.Ordered && spread(c.Said, at) >= rules.Steps, ReasonDistance)
	add(known && c.Judge != "" && it.Posterior[at[c.Judge]] < rules.Contradiction, ReasonContradiction)
	add(rules.Confidence != nil && c.Confidence != nil && *c.Confidence < *rules.Confidence, ReasonConfidence)
	add(c.Gold != "" && it.Label != "" && string(it.Label) != c.Gold, ReasonGold)
	add(slices.ContainsFunc(rules.Critical, func(label string) bool { return slices.Contains(c.Said, label) || c.Judge == label }), ReasonCritical)
	triggered := len(out.Reasons) > 0
	add(Drawn(c.Organization, c.Task, it.Item, rules.Audit), ReasonAudit)
	if !triggered {
		out.Probability = rules.Audit
	}
	return out, nil
}

// spread is the distance of the labels that are furthest apart.
func spread(said []string, at map[string]int) int {
	if len(said) == 0 {
		return 0
	}
	low, high := at[said[0]], at[said[0]]
	for _, label := range said {
		low, high = min(low, at[label]), max(high, at[label])
	}
	return high - low
}
