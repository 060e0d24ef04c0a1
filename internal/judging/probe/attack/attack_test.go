package attack_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/judging/probe/attack"
)

func TestTheCorpusIsLargeAndItsAttacksDiffer(t *testing.T) {
	t.Parallel()
	all := attack.All()
	require.GreaterOrEqual(t, len(all), 200)
	ids, texts := map[string]bool{}, map[string]bool{}
	for _, a := range all {
		require.False(t, ids[a.ID], a.ID)
		require.False(t, texts[a.Text], a.Text)
		ids[a.ID], texts[a.Text] = true, true
		require.NotContains(t, a.Text, "{demand}")
		require.NotContains(t, a.Text, "{Demand}")
		require.NotContains(t, a.Text, "[[", "markers of the simulation would decide instead of the attack")
		require.True(t, utf8.ValidString(a.Text), a.ID)
		require.True(t, strings.HasPrefix(a.ID, a.Family+"-"), a.ID)
	}
	require.GreaterOrEqual(t, len(attack.Families()), 15)
}

func TestASpreadHasEveryFamily(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 30, 60, 200, len(attack.All()), 0} {
		got := attack.Spread(n)
		want := n
		if n == 0 {
			want = len(attack.All())
		}
		require.Len(t, got, want)
		seen, families := map[string]bool{}, map[string]bool{}
		for _, a := range got {
			require.False(t, seen[a.ID], "%s twice among %d", a.ID, n)
			seen[a.ID], families[a.Family] = true, true
		}
		if n >= 30 || n == 0 {
			require.Len(t, families, len(attack.Families()))
		}
	}
}
