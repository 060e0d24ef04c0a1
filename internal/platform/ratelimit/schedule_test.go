package ratelimit_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/assayhq/assay/internal/platform/ratelimit"
)

// window is the length of windows in made-up time.
const window = time.Hour

// pace is how a request follows the one before.
type pace string

const (
	atOnce pace = "at once"
	share  pace = "a share of the window later"
	soon   pace = "soon"
	later  pace = "up to two windows later"
	onEdge pace = "on the edge of a window"
)

var paces = []pace{atOnce, share, onEdge, soon, later, atOnce, share, onEdge}

// subject decides a request at a made-up time.
type subject func(now int64, limit, cost int) (ratelimit.Decision, int64, error)

// drive sends a random schedule to the subject, and what it answers to the
// oracle. Many requests fall on the very edge of a window, to the tick. It
// returns how many were refused.
func drive(t *rapid.T, o *oracle, limits *rapid.Generator[int], start, tick int64, steps int, ask subject) (refused int) {
	now, limit := start, limits.Draw(t, "limit")
	for range steps {
		switch rapid.SampledFrom(paces).Draw(t, "pace") {
		case share:
			now += int64(window) / int64(min(limit, 1000)+1)
		case soon:
			now += rapid.Int64Range(0, int64(5*time.Second)).Draw(t, "gap")
		case later:
			now += rapid.Int64Range(0, int64(2*window)).Draw(t, "pause")
		case onEdge:
			now = max(now, edge(t, o, now, tick))
		case atOnce:
		}
		now -= now % tick
		if rapid.IntRange(0, 15).Draw(t, "plan") == 0 {
			limit = limits.Draw(t, "limit")
		}
		cost := 1
		if rapid.Bool().Draw(t, "costly") {
			cost = rapid.IntRange(0, limit/2+2).Draw(t, "cost")
		}
		d, at, err := ask(now, limit, cost)
		if err != nil {
			t.Fatal(err)
		}
		if at != now {
			t.Fatalf("decided at %d, not at %d", at, now)
		}
		if !d.Allowed {
			refused++
		}
		if err := o.observe(at, limit, cost, d); err != nil {
			t.Fatalf("after %d admissions: %v", len(o.admitted), err)
		}
	}
	return refused
}

// edge is about when an earlier admission leaves the window.
func edge(t *rapid.T, o *oracle, now, tick int64) int64 {
	if len(o.admitted) == 0 {
		return now
	}
	i := rapid.IntRange(0, len(o.admitted)-1).Draw(t, "edge of")
	off := rapid.Int64Range(-1, 1).Draw(t, "off") * tick
	return o.admitted[i].at + int64(window) + off
}

// small limits are kept exactly. Redis and memory keep any up to ExactLimit the
// same way.
func small() *rapid.Generator[int] { return rapid.IntRange(0, 12) }

// large limits are kept by steps; some of them are numbers of bytes.
func large() *rapid.Generator[int] {
	return rapid.OneOf(rapid.IntRange(ratelimit.ExactLimit+1, 30_000), rapid.IntRange(1<<30, 1<<45))
}

// mixed limits are plans that change.
func mixed() *rapid.Generator[int] {
	return rapid.OneOf(rapid.IntRange(1, ratelimit.ExactLimit), large())
}
