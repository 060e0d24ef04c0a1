package agreement_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/stat"
)

// ratings makes ratings of items by raters; says gives the number of a label, or a
// negative number for none.
func ratings(items int, raters []string, scale agreement.Scale, says func(rater, item int) int) []agreement.Rating {
	var all []agreement.Rating
	for i := range items {
		for j, name := range raters {
			if label := says(j, i); label >= 0 {
				all = append(all, agreement.Rating{Item: fmt.Sprintf("%04d", i), Rater: name, Label: scale.Labels[label]})
			}
		}
	}
	return all
}

func among(t require.TestingT, all []agreement.Rating, scale agreement.Scale, o stat.Options) agreement.Together {
	g, err := agreement.Among(all, scale, stat.SourceHuman, o)
	require.NoError(t, err)
	return g
}

// Two raters: what is computed for a pair, for all and for each label is what an
// alignment of the two computes.
func TestAmongTwo(t *testing.T) {
	t.Parallel()
	table := [][]int{{20, 5}, {10, 15}}
	var all []agreement.Rating
	for a, row := range table {
		for b, n := range row {
			for range n {
				item := strconv.Itoa(len(all))
				all = append(all, agreement.Rating{Item: item, Rater: "a", Label: passFail.Labels[a]}, agreement.Rating{Item: item, Rater: "b", Label: passFail.Labels[b]})
			}
		}
	}
	g := among(t, all, passFail, stat.Options{})
	require.Len(t, g.Pairs, 1)
	two := g.Pairs[0]
	require.Equal(t, 50, two.Shared)
	require.InDelta(t, .7, *two.Agreed.Value, 1e-12)
	require.InDelta(t, .5624965, *two.Agreed.CI.Lower, 1e-7)
	require.InDelta(t, .4, *two.Kappa.Value, 1e-12)
	require.InDelta(t, .13840778, *two.Kappa.CI.Lower, 1e-7)
	require.Equal(t, stat.SourceHuman, two.Kappa.Source)
	// 2 n_kk / (n_k. + n_.k)
	require.InDelta(t, 40./55, *g.Labels[0].Agreed.Value, 1e-12)
	require.InDelta(t, 30./45, *g.Labels[1].Agreed.Value, 1e-12)
	require.Equal(t, 55, g.Labels[0].Uses)
	for _, l := range g.Labels {
		require.Less(t, *l.Agreed.CI.Lower, *l.Agreed.Value)
		require.Greater(t, *l.Agreed.CI.Upper, *l.Agreed.Value)
	}
	for _, w := range g.Without {
		require.Equal(t, stat.StatusUndefined, w.Change.Status, "one rater is left, who agrees with nobody")
		require.Nil(t, w.Alpha.Value)
	}
}

// The rater who lowers agreement is found, and the interval says so.
func TestWhoLowersAgreement(t *testing.T) {
	t.Parallel()
	all := ratings(120, []string{"a", "b", "c", "careless"}, passFail, func(j, i int) int {
		truth := i % 2
		if j == 3 && i%3 == 0 || j < 3 && (i+5*j)%23 == 0 {
			return 1 - truth
		}
		return truth
	})
	g := among(t, all, passFail, stat.Options{})
	for _, w := range g.Without {
		if w.Rater == "careless" {
			require.Greater(t, *w.Change.CI.Lower, .05)
		} else {
			require.Less(t, *w.Change.CI.Upper, .05)
		}
		var rest []agreement.Rating
		for _, r := range all {
			if r.Rater != w.Rater {
				rest = append(rest, r)
			}
		}
		alone := among(t, rest, passFail, stat.Options{})
		require.InDelta(t, *alone.Overall.Alpha.Value, *w.Alpha.Value, 1e-12)
		require.InDelta(t, *alone.Overall.Alpha.SE, *w.Alpha.SE, 1e-12)
		require.InDelta(t, *w.Alpha.Value-*g.Overall.Alpha.Value, *w.Change.Value, 1e-12)
		require.Equal(t, 120, w.Ratings)
	}
	require.Len(t, g.Pairs, 6)
}

