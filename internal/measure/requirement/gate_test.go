package requirement_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/requirement"
	"github.com/assayhq/assay/internal/measure/stat"
)

func estimate(value, lower, upper float64) stat.Estimate {
	return stat.Estimate{Value: &value, CI: &stat.Interval{Lower: &lower, Upper: &upper, Level: 0.95}, N: 100, Status: stat.StatusOK}
}

// figure is the same at both levels.
func figure(value, lower, upper float64) *requirement.Figure {
	return &requirement.Figure{Alone: estimate(value, lower, upper), Together: estimate(value, lower, upper)}
}

func parse(t *testing.T, text string) requirement.Requirement {
	t.Helper()
	r, err := requirement.Parse(text)
	require.NoError(t, err)
	return r
}

func TestAThresholdIsDecidedByTheWholeInterval(t *testing.T) {
	t.Parallel()
	run := map[string]*requirement.Figure{"pass_rate": figure(0.85, 0.8, 0.9), "latency_ms": figure(500, 400, 600)}
	for text, want := range map[string]requirement.Verdict{
		"pass_rate>=0.8": requirement.Pass, "pass_rate>0.8": requirement.Inconclusive, "pass_rate>=90%": requirement.Inconclusive, "pass_rate>0.9": requirement.Fail,
		"latency_ms<=600": requirement.Pass, "latency_ms<600": requirement.Inconclusive, "latency_ms<=399": requirement.Fail, "charm>=1": requirement.Inconclusive,
		"p95(latency_ms)<=600": requirement.Pass,
	} {
		r := parse(t, text)
		require.Equal(t, want, r.Decide(run[r.Figure], 0.05).Verdict, text)
	}
	open := *run["latency_ms"]
	open.Alone.CI.Lower = nil
	require.Equal(t, requirement.Pass, parse(t, "p99(latency_ms)<=600").Decide(&open, 0.05).Verdict, "the end that is needed is there")
	require.Equal(t, requirement.Inconclusive, parse(t, "p99(latency_ms)>=300").Decide(&open, 0.05).Verdict)
}

// One of many requirements that hold fails by chance more often than each does.
func TestAFailureIsReadAtTheLevelOfAllRequirements(t *testing.T) {
	t.Parallel()
	f := requirement.Figure{Alone: estimate(0.85, 0.8, 0.89), Together: estimate(0.85, 0.78, 0.91)}
	require.Equal(t, requirement.Pass, parse(t, "pass_rate>=0.8").Decide(&f, 0).Verdict, "all must pass, so each passes by itself")
	require.Equal(t, requirement.Inconclusive, parse(t, "pass_rate>=0.9").Decide(&f, 0).Verdict)
	require.Equal(t, requirement.Fail, parse(t, "pass_rate>=0.92").Decide(&f, 0).Verdict)
	require.InDelta(t, 0.95, requirement.Together(1), 1e-15)
	require.InDelta(t, 0.99, requirement.Together(5), 1e-15)
}

func TestNothingPassesWithoutEnoughScores(t *testing.T) {
	t.Parallel()
	f := figure(0.9, 0.8, 1)
	f.Alone.Missing = &stat.Missing{Rows: 6, Share: 0.06, Policy: stat.MissingExclude}

	require.Equal(t, requirement.ReasonMissing, parse(t, "latency_ms>=0.5").Decide(f, 0.05).Reason)
	require.Equal(t, requirement.Pass, parse(t, "latency_ms>=0.5").Decide(f, 0.06).Verdict)
	f.Alone.Missing.Policy = stat.MissingFail
	require.Equal(t, requirement.Pass, parse(t, "overall>=0.5").Decide(f, 0.05).Verdict, "what counts as the worst score is not left out")
	f.Alone.Status = stat.StatusInsufficient
	require.Equal(t, requirement.ReasonNoInterval, parse(t, "overall>=0.5").Decide(f, 1).Reason)
}

func TestAClaimIsDecidedOnTheComparison(t *testing.T) {
	t.Parallel()
	margin := 0.02
	for name, c := range map[string]struct {
		claim string
		given stat.Verdict
		low   float64
		want  requirement.Verdict
	}{
		"better":             {"better", stat.Verdict{Superiority: stat.SuperiorityBetter}, 0.01, requirement.Pass},
		"worse":              {"better", stat.Verdict{Superiority: stat.SuperiorityWorse}, -0.1, requirement.Fail},
		"no worse":           {"non_inferior", stat.Verdict{NonInferiority: stat.NonInferiorityShown, Margin: &margin}, -0.01, requirement.Pass},
		"no margin":          {"non_inferior", stat.Verdict{Superiority: stat.SuperiorityBetter}, 0.01, requirement.Inconclusive},
		"beyond the margin":  {"equivalent", stat.Verdict{NonInferiority: stat.NonInferiorityShown, Equivalence: stat.EquivalenceNotShown, Margin: &margin}, 0.03, requirement.Fail},
		"around the margin":  {"equivalent", stat.Verdict{NonInferiority: stat.NonInferiorityShown, Equivalence: stat.EquivalenceNotShown, Margin: &margin}, 0.01, requirement.Inconclusive},
		"neither of the two": {"better", stat.Verdict{Superiority: stat.SuperiorityUnresolved}, -0.01, requirement.Inconclusive},
	} {
		compared := stat.Comparison{Difference: estimate(c.low+0.01, c.low, c.low+0.02), Comparable: true, Verdict: c.given}
		r := parse(t, "overall:"+c.claim)
		require.Equal(t, c.want, r.DecideClaim(&requirement.Difference{Alone: compared, Together: compared}, 0.05).Verdict, name)
		described := compared
		described.Descriptive = true
		require.Equal(t, requirement.ReasonDescriptive, r.DecideClaim(&requirement.Difference{Alone: described, Together: described}, 0.05).Reason, name)
		compared.Comparable = false
		require.Equal(t, requirement.ReasonIncomparable, r.DecideClaim(&requirement.Difference{Alone: compared, Together: compared}, 0.05).Reason, name)
	}
	require.Equal(t, requirement.ReasonNoFigure, parse(t, "charm:better").DecideClaim(nil, 0).Reason)
}

func TestOneFailureFailsAll(t *testing.T) {
	t.Parallel()
	verdict, _, _ := requirement.Sum([]requirement.Verdict{requirement.Pass, requirement.Inconclusive, requirement.Fail})
	require.Equal(t, requirement.Fail, verdict)
	verdict, failed, left := requirement.Sum([]requirement.Verdict{requirement.Pass, requirement.Inconclusive})
	require.Equal(t, []any{requirement.Inconclusive, 0, 1}, []any{verdict, failed, left})
	verdict, _, _ = requirement.Sum([]requirement.Verdict{requirement.Pass})
	require.Equal(t, requirement.Pass, verdict)
}
