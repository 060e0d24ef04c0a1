package stat

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// oracleFile names the cases that oracle/generate.py writes; oracle/run sets
// it.
const oracleFile = "ASSAY_STAT_ORACLE"

// The relative distance at which a number differs from the oracle's, unless a
// case allows more, and what is as good as zero.
const (
	oracleTolerance = 1e-9
	oracleZero      = 1e-11
)

// oracleCase is one call: what went in, and what a reference library makes of
// it.
type oracleCase struct {
	Function string          `json:"f"`
	In       json.RawMessage `json:"in"`
	Out      outputs         `json:"out"`
}

func TestOracle(t *testing.T) {
	t.Parallel()
	name := os.Getenv(oracleFile)
	if name == "" {
		t.Skip("no cases: run internal/stat/oracle/run") //nolint:forbidigo // the cases need Python; the command that has it runs this test
	}
	file, err := os.Open(name)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	count, wrong, sabotaged, caught := map[string]int{}, 0, 0, 0
	lines := json.NewDecoder(bufio.NewReader(file))
	for n := 1; ; n++ {
		var c oracleCase
		err := lines.Decode(&c)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, "case %d", n)
		got, err := oracleCall(c)
		require.NoError(t, err, "case %d of %s", n, c.Function)
		if bad := oracleDiffer(c.Out, got); bad != "" {
			wrong++
			if wrong <= 20 {
				t.Logf("case %d, %s: %s\n%.600s", n, c.Function, bad, c.In)
			}
		}
		// A check that cannot fail checks nothing.
		if lie := oracleLie(c.Out); lie != nil && count[c.Function] < 5 {
			sabotaged++
			if oracleDiffer(lie, got) != "" {
				caught++
			}
		}
		count[c.Function]++
	}
	cases := 0
	for _, n := range count {
		cases += n
	}
	t.Logf("sabotaged %d caught %d", sabotaged, caught)
	t.Logf("stat-oracle functions %d cases %d mismatches %d", len(count), cases, wrong)
	require.Zero(t, wrong)
	require.Len(t, count, len(oracles), "functions that the generator knows")
	require.GreaterOrEqual(t, sabotaged, len(count))
	require.Equal(t, sabotaged, caught, "a wrong number has to be noticed")
}

// oracleLie moves one number by a little more than is allowed.
func oracleLie(out outputs) outputs {
	for _, key := range slices.Sorted(maps.Keys(out)) {
		x, ok := out[key].(float64)
		if !ok || key == "tolerance" || key == "absolute" {
			continue
		}
		lie := maps.Clone(out)
		lie[key] = x + 2.5*oracleAllowed(out, x)
		return lie
	}
	for key := range out { // lists
		if list, ok := out[key].([]any); ok && len(list) > 0 {
			wrong := slices.Clone(list)
			wrong[0] = wrong[0].(float64) + 1e-6
			return outputs{key: wrong}
		}
	}
	return nil
}

func oracleAllowed(out outputs, x float64) float64 {
	if a, ok := out["absolute"].(float64); ok {
		return a
	}
	tolerance := oracleTolerance
	if v, ok := out["tolerance"].(float64); ok {
		tolerance = v
	}
	return math.Max(oracleZero, tolerance*math.Abs(x))
}

// oracleDiffer says how what was got differs from what was wanted, or nothing.
func oracleDiffer(want, got outputs) string {
	for key, w := range want {
		if key == "tolerance" || key == "absolute" {
			continue
		}
		g, ok := got[key]
		if !ok {
			return "has no " + key
		}
		if p, ok := g.(*float64); ok {
			g = nil
			if p != nil {
				g = *p
			}
		}
		switch w := w.(type) {
		case float64:
			x, ok := g.(float64)
			if !ok || math.IsNaN(x) || math.Abs(x-w) > oracleAllowed(want, w) {
				return fmt.Sprintf("%s is %v and should be %v", key, g, w)
			}
		case []any:
			list, _ := g.([]float64)
			if len(list) != len(w) {
				return fmt.Sprintf("%s is %v and should be %v", key, g, w)
			}
			for i := range w {
				if x := w[i].(float64); math.Abs(list[i]-x) > oracleAllowed(want, x) {
					return fmt.Sprintf("%s[%d] is %v and should be %v", key, i, list[i], x)
				}
			}
		default:
			if fmt.Sprint(g) != fmt.Sprint(w) {
				return fmt.Sprintf("%s is %v and should be %v", key, g, w)
			}
		}
	}
	return ""
}

func oracleCall(c oracleCase) (outputs, error) {
	f, ok := oracles[c.Function]
	if !ok {
		return nil, fmt.Errorf("there is no function %s", c.Function)
	}
	return f(c.In)
}

// outputs are the numbers that a call gave, under the names of the oracle.
type outputs = map[string]any

type oracle func(in json.RawMessage) (outputs, error)

// asking makes an oracle of a function that reads its own inputs.
func asking[T any](f func(in T) (outputs, error)) oracle {
	return func(raw json.RawMessage) (outputs, error) {
		var in T
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, err
		}
		return f(in)
	}
}

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

