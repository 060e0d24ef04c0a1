package erasure_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/assayhq/assay/internal/erasure"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/platform/temporal/temporaltest"
	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/testkit"
)

// TestErasureWaitsForWhatIsUnderWay lets other replicas finish: they know a
// key for a moment after it was revoked, and write figures of its use later.
func TestErasureWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // a busy machine is no deadlock
	began := env.Now()
	var steps []string
	var after []time.Duration
	step := func(name string) func(context.Context, tenancy.Deletion) error {
		return func(context.Context, tenancy.Deletion) error {
			steps, after = append(steps, name), append(after, env.Now().Sub(began))
			return nil
		}
	}
	env.RegisterActivityWithOptions(step("events"), activity.RegisterOptions{Name: "EraseEvents"})
	env.RegisterActivityWithOptions(step("rows"), activity.RegisterOptions{Name: "EraseRows"})

	env.ExecuteWorkflow(erasure.EraseWorkflow, tenancy.Deletion{Org: principal.NewOrgID()})

	require.True(t, env.IsWorkflowCompleted())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []string{"events", "rows", "events"}, steps)
	require.GreaterOrEqual(t, after[0], 2500*time.Millisecond, "a cached key and a flush of the meter")
	require.GreaterOrEqual(t, after[2]-after[1], 35*time.Second, "the longest request and a flush of the meter")
}

func TestHistories(t *testing.T) {
	t.Parallel()
	temporaltest.Histories(t, erasure.EraseWorkflow, map[string]temporaltest.Scene{
		"erasure": func(t *testing.T) (temporal.Config, string) {
			k := testkit.New(t)
			us := k.Org(t)
			k.Work(t)
			require.NoError(t, us.DeleteOrganization(t.Context(), us.Org.String()))
			// The promise is handed over before the workflow can be waited for.
			engine, err := temporal.Open(k.App.Config.Temporal, nil)
			require.NoError(t, err)
			t.Cleanup(engine.Close)
			id := "organization-erasure:" + us.Org.String()
			require.Eventually(t, func() bool {
				_, err := engine.DescribeWorkflowExecution(t.Context(), k.App.Config.Temporal.QueuePrefix+":"+id, "")
				return err == nil
			}, time.Minute, 100*time.Millisecond)
			return k.App.Config.Temporal, id
		},
	})
}
