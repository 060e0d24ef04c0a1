package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNamingMoreLiftsNothing asks random policies about actions, with and without names
// beside the runtime and the tool: what is denied by a rule without them is denied with them,
// and what needs an approval is not allowed. Asked in one form only, many would be allowed.
func TestNamingMoreLiftsNothing(t *testing.T) {
	t.Parallel()
	checked, bites := map[Decision]int{}, 0
	for seed := range uint64(800) {
		r := newRandom(seed)
		var sources []Source
		for i := range 1 + r.IntN(3) {
			text := r.policy()
			if r.chance(40) {
				text = strings.ReplaceAll(text, "forbid (", `@effect("require_approval") forbid (`)
			}
			sources = append(sources, Source{Key: fmt.Sprintf("p%d", i), Mode: Enforce, Text: text})
		}
		sources = append(sources, Source{Key: "q", Mode: Enforce, Text: `permit (principal, action, resource);`})
		set, err := Compile(sources)
		require.NoError(t, err, "%+v", sources)
		for range 5 {
			q := r.question()
			plain := q
			plain.Subject.Type, plain.Subject.ID, plain.Action.ID, plain.Resource.Type, plain.Resource.ID = "", "", "", "", ""
			without := set.Evaluate(plain)
			if without.Decision == Allow {
				continue
			}

			got := set.Evaluate(q)

			require.NotEqual(t, Allow, got.Decision, "seed %d\n%+v\n%+v", seed, sources, q)
			if without.Decision == Deny {
				require.Equal(t, Deny, got.Decision, "seed %d\n%+v\n%+v", seed, sources, q)
			}
			checked[without.Decision]++
			alone := set.evaluate(q, func(f *form) []*statement {
				if f.replaced != 0 {
					return nil
				}
				return set.candidates(&q)
			})
			if alone.Decision == Allow {
				bites++
			}
		}
	}
	require.Greater(t, checked[Deny], 500)
	require.Greater(t, checked[NeedsApproval], 100)
	require.Greater(t, bites, 50, "a caller could have got rid of so many restrictions")
}
