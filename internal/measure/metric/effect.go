package metric

import "fmt"

// Effects counts what an answer did to the world: what was dispatched and changes
// something, and how much of it somebody has checked and found done, or undone again.
type Effects struct {
	Sent, Verified int
	// Open are those of which it may still become known in time what became of them.
	Open int
}

func effectsVerified() spec {
	d := share(Definition{
		Name:    "effects_verified",
		Summary: "The share of the answer's side effects that are verified in the ledger, or were undone.",
		Needs:   []Need{NeedEffects},
		Abstains: "The trace of the answer is not known, so that its side effects are not either (`no_trace`), or it has none that change something " +
			"(`no_effects`).",
	})
	// An agent that does nothing has nothing to verify: its other scores have to count.
	d.Overall = false
	return spec{Definition: d, alone: true, build: func(*Registry, settings) (scorer, []Problem) { return scoreEffects, nil }}
}

func scoreEffects(l *look) Score {
	switch e := l.Effects; {
	case e == nil:
		return Missing(ReasonNoTrace, "The trace of the answer is not known, so its side effects are not.")
	case e.Sent < 0 || e.Verified < 0 || e.Verified > e.Sent:
		return Missing(ReasonBadValue, "More side effects are verified than were dispatched.")
	case e.Sent == 0:
		return Missing(ReasonNoEffects, "The answer has no side effect that changes something.")
	default:
		return Scored(float64(e.Verified)/float64(e.Sent), fmt.Sprintf("Of %d side effects, %d are verified.", e.Sent, e.Verified))
	}
}
