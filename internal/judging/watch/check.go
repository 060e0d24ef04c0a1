package watch

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/measure/correction"
	"github.com/assayhq/assay/internal/measure/stat"
)

// Verdict is what a check showed.
type Verdict string

// The verdicts. Too few anchors, or too much contradiction, leave it open whether the
// judge changed: unresolved is not quiet.
const (
	VerdictQuiet      Verdict = "quiet"
	VerdictUnresolved Verdict = "unresolved"
	VerdictDrifted    Verdict = "drifted"
	VerdictFailed     Verdict = "failed"
)

// Check is one look at all anchors.
type Check struct {
	ID      int64
	Number  int
	Verdict Verdict
	Found   Found
	At      time.Time
}

// Found is what a check rests on.
type Found struct {
	// Problem says why the check failed.
	Problem string `json:"problem,omitzero"`
	// Anchors have a verdict now and before; Unusable do not.
	Anchors    int   `json:"anchors"`
	Unusable   int   `json:"unusable"`
	PassToFail int   `json:"pass_to_fail"`
	FailToPass int   `json:"fail_to_pass"`
	CostNano   int64 `json:"cost_nano"`
	// Evidence is that of all checks so far, and Limit where it is enough.
	Evidence float64            `json:"evidence"`
	Limit    float64            `json:"limit"`
	Drift    *correction.Drift  `json:"drift,omitzero"`
	Correct  *correction.Change `json:"correct,omitzero"`
	Flips    []Flip             `json:"flips,omitzero"`
}

// Flip is an anchor whose verdict changed.
type Flip struct {
	Item   int64 `json:"item"`
	Before bool  `json:"before"`
	After  bool  `json:"after"`
}

const (
	// repetitions is how often each anchor is asked about before the first check.
	repetitions = 5
	// maxFlips is how many flips a check names.
	maxFlips = 50
	// maxUnusable is the largest share of anchors without a verdict with which a
	// check says anything: a judge that fails is not a judge that stays the same.
	maxUnusable = 0.2
	// alarmEvery is how long it takes on average, at least, until a judge that did
	// not change is accused by one of the two tests.
	alarmEvery = 180 * 24 * time.Hour
	// leastEvidence is enough for a watch that looks seldom.
	leastEvidence = 20
)

// reference is what the judge said about an anchor at first.
type reference struct {
	passed bool    // by most answers
	share  float64 // of answers that passed
}

// settled is what the answers of the beginning say about each anchor, and how often at
// most the judge contradicts itself. The verdict of an answer is held against those of
// the other answers about the same anchor. Anchors without a majority are left out.
func settled(all []answer) (before map[int64]reference, flips float64, err error) {
	byItem := map[int64][]bool{}
	for _, a := range all {
		if a.Passed != nil {
			byItem[a.Item] = append(byItem[a.Item], *a.Passed)
		}
	}
	before = map[int64]reference{}
	var contradicted float64
	var asked int
	for item, passed := range byItem {
		yes := 0
		for _, p := range passed {
			if p {
				yes++
			}
		}
		no := len(passed) - yes
		if len(passed) < 2 || yes == no {
			continue
		}
		before[item] = reference{passed: yes > no, share: float64(yes) / float64(len(passed))}
		// Each answer against the majority of the others; a tie is half a contradiction.
		of := func(same, other int) float64 {
			switch others := same - 1; {
			case others < other:
				return 1
			case others == other:
				return 0.5
			}
			return 0
		}
		contradicted += (float64(yes)*of(yes, no) + float64(no)*of(no, yes)) / float64(len(passed))
		asked++
	}
	if asked == 0 {
		return before, 0, nil
	}
	// Answers about one anchor are not independent, so anchors count and answers do not.
	rate, err := stat.Proportion(min(asked, int(math.Ceil(contradicted))), asked, stat.Options{Level: 0.9})
	if err != nil {
		return nil, 0, fmt.Errorf("estimate contradiction: %w", err)
	}
	return before, math.Min(*rate.CI.Upper, 0.99), nil
}

