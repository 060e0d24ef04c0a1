package consensus_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/measure/consensus"
	"github.com/assayhq/assay/internal/measure/stat"
)

func grade(t require.TestingT, w consensus.Work, o consensus.QualityOptions) map[string]consensus.Quality {
	all, err := consensus.Grade(w, passFail, o)
	require.NoError(t, err)
	out := map[string]consensus.Quality{}
	for _, q := range all {
		out[q.Annotator] = q
	}
	return out
}

// The reference: 18 of 20 gold items.
func TestReferenceGold(t *testing.T) {
	t.Parallel()
	w := consensus.Work{Truth: consensus.Truth{}, Votes: panel(20, []string{"a"}, func(_, i, truth int) int { return turn(truth, i < 2) })}
	for i := range 20 {
		w.Truth[fmt.Sprintf("%04d", i)] = passFail.Labels[i%2]
	}
	g := grade(t, w, consensus.QualityOptions{})["a"].Gold
	require.Equal(t, []int{20, 18}, []int{g.Items, g.Correct})
	require.InDelta(t, .88095238, *g.Accuracy.Value, 1e-8)
	require.InDelta(t, .71614674, *g.Accuracy.CI.Lower, 1e-8)
	require.InDelta(t, .97862751, *g.Accuracy.CI.Upper, 1e-8)
	require.Equal(t, stat.KindCredible, g.Accuracy.CI.Kind)
	for required, want := range map[float64]consensus.Standing{.7: consensus.StandingTrusted, .8: consensus.StandingOpen, .98: consensus.StandingFlagged} {
		require.Equal(t, want, grade(t, w, consensus.QualityOptions{Required: required})["a"].Gold.Standing)
	}
}

func TestFewGoldItemsGradeNobody(t *testing.T) {
	t.Parallel()
	w := consensus.Work{Truth: consensus.Truth{}, Votes: panel(30, []string{"a", "b", "c"}, func(_, _, truth int) int { return truth })}
	for i := range 9 {
		w.Truth[fmt.Sprintf("%04d", i)] = passFail.Labels[1-i%2]
	}
	g := grade(t, w, consensus.QualityOptions{})["a"].Gold
	require.Equal(t, consensus.StandingInsufficient, g.Standing)
	require.Equal(t, stat.StatusInsufficient, g.Accuracy.Status)
	require.Nil(t, g.Accuracy.CI)
	none := grade(t, consensus.Work{Votes: w.Votes}, consensus.QualityOptions{})["a"].Gold
	require.Nil(t, none.Accuracy.Value)
}

// One annotator of four gives one label throughout, answers differently when
// asked again, and is quick.
func TestCarelessAnnotator(t *testing.T) {
	t.Parallel()
	var w consensus.Work
	w.Votes = panel(120, []string{"a", "b", "c", "careless"}, func(j, i, truth int) int {
		if j == 3 {
			return 0
		}
		return turn(truth, (i+7*j)%20 == 0)
	})
	for i, v := range w.Votes {
		careless := v.Annotator == "careless"
		w.Votes[i].Millis = 9000 + float64(i%100)
		if careless {
			w.Votes[i].Millis = 500 + float64(i%10)
		}
		if i%4 < 4 && i < 160 {
			again := v
			if careless && i%8 == 3 {
				again.Label = "fail"
			}
			w.Repeats = append(w.Repeats, again)
		}
	}
	all := grade(t, w, consensus.QualityOptions{})
	for name, q := range all {
		require.Equal(t, 120, q.Votes)
		if name != "careless" {
			require.Greater(t, *q.Consensus.CI.Lower, .85, name)
			require.Less(t, *q.Change.CI.Upper, .1)
			require.InDelta(t, 1, *q.Self.Value, 0)
			require.Less(t, *q.Self.CI.Lower, .95, "40 repeats do not prove that somebody is always consistent")
			require.Greater(t, *q.Time.Value, 8000.)
			require.InDelta(t, 1, *q.Labels.Own, .01)
			continue
		}
		require.Less(t, *q.Consensus.CI.Upper, .65)
		require.Greater(t, *q.Change.CI.Lower, .1, "agreement is better without")
		require.InDelta(t, .5, *q.Self.Value, .01)
		require.Zero(t, *q.Labels.Own)
		require.Less(t, *q.Labels.Difference.CI.Upper, -.9)
		require.InDelta(t, 505, *q.Time.Value, 5)
		require.NotNil(t, q.Time.CI)
	}
}

