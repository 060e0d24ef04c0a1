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

func parse(t *testing.T, text string) gate.Requirement {
	t.Helper()
	r, err := gate.Parse(text)
	require.NoError(t, err)
	return r
}

func TestAThresholdIsDecidedByTheWholeInterval(t *testing.T) {
	t.Parallel()
	run := gate.Run{PassRate: estimate(0.85, 0.8, 0.9), Metrics: map[string]stat.Estimate{"latency_ms": estimate(500, 400, 600)}, Items: 100}
	for text, want := range map[string]gate.Verdict{
		"pass_rate>=0.8": gate.Pass, "pass_rate>0.8": gate.Inconclusive, "pass_rate>=90%": gate.Inconclusive, "pass_rate>0.9": gate.Fail,
		"latency_ms<=600": gate.Pass, "latency_ms<600": gate.Inconclusive, "latency_ms<=399": gate.Fail, "charm>=1": gate.Inconclusive,
	} {
		require.Equal(t, want, parse(t, text).Decide(run, 0.05).Verdict, text)
	}
}

func TestNothingPassesWithoutEnoughScores(t *testing.T) {
	t.Parallel()
	run := gate.Run{PassRate: estimate(0.9, 0.8, 1), Overall: estimate(0.9, 0.8, 1), Items: 100, Errored: 6}

	require.Equal(t, gate.ReasonMissing, parse(t, "overall>=0.5").Decide(run, 0.05).Reason)
	require.Equal(t, gate.Pass, parse(t, "overall>=0.5").Decide(run, 0.06).Verdict)
	require.Equal(t, gate.Pass, parse(t, "pass_rate>=0.5").Decide(run, 0.05).Verdict, "an item without a score did not pass, so none is missing")
	run.Overall.Status = stat.StatusInsufficient
	require.Equal(t, gate.ReasonNoInterval, parse(t, "overall>=0.5").Decide(run, 1).Reason)
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
		require.Equal(t, c.want, r.DecideClaim(&compared, 0.05).Verdict, name)
		compared.Comparable = false
		require.Equal(t, gate.ReasonIncomparable, r.DecideClaim(&compared, 0.05).Reason, name)
	}
	require.Equal(t, gate.ReasonNoFigure, parse(t, "charm:better").DecideClaim(nil, 0).Reason)
}

func TestOneFailureFailsAll(t *testing.T) {
	t.Parallel()
	pass, fail, open := gate.Decision{Verdict: gate.Pass}, gate.Decision{Verdict: gate.Fail}, gate.Decision{Verdict: gate.Inconclusive}
	verdict, _, _ := gate.Sum([]gate.Decision{pass, open, fail})
	require.Equal(t, gate.Fail, verdict)
	verdict, failed, left := gate.Sum([]gate.Decision{pass, open})
	require.Equal(t, []any{gate.Inconclusive, 0, 1}, []any{verdict, failed, left})
	verdict, _, _ = gate.Sum([]gate.Decision{pass})
	require.Equal(t, gate.Pass, verdict)
}
