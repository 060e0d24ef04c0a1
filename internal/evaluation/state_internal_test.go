package evaluation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
)

// TestMove walks every pair of statuses, and one that does not exist, against
// what the table allows.
func TestMove(t *testing.T) {
	t.Parallel()
	all := []Status{StatusRunning, StatusCompleted, StatusFailed, StatusCancelled, StatusPending, StatusArchived, "unknown"}
	ends := []Status{StatusCompleted, StatusFailed, StatusCancelled}
	for _, from := range all {
		for _, to := range all {
			err := transitions.Check(ErrTransition, from, to)
			if from == StatusRunning && (to == StatusCompleted || to == StatusFailed || to == StatusCancelled) {
				require.NoError(t, err, "%s to %s", from, to)
				continue
			}
			require.ErrorIs(t, err, ErrTransition, "%s to %s", from, to)
			allowed := []Status{}
			if from == StatusRunning {
				allowed = ends
			}
			f, _ := fault.From(err)
			require.Equal(t, fault.Conflict, f.Kind)
			require.Equal(t, map[string]any{"currentState": from, "allowedTransitions": allowed}, f.Details)
		}
	}
	require.Nil(t, ErrTransition.Details, "the shared fault is not changed")
}

func TestAnEvaluationShowsTheStatusOfItsRuns(t *testing.T) {
	t.Parallel()
	at := time.Now()
	for want, e := range map[Status]Evaluation{
		StatusPending:   {},
		StatusRunning:   {running: true, latest: "completed"},
		StatusCompleted: {latest: "completed"},
		StatusFailed:    {latest: "failed"},
		StatusCancelled: {latest: "cancelled"},
		StatusArchived:  {running: true, Archived: &at},
	} {
		require.Equal(t, want, statusOf(e))
	}
}
