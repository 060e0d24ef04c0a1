package dataset_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/platform/temporal"
	"github.com/assayhq/assay/internal/platform/temporal/temporaltest"
	"github.com/assayhq/assay/internal/test/testkit"
)

// rows counts what is left of a dataset, and of the promise to remove it.
func rows(t testing.TB, k *testkit.Kit, of *testkit.Client, id string) (n int) {
	t.Helper()
	conn := k.Owner(t, of.Org)
	defer func() { _ = conn.Close(t.Context()) }() // it is asked often
	err := conn.QueryRow(t.Context(), `
		SELECT (SELECT count(*) FROM datasets WHERE id = $1) + (SELECT count(*) FROM dataset_items WHERE dataset_id = $1)
		     + (SELECT count(*) FROM dataset_versions WHERE dataset_id = $1) + (SELECT count(*) FROM outbox WHERE topic = 'dataset.deleted')`, number(t, id)).Scan(&n)
	require.NoError(t, err)
	return n
}

// deleted makes a dataset with items and a version, and deletes it.
func deleted(t testing.TB, us *testkit.Client, items int) string {
	t.Helper()
	d := us.Dataset(t, testkit.NewDataset{})
	for from := 0; from < items; from += 1000 {
		_, err := us.AddItems(t.Context(), d.ID, questions(items)[from:min(from+1000, items)])
		require.NoError(t, err)
	}
	_, err := us.Freeze(t.Context(), d.ID, "")
	require.NoError(t, err)
	require.NoError(t, us.DeleteDataset(t.Context(), d.ID))
	return d.ID
}

func TestADeletedDatasetIsRemovedForGood(t *testing.T) {
	t.Parallel()
	k := testkit.Own(t, "its worker starts later")
	us := k.Org(t)
	kept := us.Dataset(t, testkit.NewDataset{})
	_, err := us.AddItems(t.Context(), kept.ID, questions(10))
	require.NoError(t, err)
	id := deleted(t, us, 2500) // more than one batch
	require.Positive(t, rows(t, k, us, id))

	k.Work(t)

	// The dispatcher and the workflow engine tell nobody when they are done.
	require.Eventually(t, func() bool { return rows(t, k, us, id) == 0 }, 10*time.Minute, 50*time.Millisecond)
	page, err := us.ListDatasetItems(t.Context(), kept.ID, "")
	require.NoError(t, err)
	require.Len(t, page.Items, 10, "its neighbour is untouched")
}

func TestPurgeCanBeRepeated(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	us := k.Org(t)
	id := deleted(t, us, 10)
	purge := func(p dataset.Purge) error {
		var suite testsuite.WorkflowTestSuite
		env := suite.NewTestActivityEnvironment()
		k.App.Dataset.Register(activitiesOf{env: env})
		var a *dataset.Activities
		_, err := env.ExecuteActivity(a.Purge, p)
		return err
	}
	p := dataset.Purge{Org: us.Org, DatasetID: number(t, id)}

	for range 3 {
		require.NoError(t, purge(p))
		require.Equal(t, 1, rows(t, k, us, id), "only the promise is left, which the dispatcher ends")
	}

	t.Run("and leaves what is not deleted, or is another organization's", func(t *testing.T) {
		t.Parallel()
		kept := us.Dataset(t, testkit.NewDataset{})
		_, err := us.AddItems(t.Context(), kept.ID, questions(3))
		require.NoError(t, err)
		gone := deleted(t, us, 3)

		require.NoError(t, purge(dataset.Purge{Org: us.Org, DatasetID: number(t, kept.ID)}))
		require.NoError(t, purge(dataset.Purge{Org: principal.NewOrgID(), DatasetID: number(t, gone)}))

		page, err := us.ListDatasetItems(t.Context(), kept.ID, "")
		require.NoError(t, err)
		require.Len(t, page.Items, 3)
		var left int
		require.NoError(t, k.Owner(t, us.Org).QueryRow(t.Context(), "SELECT count(*) FROM dataset_items WHERE dataset_id = $1", number(t, gone)).Scan(&left))
		require.Equal(t, 3, left)
	})
}

// activitiesOf lets a domain register on an environment of activities alone.
type activitiesOf struct {
	worker.Registry
	env *testsuite.TestActivityEnvironment
}

func (r activitiesOf) RegisterActivity(a any) { r.env.RegisterActivity(a) }

func (activitiesOf) RegisterWorkflow(any) {}

func TestPurgeWaitsUntilTheTimeIsOver(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		notBefore time.Time
		want      time.Duration
	}{
		"thirty days":     {start.Add(720 * time.Hour), 720 * time.Hour},
		"nothing to wait": {start, 0},
		"late already":    {start.Add(-time.Hour), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := temporaltest.Environment()
			env.SetStartTime(start)
			p := dataset.Purge{Org: principal.NewOrgID(), DatasetID: 7, NotBefore: c.notBefore}
			var ran []time.Duration
			env.RegisterActivityWithOptions(func(_ context.Context, got dataset.Purge) error {
				require.Equal(t, p, got)
				ran = append(ran, env.Now().Sub(start).Truncate(time.Minute))
				return nil
			}, activity.RegisterOptions{Name: "Purge"})

			env.ExecuteWorkflow(dataset.PurgeWorkflow, p)

			require.True(t, env.IsWorkflowCompleted())
			require.NoError(t, env.GetWorkflowError())
			require.Equal(t, []time.Duration{c.want}, ran)
		})
	}
}

func TestHistories(t *testing.T) {
	t.Parallel()
	purge := func(wait time.Duration) temporaltest.Scene {
		return func(t *testing.T) (temporal.Config, string) {
			k := testkit.Own(t, "its worker starts later")
			us := k.Org(t)
			d := deleted(t, us, 10)
			k.Work(t)
			engine, err := temporal.Open(k.App.Config.Temporal, nil)
			require.NoError(t, err)
			t.Cleanup(engine.Close)
			p := dataset.Purge{Org: us.Org, DatasetID: number(t, d), NotBefore: time.Now().Add(wait)}
			require.NoError(t, engine.Start(t.Context(), dataset.Queue, "recorded", dataset.PurgeWorkflow, p))
			return k.App.Config.Temporal, "recorded"
		}
	}
	temporaltest.Histories(t, "dataset", dataset.PurgeWorkflow, map[string]temporaltest.Scene{
		"purge_at_once": purge(0), "purge_after_a_wait": purge(time.Second),
	})
}
