package gate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/gate"
	"github.com/assayhq/assay/internal/stat"
)

func estimate(value, lower, upper float64) stat.Estimate {
	return stat.Estimate{Value: &value, CI: &stat.Interval{Lower: &lower, Upper: &upper, Level: 0.95}, N: 100, Status: stat.StatusOK}
}

// figure is the same at both levels.
func figure(value, lower, upper float64) *gate.Figure {
	return &gate.Figure{Alone: estimate(value, lower, upper), Together: estimate(value, lower, upper)}
}

func parse(t *testing.T, text string) gate.Requirement {
	t.Helper()
	r, err := gate.Parse(text)
	require.NoError(t, err)
	return r
}

func TestAThresholdIsDecidedByTheWholeInterval(t *testing.T) {
	t.Parallel()
	run := map[string]*gate.Figure{"pass_rate": figure(0.85, 0.8, 0.9), "latency_ms": figure(500, 400, 600)}
	for text, want := range map[string]gate.Verdict{
		"pass_rate>=0.8": gate.Pass, "pass_rate>0.8": gate.Inconclusive, "pass_rate>=90%": gate.Inconclusive, "pass_rate>0.9": gate.Fail,
		"latency_ms<=600": gate.Pass, "latency_ms<600": gate.Inconclusive, "latency_ms<=399": gate.Fail, "charm>=1": gate.Inconclusive,
		"p95(latency_ms)<=600": gate.Pass,
	} {
		r := parse(t, text)
		require.Equal(t, want, r.Decide(run[r.Figure], 0.05).Verdict, text)
	}
	open := *run["latency_ms"]
	open.Alone.CI.Lower = nil
	require.Equal(t, gate.Pass, parse(t, "p99(latency_ms)<=600").Decide(&open, 0.05).Verdict, "the end that is needed is there")
	require.Equal(t, gate.Inconclusive, parse(t, "p99(latency_ms)>=300").Decide(&open, 0.05).Verdict)
}

// One of many requirements that hold fails by chance more often than each does.
func TestAFailureIsReadAtTheLevelOfAllRequirements(t *testing.T) {
	t.Parallel()
	f := gate.Figure{Alone: estimate(0.85, 0.8, 0.89), Together: estimate(0.85, 0.78, 0.91)}
	require.Equal(t, gate.Pass, parse(t, "pass_rate>=0.8").Decide(&f, 0).Verdict, "all must pass, so each passes by itself")
	require.Equal(t, gate.Inconclusive, parse(t, "pass_rate>=0.9").Decide(&f, 0).Verdict)
	require.Equal(t, gate.Fail, parse(t, "pass_rate>=0.92").Decide(&f, 0).Verdict)
	require.InDelta(t, 0.95, gate.Together(1), 1e-15)
	require.InDelta(t, 0.99, gate.Together(5), 1e-15)
}

func TestNothingPassesWithoutEnoughScores(t *testing.T) {
	t.Parallel()
	f := figure(0.9, 0.8, 1)
	f.Alone.Missing = &stat.Missing{Rows: 6, Share: 0.06, Policy: stat.MissingExclude}

	require.Equal(t, gate.ReasonMissing, parse(t, "latency_ms>=0.5").Decide(f, 0.05).Reason)
	require.Equal(t, gate.Pass, parse(t, "latency_ms>=0.5").Decide(f, 0.06).Verdict)
	f.Alone.Missing.Policy = stat.MissingFail
	require.Equal(t, gate.Pass, parse(t, "overall>=0.5").Decide(f, 0.05).Verdict, "what counts as the worst score is not left out")
	f.Alone.Status = stat.StatusInsufficient
	require.Equal(t, gate.ReasonNoInterval, parse(t, "overall>=0.5").Decide(f, 1).Reason)
}

func TestAClaimIsDecidedOnTheComparison(t *testing.T) {
	t.Parallel()
	margin := 0.02
	for name, c := range map[string]struct {
		claim string
		given stat.Verdict
		low   float64
		want  gate.Verdict
	}{
		"better":             {"better", stat.Verdict{Superiority: stat.SuperiorityBetter}, 0.01, gate.Pass},
		"worse":              {"better", stat.Verdict{Superiority: stat.SuperiorityWorse}, -0.1, gate.Fail},
		"no worse":           {"non_inferior", stat.Verdict{NonInferiority: stat.NonInferiorityShown, Margin: &margin}, -0.01, gate.Pass},
		"no margin":          {"non_inferior", stat.Verdict{Superiority: stat.SuperiorityBetter}, 0.01, gate.Inconclusive},
		"beyond the margin":  {"equivalent", stat.Verdict{NonInferiority: stat.NonInferiorityShown, Equivalence: stat.EquivalenceNotShown, Margin: &margin}, 0.03, gate.Fail},
		"around the margin":  {"equivalent", stat.Verdict{NonInferiority: stat.NonInferiorityShown, Equivalence: stat.EquivalenceNotShown, Margin: &margin}, 0.01, gate.Inconclusive},
		"neither of the two": {"better", stat.Verdict{Superiority: stat.SuperiorityUnresolved}, -0.01, gate.Inconclusive},
	} {
		compared := stat.Comparison{Difference: estimate(c.low+0.01, c.low, c.low+0.02), Comparable: true, Verdict: c.given}
		r := parse(t, "overall:"+c.claim)
		require.Equal(t, c.want, r.DecideClaim(&gate.Difference{Alone: compared, Together: compared}, 0.05).Verdict, name)
		described := compared
		described.Descriptive = true
		require.Equal(t, gate.ReasonDescriptive, r.DecideClaim(&gate.Difference{Alone: described, Together: described}, 0.05).Reason, name)
		compared.Comparable = false
		require.Equal(t, gate.ReasonIncomparable, r.DecideClaim(&gate.Difference{Alone: compared, Together: compared}, 0.05).Reason, name)
	}
	require.Equal(t, gate.ReasonNoFigure, parse(t, "charm:better").DecideClaim(nil, 0).Reason)
}

func TestOneFailureFailsAll(t *testing.T) {
	t.Parallel()
	verdict, _, _ := gate.Sum([]gate.Verdict{gate.Pass, gate.Inconclusive, gate.Fail})
	require.Equal(t, gate.Fail, verdict)
	verdict, failed, left := gate.Sum([]gate.Verdict{gate.Pass, gate.Inconclusive})
	require.Equal(t, []any{gate.Inconclusive, 0, 1}, []any{verdict, failed, left})
	verdict, _, _ = gate.Sum([]gate.Verdict{gate.Pass})
	require.Equal(t, gate.Pass, verdict)
}
