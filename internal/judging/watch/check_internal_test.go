package watch

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/correction"
)

// said are answers about an anchor: a letter for each repetition, p for pass, f for
// fail and - for none.
func said(item int64, letters string) (all []answer) {
	for i, l := range letters {
		a := answer{Item: item, Repetition: i}
		if l != '-' {
			pass := l == 'p'
			a.Passed = &pass
		}
		all = append(all, a)
	}
	return all
}

func TestSettled(t *testing.T) {
	t.Parallel()
	var all []answer
	for i := range int64(100) {
		all = append(all, said(i, "ppppp")...)
	}
	before, calm, err := settled(all)
	require.NoError(t, err)
	require.Len(t, before, 100)
	require.Less(t, calm, 0.04)
	require.Positive(t, calm, "a hundred anchors do not show that the judge never contradicts itself")

	all = append(all, said(100, "pf")...)
	all = append(all, said(101, "-----")...)
	all = append(all, said(102, "p----")...)
	before, same, err := settled(all)
	require.NoError(t, err)
	require.Len(t, before, 100, "no majority, no verdict, and one answer alone")
	require.InDelta(t, calm, same, 1e-12)

	all = nil
	for i := range int64(100) {
		all = append(all, said(i, "pppff")...)
	}
	before, torn, err := settled(all)
	require.NoError(t, err)
	require.True(t, before[7].passed)
	require.InDelta(t, 0.6, before[7].share, 1e-12)
	require.Greater(t, torn, 0.6, "three of five answers tie with the rest, and two are against them")
	before, none, err := settled(nil)
	require.NoError(t, err)
	require.Empty(t, before)
	require.Zero(t, none)
}

func TestCompare(t *testing.T) {
	t.Parallel()
	// again is a check of so many anchors that all passed before.
	again := func(n, fail, none int) (map[int64]reference, []answer) {
		before := map[int64]reference{}
		var now []answer
		for i := range int64(n) {
			before[i] = reference{passed: true, share: 1}
			letter := "p"
			switch {
			case int(i) < fail:
				letter = "f"
			case int(i) < fail+none:
				letter = "-"
			}
			now = append(now, said(i, letter)...)
		}
		return before, now
	}
	w := Watch{FlipLimit: 0.02, Tolerance: 0.02, Every: 24 * time.Hour, Evidence: 1}
	for name, c := range map[string]struct {
		n, fail, none int
		want          Verdict
	}{
		"the same verdicts on many":      {300, 0, 0, VerdictQuiet},
		"the same verdicts on few":       {30, 0, 0, VerdictUnresolved},
		"what the judge does by itself":  {300, 4, 0, VerdictUnresolved},
		"a shift":                        {300, 40, 0, VerdictDrifted},
		"most without a verdict":         {300, 0, 200, VerdictFailed},
		"some without a verdict":         {300, 0, 10, VerdictQuiet},
		"nothing to compare with at all": {0, 0, 0, VerdictFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, now := again(c.n, c.fail, c.none)
			got, err := w.compare(before, now, nil)
			require.NoError(t, err)
			require.Equal(t, c.want, got.Verdict, "%+v", got.Found.Drift)
			require.Equal(t, c.want == VerdictFailed, got.Found.Problem != "")
		})
	}

	t.Run("flips both ways that cancel out are a change too", func(t *testing.T) {
		t.Parallel()
		before, now := map[int64]reference{}, []answer{}
		for i := range int64(300) {
			pass := i%2 == 0
			before[i] = reference{pass, share(pass)}
			letter := "f"
			if pass != (i < 60) {
				letter = "p"
			}
			now = append(now, said(i, letter)...)
		}
		got, err := w.compare(before, now, nil)
		require.NoError(t, err)
		require.Zero(t, *got.Found.Drift.Direction.Value)
		require.NotEqual(t, correction.ShiftChanged, got.Found.Drift.Shift)
		require.Equal(t, VerdictDrifted, got.Verdict)
		require.Contains(t, got.message(), "60 of 300")
		require.Len(t, got.Found.Flips, maxFlips)
	})

	t.Run("small signs add up, and quiet days save nothing up", func(t *testing.T) {
		t.Parallel()
		w := w
		w.Tolerance = 0.2
		before, quiet := again(300, 0, 0)
		for range 10 {
			c, err := w.compare(before, quiet, nil)
			require.NoError(t, err)
			require.LessOrEqual(t, c.Found.Evidence, 1.0)
			w.Evidence = c.Found.Evidence
		}
		_, more := again(300, 14, 0)
		days := 0
		for ; days < 10; days++ {
			c, err := w.compare(before, more, nil)
			require.NoError(t, err)
			if w.Evidence = c.Found.Evidence; c.Verdict == VerdictDrifted {
				break
			}
		}
		require.Positive(t, days, "one such day proves nothing")
		require.Less(t, days, 4)
		require.False(t, math.IsInf(w.Evidence, 0))
	})

	t.Run("labels say whether the judge became better", func(t *testing.T) {
		t.Parallel()
		before, now := again(100, 10, 0)
		labels := map[int64]bool{}
		for i := range int64(50) {
			labels[i] = i >= 5 // five of the flips are right
		}
		c, err := w.compare(before, now, labels)
		require.NoError(t, err)
		require.InDelta(t, 0, *c.Found.Correct.Difference.Value, 1e-9)
		require.Equal(t, 50, c.Found.Correct.Difference.N)
	})
}

// TestAJudgeThatContradictsItself watches judges that pass each anchor with a
// probability, and asks how often they are accused.
func TestAJudgeThatContradictsItself(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 11))
	const anchors = 200
	// watched is after how many checks the judge is accused; zero if it is not.
	watched := func(before, now float64, checks int) int {
		var first []answer
		for i := range int64(anchors) {
			for n := range repetitions {
				pass := rng.Float64() < before
				first = append(first, answer{Item: i, Repetition: n, Passed: &pass})
			}
		}
		refs, flips, err := settled(first)
		require.NoError(t, err)
		w := Watch{FlipLimit: flips, Tolerance: 0.02, Every: 24 * time.Hour, Evidence: 1}
		for n := 1; n <= checks; n++ {
			var answers []answer
			for i := range int64(anchors) {
				pass := rng.Float64() < now
				answers = append(answers, answer{Item: i, Passed: &pass})
			}
			c, err := w.compare(refs, answers, nil)
			require.NoError(t, err)
			if w.Evidence = c.Found.Evidence; c.Verdict == VerdictDrifted {
				return n
			}
			require.NotEqual(t, VerdictQuiet, c.Verdict, "so much noise does not show that nothing changed")
		}
		return 0
	}
	accused := 0
	const watches, days = 40, 90
	for range watches {
		if watched(0.9, 0.9, days) > 0 {
			accused++
		}
	}
	// Once in 180 days on average is half of these at most.
	require.LessOrEqual(t, accused, watches/2)
	t.Logf("accused %d of %d judges that did not change in %d days", accused, watches, days)
	for range 10 {
		n := watched(0.9, 0.7, days)
		require.Positive(t, n, "twenty points are noticed")
		require.LessOrEqual(t, n, 5)
	}
}
