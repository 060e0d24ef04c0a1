package egress

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
)

// rows are the lines of the table, and the addresses of this machine.
func rows() (live, inert []string) {
	for _, h := range hostile {
		for line := range strings.Lines(strings.TrimSpace(h.urls)) {
			if h.live {
				live = append(live, strings.TrimSpace(line))
			} else {
				inert = append(inert, strings.TrimSpace(line))
			}
		}
	}
	for _, own := range ownAddresses() {
		if forbiddenByHand(own) && !own.IsLoopback() {
			live = append(live, "https://"+net.JoinHostPort(own.String(), "PORT")+"/")
		}
	}
	return live, inert
}

func TestHostileURLs(t *testing.T) {
	t.Parallel()
	live, inert := rows()
	all := append(append([]string(nil), live...), inert...)
	require.GreaterOrEqual(t, len(all), 120)

	t.Run("no forbidden connection is made", func(t *testing.T) {
		t.Parallel()
		g := newGround(t, defences{check: true, control: true}, answers())
		for _, text := range all {
			require.Error(t, g.call(t.Context(), text), text)
			require.Zero(t, g.forbidden(), text)
		}
		t.Logf("egress urls %d forbidden connections %d", len(all), g.forbidden())
	})

	t.Run("the guard at the dial is enough by itself", func(t *testing.T) {
		t.Parallel()
		g := newGround(t, defences{control: true}, answers())
		for _, text := range all {
			require.Error(t, g.call(t.Context(), text), text)
			require.Zero(t, g.forbidden(), text)
		}
		t.Logf("egress urls %d forbidden connections %d, with the guard at the dial alone", len(all), g.forbidden())
	})

	t.Run("without the guard the same URLs connect", func(t *testing.T) {
		t.Parallel()
		g := newGround(t, defences{}, answers())
		for _, text := range live {
			before := g.forbidden()
			_ = g.call(t.Context(), text)
			require.Greater(t, g.forbidden(), before, "%s is harmless: the table proves nothing by it", text)
		}
		// The hook counts attempts; the open port shows that they arrive.
		require.Eventually(t, func() bool { return g.accepted.Load() >= 40 }, 3*time.Minute, time.Millisecond)
		t.Logf("egress urls %d forbidden connections %d, with the guard removed", len(live), g.forbidden())
	})

	t.Run("a refusal says what to do and nothing about the network", func(t *testing.T) {
		t.Parallel()
		g := newGround(t, defences{check: true, control: true}, answers())
		for _, text := range all {
			f, ok := fault.From(g.call(t.Context(), text))
			require.True(t, ok, text)
			require.Contains(t, []string{"destination_not_allowed", "destination_unreachable"}, f.Reason, text)
			require.NotRegexp(t, `\d+\.\d+\.\d+\.\d+|::|lookup|dial`, f.Error(), text)
			require.Regexp(t, `Use |Write |Remove |Check `, f.Error(), text)
		}
	})
}

// A URL whose host is plainly wrong is refused when it is saved; one that needs
// a name server to tell is refused when it is called.
func TestHostileURLsAreRefusedEarly(t *testing.T) {
	t.Parallel()
	g := newGround(t, defences{check: true, control: true}, answers())
	live, inert := rows()
	early := 0
	for _, text := range append(live, inert...) {
		if err := g.client.CheckURL(g.at(text)); err != nil {
			require.ErrorIs(t, err, ErrForbidden, text)
			early++
			continue
		}
		require.Contains(t, strings.ToLower(text), "hostile", text)
	}
	t.Logf("egress urls %d refused when saved %d", len(live)+len(inert), early)
}