func together(parts ...outputs) outputs {
	all := outputs{}
	for _, p := range parts {
		maps.Copy(all, p)
	}
	return all
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

var oracles = map[string]oracle{
	"t_quantile": asking(func(in struct{ P, DF float64 }) (outputs, error) {
		return outputs{"x": tQuantile(in.P, in.DF)}, nil
	}),
	"t_test": asking(func(in struct{ T, DF float64 }) (outputs, error) {
		return outputs{"p": TTest(in.T, in.DF)}, nil
	}),
	"beta_quantile": asking(func(in struct{ P, A, B float64 }) (outputs, error) {
		return outputs{"x": BetaQuantile(in.P, in.A, in.B)}, nil
	}),
	"binomial_cdf": asking(func(in struct{ K, N, P float64 }) (outputs, error) {
		return outputs{"x": BinomialCDF(in.K, in.N, in.P)}, nil
	}),
	"quantile": asking(func(in struct {
		X []float64
		Q float64
	},
	) (outputs, error) {
		e, err := Quantile(scores(in.X...), in.Q, Options{})
		return outputs{"x": e.Value}, err
	}),
	"mean": asking(func(in oracleRows) (outputs, error) {
		return oracleEstimate(Mean(in.Rows, Options{Level: in.Level}))
	}),
	"bounded": asking(func(in oracleRows) (outputs, error) {
		return oracleEstimate(Mean(in.Rows, Options{Level: in.Level, Range: Unit(), Weighted: in.Weighted}))
	}),
	"mean_clustered": asking(func(in oracleRows) (outputs, error) {
		return oracleEstimate(Mean(in.Rows, Options{Level: in.Level, Weighted: in.Weighted}))
	}),
	"epochs": asking(func(in oracleRows) (outputs, error) {
		out, err := oracleEstimate(Mean(in.Rows, Options{}))
		if err != nil {
			return nil, err
		}
		e, err := Mean(in.Rows, Options{Estimand: EstimandDataset})
		return together(out, outputs{"within": e.Variance.Within, "between": e.Variance.Between, "dataset_se": e.SE, "dataset_df": e.df()}), err
	}),
	"overall": asking(func(in struct{ Metrics []Metric }) (outputs, error) {
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
	"proportion": asking(func(in struct {
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
		return together(append(all, outputs{"one_sided": e.CI.Lower})...), nil
	}),
	"pass_rate_clustered": asking(func(in oracleRows) (outputs, error) {
		e, err := PassRate(in.Rows, Options{Level: in.Level})
		if err != nil {
			return nil, err
		}
		gate, err := PassRate(in.Rows, Options{Level: in.Level, Policy: PolicyGate})
		out, _ := oracleEstimate(e, nil)
		return together(out, ends("wilson", e), ends("gate", gate)), err
	}),
	"pass_at_k": asking(func(in struct{ N, C, K int }) (outputs, error) {
		return outputs{"any": passAtK(in.N, in.C, in.K, false), "all": passAtK(in.N, in.C, in.K, true)}, nil
	}),
	"order_statistics": asking(func(in struct{ N, Q, Alpha float64 }) (outputs, error) {
		low, high := orderRanks(in.N, in.Q, in.Alpha)
		return outputs{"low": float64(low), "high": float64(high)}, nil
	}),
	"paired": asking(func(in oraclePair) (outputs, error) {
		return oracleComparison(Compare(in.A, in.B, CompareOptions{Options: Options{Level: in.Level}}))
	}),
	"paired_clustered": asking(func(in oraclePair) (outputs, error) {
		return oracleComparison(Compare(in.A, in.B, CompareOptions{Options: Options{Range: Unit()}}))
	}),
	"welch": asking(func(in oraclePair) (outputs, error) {
		return oracleComparison(Compare(in.A, in.B, CompareOptions{Unpaired: true, Options: Options{Level: in.Level}}))
	}),
	"newcombe_independent": asking(func(in struct {
		K1, N1, K2, N2 int
		Level          float64
	},
	) (outputs, error) {
		return oracleComparison(Compare(outcomes(in.K1, in.N1), outcomes(in.K2, in.N2), CompareOptions{Unpaired: true, Options: Options{Level: in.Level}}))
	}),
	"sign_flip": asking(func(in struct{ D []float64 }) (outputs, error) {
		p, _, _ := signFlip(in.D, Seed{})
		return outputs{"p": p}, nil
	}),
	"mcnemar_test": asking(func(in oracleTable) (outputs, error) {
		exact, midP := in.fourfold().McNemar()
		return outputs{"exact": exact, "mid_p": midP}, nil
	}),
	"newcombe_paired": asking(func(in oracleTable) (outputs, error) { return pair(in.fourfold().newcombe(1 - in.Level)) }),
	"tango":           asking(func(in oracleTable) (outputs, error) { return pair(in.fourfold().Tango(.05)) }),
	"adjust": asking(func(in struct{ P []float64 }) (outputs, error) {
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
	"max_t": asking(func(in struct{ D [][]float64 }) (outputs, error) {
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
	"beta_binomial": asking(func(in struct{ K, N, Alpha float64 }) (outputs, error) {
		return pair(betaBinomial(in.K, in.N, in.Alpha))
	}),
	"betting": asking(func(in struct {
		X     []float64
		Alpha float64
	},
	) (outputs, error) {
		return pair(betting(in.X, in.Alpha))
	}),
	"plans": asking(func(in struct{ SD, Delta, P1, P2, Psi float64 }) (outputs, error) {
		var p Plan
		paired, err1 := p.PairedItems(in.SD, in.Delta)
		nonInferior, err2 := p.NonInferiorItems(in.SD, in.Delta)
		discordant, err3 := p.McNemarItems(in.Psi, in.Delta)
		rates, err4 := p.RateItems(in.P1, in.P2)
		return outputs{
			"paired": float64(paired), "non_inferior": float64(nonInferior), "mcnemar": float64(discordant), "rates": float64(rates),
		}, errors.Join(err1, err2, err3, err4)
	}),
	"bca": asking(func(in oracleRows) (outputs, error) {
		return oracleEstimate(Mean(in.Rows, Options{Method: MethodBCa, Replicates: 10000}))
	}),
	"shrink": asking(func(in struct{ K, N []int }) (outputs, error) {
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