// What nobody measured has no value, and says so.
func TestNothingMeasured(t *testing.T) {
	t.Parallel()
	q := grade(t, consensus.Work{Votes: panel(5, []string{"a"}, func(_, _, truth int) int { return truth })}, consensus.QualityOptions{})["a"]
	for what, e := range map[string]stat.Estimate{"consensus": q.Consensus, "self": q.Self, "labels": q.Labels.Difference, "time": q.Time, "alpha": q.Change, "gold": q.Gold.Accuracy} {
		require.Nil(t, e.Value, what)
		require.Nil(t, e.CI, what)
		require.NotEmpty(t, e.Warnings, what)
	}
	all, err := consensus.Grade(consensus.Work{}, passFail, consensus.QualityOptions{})
	require.NoError(t, err)
	require.Empty(t, all)
}

func TestMalformedWork(t *testing.T) {
	t.Parallel()
	vote := consensus.Vote{Item: "i", Annotator: "a", Label: "pass"}
	for name, c := range map[string]struct {
		w consensus.Work
		o consensus.QualityOptions
	}{
		"required accuracy of 1":   {consensus.Work{}, consensus.QualityOptions{Required: 1}},
		"a repeat without a vote":  {consensus.Work{Repeats: []consensus.Vote{vote}}, consensus.QualityOptions{}},
		"a repeat off the scale":   {consensus.Work{Votes: []consensus.Vote{vote}, Repeats: []consensus.Vote{{Item: "i", Annotator: "a", Label: "x"}}}, consensus.QualityOptions{}},
		"a negative time":          {consensus.Work{Votes: []consensus.Vote{{Item: "i", Annotator: "a", Label: "pass", Millis: -1}}}, consensus.QualityOptions{}},
		"two votes":                {consensus.Work{Votes: []consensus.Vote{vote, vote}}, consensus.QualityOptions{}},
		"a level without a number": {consensus.Work{}, consensus.QualityOptions{Options: stat.Options{Level: 3}}},
	} {
		_, err := consensus.Grade(c.w, passFail, c.o)
		require.ErrorIs(t, err, stat.ErrInput, name)
	}
}

// Grades are sound whatever was voted, and the order of votes does not change a
// digit.
func TestGradesAreSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		w := consensus.Work{Votes: slices.Clone(d.votes), Truth: d.o.Truth}
		for i := range w.Votes {
			w.Votes[i].Millis = float64(rapid.IntRange(0, 3).Draw(r, "time"))
			if rapid.IntRange(0, 3).Draw(r, "again") == 0 {
				again := w.Votes[i]
				again.Label = d.scale.Labels[rapid.IntRange(0, len(d.scale.Labels)-1).Draw(r, "label")]
				w.Repeats = append(w.Repeats, again)
			}
		}
		o := consensus.QualityOptions{Method: d.o.Method, Options: stat.Options{Replicates: 100}}
		all, err := consensus.Grade(w, d.scale, o)
		require.NoError(r, err)
		for _, q := range all {
			for _, e := range []stat.Estimate{q.Gold.Accuracy, q.Consensus, q.Change, q.Self, q.Labels.Difference, q.Time} {
				require.NotEmpty(r, e.Method)
				require.NotEmpty(r, e.Source)
				if e.Status != stat.StatusOK {
					require.NotEmpty(r, e.Warnings, e.Method)
				}
				if e.CI != nil && e.CI.Lower != nil && e.CI.Upper != nil {
					require.LessOrEqual(r, *e.CI.Lower, *e.Value, e.Method)
					require.GreaterOrEqual(r, *e.CI.Upper, *e.Value, e.Method)
				}
			}
		}
		once, err := json.Marshal(all)
		require.NoError(r, err)
		w.Votes, w.Repeats = shuffled(r, w.Votes), shuffled(r, w.Repeats)
		again, err := consensus.Grade(w, d.scale, o)
		require.NoError(r, err)
		twice, err := json.Marshal(again)
		require.NoError(r, err)
		require.Equal(r, string(once), string(twice))
	})
}
