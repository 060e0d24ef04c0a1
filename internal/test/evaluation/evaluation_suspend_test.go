package evaluation_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/assayhq/assay/internal/evaluation"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestSuspensionStopsRuns(t *testing.T) {
	t.Parallel()

	t.Run("those under way are cancelled", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		k := testkit.Working(t)
		c, other := k.Org(t), k.Org(t)
		called := make(chan struct{})
		var once sync.Once
		target := application(t, func(_ http.ResponseWriter, r *http.Request) {
			once.Do(func() { close(called) })
			hang(t, r)
		})
		r := started(t, c, c.Evaluation(t, filled(t, c, cases(4)).ID, map[string]any{"target": target}).ID, nil)
		theirs, _ := waiting(t, other, 1, nil)
		<-called

		require.NoError(t, k.App.Tenancy.Suspend(ctx, c.Org))

		conn := k.Owner(t, c.Org)
		// Nobody of the organization may ask the interface any more.
		require.Eventually(t, func() bool {
			var status string
			err := conn.QueryRow(ctx, "SELECT status FROM evaluation_runs WHERE id = $1", r.RunID).Scan(&status)
			return err == nil && status == "cancelled"
		}, 10*time.Minute, 20*time.Millisecond)
		now, err := other.GetEvaluationRun(ctx, theirs.EvaluationID, theirs.RunID)
		require.NoError(t, err)
		require.Equal(t, "running", now.Status)
	})

	t.Run("a worker executes nothing", func(t *testing.T) {
		t.Parallel()
		k := testkit.Shared(t)
		c := k.Org(t)
		r := started(t, c, c.Evaluation(t, filled(t, c, cases(4)).ID, map[string]any{"target": map[string]any{"type": "recorded"}}).ID, nil)
		ticket := evaluation.Ticket{Org: c.Org, Run: number(t, r.RunID)}
		var caught activities
		k.App.Evaluation.RegisterUnits(&caught)
		env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
		env.RegisterActivity(caught.all)
		_, err := env.ExecuteActivity("BeginRun", ticket)
		require.NoError(t, err)
		_, err = k.Owner(t, c.Org).Exec(t.Context(), "UPDATE organizations SET status = 'suspended' WHERE id = $1", c.Org.String())
		require.NoError(t, err)

		val, err := env.ExecuteActivity("ExecuteChunk", evaluation.ChunkInput{Ticket: ticket, From: 0, To: 4, Width: 2})

		require.NoError(t, err)
		var done evaluation.ChunkDone
		require.NoError(t, val.Get(&done))
		require.Equal(t, "organization_suspended", done.Stop.Code)
		require.Zero(t, done.Units)
	})
}
