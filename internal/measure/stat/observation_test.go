package stat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/stat"
)

// made are scores that somebody made by some version of their rules.
func made(by stat.Source, version string, scores ...float64) []stat.Observation {
	rows := items(scores...)
	for i := range rows {
		rows[i].Provenance = stat.Provenance{Source: by, Version: version}
	}
	return rows
}

func TestAnEstimateSaysWhoMadeItsScores(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		sources []stat.Source
		want    stat.Source
	}{
		"nobody else":           {[]stat.Source{"", ""}, stat.SourceCode},
		"a judge":               {[]stat.Source{stat.SourceJudge, stat.SourceJudge}, stat.SourceJudge},
		"a judge and code":      {[]stat.Source{stat.SourceCode, stat.SourceJudge}, stat.SourceJudge},
		"people and code":       {[]stat.Source{stat.SourceHuman, ""}, stat.SourceHuman},
		"people and a judge":    {[]stat.Source{stat.SourceHuman, stat.SourceJudge}, stat.SourceHybrid},
		"both, and then either": {[]stat.Source{stat.SourceHybrid, stat.SourceJudge}, stat.SourceHybrid},
	} {
		rows := items(0.25, 0.75)
		for i := range rows {
			rows[i].Source = c.sources[i]
		}
		e := must[stat.Estimate](t)(stat.Mean(rows, stat.Options{Range: stat.Unit()}))
		require.Equal(t, c.want, e.Source, title)
	}
	_, err := stat.Mean(made("an oracle", "", 1), stat.Options{})
	require.ErrorIs(t, err, stat.ErrInput)

	missing := made(stat.SourceHuman, "2", 0.5, 0.5)
	missing[1].Missing, missing[1].Version = stat.CauseOutput, "1"
	e := must[stat.Estimate](t)(stat.Mean(append(missing, made(stat.SourceHuman, "2")...), stat.Options{Range: stat.Unit()}))
	require.Equal(t, stat.SourceHuman, e.Source, "who made no score has no version")
}

func TestVersionsAreNotMixed(t *testing.T) {
	t.Parallel()
	mixed := made(stat.SourceJudge, "1", 0.25, 0.75)
	mixed[1].Version = "2"
	_, err := stat.Mean(mixed, stat.Options{Range: stat.Unit()})
	require.ErrorIs(t, err, stat.ErrInput)
	require.ErrorContains(t, err, `version "2"`)

	old, later := made(stat.SourceJudge, "1", 0.25, 0.75, 0.5), made(stat.SourceJudge, "2", 0.3, 0.8, 0.5)
	c := must[stat.Comparison](t)(stat.Compare(old, later, stat.CompareOptions{Options: stat.Options{Range: stat.Unit()}}))
	require.False(t, c.Comparable)
	require.Equal(t, []string{`the scores were made by different versions, "1" and "2"`}, c.Reasons)
	require.Equal(t, stat.StatusNotComparable, c.Difference.Status)
	require.Equal(t, stat.SourceJudge, c.Difference.Source)
}

// What an item does not allow is left out under every policy; what an answer or the
// system lacks counts.
func TestCausesOfMissingScores(t *testing.T) {
	t.Parallel()
	for cause, want := range map[stat.Cause]float64{stat.CauseItem: 1, stat.CauseOutput: 0.5, stat.CauseSystem: 0.5} {
		rows := append(items(1, 1), stat.Observation{Item: "x", Missing: cause}, stat.Observation{Item: "y", Missing: cause})
		e := must[stat.Estimate](t)(stat.Mean(rows, stat.Options{Range: stat.Unit(), Missing: stat.MissingFail}))
		require.InDelta(t, want, *e.Value, 1e-15, string(cause))
		trials := stat.TrialsOf(rows, stat.MissingFail)
		require.Equal(t, map[bool]int{true: 0, false: 1}[cause == stat.CauseItem], trials[2].N, string(cause))
	}
	_, err := stat.Mean([]stat.Observation{{Item: "a", Missing: "weather"}}, stat.Options{})
	require.ErrorIs(t, err, stat.ErrInput)
}
