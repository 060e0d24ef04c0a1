package stat

import (
	"errors"
	"strconv"
	"testing"

	"github.com/assayhq/assay/internal/measure/stat/oracle"
)

func TestOracle(t *testing.T) {
	t.Parallel()
	oracle.Compare(t, "stat", oracles)
}

// outputs are the numbers that a call gave, under the names of the oracle.
type outputs = oracle.Outputs

func oracleEstimate(e Estimate, err error) (outputs, error) {
	out := outputs{"value": e.Value, "se": e.SE, "df": e.df(), "n_eff": e.NEff, "status": string(e.Status), "lower": (*float64)(nil), "upper": (*float64)(nil)}
	if e.CI != nil {
		out["lower"], out["upper"] = e.CI.Lower, e.CI.Upper
	}
	return out, err
}

func oracleComparison(c Comparison, err error) (outputs, error) {
	out, _ := oracleEstimate(c.Difference, nil)
	out["p"], out["correlation"], out["reduction"] = c.Tests.T, c.Correlation, c.VarianceReduction
	return out, err
}

// ends names the ends of an interval.
func ends(name string, e Estimate) outputs {
	out := outputs{name + "_lower": nil, name + "_upper": nil}
	if e.CI != nil {
		out[name+"_lower"], out[name+"_upper"] = e.CI.Lower, e.CI.Upper
	}
	return out
}

type oracleRows struct {
	Rows     []Observation
	Level    float64
	Weighted bool
}

type oraclePair struct {
	A, B  []Observation
	Level float64
}

type oracleTable struct {
	Table [4]float64
	Level float64
}

func (t oracleTable) fourfold() Fourfold {
	return Fourfold{t.Table[0], t.Table[1], t.Table[2], t.Table[3]}
}

func pair(lower, upper float64) (outputs, error) { return outputs{"lower": lower, "upper": upper}, nil }

