package tenancy_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/workflow"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/platform/temporal/temporaltest"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/tenancy/erasure"
	"github.com/assayhq/assay/internal/test/testkit"
)

// TestErasureWaitsForWhatIsUnderWay lets other replicas finish: they know a
// key for a moment after it was revoked, and write what they hold later.
func TestErasureWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	env := temporaltest.Environment()
	began := env.Now()
	var asked []bool
	var after []time.Duration
	found := []erasure.Looked{{Found: 9}, {Found: 1}, {Completed: true}, {}}
	env.RegisterActivityWithOptions(func(_ context.Context, l erasure.Look) (erasure.Looked, error) {
		n := len(asked)
		asked, after = append(asked, l.Last), append(after, env.Now().Sub(began).Truncate(time.Second))
		found[n].Settle = 3 * time.Minute
		return found[n], nil
	}, activity.RegisterOptions{Name: "Erase"})

	env.ExecuteWorkflow(erasure.EraseWorkflow, tenancy.Deletion{Org: principal.NewOrgID()})

	require.True(t, env.IsWorkflowCompleted())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []bool{false, true, true, false}, asked, "the first look never completes the certificate")
	second := time.Second
	require.Equal(t, []time.Duration{3 * second, 183 * second, 363 * second, 543 * second}, after)
}

// TestRoundsFollowEachOther counts the purges of a day.
func TestRoundsFollowEachOther(t *testing.T) {
	t.Parallel()
	env := temporaltest.Environment()
	began, rounds := env.Now(), 0
	env.RegisterActivityWithOptions(func(context.Context, erasure.Rounds) (erasure.Rounds, error) {
		rounds++
		require.Equal(t, time.Duration(rounds)*time.Hour, env.Now().Sub(began).Truncate(time.Minute))
		return erasure.Rounds{Interval: time.Hour}, nil
	}, activity.RegisterOptions{Name: "Purge"})

	env.ExecuteWorkflow(erasure.PurgeWorkflow, erasure.Rounds{Interval: time.Hour})

	require.True(t, workflow.IsContinueAsNewError(env.GetWorkflowError()), "it goes on under a new history")
	require.Equal(t, 100, rounds)
}

func TestHistories(t *testing.T) {
	t.Parallel()
	temporaltest.Histories(t, "erasure", []any{erasure.EraseWorkflow, erasure.PurgeWorkflow}, map[string]temporaltest.Scene{
		"erasure": func(t *testing.T) (temporal.Config, string) {
			k := testkit.Own(t, "its worker starts later")
			us := k.Org(t)
			k.Work(t)
			require.NoError(t, us.DeleteOrganization(t.Context(), "confirm="+us.Org.String()))
			// The promise is handed over before the workflow can be waited for.
			engine, err := temporal.Open(k.App.Config.Temporal, nil)
			require.NoError(t, err)
			t.Cleanup(engine.Close)
			id := "organization-erasure:" + us.Org.String()
			require.Eventually(t, func() bool {
				_, err := engine.DescribeWorkflowExecution(t.Context(), k.App.Config.Temporal.QueuePrefix+":"+id, "")
				return err == nil
			}, 10*time.Minute, 100*time.Millisecond)
			return k.App.Config.Temporal, id
		},
	})
}
