package egress

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// A name that is public when it is looked at and private when it is dialled
// gains nothing: the address is judged where it is dialled, every time.
func TestRebinding(t *testing.T) {
	t.Parallel()
	const outside, inside = "93.184.216.34", "127.0.0.1"

	for name, turns := range map[string][][]string{
		"public, then loopback":           {{outside}, {inside}},
		"loopback, then public":           {{inside}, {outside}},
		"public and loopback in turns":    {{outside}, {inside}, {outside}, {inside}, {outside}, {inside}},
		"public, then metadata":           {{outside}, {"169.254.169.254"}},
		"public, then loopback over IPv6": {{outside}, {"::1"}},
		"both at once, in either order":   {{outside, inside}, {inside, outside}, {inside, "::1", outside}},
		"public, then mapped loopback":    {{outside}, {"::ffff:127.0.0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t, defences{check: true, control: true}, zone{"rebind.hostile.test": turns})
			for range 2 * len(turns) {
				require.NoError(t, g.client.CheckURL(g.at("https://rebind.hostile.test:PORT/")))
				require.Error(t, g.call(t.Context(), "https://rebind.hostile.test:PORT/"))
			}
			require.Zero(t, g.forbidden())
			require.Contains(t, g.through, netip.MustParseAddrPort(outside+":"+g.port), "the public answers pass")
		})
	}

	t.Run("without the guard the second answer connects", func(t *testing.T) {
		t.Parallel()
		g := newGround(t, defences{check: true}, zone{"rebind.hostile.test": {{outside}, {inside}}})
		_ = g.call(t.Context(), "https://rebind.hostile.test:PORT/")
		require.Zero(t, g.forbidden())
		_ = g.call(t.Context(), "https://rebind.hostile.test:PORT/")
		require.Positive(t, g.forbidden())
	})
}

func TestForbiddenAndMissingNamesLookAlike(t *testing.T) {
	t.Parallel()
	g := newGround(t, defences{check: true, control: true}, answers())
	missing := g.call(t.Context(), "https://nothing.hostile.test/")
	inside := g.call(t.Context(), "https://ten.hostile.test/")
	require.ErrorIs(t, missing, ErrForbidden)
	require.ErrorIs(t, inside, ErrForbidden)
	require.NotContains(t, missing.Error(), "127.0.0.1", "the address of the name server")
	require.NotContains(t, inside.Error(), "10.1.2.3")
}