func TestFewSharedItems(t *testing.T) {
	t.Parallel()
	all := ratings(40, []string{"a", "b", "c"}, passFail, func(j, i int) int {
		if j == 2 && i >= 19 || j == 1 && i < 15 {
			return -1
		}
		return i % 2
	})
	g := among(t, all, passFail, stat.Options{})
	for _, p := range g.Pairs {
		require.Equal(t, p.Shared >= 20, p.Kappa != nil, "%s %s", p.First, p.Second)
	}
	require.Equal(t, []int{25, 19, 4}, []int{g.Pairs[0].Shared, g.Pairs[1].Shared, g.Pairs[2].Shared})
	all = append(all, agreement.Rating{Item: "own", Rater: "d", Label: "pass"})
	alone := among(t, all, passFail, stat.Options{}).Without[3]
	require.Equal(t, stat.StatusUndefined, alone.Change.Status, "a rater who shares no item moves nothing")
	require.NotNil(t, alone.Alpha.Value)
	empty := among(t, nil, passFail, stat.Options{})
	require.Empty(t, empty.Pairs)
	require.Equal(t, stat.StatusInsufficient, empty.Labels[0].Agreed.Status)
}

// With clusters the unit is the cluster.
func TestAmongClusters(t *testing.T) {
	t.Parallel()
	all := ratings(120, []string{"a", "b", "c"}, passFail, func(j, i int) int {
		if (i/4+j)%6 == 0 {
			return 1 - i%2
		}
		return i % 2
	})
	single := among(t, all, passFail, stat.Options{})
	for i := range all {
		n, _ := strconv.Atoi(all[i].Item)
		all[i].Cluster = strconv.Itoa(n / 4)
	}
	g := among(t, all, passFail, stat.Options{})
	for i, p := range g.Pairs {
		require.Equal(t, 30, p.Agreed.Clusters)
		require.Equal(t, 30, p.Kappa.Clusters)
		require.InDelta(t, *single.Pairs[i].Kappa.Value, *p.Kappa.Value, 1e-12)
		require.Greater(t, *p.Kappa.CI.Upper-*p.Kappa.CI.Lower, *single.Pairs[i].Kappa.CI.Upper-*single.Pairs[i].Kappa.CI.Lower)
	}
	for i, l := range g.Labels {
		require.InDelta(t, *single.Labels[i].Agreed.Value, *l.Agreed.Value, 1e-12)
	}
}

func TestOverlapIsPlanned(t *testing.T) {
	t.Parallel()
	se := .1
	e := stat.Estimate{N: 50, SE: &se}
	p, err := agreement.Plan(e, .05)
	require.NoError(t, err)
	require.Equal(t, []int{200, 150}, []int{*p.Items, *p.More})
	p, err = agreement.Plan(e, .2)
	require.NoError(t, err)
	require.Equal(t, []int{13, 0}, []int{*p.Items, *p.More})
	p, err = agreement.Plan(stat.Estimate{}, .05)
	require.NoError(t, err)
	require.Nil(t, p.Items)
	_, err = agreement.Plan(e, 0)
	require.ErrorIs(t, err, stat.ErrInput)
}

// Agreement among raters is sound whoever rated what, and the order of ratings
// does not change a digit.
func TestAmongIsSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		scale := agreement.Scale{Ordered: rapid.Bool().Draw(r, "ordered")}
		k := rapid.SampledFrom([]int{2, 3, 6}).Draw(r, "labels")
		for c := range k {
			scale.Labels = append(scale.Labels, strconv.Itoa(c))
		}
		var names []string
		for j := range rapid.IntRange(1, 4).Draw(r, "raters") {
			names = append(names, string(rune('a'+j)))
		}
		clustered := rapid.Bool().Draw(r, "clustered")
		all := ratings(rapid.SampledFrom([]int{0, 1, 19, 25, 50}).Draw(r, "items"), names, scale, func(_, i int) int {
			if rapid.IntRange(0, 2).Draw(r, "like the others") > 0 {
				return i % k
			}
			return rapid.IntRange(-1, k-1).Draw(r, "label")
		})
		if clustered {
			for i := range all {
				all[i].Cluster = all[i].Item[:3]
			}
		}
		o := stat.Options{Replicates: 100}
		g := among(r, all, scale, o)
		for _, p := range g.Pairs {
			sound(r, "pair", p.Agreed)
			if p.Kappa != nil {
				sound(r, "kappa", p.Kappa.Estimate)
			}
		}
		for _, l := range g.Labels {
			sound(r, "label "+l.Label, l.Agreed)
		}
		for _, w := range g.Without {
			sound(r, "without "+w.Rater, w.Alpha)
			sound(r, "change without "+w.Rater, w.Change)
		}
		once, err := json.Marshal(g)
		require.NoError(r, err)
		slices.Reverse(all)
		again, err := json.Marshal(among(r, all, scale, o))
		require.NoError(r, err)
		require.Equal(r, string(once), string(again))
	})
}
