package correction

import (
	"math"
	"slices"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Point is a judge's score of an output whose quality is known.
type Point struct {
	Cluster string // empty: on its own
	Score   float64
	Good    bool
}

// From so many points, with so many of each kind, a curve without a form is worth
// trying; below, it follows the noise.
const (
	minSteps       = 1000
	minStepsOfKind = 100
	folds          = 5
)

// Calibration turns a judge's scores into probabilities, with how well it does so
// on items that it was not fitted to. The probabilities serve to show and to route;
// their mean does not replace a corrected estimate.
type Calibration struct {
	Method  string      `json:"method" enum:"platt,isotonic,none" doc:"Form of the curve."`
	Sigmoid *Sigmoid    `json:"platt" doc:"Platt's curve; null if the form is another."`
	Steps   *Steps      `json:"isotonic" doc:"Isotonic curve; null if the form is another."`
	Status  stat.Status `json:"status" enum:"ok,fragile,degenerate,insufficient,undefined,not_identified,not_comparable,disconnected,stale,uncalibrated" doc:"Whether there is a curve."`
	Reason  stat.Note   `json:"reason" nullable:"true" doc:"Why there is none, or caution; null otherwise."`
	Check   *Check      `json:"check" doc:"How well the probabilities fit, each item judged by a curve that was fitted to others; null without a curve."`
}

// At returns the probability of a score.
func (c Calibration) At(score float64) (float64, bool) {
	switch {
	case c.Sigmoid != nil:
		return c.Sigmoid.At(score), true
	case c.Steps != nil:
		return c.Steps.At(score), true
	}
	return 0, false
}

// Calibrate fits a curve: Platt's, or an isotonic one where there are enough
// points and it is better on items left out, by more than chance explains.
func Calibrate(points []Point, o stat.Options) (Calibration, error) {
	o, err := o.Checked()
	if err != nil {
		return Calibration{}, err
	}
	c := Calibration{Method: "none", Status: stat.StatusOK}
	good := 0
	for i, p := range points {
		if math.IsNaN(p.Score) || math.Abs(p.Score) > maxScore {
			return Calibration{}, malformed("point %d: score %v", i, p.Score)
		}
		if p.Good {
			good++
		}
	}
	bad := len(points) - good
	if good == 0 || bad == 0 {
		c.Status, c.Reason = stat.StatusNotIdentified, "one kind of verdict only"
		return c, nil
	}
	sigmoid, ok := Platt(columns(points))
	if !ok {
		c.Status, c.Reason = stat.StatusNotIdentified, "quality does not rise with the score"
		return c, nil
	}
	fold := assign(points, o.Seed)
	platt, whole := leftOut(points, fold, plattCurve)
	c.Method, c.Sigmoid = "platt", &sigmoid
	predicted := platt
	if len(points) >= minSteps && min(good, bad) >= minStepsOfKind {
		steps, ok := leftOut(points, fold, stepsCurve)
		if ok && whole && better(points, steps, platt) {
			curve, _ := stepsCurve(points)
			fitted := curve.(Steps)
			c.Method, c.Sigmoid, c.Steps, predicted, whole = "isotonic", nil, &fitted, steps, true
		}
	}
	if !whole {
		c.Status, c.Reason = stat.StatusFragile, "too few verdicts of one kind to check the curve on items left out"
		return c, nil
	}
	if min(good, bad) < fewOfKind {
		c.Status, c.Reason = stat.StatusFragile, "fewer than 30 verdicts of one kind"
	}
	chances := make([]Chance, len(points))
	for i, p := range points {
		chances[i] = Chance{Cluster: p.Cluster, Probability: predicted[i], Good: p.Good}
	}
	check, err := CheckChances(chances, o)
	c.Check = &check
	return c, err
}

// curve turns scores into probabilities.
type curve interface{ At(score float64) float64 }

func plattCurve(points []Point) (curve, bool) {
	s, ok := Platt(columns(points))
	return s, ok
}

func stepsCurve(points []Point) (curve, bool) {
	score, good := columns(points)
	value := make([]float64, len(good))
	for i, g := range good {
		if g {
			value[i] = 1
		}
	}
	s, err := Isotonic(score, value, nil)
	return s, err == nil
}

func columns(points []Point) (score []float64, good []bool) {
	for _, p := range points {
		score, good = append(score, p.Score), append(good, p.Good)
	}
	return score, good
}

// assign puts each cluster into one of five parts. It depends on the seed and on
// the points, and not on their order.
func assign(points []Point, seed stat.Seed) []int {
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return comparePoints(points[a], points[b]) })
	random, _ := seed.Draws("folds")
	of, count := make([]int, len(points)), 0
	parts := make([]int, 0, len(points))
	for n, i := range order {
		if n == 0 || points[i].Cluster == "" || points[i].Cluster != points[order[n-1]].Cluster {
			parts = append(parts, count%folds)
			count++
		}
		of[i] = len(parts) - 1
	}
	random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	for i := range of {
		of[i] = parts[of[i]]
	}
	return of
}

func comparePoints(a, b Point) int {
	switch {
	case a.Cluster != b.Cluster:
		if a.Cluster < b.Cluster {
			return -1
		}
		return 1
	case a.Score != b.Score:
		if a.Score < b.Score {
			return -1
		}
		return 1
	case a.Good == b.Good:
		return 0
	case b.Good:
		return -1
	}
	return 1
}

// leftOut returns the probability of each point from a curve that was fitted to
// the other parts. It fails if one of the parts cannot do without its points.
func leftOut(points []Point, fold []int, fit func([]Point) (curve, bool)) ([]float64, bool) {
	out := make([]float64, len(points))
	for f := range folds {
		var others []Point
		for i, p := range points {
			if fold[i] != f {
				others = append(others, p)
			}
		}
		c, ok := fit(others)
		if !ok {
			return nil, false
		}
		for i, p := range points {
			if fold[i] == f {
				out[i] = c.At(p.Score)
			}
		}
	}
	return out, true
}

// better reports whether the first probabilities have the smaller logarithmic
// loss, by more than one standard error of the difference.
func better(points []Point, a, b []float64) bool {
	n := float64(len(points))
	d := func(i int) float64 {
		return logLoss(b[i], points[i].Good, len(points)) - logLoss(a[i], points[i].Good, len(points))
	}
	mean := stat.SumOf(len(points), d) / n
	squares := stat.SumOf(len(points), func(i int) float64 { return (d(i) - mean) * (d(i) - mean) })
	return mean > math.Sqrt(squares/(n-1)/n)
}

// logLoss is the loss of a probability. Nothing is certain from n items, so none
// is taken for nearer to 0 or 1 than half of one of them.
func logLoss(p float64, good bool, n int) float64 {
	edge := 0.5 / float64(n)
	p = clamp(p, edge, 1-edge)
	if good {
		return -math.Log(p)
	}
	return -math.Log1p(-p)
}
