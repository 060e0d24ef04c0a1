package dataset

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
)

// TestMove walks every pair of statuses, and one that does not exist, against
// what the table allows.
func TestMove(t *testing.T) {
	t.Parallel()
	allowed := map[Status][]Status{
		StatusActive:   {StatusArchived},
		StatusArchived: {StatusActive},
		"unknown":      {},
	}
	for from, targets := range allowed {
		for to := range allowed {
			err := move(from, to)
			switch {
			case from == to, len(targets) > 0 && targets[0] == to:
				require.NoError(t, err, "%s to %s", from, to)
			default:
				require.ErrorIs(t, err, ErrTransition, "%s to %s", from, to)
				f, _ := fault.From(err)
				require.Equal(t, fault.Conflict, f.Kind)
				require.Equal(t, map[string]any{"currentState": from, "allowedTransitions": targets}, f.Details)
			}
		}
	}
	require.Nil(t, ErrTransition.Details, "the shared fault is not changed")
}
