package trace

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
)

// TestMove walks every pair of statuses, and one that does not exist, against
// what the table allows.
func TestMove(t *testing.T) {
	t.Parallel()
	allowed := map[Status][]Status{
		StatusRunning:   {StatusCompleted, StatusFailed},
		StatusCompleted: {StatusFailed},
		StatusFailed:    {StatusCompleted},
		"unknown":       {},
	}
	for from, targets := range allowed {
		for to := range allowed {
			err := move(from, to)
			if from == to || slices.Contains(targets, to) {
				require.NoError(t, err, "%s to %s", from, to)
				continue
			}
			require.ErrorIs(t, err, ErrTransition, "%s to %s", from, to)
			f, _ := fault.From(err)
			require.Equal(t, fault.Conflict, f.Kind)
			require.Equal(t, map[string]any{"currentState": from, "allowedTransitions": targets}, f.Details)
		}
	}
	require.Nil(t, ErrTransition.Details, "the shared fault is not changed")
}