// compare holds the answers of a check against what the judge said before. Labels are
// what people say about anchors.
func (w Watch) compare(before map[int64]reference, now []answer, labels map[int64]bool) (Check, error) {
	c := Check{Number: w.Checks + 1, Found: Found{Evidence: w.Evidence, Limit: w.limit()}}
	f := &c.Found
	var right correction.Correctness
	var changes []float64
	for _, a := range now {
		f.CostNano += a.CostNano
		ref, ok := before[a.Item]
		if !ok {
			continue
		}
		was := ref.passed
		if a.Passed == nil {
			f.Unusable++
			continue
		}
		f.Anchors++
		changes = append(changes, share(*a.Passed)-ref.share)
		if is := *a.Passed; is != was {
			if was {
				f.PassToFail++
			} else {
				f.FailToPass++
			}
			if len(f.Flips) < maxFlips {
				f.Flips = append(f.Flips, Flip{Item: a.Item, Before: was, After: is})
			}
		}
		if label, ok := labels[a.Item]; ok {
			switch is := *a.Passed; {
			case is == label && was == label:
				right.Both++
			case is == label:
				right.Now++
			case was == label:
				right.Before++
			default:
				right.Never++
			}
		}
	}
	if all := f.Anchors + f.Unusable; f.Anchors == 0 || float64(f.Unusable) > maxUnusable*float64(all) {
		c.Verdict, f.Problem = VerdictFailed, fmt.Sprintf("The judge gave no verdict on %d of %d anchors.", f.Unusable, all)
		return c, nil
	}
	o := stat.Options{Level: 0.95}
	drift, err := correction.CompareAnchors(correction.Anchors{
		N: f.Anchors, PassToFail: f.PassToFail, FailToPass: f.FailToPass, BaselineFlip: w.FlipLimit, Tolerance: w.Tolerance,
		Changes: changes, Alarm: 1 / w.limit(),
	}, o)
	if err != nil {
		return c, fmt.Errorf("compare anchors: %w", err)
	}
	f.Drift = &drift
	if right != (correction.Correctness{}) {
		change, err := correction.CompareCorrectness(right, o)
		if err != nil {
			return c, fmt.Errorf("compare with labels: %w", err)
		}
		f.Correct = &change
	}
	// Evidence that speaks for the judge is not saved up for the day that it changes.
	f.Evidence = math.Min(math.Max(1, w.Evidence)**drift.Evidence, 1e12)
	switch {
	case drift.Shift == correction.ShiftChanged || f.Evidence >= f.Limit:
		c.Verdict = VerdictDrifted
	case drift.Shift == correction.ShiftNone && f.Evidence <= 1:
		c.Verdict = VerdictQuiet
	default:
		c.Verdict = VerdictUnresolved
	}
	slices.SortFunc(f.Flips, func(a, b Flip) int { return int(a.Item - b.Item) })
	return c, nil
}

func share(passed bool) float64 {
	if passed {
		return 1
	}
	return 0
}

// limit is how much evidence is enough: with it, a judge that did not change is
// accused once in alarmEvery on average, or less often.
func (w Watch) limit() float64 {
	return math.Max(leastEvidence, float64(alarmEvery)/float64(w.Every))
}

// message says in a sentence what a check found.
func (c Check) message() string {
	f := c.Found
	flips := f.PassToFail + f.FailToPass
	if f.Drift != nil && f.Drift.Shift == correction.ShiftChanged {
		return fmt.Sprintf("The judge's pass rate on %d frozen answers moved by %+.1f points (95%% interval %+.1f to %+.1f).",
			f.Anchors, 100**f.Drift.Direction.Value, 100**f.Drift.Direction.CI.Lower, 100**f.Drift.Direction.CI.Upper)
	}
	return fmt.Sprintf("The judge changed its verdict on %d of %d frozen answers, which is more than it contradicts itself.", flips, f.Anchors)
}
