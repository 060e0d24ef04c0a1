package correction

import (
	"math"
	"testing"

	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/measure/stat/oracle"
)

func TestOracle(t *testing.T) {
	t.Parallel()
	oracle.Compare(t, "correction", oracles)
}

type outputs = oracle.Outputs

type oraclePool struct {
	Y, F, U []float64
	Lambda  float64
}

func (p oraclePool) pool() pool { return pool{human: p.Y, judge: p.F, rest: p.U} }

var oracles = map[string]oracle.Function{
	// The library divides squares by their number, and we by one less.
	"ppi": oracle.Asking(func(in oraclePool) (outputs, error) {
		f := in.pool().corrected(&in.Lambda)
		n, m := float64(len(in.Y)), float64(len(in.U))
		half := stat.NormalCritical(.05) * math.Sqrt(f.ofRest*(m-1)/m+f.ofLabels*(n-1)/n)
		return outputs{"value": f.value, "lower": f.value - half, "upper": f.value + half}, nil
	}),
	"lambdas": oracle.Asking(func(in oraclePool) (outputs, error) {
		h := in.pool().estimate(len(in.Y), stat.Options{Level: .95, Range: stat.Unit()})
		return outputs{"lambda": h.Lambda, "value": h.Value, "se": h.SE, "lower": h.CI.Lower, "upper": h.CI.Upper}, nil
	}),
	"active": oracle.Asking(func(in struct{ Y, F, Pi []float64 }) (outputs, error) {
		var c chosen
		for i, y := range in.Y {
			inverse := 0.0
			if y >= 0 {
				inverse = 1 / in.Pi[i]
			}
			c.human, c.judge, c.inverse = append(c.human, math.Max(0, y)), append(c.judge, in.F[i]), append(c.inverse, inverse)
		}
		lambda := c.tuned()
		value, se := c.corrected(lambda)
		return outputs{"lambda": lambda, "value": value, "se": se}, nil
	}),
	"rogan": oracle.Asking(func(in struct{ K, N, K0, M0, K1, M1 int }) (outputs, error) {
		e, err := RoganGladen(in.K, in.N, ErrorRates{in.M0, in.K0, in.M1, in.K1}, stat.Options{})
		return outputs{"value": e.Value, "se": e.SE}, err
	}),
	"shares": oracle.Asking(func(in struct {
		Matrix   [][]float64
		Marginal []float64
	},
	) (outputs, error) {
		shares, _ := solveShares(in.Matrix, in.Marginal)
		return outputs{"shares": shares}, nil
	}),
	"isotonic": oracle.Asking(func(in struct{ X, Y, W, Grid []float64 }) (outputs, error) {
		steps, err := Isotonic(in.X, in.Y, in.W)
		p := make([]float64, len(in.Grid))
		for i, x := range in.Grid {
			p[i] = steps.At(x)
		}
		return outputs{"p": p}, err
	}),
	"platt": oracle.Asking(func(in struct {
		X    []float64
		Good []bool
	},
	) (outputs, error) {
		s, _ := Platt(in.X, in.Good)
		return outputs{"a": s.A, "b": s.B}, nil
	}),
	"checked": oracle.Asking(func(in struct {
		P    []float64
		Good []bool
	},
	) (outputs, error) {
		all := make([]Chance, len(in.P))
		for i := range all {
			all[i] = Chance{Probability: in.P[i], Good: in.Good[i]}
		}
		c, err := CheckChances(all, stat.Options{Replicates: 100})
		return outputs{
			"brier": c.Brier.Value, "intercept": c.Intercept.Value, "slope": c.Slope.Value,
			"intercept_se": c.Intercept.SE, "slope_se": c.Slope.SE,
		}, err
	}),
	"accepted": oracle.Asking(func(in struct {
		N, K int
		Risk float64
	},
	) (outputs, error) {
		trials := make([]Trial, in.N)
		for i := range trials {
			trials[i] = Trial{Confidence: .9, Wrong: i < in.K}
		}
		r, err := Capacity(trials, 0, .9)
		return outputs{"p": stat.BinomialCDF(float64(in.K), float64(in.N), in.Risk), "bound": r.Risk}, err
	}),
	"drift": oracle.Asking(func(in struct {
		N, Down, Up int
		Q           float64
	},
	) (outputs, error) {
		d, err := CompareAnchors(Anchors{N: in.N, PassToFail: in.Down, FailToPass: in.Up, BaselineFlip: in.Q}, stat.Options{})
		return outputs{"flips": d.FlipsP, "exact": d.PExact}, err
	}),
	"labels": oracle.Asking(func(in struct {
		R, S2, W float64
		N        int
	},
	) (outputs, error) {
		l, err := LabelsFor(in.R, in.S2, in.W, in.N, stat.Options{})
		return outputs{"with": l.WithJudge, "alone": l.HumanOnly}, err
	}),
}
