package correction

import (
	"math"
	"slices"
	"time"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Trial is a judge's verdict whose truth is known: how sure the judge was, and
// whether it was wrong. Trials are a random part of the verdicts to come.
type Trial struct {
	Confidence float64
	Wrong      bool
}

// Promise says what a threshold guarantees.
type Promise string

// The promises.
const (
	// PromiseAccepted: with the stated confidence, at most the stated share of the
	// accepted verdicts is wrong.
	PromiseAccepted Promise = "share_of_accepted"
	// PromiseAll: on average, at most the stated share of all verdicts is accepted
	// and wrong.
	PromiseAll Promise = "share_of_all"
)

// Route is a threshold of confidence from which a verdict needs no person.
type Route struct {
	Threshold  *float64  `json:"threshold" doc:"Verdicts of at least this confidence are accepted; null: every item goes to a person."`
	Promise    Promise   `json:"promise" enum:"share_of_accepted,share_of_all" doc:"What the threshold limits: wrong ones among the accepted verdicts, or among all."`
	Risk       float64   `json:"risk" doc:"The share that is wrong, at most."`
	Confidence *float64  `json:"confidence" doc:"Confidence in this limit; null if it holds on average."`
	Trials     int       `json:"n" doc:"Verdicts whose truth is known."`
	Accepted   int       `json:"accepted" doc:"Trials that the threshold accepts."`
	Wrong      int       `json:"wrong" doc:"Those among them that are wrong."`
	Steps      []Step    `json:"steps" doc:"Thresholds that were tried, from strict to loose."`
	Reason     stat.Note `json:"reason" nullable:"true" doc:"Why every item goes to a person; null if not."`
}

// Step is one threshold that was tried.
type Step struct {
	Threshold float64  `json:"threshold" doc:"The threshold."`
	Accepted  int      `json:"accepted" doc:"Verdicts that it accepts."`
	Wrong     int      `json:"wrong" doc:"Those among them that are wrong."`
	P         *float64 `json:"p" doc:"p-value of the accepted verdicts being wrong more often than the limit allows; null if there are too few to tell."`
}

// Grid returns the thresholds 0.99, 0.98 and so on down to 0.50.
func Grid() []float64 {
	var grid []float64
	for i := 99; i >= 50; i-- {
		grid = append(grid, float64(i)/100)
	}
	return grid
}

// steps counts what each threshold accepts. The grid is fixed before the trials
// are looked at, and runs from strict to loose.
func steps(trials []Trial, grid []float64) ([]Step, error) {
	if len(grid) == 0 || !slices.IsSortedFunc(grid, func(a, b float64) int {
		if a > b {
			return -1
		}
		return 1
	}) {
		return nil, malformed("thresholds must run from strict to loose")
	}
	for i, t := range trials {
		if !(t.Confidence >= 0 && t.Confidence <= 1) {
			return nil, malformed("trial %d: confidence %v must lie between 0 and 1", i, t.Confidence)
		}
	}
	sorted := slices.Clone(trials)
	slices.SortFunc(sorted, func(a, b Trial) int {
		switch {
		case a.Confidence > b.Confidence:
			return -1
		case a.Confidence < b.Confidence:
			return 1
		}
		return 0
	})
	out := make([]Step, len(grid))
	accepted, wrong := 0, 0
	for i, threshold := range grid {
		for accepted < len(sorted) && sorted[accepted].Confidence >= threshold {
			if sorted[accepted].Wrong {
				wrong++
			}
			accepted++
		}
		out[i] = Step{Threshold: threshold, Accepted: accepted, Wrong: wrong}
	}
	return out, nil
}

// Learn finds the loosest threshold at which, with the given confidence, at most
// a share of the accepted verdicts is wrong. It walks from strict to loose and
// stops at the first threshold that fails, so that trying many costs nothing.
//
// Thresholds that accept too few trials to ever pass are passed over. How many
// they accept does not depend on what was wrong, so this costs nothing either.
func Learn(trials []Trial, grid []float64, risk, confidence float64) (Route, error) {
	if !(risk > 0 && risk < 1) || !(confidence > 0 && confidence < 1) {
		return Route{}, malformed("risk %v and confidence %v must lie between 0 and 1", risk, confidence)
	}
	all, err := steps(trials, grid)
	if err != nil {
		return Route{}, err
	}
	return learn(all, len(trials), risk, confidence), nil
}

func learn(all []Step, trials int, risk, confidence float64) Route {
	miss := 1 - confidence
	r := Route{Promise: PromiseAccepted, Risk: risk, Confidence: &confidence, Trials: trials}
	for i, s := range all {
		if stat.BinomialCDF(0, float64(s.Accepted), risk) > miss || s.Accepted == 0 {
			r.Steps = append(r.Steps, s)
			continue
		}
		p := math.Max(1e-16, stat.BinomialCDF(float64(s.Wrong), float64(s.Accepted), risk))
		s.P = &p
		r.Steps = append(r.Steps, s)
		if p > miss {
			break
		}
		r.Threshold, r.Accepted, r.Wrong = &all[i].Threshold, s.Accepted, s.Wrong
	}
	if r.Threshold == nil {
		r.Reason = "no threshold keeps the promise"
		if trials < trialsFor(risk, miss) {
			r.Reason = "too few trials for any threshold to keep the promise"
		}
	}
	return r
}

// trialsFor is how many accepted trials without error a promise takes.
func trialsFor(risk, miss float64) int { return int(math.Ceil(math.Log(miss) / math.Log1p(-risk))) }

// Control finds the loosest threshold at which, on average, at most a share of all
// verdicts is accepted and wrong.
func Control(trials []Trial, grid []float64, risk float64) (Route, error) {
	if !(risk > 0 && risk < 1) {
		return Route{}, malformed("risk %v must lie between 0 and 1", risk)
	}
	all, err := steps(trials, grid)
	if err != nil {
		return Route{}, err
	}
	return control(all, len(trials), risk), nil
}

func control(all []Step, trials int, risk float64) Route {
	r := Route{Promise: PromiseAll, Risk: risk, Trials: trials, Steps: all}
	for i, s := range all {
		if float64(s.Wrong+1)/float64(trials+1) > risk {
			break
		}
		r.Threshold, r.Accepted, r.Wrong = &all[i].Threshold, s.Accepted, s.Wrong
	}
	if r.Threshold == nil {
		r.Reason = "no threshold keeps the promise"
	}
	return r
}

// Capacity finds the threshold that sends a share of the verdicts to people, and
// returns what can be promised about the others with the given confidence. The
// threshold depends on how sure the judge is and not on what was wrong.
func Capacity(trials []Trial, toPeople, confidence float64) (Route, error) {
	if !(toPeople >= 0 && toPeople <= 1) || !(confidence > 0 && confidence < 1) {
		return Route{}, malformed("share %v and confidence %v must lie between 0 and 1", toPeople, confidence)
	}
	sorted := make([]float64, len(trials))
	for i, t := range trials {
		sorted[i] = t.Confidence
	}
	slices.Sort(sorted)
	if len(trials) == 0 {
		return Route{Promise: PromiseAccepted, Confidence: &confidence, Reason: "no trials"}, nil
	}
	sent := int(math.Ceil(toPeople*float64(len(trials)) - 1e-9))
	if sent >= len(sorted) {
		return Route{Promise: PromiseAccepted, Confidence: &confidence, Trials: len(trials), Reason: "people have room for every item"}, nil
	}
	all, err := steps(trials, []float64{sorted[sent]})
	if err != nil {
		return Route{}, err
	}
	s := all[0]
	risk := stat.BetaQuantile(confidence, float64(s.Wrong+1), float64(s.Accepted-s.Wrong))
	return Route{
		Threshold: &s.Threshold, Promise: PromiseAccepted, Risk: risk, Confidence: &confidence,
		Trials: len(trials), Accepted: s.Accepted, Wrong: s.Wrong, Steps: all,
	}, nil
}

// Margin returns the distance from a judge's score within which a person's score
// lies with the given probability, from the distances of past ones. Nil: there are
// too few. An item goes to a person if its pass mark lies within.
func Margin(distances []float64, confidence float64) (*float64, error) {
	if !(confidence > 0 && confidence < 1) {
		return nil, malformed("confidence %v must lie between 0 and 1", confidence)
	}
	for i, d := range distances {
		if !(d >= 0) {
			return nil, malformed("distance %d: %v must be at least 0", i, d)
		}
	}
	rank := int(math.Ceil(float64(len(distances)+1)*confidence - 1e-9))
	if rank > len(distances) {
		return nil, nil //nolint:nilnil // no distance is large enough, which is an answer
	}
	sorted := slices.Clone(distances)
	slices.Sort(sorted)
	return &sorted[rank-1], nil
}

// fresh is how long a threshold is trusted.
const fresh = 90 * 24 * time.Hour

// Stale says why a threshold or a calibration no longer holds; empty if it does.
func Stale(age time.Duration, sameJudge, drifted bool) string {
	switch {
	case !sameJudge:
		return "the judge has changed since"
	case drifted:
		return "the judge has drifted since"
	case age > fresh:
		return "it is older than 90 days"
	}
	return ""
}
