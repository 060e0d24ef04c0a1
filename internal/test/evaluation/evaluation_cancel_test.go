package evaluation_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestEveryRunOfAnOrganizationIsCancelled ends the runs of several evaluations,
// and none of another organization.
func TestEveryRunOfAnOrganizationIsCancelled(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := testkit.Shared(t)
	c, other := k.Org(t), k.Org(t)
	var runs []testkit.Run
	for range 2 {
		e := c.Evaluation(t, filled(t, c, cases(4)).ID, nil)
		runs = append(runs, started(t, c, e.ID, nil), started(t, c, e.ID, nil))
	}
	theirs := started(t, other, other.Evaluation(t, filled(t, other, cases(4)).ID, nil).ID, nil)

	n, err := k.App.Evaluation.CancelAll(ctx, c.Org)

	require.NoError(t, err)
	require.EqualValues(t, 4, n)
	for _, r := range runs {
		now, err := c.GetEvaluationRun(ctx, r.EvaluationID, r.RunID)
		require.NoError(t, err)
		require.Equal(t, "cancelled", now.Status)
	}
	now, err := other.GetEvaluationRun(ctx, theirs.EvaluationID, theirs.RunID)
	require.NoError(t, err)
	require.Equal(t, "running", now.Status)
	n, err = k.App.Evaluation.CancelAll(ctx, c.Org)
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestCancelRun(t *testing.T) {
	t.Parallel()

	t.Run("while nobody works", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		k := testkit.Own(t, "its worker starts later")
		c := k.Org(t)
		d := filled(t, c, cases(4))
		e := c.Evaluation(t, d.ID, nil)
		r := started(t, c, e.ID, nil)

		cancelled, err := c.CancelEvaluationRun(ctx, e.ID, r.RunID)

		require.NoError(t, err)
		require.Equal(t, "cancelled", cancelled.Status)
		require.Equal(t, "done", cancelled.Phase)
		require.NotNil(t, cancelled.CompletedAt)
		_, err = c.CancelEvaluationRun(ctx, e.ID, r.RunID)
		details := refused(t, err, fault.Conflict, "invalid_transition")
		require.Equal(t, "cancelled", details["currentState"])
		require.Empty(t, details["allowedTransitions"])
		require.NoError(t, c.DeleteDataset(ctx, d.ID))

		k.Work(t) // who finds the promise later does nothing
		done := c.Ended(t, r)
		require.Equal(t, "cancelled", done.Status)
		require.Zero(t, done.Items)
		require.Empty(t, results(t, c, done))
	})

	t.Run("while it executes: what is there stays, and nothing more is asked", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		k := testkit.Working(t)
		c := k.Org(t)
		var n atomic.Int32
		target := application(t, func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) > 10 {
				hang(t, r) // the rest takes for ever
				return
			}
			_, _ = fmt.Fprint(w, `{"output":"answer 0"}`)
		})
		d := filled(t, c, cases(100))
		e := c.Evaluation(t, d.ID, map[string]any{"target": target})
		r := started(t, c, e.ID, map[string]any{"concurrency": 4})
		require.Eventually(t, func() bool { return n.Load() >= 14 }, 10*time.Minute, 10*time.Millisecond)

		_, err := c.CancelEvaluationRun(ctx, e.ID, r.RunID)

		require.NoError(t, err)
		done := c.Ended(t, r)
		require.Equal(t, "cancelled", done.Status)
		require.Nil(t, done.Error)
		require.NoError(t, c.DeleteDataset(ctx, d.ID), "it is let go at once")
		require.Eventually(t, func() bool { return len(results(t, c, done)) == int(done.Items) }, 10*time.Minute, 50*time.Millisecond)
		require.LessOrEqual(t, int(done.Items), 10)
		require.Equal(t, int32(14), n.Load())
	})

	t.Run("while its target answers: what is under way is paid for, and kept", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		k := testkit.Working(t)
		c := k.Org(t)
		const width = 4
		d := filled(t, c, cases(100))
		// The worker looks once a second. One that had too little time has asked more, and gets more time.
		var asked chan struct{}
		for patience := 5 * time.Second; ; patience *= 2 {
			var answers chan struct{}
			asked, answers = make(chan struct{}, 100), make(chan struct{})
			target := application(t, func(w http.ResponseWriter, _ *http.Request) {
				asked <- struct{}{}
				<-answers
				_, _ = fmt.Fprint(w, `{"output":"answer 0"}`)
			})
			e := c.Evaluation(t, d.ID, map[string]any{"target": target})
			r := started(t, c, e.ID, map[string]any{"concurrency": width})
			for range width {
				<-asked
			}

			_, err := c.CancelEvaluationRun(ctx, e.ID, r.RunID)
			require.NoError(t, err)
			time.Sleep(patience)
			close(answers)

			done := c.Ended(t, r)
			require.Equal(t, "cancelled", done.Status)
			require.Len(t, results(t, c, done), width+len(asked), "what was asked is kept")
			require.EqualValues(t, width+len(asked), done.Items, "they are in the figures")
			if len(asked) == 0 || patience > time.Minute {
				break
			}
		}
		require.Empty(t, asked, "nothing more is asked")
	})

	t.Run("while it waits for its client", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		k := testkit.Working(t)
		c := k.Org(t)
		r, ids := waiting(t, c, 3, nil)
		require.NoError(t, c.PutResults(ctx, r.EvaluationID, r.RunID, []map[string]any{{"testCaseId": ids[0], "output": "answer 0"}}, false))
		_, err := c.CancelEvaluationRun(ctx, r.EvaluationID, r.RunID)
		require.NoError(t, err)

		done := c.Ended(t, r)

		require.Equal(t, "cancelled", done.Status)
		require.EqualValues(t, 1, done.Passed)
		require.ErrorIs(t, c.PutResults(ctx, r.EvaluationID, r.RunID, []map[string]any{{"testCaseId": ids[1], "output": "x"}}, false), evaluation.ErrTransition)
		require.Len(t, results(t, c, done), 1)
	})

	t.Run("after its end", func(t *testing.T) {
		t.Parallel()
		k := testkit.Working(t)
		c := k.Org(t)
		d := filled(t, c, cases(2))
		e := c.Evaluation(t, d.ID, nil)
		r := ran(t, c, e.ID, nil)
		_, err := c.CancelEvaluationRun(t.Context(), e.ID, r.RunID)
		require.Equal(t, "completed", refused(t, err, fault.Conflict, "invalid_transition")["currentState"])
		again, err := c.GetEvaluationRun(t.Context(), e.ID, r.RunID)
		require.NoError(t, err)
		require.Equal(t, r, again)
		_, err = c.CancelEvaluationRun(t.Context(), e.ID, "4711000")
		require.ErrorIs(t, err, evaluation.ErrRunNotFound)
	})
}