var oracles = map[string]oracle.Function{
	"t_quantile": oracle.Asking(func(in struct{ P, DF float64 }) (outputs, error) {
		return outputs{"x": tQuantile(in.P, in.DF)}, nil
	}),
	"t_test": oracle.Asking(func(in struct{ T, DF float64 }) (outputs, error) {
		return outputs{"p": TTest(in.T, in.DF)}, nil
	}),
	"beta_quantile": oracle.Asking(func(in struct{ P, A, B float64 }) (outputs, error) {
		return outputs{"x": BetaQuantile(in.P, in.A, in.B)}, nil
	}),
	"binomial_cdf": oracle.Asking(func(in struct{ K, N, P float64 }) (outputs, error) {
		return outputs{"x": BinomialCDF(in.K, in.N, in.P)}, nil
	}),
	"quantile": oracle.Asking(func(in struct {
		X []float64
		Q float64
	},
	) (outputs, error) {
		e, err := Quantile(scores(in.X...), in.Q, Options{})
		return outputs{"x": e.Value}, err
	}),
	"mean": oracle.Asking(func(in oracleRows) (outputs, error) {
		return oracleEstimate(Mean(in.Rows, Options{Level: in.Level}))
	}),
	"bounded": oracle.Asking(func(in oracleRows) (outputs, error) {
		return oracleEstimate(Mean(in.Rows, Options{Level: in.Level, Range: Unit(), Weighted: in.Weighted}))
	}),
	"mean_clustered": oracle.Asking(func(in oracleRows) (outputs, error) {
		return oracleEstimate(Mean(in.Rows, Options{Level: in.Level, Weighted: in.Weighted}))
	}),
	"epochs": oracle.Asking(func(in oracleRows) (outputs, error) {
		out, err := oracleEstimate(Mean(in.Rows, Options{}))
		if err != nil {
			return nil, err
		}
		e, err := Mean(in.Rows, Options{Estimand: EstimandDataset})
		return oracle.Together(out, outputs{"within": e.Variance.Within, "between": e.Variance.Between, "dataset_se": e.SE, "dataset_df": e.df()}), err
	}),
	"overall": oracle.Asking(func(in struct{ Metrics []Metric }) (outputs, error) {
		for i := range in.Metrics {
			in.Metrics[i].Range = Unit()
		}
		e, err := Overall(in.Metrics, Options{})
		out, _ := oracleEstimate(e, nil)
		if e.Missing != nil {
			out["worst"], out["best"] = e.Missing.Lower, e.Missing.Upper
		}
		return out, err
	}),
	"proportion": oracle.Asking(func(in struct {
		K, N  int
		Level float64
	},
	) (outputs, error) {
		var all []outputs
		for _, m := range []Method{MethodWilson, MethodClopperPearson, MethodJeffreys} {
			e, err := Proportion(in.K, in.N, Options{Method: m, Level: in.Level})
			if err != nil {
				return nil, err
			}
			all = append(all, ends(string(m), e))
		}
		e, err := Proportion(in.K, in.N, Options{Policy: PolicyGate, Side: SideLower, Level: in.Level})
		if err != nil {
			return nil, err
		}
		return oracle.Together(append(all, outputs{"one_sided": e.CI.Lower})...), nil
	}),
	"pass_rate_clustered": oracle.Asking(func(in oracleRows) (outputs, error) {
		e, err := PassRate(in.Rows, Options{Level: in.Level})
		if err != nil {
			return nil, err
		}
		gate, err := PassRate(in.Rows, Options{Level: in.Level, Policy: PolicyGate})
		out, _ := oracleEstimate(e, nil)
		return oracle.Together(out, ends("wilson", e), ends("gate", gate)), err
	}),
	"pass_at_k": oracle.Asking(func(in struct{ N, C, K int }) (outputs, error) {
		return outputs{"any": passAtK(in.N, in.C, in.K, false), "all": passAtK(in.N, in.C, in.K, true)}, nil
	}),
	"order_statistics": oracle.Asking(func(in struct{ N, Q, Alpha float64 }) (outputs, error) {
		low, high := orderRanks(in.N, in.Q, in.Alpha)
		return outputs{"low": float64(low), "high": float64(high)}, nil
	}),
	"paired": oracle.Asking(func(in oraclePair) (outputs, error) {
		return oracleComparison(Compare(in.A, in.B, CompareOptions{Options: Options{Level: in.Level}}))
	}),
	"paired_clustered": oracle.Asking(func(in oraclePair) (outputs, error) {
		return oracleComparison(Compare(in.A, in.B, CompareOptions{Options: Options{Range: Unit()}}))
	}),
	"welch": oracle.Asking(func(in oraclePair) (outputs, error) {
		return oracleComparison(Compare(in.A, in.B, CompareOptions{Unpaired: true, Options: Options{Level: in.Level}}))
	}),
	"newcombe_independent": oracle.Asking(func(in struct {
		K1, N1, K2, N2 int
		Level          float64
	},
	) (outputs, error) {
		return oracleComparison(Compare(outcomes(in.K1, in.N1), outcomes(in.K2, in.N2), CompareOptions{Unpaired: true, Options: Options{Level: in.Level}}))
	}),
	"sign_flip": oracle.Asking(func(in struct{ D []float64 }) (outputs, error) {
		p, _, _ := signFlip(in.D, Seed{})
		return outputs{"p": p}, nil
	}),
	"mcnemar_test": oracle.Asking(func(in oracleTable) (outputs, error) {
		exact, midP := in.fourfold().McNemar()
		return outputs{"exact": exact, "mid_p": midP}, nil
	}),
	"newcombe_paired": oracle.Asking(func(in oracleTable) (outputs, error) { return pair(in.fourfold().newcombe(1 - in.Level)) }),
	"tango":           oracle.Asking(func(in oracleTable) (outputs, error) { return pair(in.fourfold().Tango(.05)) }),
	"adjust": oracle.Asking(func(in struct{ P []float64 }) (outputs, error) {
		out := outputs{}
		for _, a := range []Adjustment{AdjustHolm, AdjustBH, AdjustBY} {
			adjusted, err := Adjust(in.P, a)
			if err != nil {
				return nil, err
			}
			out[string(a)] = adjusted
		}
		return out, nil
	}),
	"max_t": oracle.Asking(func(in struct{ D [][]float64 }) (outputs, error) {
		metrics := make([]Pair, len(in.D[0]))
		for j := range metrics {
			column := make([]float64, len(in.D))
			for i := range column {
				column[i] = in.D[i][j]
			}
			metrics[j] = Pair{Baseline: scores(make([]float64, len(column))...), Candidate: scores(column...)}
		}
		both, err := MaxT(metrics, Options{})
		p := make([]float64, len(both.P))
		for i, x := range both.P {
			p[i] = *x
		}
		return outputs{"p": p}, err
	}),
	"beta_binomial": oracle.Asking(func(in struct{ K, N, Alpha float64 }) (outputs, error) {
		return pair(betaBinomial(in.K, in.N, in.Alpha))
	}),
	"betting": oracle.Asking(func(in struct {
		X     []float64
		Alpha float64
	},
	) (outputs, error) {
		return pair(betting(in.X, in.Alpha))
	}),
	"plans": oracle.Asking(func(in struct{ SD, Delta, P1, P2, Psi float64 }) (outputs, error) {
		var p Plan
		paired, err1 := p.PairedItems(in.SD, in.Delta)
		nonInferior, err2 := p.NonInferiorItems(in.SD, in.Delta)
		discordant, err3 := p.McNemarItems(in.Psi, in.Delta)
		rates, err4 := p.RateItems(in.P1, in.P2)
		return outputs{
			"paired": float64(paired), "non_inferior": float64(nonInferior), "mcnemar": float64(discordant), "rates": float64(rates),
		}, errors.Join(err1, err2, err3, err4)
	}),
	"bca": oracle.Asking(func(in oracleRows) (outputs, error) {
		return oracleEstimate(Mean(in.Rows, Options{Method: MethodBCa, Replicates: 10000}))
	}),
	"shrink": oracle.Asking(func(in struct{ K, N []int }) (outputs, error) {
		slices := make([]Slice, len(in.K))
		for i := range slices {
			slices[i] = Slice{strconv.Itoa(i), outcomes(in.K[i], in.N[i])}
		}
		rates, err := SliceRates(slices, Options{})
		out := make([]float64, len(rates))
		for i, r := range rates {
			out[i] = *r.Shrunken
		}
		return outputs{"shrunken": out}, err
	}),
}
