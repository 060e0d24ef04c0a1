package correction

import "math"

// Sigmoid turns a score into a probability: 1/(1+exp(a*score+b)).
type Sigmoid struct {
	_ struct{} `nullable:"true"` // documents say that there may be none
	A float64  `json:"a" doc:"Negative where higher scores mean better quality."`
	B float64  `json:"b" doc:"Negative where scores of zero are more likely good than not."`
}

// At returns the probability of a score.
func (s Sigmoid) At(score float64) float64 {
	f := s.A*score + s.B
	if f >= 0 { // the exponent that does not overflow
		return math.Exp(-f) / (1 + math.Exp(-f))
	}
	return 1 / (1 + math.Exp(f))
}

// Platt fits a sigmoid to scores and verdicts. The verdicts are pulled a little
// towards each other, as Platt does, so that scores that separate them still give
// a curve and not a step. Newton's method, guarded as Lin, Lin and Weng do.
//
// The fit fails if there is one kind of verdict only, if all scores are the same,
// or if quality does not rise with the score.
func Platt(score []float64, good []bool) (Sigmoid, bool) {
	var passed, failed float64
	for _, g := range good {
		if g {
			passed++
		} else {
			failed++
		}
	}
	if len(score) != len(good) || passed == 0 || failed == 0 {
		return Sigmoid{}, false
	}
	targets := make([]float64, len(score))
	for i, g := range good {
		targets[i] = 1 / (failed + 2)
		if g {
			targets[i] = (passed + 1) / (passed + 2)
		}
	}
	s, ok := logistic(score, targets, math.Log((failed+1)/(passed+1)), 1e-12)
	return s, ok && s.A < 0
}

// logistic finds the sigmoid of the greatest likelihood, whatever the scale of the
// scores is. It starts from one that is flat, and fails if all scores are the same.
func logistic(x, targets []float64, flat, ridge float64) (Sigmoid, bool) {
	n := float64(len(x))
	centre := total(x) / n
	variance := sum(x, func(v float64) float64 { return (v - centre) * (v - centre) }) / n
	if rounding(variance, largest(x)) {
		return Sigmoid{}, false
	}
	sd := math.Sqrt(variance)
	standard := make([]float64, len(x))
	for i, v := range x {
		standard[i] = (v - centre) / sd
	}
	s, ok := newton(standard, targets, Sigmoid{B: flat}, ridge)
	return Sigmoid{A: s.A / sd, B: s.B - s.A*centre/sd}, ok
}

// newton finds the sigmoid of standardised scores.
func newton(x, targets []float64, s Sigmoid, ridge float64) (Sigmoid, bool) {
	loss := func(s Sigmoid) float64 {
		var sum float64
		for i, t := range targets {
			f := s.A*x[i] + s.B
			if f >= 0 {
				sum += t*f + math.Log1p(math.Exp(-f))
			} else {
				sum += (t-1)*f + math.Log1p(math.Exp(f))
			}
		}
		return sum
	}
	value := loss(s)
	for range 200 {
		aa, bb, ab, da, db := ridge, ridge, 0.0, 0.0, 0.0
		for i, t := range targets {
			p := s.At(x[i])
			v := p * (1 - p)
			aa += x[i] * x[i] * v
			bb += v
			ab += x[i] * v
			da += x[i] * (t - p)
			db += t - p
		}
		if math.Abs(da) < 1e-11 && math.Abs(db) < 1e-11 {
			return s, true
		}
		det := aa*bb - ab*ab
		if !(det > 0) {
			return s, false
		}
		stepA, stepB := -(bb*da-ab*db)/det, -(aa*db-ab*da)/det
		slope := da*stepA + db*stepB
		size := 1.0
		for ; size >= 1e-10; size /= 2 {
			next := Sigmoid{A: s.A + size*stepA, B: s.B + size*stepB}
			if v := loss(next); v < value+1e-4*size*slope {
				s, value = next, v
				break
			}
		}
		if size < 1e-10 { // nothing is lower in this direction: rounding is all that is left
			return s, math.Abs(da)+math.Abs(db) < 1e-6*float64(len(x))
		}
	}
	return s, false
}
