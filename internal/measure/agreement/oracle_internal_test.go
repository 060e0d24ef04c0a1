package agreement

import (
	"math"
	"strconv"
	"testing"

	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/measure/stat/oracle"
)

func TestOracle(t *testing.T) {
	t.Parallel()
	oracle.Compare(t, "agreement", oracles)
}

type outputs = oracle.Outputs

// named returns an estimate's numbers under a name.
func named(name string, e stat.Estimate) outputs {
	out := outputs{name: e.Value, name + "_se": e.SE, name + "_lower": nil, name + "_upper": nil}
	if e.CI != nil {
		out[name+"_lower"], out[name+"_upper"] = e.CI.Lower, e.CI.Upper
	}
	return out
}

type oracleTable struct{ Table [][]int }

// oracleRatings is a row for each rater; null where there is no rating.
type oracleRatings struct {
	Ratings [][]*float64
	Labels  int
}

func (r oracleRatings) scores() (all []Score) {
	for rater, row := range r.Ratings {
		for i, v := range row {
			if v != nil {
				all = append(all, Score{Item: strconv.Itoa(i), Rater: strconv.Itoa(rater), Value: *v})
			}
		}
	}
	return all
}

func (r oracleRatings) labelled() (all []Rating, scale Scale) {
	for label := range r.Labels {
		scale.Labels = append(scale.Labels, strconv.Itoa(label+1))
	}
	for _, s := range r.scores() {
		all = append(all, Rating{Item: s.Item, Rater: s.Rater, Label: strconv.Itoa(int(s.Value))})
	}
	return all, scale
}

func (r oracleRatings) ceiling() (Raters, error) {
	all, scale := r.labelled()
	return Ceiling(all, scale, stat.SourceHuman, stat.Options{Replicates: 100})
}

// few keeps the bootstrap short: the oracle has no numbers for it.
var few = AlignmentOptions{Options: stat.Options{Replicates: 100}}

var oracles = map[string]oracle.Function{
	"kappa": oracle.Asking(func(in oracleTable) (outputs, error) {
		a, err := Align(pairsOf(in.Table), Scale{Labels: labels(len(in.Table)), Ordered: true}, few)
		if err != nil {
			return nil, err
		}
		out := named("nominal", a.Kappa.Nominal)
		if a.Kappa.Linear != nil {
			out = oracle.Together(out, named("linear", a.Kappa.Linear.Estimate), named("quadratic", a.Kappa.Quadratic.Estimate))
		}
		return out, nil
	}),
	"confusion": oracle.Asking(func(in oracleTable) (outputs, error) {
		a, err := Align(pairsOf(in.Table), Scale{Labels: labels(len(in.Table))}, few)
		if err != nil {
			return nil, err
		}
		support := make([]float64, len(a.Classes))
		out := outputs{"accuracy": a.Accuracy.Value, "balanced": a.Balanced.Value, "mcc": a.MCC.Value, "support": support}
		for i, c := range a.Classes {
			support[i] = float64(c.Support)
			n := strconv.Itoa(i)
			out["precision"+n], out["recall"+n], out["f1_"+n] = c.Precision.Value, c.Recall.Value, c.F1.Value
		}
		return out, nil
	}),
	"alpha": oracle.Asking(func(in oracleRatings) (outputs, error) {
		out := outputs{}
		for _, level := range []Level{LevelNominal, LevelOrdinal, LevelInterval} {
			e, err := Alpha(in.scores(), level, stat.SourceHuman, stat.Options{Replicates: 100})
			if err != nil {
				return nil, err
			}
			out[string(level)] = e.Value
		}
		return out, nil
	}),
	"gwet": oracle.Asking(func(in oracleRatings) (outputs, error) {
		r, err := in.ceiling()
		return outputs{"ac1": r.AC1.Value}, err
	}),
	"fleiss": oracle.Asking(func(in oracleRatings) (outputs, error) {
		r, err := in.ceiling()
		return outputs{"fleiss": r.Fleiss.Value}, err
	}),
	"together": oracle.Asking(func(in oracleRatings) (outputs, error) {
		all, scale := in.labelled()
		g, err := Among(all, scale, stat.SourceHuman, stat.Options{Replicates: 100})
		out := outputs{}
		for c, l := range g.Labels {
			out["label"+strconv.Itoa(c)] = l.Agreed.Value
		}
		for _, p := range g.Pairs {
			out["agreed"+p.First+p.Second] = p.Agreed.Value
			if p.Kappa != nil {
				out["kappa"+p.First+p.Second] = p.Kappa.Value
			}
		}
		for _, w := range g.Without {
			out["without"+w.Rater] = w.Alpha.Value
		}
		return out, err
	}),
	"scores": oracle.Asking(func(in struct{ Human, Judge []float64 }) (outputs, error) {
		all := make([]Scored, len(in.Human))
		for i := range all {
			all[i] = Scored{Human: in.Human[i], Judge: in.Judge[i], Probability: 1}
		}
		n, err := AlignScores(all, stat.Options{})
		out := outputs{
			"pearson": n.Pearson.Value, "spearman": n.Spearman.Value, "kendall": n.Kendall.Value, "concordance": n.Concordance.Value,
			"bias": n.Bias.Value, "error": n.Error.Value,
		}
		if ci := n.Pearson.CI; ci != nil {
			out["lower"], out["upper"] = ci.Lower, ci.Upper
		}
		return out, err
	}),
	"icc": oracle.Asking(func(in struct{ Items [][]float64 }) (outputs, error) {
		n, err := Repeatability(in.Items, stat.Options{})
		out := outputs{"icc": n.ICC.Value}
		if ci := n.ICC.CI; ci != nil {
			out["lower"], out["upper"] = ci.Lower, ci.Upper
		}
		return out, err
	}),
	"replacement": oracle.Asking(func(in struct {
		People  [][]float64
		Judge   []float64
		Epsilon float64
	},
	) (outputs, error) {
		who := func(values []float64) map[string]float64 {
			all := map[string]float64{}
			for i, x := range values {
				all[strconv.Itoa(i)] = x
			}
			return all
		}
		p := Panel{Judge: who(in.Judge)}
		for _, values := range in.People {
			p.Annotators = append(p.Annotators, who(values))
		}
		r, err := Replace(p, in.Epsilon, stat.Options{})
		var all []float64
		for _, a := range r.Annotators {
			if a.P == nil {
				all = append(all, math.NaN())
				continue
			}
			all = append(all, *a.P)
		}
		return outputs{"p": all}, err
	}),
	"slope": oracle.Asking(func(in struct{ Length, Errors []float64 }) (outputs, error) {
		e, err := LengthSlope(in.Length, in.Errors, stat.Options{})
		out := outputs{"slope": e.Value, "se": e.SE}
		if e.CI != nil {
			out["lower"], out["upper"] = e.CI.Lower, e.CI.Upper
		}
		return out, err
	}),
}
