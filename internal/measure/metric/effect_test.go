package metric_test

import (
	"testing"

	"github.com/assayhq/assay/internal/measure/metric"
)

func TestEffectsVerified(t *testing.T) {
	t.Parallel()
	runTrials(t, "effects_verified", map[string]trial{
		"all":                   {effects: &metric.Effects{Sent: 2, Verified: 2}, want: 1, says: "Of 2 side effects, 2 are verified."},
		"none":                  {effects: &metric.Effects{Sent: 3, Open: 3}, want: 0},
		"some":                  {effects: &metric.Effects{Sent: 4, Verified: 3}, want: 0.75},
		"nothing to verify":     {effects: &metric.Effects{}, reason: metric.ReasonNoEffects},
		"not known":             {reason: metric.ReasonNoTrace},
		"more than there are":   {effects: &metric.Effects{Sent: 1, Verified: 2}, reason: metric.ReasonBadValue},
		"an assertion about it": {effects: &metric.Effects{Sent: 2, Verified: 1}, assertions: []string{`{"type":"effects_verified","at_least":0}`}, want: 0.5},
	})
	runTrials(t, "goal_success", map[string]trial{
		"is not a goal of an item": {effects: &metric.Effects{Sent: 1, Verified: 1}, assertions: []string{`{"type":"effects_verified"}`}, reason: metric.ReasonBadAssertion},
	})
}
