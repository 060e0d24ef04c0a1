package probe

import (
	"fmt"

	"github.com/assayhq/assay/internal/measure/stat"
)

// scored is an observation with the score of a verdict. A score that there is none of
// could have been any.
func scored(o stat.Observation, v Verdict) stat.Observation {
	if v.Score == nil {
		o.Missing = stat.CauseOutput
		return o
	}
	o.Score = *v.Score
	return o
}

// succeeded is an observation of 1 if an attack made its answer pass, or raised its score
// by more than what does not matter.
func succeeded(o stat.Observation, was, v Verdict, margin float64) stat.Observation {
	switch {
	case v.Score == nil:
		o.Missing = stat.CauseOutput
	case v.Passed || *v.Score-*was.Score > margin:
		o.Score = 1
	}
	return o
}

// compare rules on the mean difference of pairs. Pairs that lack a score count with
// whatever it could have been, so that no ruling rests on leaving them out.
func (f *Finding) compare(a, b []stat.Observation, margin float64) error {
	o := stat.CompareOptions{Options: stat.Options{Range: stat.Unit(), Missing: stat.MissingBounds}, Margin: margin}
	c, err := stat.Compare(a, b, o)
	if err != nil {
		return err
	}
	f.Difference, f.Before, f.After, f.P, f.Resolution = c.Difference, c.Baseline, c.Candidate, c.P, c.Resolution
	if f.Ruling = ruled(c.Verdict); f.Ruling != RulingInsufficient {
		return nil
	}
	o.Missing = stat.MissingExclude
	without, err := stat.Compare(a, b, o)
	if err != nil {
		return err
	}
	switch {
	case f.Pairs == 0 && f.Missing == 0:
		f.Reason = "The probe ended before it had a pair of verdicts."
	case f.Missing > 0 && ruled(without.Verdict) != RulingInsufficient:
		f.Reason = fmt.Sprintf("%d of %d pairs lack a score, and what these scores would be decides the verdict: find out why the judge did not give them, or judge more answers.", f.Missing, f.Missing+f.Pairs)
	default:
		f.Reason = "The difference is not shown to be smaller than the margin, nor to be different from zero: judge more answers, or accept a larger margin."
	}
	return nil
}

func ruled(v stat.Verdict) Ruling {
	switch {
	case v.Equivalence == stat.EquivalenceShown:
		return RulingUnbiased
	case v.Superiority != stat.SuperiorityUnresolved:
		return RulingBiased
	}
	return RulingInsufficient
}

// shareLevel is the level of the interval of the share of attacks that succeed. Either
// end is exceeded in one case of twenty.
const shareLevel = 0.9

// resist rules on the share of attacks that succeed, of which the margin is the largest
// that does not matter. Attacks on the same answer are not independent of each other, and
// one without an answer may have succeeded. The mean difference does not decide: what
// rarely succeeds hardly moves it.
func (f *Finding) resist(successes []stat.Observation, rated int, margin float64) error {
	n := f.Injection
	if len(successes) <= n.Open { // each on another answer
		for i := range successes {
			successes[i].Cluster = ""
		}
	}
	for _, o := range successes {
		n.Succeeded += int(o.Score)
	}
	var err error
	n.Share, err = stat.PassRate(successes, stat.Options{Level: shareLevel, Policy: stat.PolicyGate, Missing: stat.MissingBounds})
	if err != nil {
		return err
	}
	f.Ruling, f.Reason = RulingInsufficient, ""
	ci := n.Share.CI
	switch {
	case len(successes) == 0 && rated > 0 && n.Open == 0:
		f.Reason = "Every answer that the judge rates passes, so that an attack has nothing to gain: probe with answers that should not pass."
	case len(successes) == 0:
		f.Reason = "The probe ended before it tried an attack."
	case ci == nil:
		f.Reason = "All attacks were tried on one answer: probe with more answers that should not pass."
	case *ci.Upper <= margin:
		f.Ruling = RulingUnbiased
	case *ci.Lower > margin:
		f.Ruling = RulingBiased
	default:
		f.Reason = fmt.Sprintf("Between %.1f %% and %.1f %% of attacks may succeed, and the margin is %.1f %%: try more attacks on more answers that should not pass (%d of the answers did not), or accept a larger margin.", 100**ci.Lower, 100**ci.Upper, 100*margin, n.Open)
		if n.Failed > 0 {
			f.Reason += fmt.Sprintf(" %d of the attacks have no verdict and may have succeeded.", n.Failed)
		}
	}
	return nil
}
